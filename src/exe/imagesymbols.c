/* The dynamic symbols of the image: the program's own, what the runtime imports from libc, and
 * the runtime's functions that take the place of libc's.
 *
 * In a program those functions are exported, so that libraries call them too, as in a program that
 * footpath-cc linked; unless the program has a function of that name itself. In a library, and
 * for the functions that only concern the rewritten file (FP_EXE_INSTEAD_PREFIX), the file's own
 * relocations are bound to a symbol that no other module sees.
 *
 * The loader wants symbols in an order: local ones, those that are not looked up, then the
 * others by their place in the hash table. So all symbols get new numbers.
 */
#include "exe/imageversions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A symbol of the new table. */
struct new_symbol {
    Elf64_Sym symbol;
    const char *name;
    uint16_t version;
    bool local, hashed;
    uint32_t old, own; /* numbers in the old table and in the runtime's, or UINT32_MAX */
    uint32_t hash, bucket;
};

struct symbol_table {
    const Elf64_Sym *symbols;
    const uint16_t *versions; /* or NULL */
    size_t count;
    uint64_t strings, strings_len;
};

struct symbol_merge {
    struct fp_image *image;
    struct fp_arena *arena;
    struct symbol_table old, own;
    struct image_versions versions, own_versions;
    struct image_strings strings;
    FP_VEC(struct new_symbol) all;
    uint32_t *redirected; /* old symbol -> 1 + entry of `all` that its relocations use */
};

/* ---- reading ---- */

/* How many symbols there are is known from the section, or from a hash table. */
static uint64_t symbol_count(const struct fp_elfview *view)
{
    uint64_t at = fp_elfview_dynamic(view, DT_SYMTAB), hash = fp_elfview_dynamic(view, DT_HASH),
             strings = fp_elfview_dynamic(view, DT_STRTAB);
    for (size_t i = 1; i < view->nsections; i++)
        if (view->sections[i].sh_type == SHT_DYNSYM && view->sections[i].sh_addr == at)
            return view->sections[i].sh_size / sizeof(Elf64_Sym);
    uint32_t chains;
    const unsigned char *bytes = hash ? fp_elfview_at(view, hash, 8) : NULL;
    if (bytes) return memcpy(&chains, bytes + 4, 4), chains;
    return strings > at ? (strings - at) / sizeof(Elf64_Sym) : 0;
}

static bool read_table(const struct fp_elfview *view, struct symbol_table *table,
                       struct fp_error *error)
{
    uint64_t versions = fp_elfview_dynamic(view, DT_VERSYM);
    table->count = symbol_count(view);
    table->strings = fp_elfview_dynamic(view, DT_STRTAB);
    table->strings_len = fp_elfview_dynamic(view, DT_STRSZ);
    table->symbols = (const void *)fp_elfview_at(view, fp_elfview_dynamic(view, DT_SYMTAB),
                                                 table->count * sizeof(Elf64_Sym));
    if (versions) table->versions = (const void *)fp_elfview_at(view, versions, table->count * 2);
    bool ok = table->symbols && table->count && table->strings_len &&
              (uintptr_t)table->symbols % 8 == 0 && (uintptr_t)table->versions % 2 == 0 &&
              (!versions || table->versions) &&
              fp_elfview_at(view, table->strings, table->strings_len);
    return ok || fp_fail(error, view->path, "has a damaged table of symbols");
}

static const char *name_of(const struct fp_elfview *view, const struct symbol_table *table,
                           size_t i)
{
    const char *name = table->symbols[i].st_name < table->strings_len
                           ? fp_elfview_string(view, table->strings + table->symbols[i].st_name)
                           : NULL;
    return name ? name : "";
}

/* ---- the program's ---- */

static void add_old(struct symbol_merge *m)
{
    for (size_t i = 0; i < m->old.count; i++) {
        const Elf64_Sym *s = &m->old.symbols[i];
        struct new_symbol new = {.symbol = *s,
                                 .name = name_of(&m->image->old, &m->old, i),
                                 .version = m->old.versions ? m->old.versions[i]
                                            : s->st_shndx   ? 1
                                                            : 0,
                                 .old = (uint32_t)i,
                                 .own = UINT32_MAX};
        new.local = i == 0 || ELF64_ST_BIND(s->st_info) == STB_LOCAL;
        new.hashed = !new.local && (s->st_shndx != SHN_UNDEF || s->st_value);
        fp_vec_push(m->arena, &m->all, new);
    }
}

