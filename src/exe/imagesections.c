/* What OUT has beside its segments: section headers, names, the symbol table for debuggers, the
 * map, and the old sections that are not loaded (debug information). These lie at the end of
 * the file. Old sections keep their numbers.
 *
 * Section headers of tables that the loader uses point to the new tables. What the old tables
 * were stays in the file, unused.
 */
#include "exe/imageparts.h"

#include "base/varint.h"
#include "profile/mappack.h"

#include <string.h>

struct section_list {
    struct fp_image *image;
    struct fp_arena *arena;
    struct image_unloaded *to;
    struct fp_writer out;
    struct fp_writer names;
    Elf64_Shdr *headers;
    uint32_t nold, count;
    struct fp_writer symbols, symbol_names; /* new contents of .symtab and .strtab */
    uint32_t symtab, strtab;                /* their numbers, 0: none yet */
};

static uint32_t first_new(const struct fp_image *image)
{
    return image->old.nsections ? (uint32_t)image->old.nsections : 1;
}

uint16_t fp_image_runtime_section(const struct fp_image *image)
{
    return (uint16_t)first_new(image);
}

static uint64_t offset_of(const struct fp_image *image, uint64_t address)
{
    const struct image_zone *zone = fp_image_zone_at(image, address);
    if (zone) return zone->offset + (address - zone->address);
    const unsigned char *at = fp_elfview_at(&image->old, address, 0);
    return at ? (uint64_t)(at - image->old.bytes) : 0;
}

/* Appends bytes at an offset that is a multiple of `align`. */
static uint64_t append(struct section_list *l, const void *bytes, uint64_t len, uint64_t align)
{
    static const unsigned char zeros[4096];
    uint64_t at = l->to->offset + l->out.len, more = align > 1 ? (align - at % align) % align : 0;
    fp_write_bytes(&l->out, zeros, more < sizeof zeros ? more : 0);
    at = l->to->offset + l->out.len;
    if (len) fp_write_bytes(&l->out, bytes, len);
    return at;
}

static uint32_t add_name(struct fp_writer *names, const char *name)
{
    uint32_t at = (uint32_t)names->len;
    fp_write_bytes(names, name, strlen(name) + 1);
    return at;
}

/* ---- symbols for debuggers ---- */

static uint16_t section_at(const struct section_list *l, uint64_t address)
{
    for (uint32_t i = l->count; i-- > 1;) {
        const Elf64_Shdr *s = &l->headers[i];
        if (s->sh_flags & SHF_ALLOC && address - s->sh_addr < s->sh_size) return (uint16_t)i;
    }
    return SHN_ABS;
}

static void add_symbol(struct section_list *l, const struct image_symbol *symbol)
{
    Elf64_Sym s = {.st_name = add_name(&l->symbol_names, symbol->name),
                   .st_info =
                       ELF64_ST_INFO(STB_GLOBAL, symbol->is_function ? STT_FUNC : STT_OBJECT),
                   .st_other = STV_HIDDEN,
                   .st_shndx = section_at(l, symbol->address),
                   .st_value = symbol->address,
                   .st_size = symbol->size};
    fp_write_bytes(&l->symbols, &s, sizeof s);
}

/* The runtime's functions, so that a debugger can name them. */
static void add_runtimes(struct section_list *l)
{
    const struct fp_elfview *runtime = &l->image->runtime;
    const Elf64_Shdr *table = fp_elfview_section(runtime, ".symtab");
    const Elf64_Shdr *strings = fp_elfview_section(runtime, ".strtab");
    if (!table || !strings || !strings->sh_size) return;
    const char *text = (const char *)runtime->bytes + strings->sh_offset;
    if (text[strings->sh_size - 1]) return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, runtime->bytes + table->sh_offset + at, sizeof s);
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
            s.st_name >= strings->sh_size)
            continue;
        /* libc's names are those of functions that stand in for libc's */
        const char *name = text + s.st_name;
        bool own = !strncmp(name, "rt_", 3) || !strncmp(name, "__footpath", 10);
        if (!own) name = fp_arena_printf(l->arena, "__footpath_%s", name);
        add_symbol(l, &(struct image_symbol){name, s.st_value + l->image->delta, s.st_size, true});
    }
}

