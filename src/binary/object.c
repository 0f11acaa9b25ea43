/* Reading ELF files through elfutils: see object.h.
 *
 * Symbols come from the file itself or, where it is stripped, from its debug
 * file, which is looked for by build-id and by .gnu_debuglink, in the folders of
 * FOOTPATH_DEBUG_PATH, under /usr/lib/debug and beside the file, as debuggers do.
 */
#include "binary/object.h"

#include "base/io.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sections and segments ---- */

static void read_segments(struct fp_object *o, Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X))
            continue;
        struct fp_segment segment = {header.p_vaddr, header.p_offset, header.p_filesz};
        fp_vec_push(o->arena, &o->segments, segment);
    }
}

static void add_section(struct fp_object *o, Elf_Scn *scn, const GElf_Shdr *header,
                        const char *name)
{
    Elf_Data *data = elf_rawdata(scn, NULL);
    if (!data || !data->d_buf || !(header->sh_flags & SHF_ALLOC)) return;
    if (!name) name = "";
    struct fp_section section = {.address = header->sh_addr,
                                 .size = data->d_size,
                                 .bytes = data->d_buf,
                                 .code = (header->sh_flags & SHF_EXECINSTR) != 0,
                                 .writable = (header->sh_flags & SHF_WRITE) != 0,
                                 .settled = !strcmp(name, ".data.rel.ro"),
                                 .name = name};
    fp_vec_push(o->arena, &o->sections, section);
}

static void read_build_id(struct fp_object *o, Elf_Scn *scn)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    GElf_Nhdr note;
    size_t name, content;
    for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &content));) {
        if (note.n_type != NT_GNU_BUILD_ID || o->build_id_len) continue;
        o->build_id = (unsigned char *)fp_arena_strndup(o->arena, (char *)data->d_buf + content,
                                                        note.n_descsz);
        o->build_id_len = note.n_descsz;
    }
}

/* ---- symbols ---- */

/* Of several symbols at one address: the longest, then a global one, then by name, so that
 * every run chooses the same. */
static int by_address(const void *a, const void *b)
{
    const struct fp_object_symbol *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->global != y->global) return x->global ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void read_symbols(struct fp_object *o, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF) continue;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name || !*name) continue;
        struct fp_object_symbol function = {symbol.st_value, symbol.st_size, name,
                                            GELF_ST_BIND(symbol.st_info) != STB_LOCAL};
        fp_vec_push(o->arena, &o->functions, function);
    }
}

static const struct fp_section *section_at(const struct fp_object *o, uint64_t address)
{
    for (size_t i = 0; i < o->sections.len; i++) {
        const struct fp_section *s = &o->sections.at[i];
        if (address - s->address < s->size) return s;
    }
    return NULL;
}

/* One per address; a symbol without a size reaches to the next one. */
static void arrange_symbols(struct fp_object *o)
{
    struct fp_object_symbol *all = o->functions.at;
    size_t kept = 0;
    if (o->functions.len) qsort(all, o->functions.len, sizeof *all, by_address);
    for (size_t i = 0; i < o->functions.len; i++) {
        const struct fp_section *section = section_at(o, all[i].address);
        if (!section || !section->code) continue;
        if (kept && all[i].address == all[kept - 1].address) continue;
        if (kept && all[i].address < all[kept - 1].address + all[kept - 1].size) {
            fp_vec_push(o->arena, &o->inner, all[i].address);
            continue;
        }
        uint64_t end = section->address + section->size;
        if (kept && !all[kept - 1].size)
            all[kept - 1].size = all[i].address - all[kept - 1].address;
        if (all[i].size > end - all[i].address) all[i].size = end - all[i].address;
        all[kept++] = all[i];
    }
    if (kept && !all[kept - 1].size) {
        const struct fp_section *section = section_at(o, all[kept - 1].address);
        all[kept - 1].size = section->address + section->size - all[kept - 1].address;
    }
    o->functions.len = kept;
}

/* ---- relocations: imported names, and pointers in tables ---- */

