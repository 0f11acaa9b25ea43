/* Rows of call frame information against libdw: test-rows FILE...
 *
 * For every FDE of each file, at every address where a row starts and just before its end, CFA and
 * the rules of all registers must be those of dwarf_cfi_addrframe. */
#include "binary/frames.h"

#include "check.h"

#include <dwarf.h>
#include <stdlib.h>

static size_t rows_compared;

static void compare_cfa(const struct fp_frame_row *row, Dwarf_Frame *frame)
{
    Dwarf_Op *ops;
    size_t nops;
    CHECK(dwarf_frame_cfa(frame, &ops, &nops) == 0);
    bool simple = nops == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31;
    bool indexed = nops == 1 && ops[0].atom == DW_OP_bregx;
    CHECK(row->cfa_is_expression == !(simple || indexed));
    if (row->cfa_is_expression) return;
    uint64_t reg = simple ? (uint64_t)(ops[0].atom - DW_OP_breg0) : ops[0].number;
    int64_t offset = (int64_t)(simple ? ops[0].number : ops[0].number2);
    CHECK(row->cfa_register == reg && row->cfa_offset == offset);
}

/* libdw describes a rule as operations: none for undefined (which it takes registers without a rule
 * for) and same value, which it tells apart by the pointer; `call_frame_cfa, plus` for a saved
 * register; with stack_value for a value. */
static void compare_rule(const struct fp_frame_rule *rule, Dwarf_Frame *frame, int reg)
{
    Dwarf_Op memory[3], *ops;
    size_t nops;
    CHECK(dwarf_frame_register(frame, reg, memory, &ops, &nops) == 0);
    if (nops == 0 && ops) {
        CHECK(rule->kind == FP_RULE_UNDEFINED || rule->kind == FP_RULE_SAME);
    } else if (nops == 0) {
        CHECK(rule->kind == FP_RULE_SAME);
    } else if (ops == memory && ops[0].atom == DW_OP_call_frame_cfa) {
        int64_t offset = nops > 1 && ops[1].atom == DW_OP_plus_uconst ? (int64_t)ops[1].number : 0;
        bool value = ops[nops - 1].atom == DW_OP_stack_value;
        CHECK(rule->kind == (value ? FP_RULE_VALUE : FP_RULE_SAVED) && rule->offset == offset);
    } else if (ops == memory && ops[0].atom == DW_OP_regx) {
        CHECK(rule->kind == FP_RULE_REGISTER && rule->offset == (int64_t)ops[0].number);
    } else {
        CHECK(rule->kind == FP_RULE_EXPRESSION || rule->kind == FP_RULE_VALUE_EXPRESSION);
    }
}

static void compare_at(const struct fp_frames *frames, const struct fp_fde *fde, Dwarf_CFI *cfi,
                       uint64_t address, const struct fp_frame_row *expected)
{
    struct fp_frame_row row;
    Dwarf_Frame *frame;
    CHECK(fp_frames_row(frames, fde, address, &row));
    CHECK(fp_frame_rows_equal(&row, expected) && row.start == expected->start);
    CHECK(dwarf_cfi_addrframe(cfi, address, &frame) == 0);
    Dwarf_Addr start, end;
    bool signal;
    dwarf_frame_info(frame, &start, &end, &signal);
    CHECK(signal == frames->cies.at[fde->cie].signal);
    compare_cfa(&row, frame);
    for (int reg = 0; reg < FP_FRAME_REGS; reg++)
        if (reg != FP_FRAME_RSP) compare_rule(&row.regs[reg], frame, reg);
    free(frame);
    rows_compared++;
}

static void compare_fde(struct fp_arena *arena, const struct fp_frames *frames,
                        const struct fp_fde *fde, Dwarf_CFI *cfi)
{
    struct fp_frame_row *rows;
    size_t count;
    CHECK(fp_frames_rows(arena, frames, fde, &rows, &count) && count);
    CHECK(fp_frames_find(frames, fde->start)->start == fde->start);
    for (size_t i = 0; i < count; i++) {
        uint64_t end = i + 1 < count ? rows[i + 1].start : fde->start + fde->size;
        compare_at(frames, fde, cfi, rows[i].start, &rows[i]);
        compare_at(frames, fde, cfi, end - 1, &rows[i]);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct fp_arena arena = {0};
        struct fp_object object;
        struct fp_frames frames;
        struct fp_error error = {0};
        CHECK(fp_object_open(&arena, argv[i], &object, &error));
        CHECK(fp_frames_read(&arena, &object, &frames, &error));
        Dwarf_CFI *cfi = dwarf_getcfi_elf(object.elf);
        CHECK(cfi);
        for (size_t k = 0; k < frames.fdes.len; k++)
            compare_fde(&arena, &frames, &frames.fdes.at[k], cfi);
        dwarf_cfi_end(cfi);
        fp_object_close(&object);
        fp_arena_free(&arena);
    }
    CHECK(rows_compared > 100);
    printf("%zu rows compared\n", rows_compared);
    return check_summary();
}
