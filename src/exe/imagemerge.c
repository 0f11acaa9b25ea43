/* Makes the runtime a part of the image: its segments get new addresses, its relocations are
 * added to the program's, and its start and end become the first constructor and destructor.
 *
 * Relocations are written in the order that the loader wants: those without a symbol first, then
 * those with one, then the indirect functions, of which ours is the first: it calls
 * the runtime before any other code of the file runs (runtime/exe/rt_early.c).
 */
#include "exe/imageparts.h"

#include <string.h>

/* ---- segments ---- */

/* Linkers make two segments of it, or more: each goes where it was, relative to the others. */
static bool add_segment(struct fp_image *image, const Elf64_Phdr *s, struct fp_error *error)
{
    unsigned kind = s->p_flags & PF_W ? ZONE_RUNTIME_DATA : ZONE_RUNTIME;
    struct image_zone *zone = &image->zones[kind];
    uint64_t address = s->p_vaddr + image->delta, gap = address - zone->address - zone->len, at;
    const unsigned char *from = fp_elfview_at(&image->runtime, s->p_vaddr, s->p_filesz);
    if (!from || address < zone->address + zone->len)
        return fp_fail(error, image->runtime.path,
                       "is not footpath's runtime; install footpath again");
    if (!fp_image_reserve(image, kind, gap + s->p_filesz, 1, &at, error) ||
        !fp_image_patch(image, address, from, s->p_filesz))
        return false;
    zone->len = address - zone->address + s->p_memsz;
    return true;
}

bool fp_image_add_runtime(struct fp_image *image, struct fp_error *error)
{
    const struct fp_elfview *runtime = &image->runtime;
    size_t len;
    image->delta = image->zones[ZONE_RUNTIME].address - runtime->base;
    for (size_t i = 0; i < runtime->nsegments; i++) {
        const Elf64_Phdr *s = &runtime->segments[i];
        if (s->p_type == PT_TLS)
            return fp_fail(error, runtime->path, "has storage for threads, which has no place");
        if (s->p_type == PT_LOAD && !add_segment(image, s, error)) return false;
    }
    uint64_t note = fp_elfview_note(runtime, "footpath", FP_NOTE_EXE, &len);
    int64_t distance;
    const unsigned char *content = note && len == 8 ? fp_elfview_at(runtime, note, len) : NULL;
    if (!content) return fp_fail(error, runtime->path, "is not footpath's runtime");
    memcpy(&distance, content, sizeof distance);
    image->record = note + (uint64_t)distance + image->delta;
    const struct fp_exe_record *record = (const void *)fp_image_bytes(image, image->record, &len);
    if (!record || len < sizeof *record || record->version != FP_EXE_VERSION)
        return fp_fail(error, runtime->path,
                       "is of another version of footpath; install footpath again");
    if (image->is_static != (record->entries[FP_EXE_ENTRY] != 0))
        return fp_fail(error, runtime->path, "is the runtime of %s programs",
                       image->is_static ? "dynamically linked" : "statically linked");
    fp_image_section(image, ".footpath.text", image->zones[ZONE_RUNTIME].address,
                     image->zones[ZONE_RUNTIME].len);
    fp_image_section(image, ".footpath.data", image->zones[ZONE_RUNTIME_DATA].address,
                     image->zones[ZONE_RUNTIME_DATA].file_len);
    return true;
}

/* ---- relocations ---- */

struct relocations {
    const Elf64_Rela *at;
    size_t count;
};

static bool relocations_of(const struct fp_elfview *view, struct relocations *dyn,
                           struct relocations *plt, struct fp_error *error)
{
    const void *at;
    if (!fp_elfview_array(view, DT_RELA, DT_RELASZ, sizeof *dyn->at, &at, &dyn->count))
        return fp_fail(error, view->path, "has damaged relocations");
    dyn->at = at;
    if (!fp_elfview_array(view, DT_JMPREL, DT_PLTRELSZ, sizeof *plt->at, &at, &plt->count) ||
        (plt->count && fp_elfview_dynamic(view, DT_PLTREL) != DT_RELA))
        return fp_fail(error, view->path, "has damaged relocations");
    plt->at = at;
    return true;
}