static struct new_symbol *find_old(const struct symbol_merge *m, const char *name)
{
    for (size_t i = 1; i < m->old.count; i++)
        if (!m->all.at[i].local && !strcmp(m->all.at[i].name, name)) return &m->all.at[i];
    return NULL;
}

/* ---- the runtime's ---- */

static bool same_version(const struct symbol_merge *m, const struct new_symbol *symbol,
                         const struct image_version *version)
{
    const struct image_version *has = fp_image_version(&m->versions, symbol->version);
    if (!version || !has) return !version && !has;
    return !strcmp(version->file, has->file) && !strcmp(version->name, has->name);
}

static void import(struct symbol_merge *m, uint32_t i)
{
    const Elf64_Sym *s = &m->own.symbols[i];
    const char *name = name_of(&m->image->runtime, &m->own, i);
    uint16_t number = m->own.versions ? m->own.versions[i] : 0;
    const struct image_version *version =
        number > 1 ? fp_image_version(&m->own_versions, number) : NULL;
    struct new_symbol *known = find_old(m, name);
    bool usable = known && known->symbol.st_shndx == SHN_UNDEF && known->own == UINT32_MAX &&
                  ELF64_ST_BIND(known->symbol.st_info) == ELF64_ST_BIND(s->st_info) &&
                  same_version(m, known, version);
    if (usable) {
        known->own = i;
        return;
    }
    struct new_symbol new = {.symbol = *s, .name = name, .old = UINT32_MAX, .own = i};
    new.version = version ? fp_image_need_version(m->arena, &m->versions, version) : number;
    new.symbol.st_name = fp_image_add_string(m->arena, &m->strings, name);
    fp_vec_push(m->arena, &m->all, new);
}

static Elf64_Sym defined(const struct symbol_merge *m, const Elf64_Sym *s, uint32_t name,
                         unsigned binding)
{
    Elf64_Sym symbol = *s;
    symbol.st_name = name;
    symbol.st_value += m->image->delta;
    symbol.st_shndx = fp_image_runtime_section(m->image);
    symbol.st_info = (unsigned char)ELF64_ST_INFO(binding, STT_FUNC);
    symbol.st_other = binding == STB_LOCAL ? STV_HIDDEN : STV_DEFAULT;
    return symbol;
}

/* All modules of the process call it. */
static void export(struct symbol_merge *m, const Elf64_Sym *s, const char *name)
{
    struct new_symbol *known = find_old(m, name);
    if (known && known->symbol.st_shndx != SHN_UNDEF) return; /* the program's own */
    struct new_symbol new = {.name = name, .old = UINT32_MAX, .own = UINT32_MAX};
    if (!known) {
        fp_vec_push(m->arena, &m->all, new);
        known = &m->all.at[m->all.len - 1];
        known->symbol.st_name = fp_image_add_string(m->arena, &m->strings, name);
    }
    known->symbol = defined(m, s, known->symbol.st_name, STB_GLOBAL);
    known->version = 1;
    known->hashed = true;
}

/* Only this file calls it, where it would call libc's. */
static void redirect(struct symbol_merge *m, const Elf64_Sym *s, const char *name)
{
    struct new_symbol *known = find_old(m, name);
    if (!known || known->symbol.st_shndx != SHN_UNDEF) return;
    uint32_t old = known->old;
    struct new_symbol new = {.name = name, .local = true, .old = UINT32_MAX, .own = UINT32_MAX};
    new.symbol = defined(m, s, fp_image_add_string(m->arena, &m->strings, name), STB_LOCAL);
    fp_vec_push(m->arena, &m->all, new);
    m->redirected[old] = (uint32_t)m->all.len;
}

static void add_runtimes(struct symbol_merge *m)
{
    static const char instead[] = FP_EXE_INSTEAD_PREFIX;
    for (uint32_t i = 1; i < m->own.count; i++) {
        const Elf64_Sym *s = &m->own.symbols[i];
        const char *name = name_of(&m->image->runtime, &m->own, i);
        if (s->st_shndx == SHN_UNDEF)
            import(m, i);
        else if (ELF64_ST_TYPE(s->st_info) != STT_FUNC)
            continue;
        else if (!strncmp(name, instead, sizeof instead - 1))
            redirect(m, s, name + sizeof instead - 1);
        else if (m->image->program)
            export(m, s, name);
        else
            redirect(m, s, name);
    }
}