/* Copies the old symbols, or begins a new table. */
static void begin_symbols(struct section_list *l)
{
    const struct fp_elfview *old = &l->image->old;
    const Elf64_Sym none = {0};
    for (uint32_t i = 1; i < l->nold; i++)
        if (l->headers[i].sh_type == SHT_SYMTAB && l->headers[i].sh_link < l->nold &&
            old->sections[l->headers[i].sh_link].sh_type == SHT_STRTAB) {
            l->symtab = i;
            l->strtab = l->headers[i].sh_link;
        }
    if (!l->symtab) {
        fp_write_bytes(&l->symbols, &none, sizeof none);
        add_name(&l->symbol_names, "");
        return;
    }
    const Elf64_Shdr *symbols = &old->sections[l->symtab], *names = &old->sections[l->strtab];
    fp_write_bytes(&l->symbols, old->bytes + symbols->sh_offset, symbols->sh_size);
    fp_write_bytes(&l->symbol_names, old->bytes + names->sh_offset, names->sh_size);
}

static void end_symbols(struct section_list *l)
{
    for (size_t i = 0; i < l->image->symbols.len; i++) add_symbol(l, &l->image->symbols.at[i]);
    add_runtimes(l);
    if (!l->symtab) {
        l->symtab = l->count++;
        l->strtab = l->count++;
        l->headers[l->symtab] = (Elf64_Shdr){.sh_name = add_name(&l->names, ".symtab"),
                                             .sh_type = SHT_SYMTAB,
                                             .sh_link = l->strtab,
                                             .sh_info = 1,
                                             .sh_addralign = 8,
                                             .sh_entsize = sizeof(Elf64_Sym)};
        l->headers[l->strtab] = (Elf64_Shdr){
            .sh_name = add_name(&l->names, ".strtab"), .sh_type = SHT_STRTAB, .sh_addralign = 1};
    }
    Elf64_Shdr *symbols = &l->headers[l->symtab], *names = &l->headers[l->strtab];
    symbols->sh_offset = append(l, l->symbols.bytes, l->symbols.len, 8);
    symbols->sh_size = l->symbols.len;
    names->sh_offset = append(l, l->symbol_names.bytes, l->symbol_names.len, 1);
    names->sh_size = l->symbol_names.len;
}

/* ---- old sections ---- */

static void move_to(struct section_list *l, Elf64_Shdr *s, enum image_table_kind kind)
{
    s->sh_addr = l->image->tables[kind].address;
    s->sh_size = l->image->tables[kind].size;
    s->sh_offset = offset_of(l->image, s->sh_addr);
}

static bool is_at(const struct section_list *l, const Elf64_Shdr *s, int64_t tag)
{
    return s->sh_addr && s->sh_addr == fp_elfview_dynamic(&l->image->old, tag);
}

static void update_old(struct section_list *l, Elf64_Shdr *s)
{
    const struct fp_image *image = l->image;
    if (!strcmp(fp_elfview_section_name(&image->old, s), ".eh_frame_hdr"))
        move_to(l, s, TABLE_EH_FRAME_HDR);
    if (image->is_static) return; /* the others are as they were */
    if (s->sh_type == SHT_HASH) s->sh_type = SHT_PROGBITS, s->sh_entsize = 0;
    if (s->sh_type == SHT_GNU_HASH) move_to(l, s, TABLE_HASH);
    if (s->sh_type == SHT_GNU_versym) move_to(l, s, TABLE_VERSYM);
    if (s->sh_type == SHT_DYNAMIC) move_to(l, s, TABLE_DYNAMIC);
    if (s->sh_type == SHT_STRTAB && is_at(l, s, DT_STRTAB)) move_to(l, s, TABLE_DYNSTR);
    if (s->sh_type == SHT_RELA && is_at(l, s, DT_RELA)) move_to(l, s, TABLE_RELA);
    if (s->sh_type == SHT_GNU_verneed) {
        move_to(l, s, TABLE_VERNEED);
        s->sh_info = image->nverneed;
    }
    if (s->sh_type == SHT_DYNSYM) {
        move_to(l, s, TABLE_DYNSYM);
        s->sh_info = image->nlocals;
    }
}