static bool nsymbols_covers(const struct fp_image *image, uint32_t symbol, size_t nsymbols,
                            struct fp_error *error)
{
    if (symbol < nsymbols) return true;
    return fp_fail(error, image->old.path, "has a relocation for a symbol that it does not have");
}

static Elf64_Rela renumbered(const struct fp_image *image, const Elf64_Rela *old)
{
    Elf64_Rela rela = *old;
    uint32_t symbol = (uint32_t)ELF64_R_SYM(old->r_info);
    rela.r_info = ELF64_R_INFO((uint64_t)image->renumbered[symbol], ELF64_R_TYPE(old->r_info));
    return rela;
}

/* The program's own, by the new numbers of symbols. */
static bool add_old(struct fp_image *image, const struct relocations *dyn, size_t nsymbols,
                    struct fp_error *error)
{
    for (size_t i = 0; i < dyn->count; i++) {
        const Elf64_Rela *r = &dyn->at[i];
        if (!nsymbols_covers(image, (uint32_t)ELF64_R_SYM(r->r_info), nsymbols, error))
            return false;
        if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE)
            fp_vec_push(image->arena, &image->relative, *r);
        else
            fp_vec_push(image->arena, &image->symbolic, renumbered(image, r));
    }
    return true;
}

/* Those of the procedure linkage table stay where they are: its entries know their numbers. */
static bool renumber_plt(struct fp_image *image, const struct relocations *plt, size_t nsymbols,
                         struct fp_error *error)
{
    uint64_t address = fp_elfview_dynamic(&image->old, DT_JMPREL);
    for (size_t i = 0; i < plt->count; i++) {
        if (!nsymbols_covers(image, (uint32_t)ELF64_R_SYM(plt->at[i].r_info), nsymbols, error))
            return false;
        Elf64_Rela rela = renumbered(image, &plt->at[i]);
        fp_image_patch(image, address + i * sizeof rela, &rela, sizeof rela);
    }
    return true;
}

/* One of the runtime's. A symbol that the runtime defines itself is bound to it. */
static bool add_own(struct fp_image *image, const Elf64_Rela *r, const Elf64_Sym *symbols,
                    size_t nsymbols, struct fp_error *error)
{
    uint64_t at = r->r_offset + image->delta;
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), number = (uint32_t)ELF64_R_SYM(r->r_info);
    if (type == R_X86_64_RELATIVE)
        return fp_image_pointer(image, at, (uint64_t)r->r_addend + image->delta);
    bool known = type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
    if (!known || number >= nsymbols)
        return fp_fail(error, image->runtime.path,
                       "has a relocation of type %u, which has no place", type);
    uint64_t addend = type == R_X86_64_64 ? (uint64_t)r->r_addend : 0;
    if (symbols[number].st_shndx != SHN_UNDEF)
        return fp_image_pointer(image, at, symbols[number].st_value + image->delta + addend);
    if (image->is_static && ELF64_ST_BIND(symbols[number].st_info) == STB_WEAK)
        return true; /* nobody defines it: the word stays 0 */
    if (image->is_static)
        return fp_fail(error, image->runtime.path, "needs libc, which static programs do not lend");
    if (type == R_X86_64_JUMP_SLOT) type = R_X86_64_GLOB_DAT;
    Elf64_Rela rela = {at, ELF64_R_INFO((uint64_t)image->imported[number], type), (int64_t)addend};
    fp_vec_push(image->arena, &image->symbolic, rela);
    return true;
}

