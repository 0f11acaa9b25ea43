/* Profiles by source position: see sourceprofile.h. */
#include "report/sourceprofile.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

struct making {
    struct fp_arena *arena;
    struct fp_source_profile *out;
    enum fp_discriminators how;
};

/* ---- discriminators of LLVM: components of variable length, the first is the
 * base, the second the number of copies less than said ---- */

static uint32_t component(uint32_t d)
{
    if (d & 1) return 0;
    d >>= 1;
    return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static uint32_t next_component(uint32_t d)
{
    if (d & 1) return d >> 1;
    return d >> (d & 0x40 ? 14 : 7);
}

static uint32_t discriminator_of(const struct making *m, uint32_t raw)
{
    switch (m->how) {
    case FP_DISCRIMINATORS_NONE: return 0;
    case FP_DISCRIMINATORS_LLVM: return component(raw);
    case FP_DISCRIMINATORS_PLAIN: break;
    }
    return raw;
}

static uint64_t copies(const struct making *m, uint32_t raw)
{
    uint32_t factor = m->how == FP_DISCRIMINATORS_LLVM ? component(next_component(raw)) : 1;
    return factor ? factor : 1;
}

/* ---- nodes ---- */

static struct fp_source_node *new_node(struct making *m, const char *name)
{
    struct fp_source_node *node = FP_NEW(m->arena, struct fp_source_node);
    node->name = name;
    fp_table_init(&node->index, m->arena);
    return node;
}

/* "foo.isra.0" and "foo.llvm.123" are foo to a compiler that starts anew. */
static const char *plain_name(struct fp_arena *arena, const char *name)
{
    const char *dot = strchr(name, '.');
    return dot && dot != name ? fp_arena_strndup(arena, name, (size_t)(dot - name)) : name;
}

static struct fp_source_node *function_node(struct making *m, const char *name)
{
    uint64_t *known = fp_strtable_add(&m->out->by_name, name);
    if (!*known) {
        struct fp_source_node *node = new_node(m, fp_arena_strdup(m->arena, name));
        fp_vec_push(m->arena, &m->out->functions, node);
        *known = m->out->functions.len;
    }
    return m->out->functions.at[*known - 1];
}

static struct fp_source_node *inlined_node(struct making *m, struct fp_source_node *parent,
                                           uint32_t line, uint32_t discriminator, const char *name)
{
    for (size_t i = 0; i < parent->inlined.len; i++) {
        struct fp_source_node *n = parent->inlined.at[i];
        if (n->line == line && n->discriminator == discriminator && !strcmp(n->name, name))
            return n;
    }
    struct fp_source_node *node = new_node(m, fp_arena_strdup(m->arena, name));
    node->line = line;
    node->discriminator = discriminator;
    fp_vec_push(m->arena, &parent->inlined, node);
    return node;
}

static struct fp_source_count *count_at(struct making *m, struct fp_source_node *node,
                                        uint32_t line, uint32_t discriminator)
{
    uint64_t *known = fp_table_add(&node->index, (uint64_t)line << 32 | discriminator);
    if (!*known) {
        struct fp_source_count one = {line, discriminator, 0};
        fp_vec_push(m->arena, &node->counts, one);
        *known = node->counts.len;
    }
    return &node->counts.at[*known - 1];
}

/* ---- one function: counts by position in a tree of its own, which is then
 * added to those of its name ---- */

static uint32_t relative(uint32_t line, uint32_t declared)
{
    return (line - declared) & 0xffff;
}

static const char *scope_name(struct making *m, const struct fp_scope *scope)
{
    const char *name = scope->linkage && *scope->linkage ? scope->linkage : scope->function;
    return plain_name(m->arena, name);
}

static struct fp_source_node *scope_node(struct making *m, const struct fp_function *f,
                                         uint32_t scope, struct fp_source_node *root,
                                         struct fp_source_node **nodes)
{
    const struct fp_scope *s = &f->source.scopes[scope];
    if (nodes[scope]) return nodes[scope];
    if (s->parent == FP_NONE) return nodes[scope] = root;
    struct fp_source_node *parent = scope_node(m, f, s->parent, root, nodes);
    nodes[scope] = inlined_node(m, parent, relative(s->call_line, f->source.scopes[s->parent].line),
                                discriminator_of(m, s->call_discriminator), scope_name(m, s));
    return nodes[scope];
}

static void add_block(struct making *m, const struct fp_function *f, uint32_t block, uint64_t count,
                      struct fp_source_node *root, struct fp_source_node **nodes)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    for (uint32_t i = 0; i < info->npositions; i++) {
        const struct fp_position *p = &f->source.positions[info->first_position + i];
        if (!p->line) continue;
        struct fp_source_node *node = scope_node(m, f, p->scope, root, nodes);
        struct fp_source_count *at =
            count_at(m, node, relative(p->line, f->source.scopes[p->scope].line),
                     discriminator_of(m, p->discriminator));
        uint64_t here = fp_mul_saturated(count, copies(m, p->discriminator));
        if (here > at->count) at->count = here;
    }
}

