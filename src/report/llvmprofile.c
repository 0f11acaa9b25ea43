/* Counters of clang's from counts of ours: see llvmprofile.h. */
#include "report/llvmprofile.h"

#include "base/checked.h"
#include "base/md5.h"
#include "base/table.h"
#include "count/values.h"
#include "paths/edges.h"
#include "paths/valuecounts.h"
#include "profile/symbols.h"

#include <stdlib.h>
#include <string.h>

/* Static functions of several folders have this name. Symbols do not tell which one is meant. */
#define AMBIGUOUS UINT64_C(1)

struct llvm_making {
    struct fp_arena *arena;
    struct fp_llvm_profile *out;
    struct fp_strtable names; /* name_in_file -> the hash of the name in LLVM's profile */
};

uint64_t fp_llvm_name_hash(const char *name)
{
    unsigned char digest[16];
    uint64_t hash = 0;
    fp_md5(name, strlen(name), digest);
    for (int i = 7; i >= 0; i--) hash = hash << 8 | digest[i];
    return hash;
}

/* Symbols name the file of a static function without its folder, or with it. */
static const char *name_in_file(struct fp_arena *arena, const char *file, const char *name)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    return file ? fp_arena_printf(arena, "%s;%s", slash ? slash + 1 : file, name) : name;
}

/* LLVM writes the file of a static function in front of its name. */
static const char *file_of(struct fp_arena *arena, const struct fp_llvm_counters *llvm,
                           const char *name)
{
    size_t len = strlen(llvm->name), tail = strlen(name);
    bool is_static = len > tail + 1 && strchr(";:", llvm->name[len - tail - 1]);
    return is_static ? fp_arena_strndup(arena, llvm->name, len - tail - 1) : NULL;
}

/* ---- values ---- */

/* The sizes that LLVM's runtime tells apart: up to 8 each, then powers of two, what lies between
 * two of them, and all above 512. */
static uint64_t size_class(uint64_t size)
{
    if (size <= 8) return size;
    if (size >= 513) return 513;
    if (!(size & (size - 1))) return size;
    return (UINT64_C(1) << (63 - __builtin_clzll(size))) + 1;
}

/* A function that the profile does not know is 0, as in LLVM's own. Of the names of a destructor it
 * knows one. */
static uint64_t value_of(struct llvm_making *m, const struct fp_symbols *symbols,
                         const struct fp_function *f, uint64_t key)
{
    if (fp_value_kind(key) == FP_VALUE_SIZE) return size_class(key & FP_VALUE_MASK);
    uint64_t address = fp_value_target(key, f->layout.path_address);
    const struct fp_symbol *one = fp_symbols_find(symbols, address),
                           *end = symbols->at + symbols->len;
    for (; one && one < end && one->address == address; one++) {
        const uint64_t *known =
            fp_strtable_find(&m->names, name_in_file(m->arena, one->file, one->name));
        if (known) return *known != AMBIGUOUS ? *known : 0;
    }
    return 0;
}

static void add_value(struct fp_llvm_site *site, struct fp_llvm_value *room, uint64_t value,
                      uint64_t count)
{
    if (!site->values) site->values = room;
    for (size_t i = 0; i < site->nvalues; i++)
        if (site->values[i].value == value) {
            site->values[i].count = fp_add_saturated(site->values[i].count, count);
            return;
        }
    site->values[site->nvalues++] = (struct fp_llvm_value){value, count};
}

static int larger_first(const void *a, const void *b)
{
    const struct fp_llvm_value *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->value > y->value) - (x->value < y->value);
}

static void sort_sites(struct fp_llvm_function *to)
{
    enum { MOST = 255 }; /* a byte says how many there are */
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < to->nsites[kind]; i++) {
            struct fp_llvm_site *site = &to->sites[kind][i];
            if (site->nvalues)
                qsort(site->values, site->nvalues, sizeof *site->values, larger_first);
            if (site->nvalues > MOST) site->nvalues = MOST;
        }
}

