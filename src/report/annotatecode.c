/* Instructions with counts: see annotatecode.h and codelines.h. */
#include "report/annotatecode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks by address ---- */

struct placed_block {
    uint64_t address;
    uint32_t block;
};

static int by_address(const void *a, const void *b)
{
    const struct placed_block *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Those that have code; *count of them. */
static uint32_t *blocks_by_address(struct fp_arena *arena, const struct fp_function *f,
                                   size_t *count)
{
    uint32_t nblocks = f->paths.cfg->nblocks;
    struct placed_block *placed = FP_NEW_ARRAY(arena, struct placed_block, nblocks);
    uint32_t *order = FP_NEW_ARRAY(arena, uint32_t, nblocks);
    *count = 0;
    for (uint32_t b = 0; b < nblocks; b++)
        if (f->source.code[b].size)
            placed[(*count)++] = (struct placed_block){f->source.code[b].address, b};
    if (*count) qsort(placed, *count, sizeof *placed, by_address);
    for (size_t i = 0; i < *count; i++) order[i] = placed[i].block;
    return order;
}

/* ---- text ---- */

static const char *painted(const struct fp_annotate_code *a, const char *code)
{
    return a->colours ? code : "";
}

/* "98% 2%": taken, then not taken; of a table the first three. */
static const char *shares(const struct fp_annotate_code *a, uint32_t block)
{
    const struct fp_function *f = a->rf->function;
    const struct fp_edge_counts *counts = &a->rf->edges;
    const char *text = "";
    uint32_t degree = fp_cfg_out_degree(f->paths.cfg, block), ways = 0;
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t e = f->paths.cfg->first_out[block] + i;
        if (f->paths.cfg->edges[e].kind == FP_EDGE_UNWIND || ++ways > 3) continue;
        double percent = 100 * (double)counts->edges[e] / (double)counts->blocks[block];
        text = fp_arena_printf(a->arena, "%s%s%.0f%%", text, *text ? " " : "", percent);
    }
    if (ways > 3) text = fp_arena_printf(a->arena, "%s ..", text);
    return ways > 1 ? text : "";
}

static void say_margin(const struct fp_annotate_code *a, uint32_t block, const char *count,
                       const char *ways)
{
    fp_say(a->out, "%12s %s%-10s%s ", count, painted(a, "\033[36m"), ways, painted(a, "\033[0m"));
    for (size_t k = 0; k < a->npaths; k++)
        fp_write_u8(a->out, a->marks[block] >> k & 1 ? (uint8_t)('A' + k) : ' ');
    if (a->npaths) fp_say(a->out, " ");
}

static void say_address(const struct fp_annotate_code *a, uint64_t address)
{
    uint64_t start = a->rf->function->source.address;
    const char *offset = address < start
                             ? fp_arena_printf(a->arena, "-0x%" PRIx64, start - address)
                             : fp_arena_printf(a->arena, "+0x%" PRIx64, address - start);
    fp_say(a->out, "%s%8" PRIx64 " %8s%s  ", painted(a, "\033[2m"), address, offset,
           painted(a, "\033[0m"));
}

/* A block that ran. `lines` may be none. */
static void say_block(const struct fp_annotate_code *a, uint32_t block,
                      const struct fp_code_lines *lines)
{
    const struct fp_function *f = a->rf->function;
    const char *count = fp_arena_printf(a->arena, "%" PRIu64, a->rf->edges.blocks[block]);
    for (size_t i = 0; i < lines->len; i++) {
        say_margin(a, block, i ? "" : count, i + 1 == lines->len ? shares(a, block) : "");
        say_address(a, lines->at[i].address);
        fp_say(a->out, "%s\n", lines->at[i].text);
    }
    if (lines->len) return;
    say_margin(a, block, count, shares(a, block));
    say_address(a, f->source.code[block].address);
    fp_say(a->out, "%u instructions\n", f->source.blocks[block].instructions);
}

/* Blocks that never ran, next to each other. */
static void say_idle(const struct fp_annotate_code *a, uint32_t first, uint32_t instructions)
{
    say_margin(a, first, "0", "");
    say_address(a, a->rf->function->source.code[first].address);
    fp_say(a->out, "%s%u instructions that never ran%s\n", painted(a, "\033[31m"), instructions,
           painted(a, "\033[0m"));
}

void fp_annotate_code(const struct fp_annotate_code *a)
{
    const struct fp_function *f = a->rf->function;
    const char *missing = NULL;
    size_t count;
    uint32_t *order = blocks_by_address(a->arena, f, &count);
    for (size_t i = 0; i < count;) {
        uint32_t first = order[i], idle = 0;
        if (a->rf->edges.blocks[first]) {
            struct fp_code_lines lines = fp_code_read(a->reader, a->arena, a->rf->module, f, first);
            if (lines.missing) missing = lines.missing;
            say_block(a, first, &lines);
            i++;
            continue;
        }
        for (; i < count && !a->rf->edges.blocks[order[i]]; i++)
            idle += f->source.blocks[order[i]].instructions;
        say_idle(a, first, idle);
    }
    if (missing) fp_say(a->out, "  no disassembly: %s\n", fp_plain(a->arena, missing));
}

/* ---- JSON ---- */

static void json_block(struct fp_json *j, const struct fp_code_lines *lines,
                       const struct fp_block_code *code, uint64_t count)
{
    struct fp_code_line whole = {code->address, NULL};
    size_t n = lines->len ? lines->len : 1;
    for (size_t i = 0; i < n; i++) {
        const struct fp_code_line *line = lines->len ? &lines->at[i] : &whole;
        fp_json_begin(j, '{');
        fp_json_address(j, line->address);
        fp_json_key(j, "count"), fp_json_uint(j, count);
        if (line->text) fp_json_key(j, "text"), fp_json_string(j, line->text);
        fp_json_end(j, '}');
    }
}

void fp_annotate_code_json(struct fp_json *j, struct fp_arena *arena,
                           const struct fp_code_reader *reader, const struct fp_report_function *rf)
{
    const char *missing = NULL;
    size_t count;
    uint32_t *order = blocks_by_address(arena, rf->function, &count);
    fp_json_key(j, "instructions"), fp_json_begin(j, '[');
    for (size_t i = 0; i < count; i++) {
        struct fp_code_lines lines =
            fp_code_read(reader, arena, rf->module, rf->function, order[i]);
        if (lines.missing) missing = lines.missing;
        json_block(j, &lines, &rf->function->source.code[order[i]], rf->edges.blocks[order[i]]);
    }
    fp_json_end(j, ']');
    if (missing) fp_json_key(j, "no_disassembly"), fp_json_string(j, missing);
}