static void read_relocations(struct fp_object *o, Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    Elf_Scn *symbols = header->sh_link ? elf_getscn(elf, header->sh_link) : NULL;
    Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    GElf_Shdr symbol_header;
    if (symbols && !gelf_getshdr(symbols, &symbol_header)) return;
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (!gelf_getrela(data, (int)i, &rela)) continue;
        unsigned type = GELF_R_TYPE(rela.r_info);
        if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE) {
            *fp_table_add(&o->pointers, rela.r_offset) = (uint64_t)rela.r_addend;
            if (type == R_X86_64_IRELATIVE) *fp_table_add(&o->resolved, rela.r_offset) = 1;
            continue;
        }
        if (!symbol_data || !gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        bool address = type == R_X86_64_64 || type == R_X86_64_GLOB_DAT;
        if (address && symbol.st_shndx != SHN_UNDEF)
            *fp_table_add(&o->pointers, rela.r_offset) = symbol.st_value + (uint64_t)rela.r_addend;
        const char *name = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
        if (!name || !*name) continue;
        *fp_table_add(&o->imports, rela.r_offset) = (uintptr_t)name;
        if (symbol.st_shndx != SHN_UNDEF) *fp_table_add(&o->defined, (uintptr_t)name) = 1;
    }
}

static void add_packed_pointer(struct fp_object *o, uint64_t address)
{
    uint64_t value;
    if (fp_table_find(&o->pointers, address) || !fp_object_pointer(o, address, &value)) return;
    *fp_table_add(&o->pointers, address) = value;
}

/* DT_RELR: an even word is the address of a pointer, an odd one a bitmap of the 63 words behind
 * the last address. The pointers themselves are in the file. */
static void read_packed_relocations(struct fp_object *o, const struct fp_section *packed)
{
    uint64_t next = 0, word;
    for (size_t at = 0; at + 8 <= packed->size; at += 8) {
        memcpy(&word, packed->bytes + at, 8);
        if (!(word & 1)) {
            add_packed_pointer(o, word);
            next = word + 8;
            continue;
        }
        for (unsigned bit = 1; bit < 64; bit++)
            if (word >> bit & 1) add_packed_pointer(o, next + 8 * (bit - 1));
        next += 8 * 63;
    }
}

/* An entry of the PLT is found by its jump through the GOT: [bnd] jmp *x(%rip). */
static void name_plt(struct fp_object *o, const struct fp_section *plt)
{
    for (size_t at = 0; at + 6 <= plt->size; at += 8) {
        for (size_t k = at; k < at + 8 && k + 6 <= plt->size; k++) {
            if (plt->bytes[k] != 0xff || plt->bytes[k + 1] != 0x25) continue;
            int32_t distance;
            memcpy(&distance, plt->bytes + k + 2, 4);
            uint64_t slot = plt->address + k + 6 + (uint64_t)(int64_t)distance;
            const uint64_t *name = fp_table_find(&o->imports, slot);
            if (name) {
                uint64_t text = *name;
                uint64_t *entry = fp_table_add(&o->imports, plt->address + (k & ~(size_t)7));
                if (!*entry) *entry = text;
            }
        }
    }
}

/* ---- the file ---- */

static void read_sections(struct fp_object *o, Elf *elf, bool main_file)
{
    size_t names;
    Elf_Scn *scn = NULL;
    if (elf_getshdrstrndx(elf, &names) < 0) return;
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header)) continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            read_symbols(o, elf, scn, &header);
        if (!main_file) continue;
        if (header.sh_type == SHT_NOTE) read_build_id(o, scn);
        if (header.sh_type == SHT_RELA) read_relocations(o, elf, scn, &header);
        if (header.sh_type != SHT_NOBITS)
            add_section(o, scn, &header, elf_strptr(elf, names, header.sh_name));
    }
}

static void read_all_packed(struct fp_object *o)
{
    for (size_t i = 0; i < o->sections.len; i++)
        if (!strcmp(o->sections.at[i].name, ".relr.dyn"))
            read_packed_relocations(o, &o->sections.at[i]);
}

