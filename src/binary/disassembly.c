/* Instructions as text: see disassembly.h.
 *
 * Zydis writes AT&T syntax with Intel's names of conditions (jz, setnbe). They are replaced by
 * those of the GNU assembler (je, seta). */
#include "binary/disassembly.h"

#include "binary/machine.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
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

/* "movzbl" for "movzx" of a byte to 32 bits; NULL for other instructions. */
static const char *extension_name(struct fp_arena *arena, const ZydisDecodedInstruction *insn,
                                  const ZydisDecodedOperand *operands)
{
    static const char suffixes[] = {[8] = 'b', [16] = 'w', [32] = 'l', [64] = 'q'};
    bool is_signed =
        insn->mnemonic == ZYDIS_MNEMONIC_MOVSX || insn->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    if (!is_signed && insn->mnemonic != ZYDIS_MNEMONIC_MOVZX) return NULL;
    unsigned to = operands[0].size, from = operands[1].size;
    if (to >= sizeof suffixes || from >= sizeof suffixes || !suffixes[to] || !suffixes[from])
        return NULL;
    return fp_arena_printf(arena, "mov%c%c%c", is_signed ? 's' : 'z', suffixes[from], suffixes[to]);
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

/* Without the blanks behind commas, and with the GNU name in front, which may be given. */
static const char *as_gnu(struct fp_arena *arena, char *text, const char *name)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || to == text || to[-1] != ',') *to++ = *from;
    *to = 0;
    size_t len = strcspn(text, " ");
    const char *rest = text + len;
    if (!name) name = gnu_name(arena, fp_arena_strndup(arena, text, len));
    return fp_arena_printf(arena, "%s%s", name, rest);
}

static const char *text_of(struct fp_arena *arena, const ZydisDecodedInstruction *insn,
                           const ZydisDecodedOperand *operands, uint64_t address)
{
    char text[LONGEST_INSN];
    if (insn->mnemonic == ZYDIS_MNEMONIC_NOP)
        return "nop"; /* operands of a long one mean nothing */
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(formatter(), insn, operands,
                                                      insn->operand_count_visible, text,
                                                      sizeof text, address, NULL)))
        return "(bad)";
    return as_gnu(arena, text, extension_name(arena, insn, operands));
}

struct fp_insn_text fp_insn_disassemble(struct fp_arena *arena, const unsigned char *bytes,
                                        size_t len, uint64_t address)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct fp_insn facts;
    struct fp_insn_names names;
    if (!decode(bytes, len, &insn, operands)) return (struct fp_insn_text){"(bad)", 1, false, 0};
    const char *text = text_of(arena, &insn, operands, address);
    fp_insn_decode_names(bytes, len, address, &facts, &names);
    if (names.has_place && insn.mnemonic != ZYDIS_MNEMONIC_NOP)
        text = fp_arena_printf(arena, "%s  # 0x%" PRIx64, text, names.place);
    return (struct fp_insn_text){.text = text,
                                 .length = insn.length,
                                 .is_call = facts.kind == FP_INSN_CALL,
                                 .target = names.direct ? facts.target : 0};
}