static bool add_runtimes(struct fp_image *image, struct fp_error *error)
{
    struct relocations sets[2];
    const Elf64_Shdr *section = fp_elfview_section(&image->runtime, ".dynsym");
    if (!section || !relocations_of(&image->runtime, &sets[0], &sets[1], error)) return false;
    size_t nsymbols = section->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols =
        (const void *)fp_elfview_at(&image->runtime, section->sh_addr, section->sh_size);
    for (int set = 0; set < 2; set++)
        for (size_t i = 0; i < sets[set].count; i++)
            if (!add_own(image, &sets[set].at[i], symbols, nsymbols, error)) return false;
    return true;
}

bool fp_image_relocate_runtime(struct fp_image *image, struct fp_exe_record *record,
                               struct fp_error *error)
{
    uint64_t at, size;
    if (!add_runtimes(image, error)) return false;
    size = image->relative.len * sizeof *image->relative.at;
    if (!fp_image_put(image, FP_IMAGE_READ, image->relative.at, size, 8, &at, error)) return false;
    record->relocations = (struct fp_exe_part){(int64_t)(at - image->record), size};
    return true;
}

static bool is_indirect(const Elf64_Rela *rela)
{
    return ELF64_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE;
}

static bool write_relocations(struct fp_image *image, struct fp_error *error)
{
    size_t count = image->relative.len + image->symbolic.len + 1, n = 0;
    Elf64_Rela *all = FP_NEW_ARRAY(image->arena, Elf64_Rela, count);
    for (size_t i = 0; i < image->relative.len; i++) all[n++] = image->relative.at[i];
    for (size_t i = 0; i < image->symbolic.len; i++)
        if (!is_indirect(&image->symbolic.at[i])) all[n++] = image->symbolic.at[i];
    all[n++] =
        (Elf64_Rela){fp_image_entry(image, FP_EXE_EARLY_WORD), ELF64_R_INFO(0, R_X86_64_IRELATIVE),
                     (int64_t)fp_image_entry(image, FP_EXE_EARLY)};
    for (size_t i = 0; i < image->symbolic.len; i++)
        if (is_indirect(&image->symbolic.at[i])) all[n++] = image->symbolic.at[i];
    struct image_table *table = &image->tables[TABLE_RELA];
    table->size = n * sizeof *all;
    return fp_image_put(image, FP_IMAGE_READ, all, table->size, 8, &table->address, error);
}

/* ---- the dynamic section ---- */

static void set_tag(struct fp_image *image, int64_t tag, uint64_t value)
{
    for (size_t i = 0; i < image->dynamic.len; i++)
        if (image->dynamic.at[i].d_tag == tag) {
            image->dynamic.at[i].d_un.d_val = value;
            return;
        }
    fp_vec_push(image->arena, &image->dynamic, (Elf64_Dyn){tag, {value}});
}

/* What the loader puts into a word: by a relocation, or as it is in the file. */
static bool copy_word(struct fp_image *image, const struct relocations *dyn, uint64_t from,
                      uint64_t to)
{
    size_t len;
    for (size_t i = 0; i < dyn->count; i++) {
        if (dyn->at[i].r_offset != from) continue;
        Elf64_Rela rela = dyn->at[i];
        if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
            return fp_image_pointer(image, to, (uint64_t)rela.r_addend);
        rela = renumbered(image, &rela);
        rela.r_offset = to;
        fp_vec_push(image->arena, &image->symbolic, rela);
        return true;
    }
    const unsigned char *word = fp_image_bytes(image, from, &len);
    uint64_t value;
    if (!word || len < sizeof value) return false;
    memcpy(&value, word, sizeof value);
    return value == 0 || fp_image_pointer(image, to, value);
}

/* An array of functions with ours in front. Words that are 0 in front of the loader's view are
 * left as they are. */