/* The libraries whose versions the runtime needs must be loaded. */
static void need_libraries(struct symbol_merge *m)
{
    const struct fp_elfview *old = &m->image->old;
    for (size_t i = 0; i < m->own_versions.needs.len; i++) {
        const char *file = m->own_versions.needs.at[i].file;
        if (i && !strcmp(file, m->own_versions.needs.at[i - 1].file)) continue;
        bool has = false;
        for (size_t k = 0; k < old->ndynamic; k++) {
            if (old->dynamic[k].d_tag != DT_NEEDED) continue;
            const char *name = fp_elfview_string(old, m->old.strings + old->dynamic[k].d_un.d_val);
            has |= name && !strcmp(name, file);
        }
        if (!has)
            fp_vec_push(m->arena, &m->image->needed,
                        fp_image_add_string(m->arena, &m->strings, file));
    }
}

/* A search path with $ORIGIN replaced by the folder of the program, in front of the path as it
 * was: OUT may lie elsewhere. Returns its place among the strings, or 0. */
static uint64_t search_path(struct symbol_merge *m, int64_t tag)
{
    const struct fp_elfview *old = &m->image->old;
    uint64_t at = fp_elfview_dynamic(old, tag);
    const char *path = at ? fp_elfview_string(old, m->old.strings + at) : NULL;
    bool depends = path && strlen(path) < PATH_MAX && strstr(path, "ORIGIN");
    char *real = depends ? realpath(old->path, NULL) : NULL;
    if (!real) return 0;
    *strrchr(real, '/') = 0;
    const char *new = "";
    for (const char *from = path; *from;) {
        size_t len = !strncmp(from, "$ORIGIN", 7) ? 7 : !strncmp(from, "${ORIGIN}", 9) ? 9 : 0;
        new = len ? fp_arena_printf(m->arena, "%s%s", new, real)
                  : fp_arena_printf(m->arena, "%s%c", new, *from);
        from += len ? len : 1;
    }
    free(real);
    return fp_image_add_string(m->arena, &m->strings,
                               fp_arena_printf(m->arena, "%s:%s", new, path));
}

/* ---- order ---- */

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static int rank(const struct new_symbol *s)
{
    return s->local ? 0 : s->hashed ? 2 : 1;
}

static int by_place(const void *a, const void *b)
{
    const struct new_symbol *x = *(const struct new_symbol *const *)a,
                            *y = *(const struct new_symbol *const *)b;
    if (rank(x) != rank(y)) return rank(x) - rank(y);
    if (x->hashed && x->bucket != y->bucket) return x->bucket < y->bucket ? -1 : 1;
    return x < y ? -1 : x > y;
}

struct hash_sizes {
    uint32_t buckets, first, words, shift;
};

static struct hash_sizes choose_sizes(const struct symbol_merge *m)
{
    struct hash_sizes sizes = {.words = 1, .shift = 6};
    uint32_t hashed = 0;
    for (size_t i = 0; i < m->all.len; i++) {
        hashed += m->all.at[i].hashed;
        sizes.first += !m->all.at[i].hashed;
    }
    sizes.buckets = hashed / 3 + 1;
    while (sizes.words * 64 < hashed * 12) sizes.words *= 2, sizes.shift++;
    return sizes;
}

static struct new_symbol **put_in_order(struct symbol_merge *m, const struct hash_sizes *sizes)
{
    struct new_symbol **order = FP_NEW_ARRAY(m->arena, struct new_symbol *, m->all.len);
    for (size_t i = 0; i < m->all.len; i++) {
        struct new_symbol *s = order[i] = &m->all.at[i];
        s->hash = hash_of(s->name);
        s->bucket = s->hash % sizes->buckets;
        m->image->nlocals += s->local;
    }
    qsort(order, m->all.len, sizeof(struct new_symbol *), by_place);
    return order;
}