static void keep_old(struct section_list *l)
{
    const struct fp_elfview *old = &l->image->old;
    for (uint32_t i = 1; i < l->nold; i++) {
        Elf64_Shdr *s = &l->headers[i];
        if (s->sh_flags & SHF_ALLOC) {
            update_old(l, s);
            continue;
        }
        bool rewritten = i == l->symtab || i == l->strtab || i == old->header.e_shstrndx;
        if (!rewritten && s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL)
            s->sh_offset = append(l, old->bytes + s->sh_offset, s->sh_size,
                                  s->sh_addralign <= 4096 ? s->sh_addralign : 1);
    }
}

/* ---- new ones ---- */

static uint32_t number_of(const struct section_list *l, const char *name)
{
    for (uint32_t i = 1; name && i < l->nold; i++)
        if (!strcmp(fp_elfview_section_name(&l->image->old, &l->image->old.sections[i]), name))
            return i;
    return 0;
}

static void add_new(struct section_list *l, const struct image_section *new)
{
    Elf64_Shdr *s = &l->headers[l->count++];
    *s = (Elf64_Shdr){.sh_name = add_name(&l->names, new->name),
                      .sh_type = new->type,
                      .sh_flags = new->flags,
                      .sh_addr = new->address,
                      .sh_size = new->size,
                      .sh_link = number_of(l, new->link),
                      .sh_info = new->info,
                      .sh_addralign = new->align ? new->align : 1,
                      .sh_entsize = new->entry};
    s->sh_offset = new->bytes ? append(l, new->bytes, new->size, s->sh_addralign)
                              : offset_of(l->image, new->address);
}

static void add_map(struct section_list *l)
{
    struct fp_writer packed = {0};
    fp_map_pack(&packed, l->image->map ? l->image->map : (const unsigned char *)"",
                l->image->map_len);
    add_new(l, &(struct image_section){.name = FP_MAP_SECTION,
                                       .type = SHT_PROGBITS,
                                       .size = packed.len,
                                       .align = 8,
                                       .bytes = packed.bytes});
    fp_writer_free(&packed);
}

static void begin_list(struct section_list *l)
{
    const struct fp_elfview *old = &l->image->old;
    enum { MORE = 4 };
    l->nold = (uint32_t)old->nsections;
    l->count = first_new(l->image);
    l->headers = FP_NEW_ARRAY(l->arena, Elf64_Shdr,
                              l->count + l->image->sections.len + l->image->code.len + MORE);
    if (!l->nold) {
        add_name(&l->names, "");
        return;
    }
    memcpy(l->headers, old->sections, l->nold * sizeof *l->headers);
    const Elf64_Shdr *names = &old->sections[old->header.e_shstrndx];
    fp_write_bytes(&l->names, old->bytes + names->sh_offset, names->sh_size);
}

static void end_list(struct section_list *l)
{
    uint32_t names = l->nold ? l->image->old.header.e_shstrndx : l->count++;
    if (!l->nold)
        l->headers[names] = (Elf64_Shdr){
            .sh_name = add_name(&l->names, ".shstrtab"), .sh_type = SHT_STRTAB, .sh_addralign = 1};
    l->headers[names].sh_offset = append(l, l->names.bytes, l->names.len, 1);
    l->headers[names].sh_size = l->names.len;
    l->to->names = names;
    l->to->nsections = l->count;
    l->to->table = append(l, l->headers, l->count * sizeof *l->headers, 8);
}

bool fp_image_make_sections(struct fp_image *image, uint64_t offset,
                            struct image_unloaded *unloaded, struct fp_error *error)
{
    struct section_list l = {.image = image, .arena = image->arena, .to = unloaded};
    unloaded->offset = offset;
    if (image->old.nsections + image->sections.len + image->code.len >= SHN_LORESERVE - 8u)
        return fp_fail(error, image->old.path, "has too many sections");
    begin_list(&l);
    begin_symbols(&l);
    keep_old(&l);
    for (size_t i = 0; i < image->sections.len; i++) add_new(&l, &image->sections.at[i]);
    add_map(&l);
    for (size_t i = 0; i < image->code.len; i++) add_new(&l, &image->code.at[i]);
    end_symbols(&l);
    end_list(&l);
    unloaded->len = l.out.len;
    unloaded->bytes = fp_arena_alloc(image->arena, l.out.len + 1);
    memcpy(unloaded->bytes, l.out.bytes, l.out.len);
    fp_writer_free(&l.out);
    fp_writer_free(&l.names);
    fp_writer_free(&l.symbols);
    fp_writer_free(&l.symbol_names);
    return true;
}