static bool put_in_front(struct fp_image *image, const struct relocations *dyn, int64_t tag,
                         int64_t size_tag, uint64_t function, struct fp_error *error)
{
    uint64_t old = fp_elfview_dynamic(&image->old, tag),
             size = old ? fp_elfview_dynamic(&image->old, size_tag) : 0, at;
    if (size % 8 || (size && !fp_elfview_at(&image->old, old, size)))
        return fp_fail(error, image->old.path, "has a damaged array of constructors");
    if (!fp_image_reserve(image, FP_IMAGE_DATA, size + 8, 8, &at, error)) return false;
    bool ok = fp_image_pointer(image, at, function);
    for (uint64_t i = 0; i < size; i += 8) ok &= copy_word(image, dyn, old + i, at + 8 + i);
    set_tag(image, tag, at);
    set_tag(image, size_tag, size + 8);
    return ok || fp_fail(error, image->old.path, "has a damaged array of constructors");
}

/* The program starts before the constructors of its libraries; a library, first of its own. */
static bool add_life(struct fp_image *image, const struct relocations *dyn, struct fp_error *error)
{
    bool program = image->program;
    return put_in_front(image, dyn, program ? DT_PREINIT_ARRAY : DT_INIT_ARRAY,
                        program ? DT_PREINIT_ARRAYSZ : DT_INIT_ARRAYSZ,
                        fp_image_entry(image, FP_EXE_START), error) &&
           put_in_front(image, dyn, DT_FINI_ARRAY, DT_FINI_ARRAYSZ,
                        fp_image_entry(image, FP_EXE_FINISH), error);
}

static size_t count_symbols(const struct fp_image *image)
{
    size_t n = 0;
    while (image->renumbered[n] != UINT32_MAX) n++;
    return n;
}

bool fp_image_merge_relocations(struct fp_image *image, struct fp_error *error)
{
    struct relocations dyn, plt;
    size_t nsymbols = count_symbols(image);
    for (size_t i = 0; i < image->old.ndynamic; i++)
        if (image->old.dynamic[i].d_tag != DT_HASH)
            fp_vec_push(image->arena, &image->dynamic, image->old.dynamic[i]);
    return relocations_of(&image->old, &dyn, &plt, error) &&
           add_old(image, &dyn, nsymbols, error) && add_life(image, &dyn, error) &&
           renumber_plt(image, &plt, nsymbols, error) && add_runtimes(image, error) &&
           write_relocations(image, error);
}

bool fp_image_merge_dynamic(struct fp_image *image, struct fp_error *error)
{
    const struct image_table *tables = image->tables;
    set_tag(image, DT_SYMTAB, tables[TABLE_DYNSYM].address);
    set_tag(image, DT_STRTAB, tables[TABLE_DYNSTR].address);
    set_tag(image, DT_STRSZ, tables[TABLE_DYNSTR].size);
    set_tag(image, DT_SYMENT, sizeof(Elf64_Sym));
    set_tag(image, DT_GNU_HASH, tables[TABLE_HASH].address);
    set_tag(image, DT_VERSYM, tables[TABLE_VERSYM].address);
    set_tag(image, DT_VERNEED, tables[TABLE_VERNEED].address);
    set_tag(image, DT_VERNEEDNUM, image->nverneed);
    set_tag(image, DT_RELA, tables[TABLE_RELA].address);
    set_tag(image, DT_RELASZ, tables[TABLE_RELA].size);
    set_tag(image, DT_RELAENT, sizeof(Elf64_Rela));
    set_tag(image, DT_RELACOUNT, image->relative.len);
    if (image->runpath) set_tag(image, DT_RUNPATH, image->runpath);
    if (image->rpath) set_tag(image, DT_RPATH, image->rpath);
    for (size_t i = 0; i < image->needed.len; i++)
        fp_vec_push(image->arena, &image->dynamic, (Elf64_Dyn){DT_NEEDED, {image->needed.at[i]}});
    fp_vec_push(image->arena, &image->dynamic, (Elf64_Dyn){DT_NULL, {0}});
    struct image_table *table = &image->tables[TABLE_DYNAMIC];
    table->size = image->dynamic.len * sizeof *image->dynamic.at;
    return fp_image_put(image, FP_IMAGE_DATA, image->dynamic.at, table->size, 8, &table->address,
                        error);
}