/* Values are sorted by key, so those of a site follow each other. */
static void add_values(struct llvm_making *m, const struct fp_module *module,
                       const struct fp_function *f, const uint64_t *blocks,
                       const struct fp_symbols *symbols, struct fp_llvm_function *to)
{
    struct fp_value_count *values;
    size_t n = fp_values_of(m->arena, module, f, blocks, &values);
    struct fp_llvm_value *room = FP_NEW_ARRAY(m->arena, struct fp_llvm_value, n);
    for (size_t i = 0; i < n; i++) {
        enum fp_value_kind kind = fp_value_kind(values[i].key);
        uint32_t site = fp_value_site(values[i].key);
        if (site >= to->nsites[kind]) continue;
        add_value(&to->sites[kind][site], room + i, value_of(m, symbols, f, values[i].key),
                  values[i].count);
    }
    sort_sites(to);
}

/* ---- functions ---- */

static bool add_function(struct llvm_making *m, const struct fp_module *module,
                         const struct fp_function *f, const struct fp_symbols *symbols,
                         struct fp_error *error)
{
    struct fp_llvm_function to = {.name = f->llvm.name,
                                  .hash = f->llvm.hash,
                                  .ncounters = f->llvm.ncounters,
                                  .nsites = {f->llvm.ntargets, f->llvm.nsizes}};
    struct fp_edge_counts edges;
    struct fp_counts counts;
    fp_profile_counts(m->arena, module, f, &counts);
    if (!fp_edges_of(m->arena, &counts, &edges, error)) return false;
    to.counters = FP_NEW_ARRAY(m->arena, uint64_t, to.ncounters);
    for (uint32_t i = 0; i < to.ncounters; i++)
        if (f->llvm.blocks[i] != FP_NONE) to.counters[i] = edges.blocks[f->llvm.blocks[i]];
    for (int kind = 0; kind < 2; kind++)
        to.sites[kind] = FP_NEW_ARRAY(m->arena, struct fp_llvm_site, to.nsites[kind]);
    if (f->flags & FP_FUNCTION_VALUES) add_values(m, module, f, edges.blocks, symbols, &to);
    fp_vec_push(m->arena, &m->out->functions, to);
    return true;
}

static bool add_module(struct llvm_making *m, const struct fp_module *module,
                       struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_symbols symbols = {0};
    bool ok = true;
    fp_symbols_read(&arena, module->program.path, &symbols);
    for (size_t i = 0; i < module->program.nfunctions && ok; i++) {
        const struct fp_function *f = &module->program.functions[i];
        if (f->flags & FP_FUNCTION_LLVM)
            ok = add_function(m, module, f, &symbols, error);
        else
            m->out->without += !(f->flags & FP_FUNCTION_SKIPPED);
    }
    fp_arena_free(&arena);
    return ok;
}

static void note_names(struct llvm_making *m, const struct fp_module *module)
{
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        const struct fp_function *f = &module->program.functions[i];
        if (!(f->flags & FP_FUNCTION_LLVM)) continue;
        uint64_t hash = fp_llvm_name_hash(f->llvm.name);
        const char *file = file_of(m->arena, &f->llvm, f->name);
        uint64_t *known = fp_strtable_add(&m->names, name_in_file(m->arena, file, f->name));
        *known = !*known || *known == hash ? hash : AMBIGUOUS;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct fp_llvm_function *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->hash > y->hash) - (x->hash < y->hash);
}

/* One inline function in a program and a library is one function. Values are those of the first. */
static void join_same(struct fp_llvm_profile *out)
{
    size_t n = 0;
    for (size_t i = 0; i < out->functions.len; i++) {
        struct fp_llvm_function *f = &out->functions.at[i],
                                *last = n ? &out->functions.at[n - 1] : NULL;
        if (!last || by_name(f, last) || f->ncounters != last->ncounters) {
            out->functions.at[n++] = *f;
            continue;
        }
        for (uint32_t k = 0; k < f->ncounters; k++)
            last->counters[k] = fp_add_saturated(last->counters[k], f->counters[k]);
    }
    out->functions.len = n;
}

bool fp_llvm_profile_make(struct fp_arena *arena, const struct fp_profile *profile,
                          struct fp_llvm_profile *out, struct fp_error *error)
{
    struct llvm_making m = {arena, out, {0}};
    *out = (struct fp_llvm_profile){0};
    fp_strtable_init(&m.names, arena);
    for (size_t i = 0; i < profile->modules.len; i++) note_names(&m, profile->modules.at[i]);
    for (size_t i = 0; i < profile->modules.len; i++)
        if (!add_module(&m, profile->modules.at[i], error)) return false;
    if (out->functions.len)
        qsort(out->functions.at, out->functions.len, sizeof *out->functions.at, by_name);
    join_same(out);
    return true;
}
