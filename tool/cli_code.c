/* Instructions of executables: see cli_code.h. They are read from the file that ran, which has a
 * copy of the original code, or from the one that --binary names. */
#include "cli_code.h"

#include "base/names.h"
#include "binary/disassembly.h"
#include "exe/originalcode.h"

#include <inttypes.h>

struct cli_module_code {
    struct fp_original_code *code;
    const char *missing;   /* why there is none */
    struct fp_table names; /* address of a function -> its name (a pointer) */
};

static struct fp_original_code *open_one(struct cli_code *c, const char *path,
                                         const struct fp_module_id *id, const char **missing)
{
    struct fp_error error = {0};
    struct fp_original_code *code =
        fp_original_open(&c->arena, path, id->build_id, id->build_id_len, &error);
    if (!code) *missing = fp_arena_printf(&c->arena, "%s: %s", path, error.what);
    return code;
}

static struct cli_module_code *open_module(struct cli_code *c, const struct fp_module *module)
{
    uint64_t *known = fp_table_add(&c->opened, (uintptr_t)module);
    if (*known) return (struct cli_module_code *)(uintptr_t)*known;
    struct cli_module_code *m = FP_NEW(&c->arena, struct cli_module_code);
    *known = (uintptr_t)m;
    m->missing = "the profile does not name the program";
    if (c->binary) m->code = open_one(c, c->binary, &module->id, &m->missing);
    if (!m->code && module->id.path)
        m->code = open_one(c, module->id.path, &module->id, &m->missing);
    fp_table_init(&m->names, &c->arena);
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        const struct fp_function *f = &module->program.functions[i];
        if (f->source.address) *fp_table_add(&m->names, f->source.address) = (uintptr_t)f->name;
    }
    return m;
}

/* "<+0x78>", "<memcpy>", or "" where the target has no name. `call`: what the map says of it. */
static const char *target_text(struct fp_arena *arena, const struct cli_module_code *m,
                               const struct fp_function *f, uint64_t target, const char *call)
{
    const uint64_t *name = fp_table_find(&m->names, target);
    if (call) return fp_arena_printf(arena, " <%s>", call);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (f->source.code[b].address == target && target >= f->source.address)
            return fp_arena_printf(arena, " <+0x%" PRIx64 ">", target - f->source.address);
    return name ? fp_arena_printf(arena, " <%s>", (const char *)(uintptr_t)*name) : "";
}

/* The index of the first call of a block. */
static uint32_t first_call(const struct fp_function *f, uint32_t block)
{
    uint32_t i = 0;
    while (i < f->source.ncalls && f->source.calls[i].block < block) i++;
    return i;
}

static struct fp_code_lines disassemble(struct fp_arena *arena, const struct cli_module_code *m,
                                        const struct fp_function *f, uint32_t block,
                                        const unsigned char *bytes)
{
    FP_VEC(struct fp_code_line) all = {0};
    const struct fp_block_code *code = &f->source.code[block];
    uint32_t call = first_call(f, block);
    for (uint32_t at = 0; at < code->size;) {
        struct fp_insn_text one =
            fp_insn_disassemble(arena, bytes + at, code->size - at, code->address + at);
        const char *callee = NULL;
        if (one.is_call && call < f->source.ncalls && f->source.calls[call].block == block)
            callee = f->source.calls[call++].callee;
        const char *to = one.target || callee ? target_text(arena, m, f, one.target, callee) : "";
        struct fp_code_line line = {code->address + at,
                                    fp_plain(arena, fp_arena_printf(arena, "%s%s", one.text, to))};
        fp_vec_push(arena, &all, line);
        at += one.length;
    }
    return (struct fp_code_lines){.at = all.at, .len = all.len};
}

static struct fp_code_lines read_block(void *context, struct fp_arena *arena,
                                       const struct fp_module *module, const struct fp_function *f,
                                       uint32_t block)
{
    const struct cli_module_code *m = open_module(context, module);
    const struct fp_block_code *code = &f->source.code[block];
    size_t len = 0;
    if (!m->code) return (struct fp_code_lines){.missing = m->missing};
    const unsigned char *bytes = fp_original_bytes(m->code, code->address, &len);
    if (!bytes || len < code->size)
        return (struct fp_code_lines){.missing = "the program has no code there"};
    return disassemble(arena, m, f, block, bytes);
}

void cli_code_init(struct cli_code *c, const char *binary)
{
    *c = (struct cli_code){.binary = binary};
    fp_table_init(&c->opened, &c->arena);
    c->reader = (struct fp_code_reader){read_block, c};
}

void cli_code_free(struct cli_code *c)
{
    fp_arena_free(&c->arena);
}
