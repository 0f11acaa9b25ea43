/* Lines, calls and addresses of machine code: see machinesource.h. */
#include "binary/machinesource.h"

#include "binary/disassembly.h"

enum { MOST_FRAMES = 64 };

/* ---- lines ---- */

struct placing {
    struct fp_dwarf_lines *lines;
    struct fp_arena *arena;
    struct fp_table scopes; /* identity of an inlined instance -> 1 + index */
    FP_VEC(struct fp_scope) all;
    FP_VEC(struct fp_position) positions;
};

/* Scopes with parents first; `frames` is innermost first. */
static uint32_t scope_of(struct placing *at, const struct fp_frame *frames, size_t count)
{
    uint64_t *known = fp_table_find(&at->scopes, frames[0].identity);
    if (known) return (uint32_t)*known - 1;
    struct fp_scope scope = {.function = frames[0].function,
                             .linkage = frames[0].linkage,
                             .file = frames[0].file,
                             .line = frames[0].declared,
                             .parent = FP_NONE};
    if (count > 1) {
        scope.parent = scope_of(at, frames + 1, count - 1);
        scope.call_line = frames[1].line;
        scope.call_discriminator = frames[1].discriminator;
    }
    fp_vec_push(at->arena, &at->all, scope);
    *fp_table_add(&at->scopes, frames[0].identity) = at->all.len;
    return (uint32_t)at->all.len - 1;
}

static void place_insn(struct placing *at, uint64_t address, size_t first)
{
    struct fp_frame frames[MOST_FRAMES];
    size_t count = fp_dwarf_lines_frames(at->lines, address, frames, MOST_FRAMES);
    if (!count || !frames[0].line) return;
    struct fp_position position = {scope_of(at, frames, count), frames[0].line, frames[0].column,
                                   frames[0].discriminator};
    if (at->positions.len > first) {
        const struct fp_position *last = &at->positions.at[at->positions.len - 1];
        if (last->scope == position.scope && last->line == position.line &&
            last->column == position.column && last->discriminator == position.discriminator)
            return;
    }
    fp_vec_push(at->arena, &at->positions, position);
}

static void place_blocks(struct placing *at, const struct fp_machine_function *m,
                         struct fp_function *f)
{
    f->source.blocks = FP_NEW_ARRAY(at->arena, struct fp_block_info, m->cfg->nblocks);
    for (uint32_t b = 0; b < m->cfg->nblocks; b++) {
        size_t first = at->positions.len;
        for (uint32_t i = 0; i < m->blocks[b].ninsns; i++)
            place_insn(at, m->insns.at[m->blocks[b].first_insn + i].address, first);
        f->source.blocks[b] =
            (struct fp_block_info){.instructions = m->blocks[b].ninsns,
                                   .first_position = (uint32_t)first,
                                   .npositions = (uint32_t)(at->positions.len - first)};
    }
    f->source.positions = at->positions.at;
    f->source.npositions = (uint32_t)at->positions.len;
    f->source.scopes = at->all.at;
    f->source.nscopes = (uint32_t)at->all.len;
}

void fp_machine_lines(struct fp_arena *arena, struct fp_dwarf_lines *lines,
                      const struct fp_machine_function *m, struct fp_function *f)
{
    struct placing at = {.lines = lines, .arena = arena};
    fp_table_init(&at.scopes, arena);
    place_blocks(&at, m, f);
}

/* ---- calls ---- */

static const char *name_of_target(const struct fp_machine *machine, uint64_t target)
{
    if (!target) return NULL;
    const char *import = fp_object_import(machine->object, target);
    if (import) return import;
    const struct fp_machine_function *callee = fp_machine_find(machine, target);
    return callee && callee->symbol->address == target ? callee->symbol->name : NULL;
}

static uint32_t line_of_call(struct fp_dwarf_lines *lines, uint64_t address)
{
    struct fp_frame frames[MOST_FRAMES];
    size_t count = lines ? fp_dwarf_lines_frames(lines, address, frames, MOST_FRAMES) : 0;
    return count == 1 ? frames[0].line : 0;
}

void fp_machine_calls(struct fp_arena *arena, const struct fp_machine *machine,
                      struct fp_dwarf_lines *lines, const struct fp_machine_function *m,
                      struct fp_function *f)
{
    FP_VEC(struct fp_call) calls = {0};
    for (uint32_t b = 0; b < m->cfg->nblocks; b++)
        for (uint32_t i = 0; i < m->blocks[b].ninsns; i++) {
            const struct fp_insn *insn = &m->insns.at[m->blocks[b].first_insn + i];
            if (insn->kind != FP_INSN_CALL) continue;
            struct fp_call call = {name_of_target(machine, insn->target), b,
                                   line_of_call(lines, insn->address)};
            fp_vec_push(arena, &calls, call);
        }
    f->flags |= FP_FUNCTION_CALLS;
    f->source.calls = calls.at;
    f->source.ncalls = (uint32_t)calls.len;
}

/* ---- addresses ---- */

static const char *jump_of(struct fp_arena *arena, const struct fp_machine *machine,
                           const struct fp_insn *insn)
{
    size_t len;
    const unsigned char *bytes = fp_object_bytes(machine->object, insn->address, &len);
    if (!bytes || (insn->kind != FP_INSN_BRANCH && insn->kind != FP_INSN_JUMP_INDIRECT))
        return NULL;
    return fp_insn_mnemonic(arena, bytes, len);
}

static struct fp_block_code code_of(struct fp_arena *arena, const struct fp_machine *machine,
                                    const struct fp_machine_function *m, uint32_t block)
{
    const struct fp_machine_block *b = &m->blocks[block];
    if (!b->ninsns) return (struct fp_block_code){0};
    const struct fp_insn *first = &m->insns.at[b->first_insn], *last = first + b->ninsns - 1;
    uint64_t distance = last->address - first->address;
    return (struct fp_block_code){.address = first->address,
                                  .size = (uint32_t)distance + last->length,
                                  .last = (uint32_t)distance,
                                  .jump = jump_of(arena, machine, last)};
}

void fp_machine_code(struct fp_arena *arena, const struct fp_machine *machine,
                     const struct fp_machine_function *m, struct fp_function *f)
{
    f->flags |= FP_FUNCTION_CODE;
    f->source.address = m->symbol->address;
    f->source.code = FP_NEW_ARRAY(arena, struct fp_block_code, m->cfg->nblocks);
    for (uint32_t b = 0; b < m->cfg->nblocks; b++)
        f->source.code[b] = code_of(arena, machine, m, b);
}