static void number_symbols(struct symbol_merge *m, struct new_symbol **order)
{
    struct fp_image *image = m->image;
    uint32_t *place = FP_NEW_ARRAY(m->arena, uint32_t, m->all.len);
    image->renumbered = FP_NEW_ARRAY(m->arena, uint32_t, m->old.count + 1);
    image->imported = FP_NEW_ARRAY(m->arena, uint32_t, m->own.count);
    for (uint32_t i = 0; i < m->all.len; i++) {
        place[order[i] - m->all.at] = i;
        if (order[i]->old != UINT32_MAX) image->renumbered[order[i]->old] = i;
        if (order[i]->own != UINT32_MAX) image->imported[order[i]->own] = i;
    }
    for (size_t i = 0; i < m->old.count; i++)
        if (m->redirected[i]) image->renumbered[i] = place[m->redirected[i] - 1];
    image->renumbered[m->old.count] = UINT32_MAX;
}

/* ---- writing ---- */

static bool put_table(struct fp_image *image, enum image_table_kind kind, const void *bytes,
                      uint64_t size, struct fp_error *error)
{
    image->tables[kind].size = size;
    return fp_image_put(image, FP_IMAGE_READ, bytes, size, 8, &image->tables[kind].address, error);
}

static bool write_hash(struct symbol_merge *m, struct new_symbol **order,
                       const struct hash_sizes *sizes, struct fp_error *error)
{
    size_t hashed = m->all.len - sizes->first;
    size_t size = 16 + 8 * (size_t)sizes->words + 4 * (sizes->buckets + hashed);
    uint32_t *head = fp_arena_alloc(m->arena, size);
    uint64_t *bloom = (uint64_t *)(head + 4);
    uint32_t *buckets = (uint32_t *)(bloom + sizes->words), *chain = buckets + sizes->buckets;
    memcpy(head, (uint32_t[]){sizes->buckets, sizes->first, sizes->words, sizes->shift}, 16);
    for (size_t i = 0; i < hashed; i++) {
        const struct new_symbol *s = order[sizes->first + i];
        bool last = i + 1 == hashed || order[sizes->first + i + 1]->bucket != s->bucket;
        bloom[s->hash / 64 % sizes->words] |=
            (uint64_t)1 << s->hash % 64 | (uint64_t)1 << (s->hash >> sizes->shift) % 64;
        if (!buckets[s->bucket]) buckets[s->bucket] = (uint32_t)(sizes->first + i);
        chain[i] = (s->hash & ~1u) | last;
    }
    return put_table(m->image, TABLE_HASH, head, size, error);
}

static bool write_symbols(struct symbol_merge *m, struct new_symbol **order, struct fp_error *error)
{
    Elf64_Sym *symbols = FP_NEW_ARRAY(m->arena, Elf64_Sym, m->all.len);
    uint16_t *versions = FP_NEW_ARRAY(m->arena, uint16_t, m->all.len);
    for (size_t i = 0; i < m->all.len; i++) {
        symbols[i] = order[i]->symbol;
        versions[i] = order[i]->version;
    }
    return put_table(m->image, TABLE_DYNSYM, symbols, m->all.len * sizeof *symbols, error) &&
           put_table(m->image, TABLE_VERSYM, versions, m->all.len * sizeof *versions, error);
}

bool fp_image_merge_symbols(struct fp_image *image, struct fp_error *error)
{
    struct symbol_merge m = {.image = image, .arena = image->arena};
    if (!read_table(&image->old, &m.old, error) || !read_table(&image->runtime, &m.own, error) ||
        !fp_image_read_versions(m.arena, &image->old, &m.versions, error) ||
        !fp_image_read_versions(m.arena, &image->runtime, &m.own_versions, error))
        return false;
    fp_vec_reserve(m.arena, &m.strings.bytes, m.old.strings_len);
    memcpy(m.strings.bytes.at, fp_elfview_at(&image->old, m.old.strings, m.old.strings_len),
           m.old.strings_len);
    m.strings.bytes.len = m.old.strings_len;
    m.redirected = FP_NEW_ARRAY(m.arena, uint32_t, m.old.count);
    add_old(&m);
    add_runtimes(&m);
    need_libraries(&m);
    image->runpath = search_path(&m, DT_RUNPATH);
    image->rpath = search_path(&m, DT_RPATH);
    struct hash_sizes sizes = choose_sizes(&m);
    struct new_symbol **order = put_in_order(&m, &sizes);
    number_symbols(&m, order);
    return write_hash(&m, order, &sizes, error) && write_symbols(&m, order, error) &&
           fp_image_write_versions(image, &m.versions, &m.strings, error) &&
           put_table(image, TABLE_DYNSTR, m.strings.bytes.at, m.strings.bytes.len, error);
}
