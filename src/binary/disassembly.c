/* Instructions as text: see disassembly.h.
 *
 * Zydis writes AT&T syntax with Intel's names of conditions (jz, setnbe). They are replaced by
 * those of the GNU assembler (je, seta). */
#include "binary/disassembly.h"

#include "binary/machine.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum { LONGEST_INSN = 256 };

/* "je" for "jz"; other names stay. */
static const char *gnu_name(struct fp_arena *arena, const char *name)
{
    static const char *const prefixes[] = {"j", "set", "cmov"};
    static const char *const conditions[][2] = {{"z", "e"},   {"nz", "ne"}, {"nb", "ae"},
                                                {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}};
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        size_t len = strlen(prefixes[p]);
        if (strncmp(name, prefixes[p], len) != 0) continue;
        for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++)
            if (!strcmp(name + len, conditions[c][0]))
                return fp_arena_printf(arena, "%s%s", prefixes[p], conditions[c][1]);
    }
    return name;
}

static bool decode(const unsigned char *bytes, size_t len, ZydisDecodedInstruction *insn,
                   ZydisDecodedOperand *operands)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, insn, operands));
}

const char *fp_insn_mnemonic(struct fp_arena *arena, const unsigned char *bytes, size_t len)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!decode(bytes, len, &insn, operands)) return "(bad)";
    return gnu_name(arena, ZydisMnemonicGetString(insn.mnemonic));
}

static const ZydisFormatter *formatter(void)
{
    static ZydisFormatter one;
    static bool ready;
    if (ready) return &one;
    static const int properties[][2] = {
        {ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
        {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE}};
    ZydisFormatterInit(&one, ZYDIS_FORMATTER_STYLE_ATT);
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        ZydisFormatterSetProperty(&one, (ZydisFormatterProperty)properties[i][0],
                                  (ZyanUPointer)properties[i][1]);
    ready = true;
    return &one;
}

/* Without the blanks behind commas, and with the GNU name in front. */
static const char *as_gnu(struct fp_arena *arena, char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || to == text || to[-1] != ',') *to++ = *from;
    *to = 0;
    size_t len = strcspn(text, " ");
    const char *rest = text + len;
    text = fp_arena_strndup(arena, text, len);
    return fp_arena_printf(arena, "%s%s", gnu_name(arena, text), rest);
}

struct fp_insn_text fp_insn_disassemble(struct fp_arena *arena, const unsigned char *bytes,
                                        size_t len, uint64_t address)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct fp_insn facts;
    struct fp_insn_names names;
    char text[LONGEST_INSN];
    if (!decode(bytes, len, &insn, operands) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(formatter(), &insn, operands,
                                                      insn.operand_count_visible, text, sizeof text,
                                                      address, NULL)))
        return (struct fp_insn_text){"(bad)", 1, false, 0};
    fp_insn_decode_names(bytes, len, address, &facts, &names);
    return (struct fp_insn_text){.text = as_gnu(arena, text),
                                 .length = insn.length,
                                 .is_call = facts.kind == FP_INSN_CALL,
                                 .target = names.direct ? facts.target : 0};
}