static void name_all_plts(struct fp_object *o, Elf *elf)
{
    size_t names;
    Elf_Scn *scn = NULL;
    if (elf_getshdrstrndx(elf, &names) < 0) return;
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS) continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        const struct fp_section *section = section_at(o, header.sh_addr);
        if (name && !strncmp(name, ".plt", 4) && section) name_plt(o, section);
    }
}

/* ---- debug files ---- */

static bool same_build(const struct fp_object *o, Elf *elf)
{
    const void *id;
    ssize_t len = dwelf_elf_gnu_build_id(elf, &id);
    return !o->build_id_len ||
           (len == (ssize_t)o->build_id_len && !memcmp(id, o->build_id, (size_t)len));
}

static bool try_debug_file(struct fp_object *o, const char *path)
{
    struct fp_error ignored = {0};
    int fd = fp_open_regular(path, &ignored);
    if (fd < 0) return false;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && same_build(o, elf)) {
        o->debug_path = path;
        o->debug_fd = fd;
        o->debug_elf = elf;
        return true;
    }
    if (elf) elf_end(elf);
    close(fd);
    return false;
}

static bool find_by_build_id(struct fp_object *o, const char *folder, size_t len)
{
    char hex[130];
    for (size_t i = 0; i < o->build_id_len && i < 64; i++)
        snprintf(hex + 2 * i, 3, "%02x", o->build_id[i]);
    return try_debug_file(o, fp_arena_printf(o->arena, "%.*s/.build-id/%.2s/%s.debug", (int)len,
                                             folder, hex, hex + 2));
}

/* In the folders that FOOTPATH_DEBUG_PATH names, with colons between, then in the system's. */
static bool find_in_folders(struct fp_object *o)
{
    static const char system[] = "/usr/lib/debug";
    const char *at = getenv("FOOTPATH_DEBUG_PATH");
    if (o->build_id_len < 2) return false;
    for (; at && *at; at += strspn(at, ":")) {
        size_t len = strcspn(at, ":");
        if (len && find_by_build_id(o, at, len)) return true;
        at += len;
    }
    return find_by_build_id(o, system, strlen(system));
}

static void find_debug_file(struct fp_object *o)
{
    if (find_in_folders(o)) return;
    GElf_Word checksum;
    const char *link = dwelf_elf_gnu_debuglink(o->elf, &checksum);
    const char *slash = strrchr(o->path, '/');
    int folder = slash ? (int)(slash - o->path) : 1;
    const char *from = slash ? o->path : ".";
    if (!link) return;
    if (try_debug_file(o, fp_arena_printf(o->arena, "%.*s/%s", folder, from, link)) ||
        try_debug_file(o, fp_arena_printf(o->arena, "%.*s/.debug/%s", folder, from, link)))
        return;
    try_debug_file(o, fp_arena_printf(o->arena, "/usr/lib/debug/%.*s/%s", folder, from, link));
}

static void open_dwarf(struct fp_object *o)
{
    o->dwarf = dwarf_begin_elf(o->elf, DWARF_C_READ, NULL);
    Dwarf_Off next;
    size_t header;
    bool has_units = o->dwarf && !dwarf_nextcu(o->dwarf, 0, &next, &header, NULL, NULL, NULL);
    if (has_units || !o->debug_elf) return;
    if (o->dwarf) dwarf_end(o->dwarf);
    o->dwarf = dwarf_begin_elf(o->debug_elf, DWARF_C_READ, NULL);
}

static bool read_object(struct fp_object *o, struct fp_error *error)
{
    GElf_Ehdr header;
    if (elf_kind(o->elf) != ELF_K_ELF || !gelf_getehdr(o->elf, &header))
        return fp_fail(error, o->path, "expected an ELF file");
    if (header.e_machine != EM_X86_64)
        return fp_fail(error, o->path, "expected code for x86-64, got machine %u",
                       header.e_machine);
    o->fixed = header.e_type == ET_EXEC;
    o->entry = header.e_entry;
    read_segments(o, o->elf);
    read_sections(o, o->elf, true);
    read_all_packed(o);
    find_debug_file(o);
    if (o->debug_elf) read_sections(o, o->debug_elf, false);
    name_all_plts(o, o->elf);
    arrange_symbols(o);
    open_dwarf(o);
    return true;
}