static void add_tree(struct making *m, struct fp_source_node *into,
                     const struct fp_source_node *from)
{
    into->entries = fp_add_saturated(into->entries, from->entries);
    for (size_t i = 0; i < from->counts.len; i++) {
        const struct fp_source_count *one = &from->counts.at[i];
        struct fp_source_count *sum = count_at(m, into, one->line, one->discriminator);
        sum->count = fp_add_saturated(sum->count, one->count);
    }
    for (size_t i = 0; i < from->inlined.len; i++) {
        const struct fp_source_node *n = from->inlined.at[i];
        add_tree(m, inlined_node(m, into, n->line, n->discriminator, n->name), n);
    }
}

static bool add_function(struct making *m, const struct fp_module *module,
                         const struct fp_function *f, struct fp_error *error)
{
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_arena scratch = {0};
    fp_profile_counts(&scratch, module, f, &counts);
    bool ok = fp_edges_of(&scratch, &counts, &edges, error), ran = false;
    for (uint32_t b = 0; ok && b < f->paths.cfg->nblocks && !ran; b++) ran = edges.blocks[b] != 0;
    if (ran && !f->source.npositions) m->out->without_lines++;
    if (ran && f->source.npositions) {
        struct fp_source_node *root = new_node(m, NULL);
        struct fp_source_node **nodes =
            FP_NEW_ARRAY(&scratch, struct fp_source_node *, f->source.nscopes);
        root->entries = edges.entries;
        for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
            add_block(m, f, b, edges.blocks[b], root, nodes);
        add_tree(m, function_node(m, plain_name(m->arena, f->name)), root);
    }
    fp_arena_free(&scratch);
    return ok;
}

/* ---- order ---- */

static int by_position(const void *a, const void *b)
{
    const struct fp_source_count *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->discriminator > y->discriminator) - (x->discriminator < y->discriminator);
}

static int by_call(const void *a, const void *b)
{
    const struct fp_source_node *x = *(struct fp_source_node *const *)a,
                                *y = *(struct fp_source_node *const *)b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->discriminator != y->discriminator) return x->discriminator < y->discriminator ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_total(const void *a, const void *b)
{
    const struct fp_source_node *x = *(struct fp_source_node *const *)a,
                                *y = *(struct fp_source_node *const *)b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void finish_node(struct fp_source_node *node)
{
    if (node->counts.len)
        qsort(node->counts.at, node->counts.len, sizeof *node->counts.at, by_position);
    if (node->inlined.len)
        qsort(node->inlined.at, node->inlined.len, sizeof *node->inlined.at, by_call);
    for (size_t i = 0; i < node->counts.len; i++)
        node->total = fp_add_saturated(node->total, node->counts.at[i].count);
    for (size_t i = 0; i < node->inlined.len; i++) {
        finish_node(node->inlined.at[i]);
        node->total = fp_add_saturated(node->total, node->inlined.at[i]->total);
    }
}

bool fp_source_profile_make(struct fp_arena *arena, const struct fp_profile *profile,
                            enum fp_discriminators how, struct fp_source_profile *out,
                            struct fp_error *error)
{
    struct making m = {arena, out, how};
    *out = (struct fp_source_profile){.arena = arena};
    fp_strtable_init(&out->by_name, arena);
    for (size_t k = 0; k < profile->modules.len; k++) {
        const struct fp_module *module = profile->modules.at[k];
        for (size_t i = 0; i < module->program.nfunctions; i++) {
            const struct fp_function *f = &module->program.functions[i];
            if (!(f->flags & FP_FUNCTION_SKIPPED) && !add_function(&m, module, f, error))
                return false;
        }
    }
    for (size_t i = 0; i < out->functions.len; i++) finish_node(out->functions.at[i]);
    if (out->functions.len)
        qsort(out->functions.at, out->functions.len, sizeof *out->functions.at, by_total);
    return true;
}