bool fp_object_open(struct fp_arena *arena, const char *path, struct fp_object *o,
                    struct fp_error *error)
{
    *o = (struct fp_object){
        .arena = arena, .path = fp_arena_strdup(arena, path), .fd = -1, .debug_fd = -1};
    elf_version(EV_CURRENT);
    fp_table_init(&o->imports, arena);
    fp_table_init(&o->defined, arena);
    fp_table_init(&o->pointers, arena);
    fp_table_init(&o->resolved, arena);
    fp_table_init(&o->endless, arena);
    o->fd = fp_open_regular(path, error);
    if (o->fd < 0) return false;
    o->elf = elf_begin(o->fd, ELF_C_READ_MMAP, NULL);
    bool ok =
        o->elf ? read_object(o, error) : fp_fail(error, path, "cannot read: %s", elf_errmsg(-1));
    if (!ok) fp_object_close(o);
    return ok;
}

void fp_object_close(struct fp_object *o)
{
    if (o->dwarf) dwarf_end(o->dwarf);
    if (o->debug_elf) elf_end(o->debug_elf);
    if (o->elf) elf_end(o->elf);
    if (o->debug_fd >= 0) close(o->debug_fd);
    if (o->fd >= 0) close(o->fd);
    o->dwarf = NULL, o->debug_elf = o->elf = NULL, o->fd = o->debug_fd = -1;
}

/* ---- questions ---- */

uint64_t fp_object_address(const struct fp_object *o, uint64_t offset)
{
    for (size_t i = 0; i < o->segments.len; i++) {
        const struct fp_segment *s = &o->segments.at[i];
        if (offset - s->offset < s->size) return s->address + (offset - s->offset);
    }
    return 0;
}

const unsigned char *fp_object_bytes(const struct fp_object *o, uint64_t address, size_t *len)
{
    const struct fp_section *s = section_at(o, address);
    if (!s) return NULL;
    *len = s->size - (address - s->address);
    return s->bytes + (address - s->address);
}

const unsigned char *fp_object_constant(const struct fp_object *o, uint64_t address, size_t *len)
{
    const struct fp_section *s = section_at(o, address);
    return s && !s->writable ? fp_object_bytes(o, address, len) : NULL;
}

bool fp_object_constant_pointer(const struct fp_object *o, uint64_t address, uint64_t *value)
{
    const struct fp_section *s = section_at(o, address);
    const uint64_t *pointer = fp_table_find(&o->pointers, address);
    if (!s || !s->settled || !pointer || fp_table_find(&o->resolved, address)) return false;
    *value = *pointer;
    return true;
}

bool fp_object_pointer(const struct fp_object *o, uint64_t address, uint64_t *value)
{
    const uint64_t *relocated = fp_table_find(&o->pointers, address);
    size_t len;
    const unsigned char *bytes = fp_object_bytes(o, address, &len);
    if (relocated)
        *value = *relocated;
    else if (bytes && len >= 8)
        memcpy(value, bytes, 8);
    return relocated || (bytes && len >= 8);
}

const struct fp_object_symbol *fp_object_function(const struct fp_object *o, uint64_t address)
{
    size_t low = 0, high = o->functions.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->functions.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct fp_object_symbol *found = &o->functions.at[low - 1];
    return address - found->address < found->size ? found : NULL;
}

const char *fp_object_import(const struct fp_object *o, uint64_t address)
{
    const uint64_t *name = fp_table_find(&o->imports, address);
    return name ? (const char *)(uintptr_t)*name : NULL;
}

bool fp_object_defines(const struct fp_object *o, const char *name)
{
    return fp_table_find(&o->defined, (uintptr_t)name) != NULL;
}
