/* Room for new code and data in an executable (exe/image.h): opening the file, refusing what
 * cannot be rewritten, zones of addresses, and what the code adds to them.
 *
 * A zone is a range of addresses behind the old ones that is filled from its start. How much a
 * zone may hold is decided when the file is opened, from the size of its code, so that addresses
 * are known at once; what is left over is a gap between two segments and costs nothing.
 */
#include "exe/imageparts.h"

#include "base/io.h"
#include "exe/originalcode.h"

#include <string.h>
#include <sys/stat.h>

/* ---- what is refused ---- */

static bool has_tag(const struct fp_elfview *old, int64_t tag, uint64_t bits)
{
    return fp_elfview_dynamic(old, tag) & bits;
}

static const char *dynamic_name(const struct fp_elfview *old, int64_t tag)
{
    uint64_t at = fp_elfview_dynamic(old, tag);
    return at ? fp_elfview_string(old, fp_elfview_dynamic(old, DT_STRTAB) + at) : NULL;
}

static bool is_loader_or_libc(const struct fp_elfview *old)
{
    const char *name = dynamic_name(old, DT_SONAME);
    return name && (!strncmp(name, "ld-linux", 8) || !strncmp(name, "libc.so", 7) ||
                    !strncmp(name, "libpthread.so", 13) || !strncmp(name, "libdl.so", 8));
}

/* Instrumented by footpath-cc, or rewritten: the runtime leaves a note. */
static const char *counts_already(const struct fp_elfview *old)
{
    size_t len;
    if (fp_elfview_note(old, "footpath", FP_NOTE_EXE, &len)) return "was rewritten already";
    if (fp_elfview_note(old, "footpath", FP_NOTE_MODULE, &len) ||
        fp_elfview_section(old, ".footpath_map"))
        return "was built with footpath-cc and counts already; run it as it is";
    return NULL;
}

static bool refuse_unfit(struct fp_image *image, struct fp_error *error)
{
    const struct fp_elfview *old = &image->old;
    const Elf64_Phdr *interp = fp_elfview_segment(old, PT_INTERP);
    const char *loader = interp ? fp_elfview_string(old, interp->p_vaddr) : NULL;
    const char *counts = counts_already(old);
    if (image->mode & (S_ISUID | S_ISGID))
        return fp_fail(
            error, old->path,
            "is set-user-id or set-group-id; copy it without that bit and rewrite the copy");
    if (counts) return fp_fail(error, old->path, "%s", counts);
    if (!image->is_static && !old->dynamic)
        return fp_fail(error, old->path, "has no dynamic section, which its loader needs");
    if (loader && strstr(loader, "musl"))
        return fp_fail(error, old->path, "is for musl; only programs for glibc can be rewritten");
    if (is_loader_or_libc(old))
        return fp_fail(error, old->path, "is a part of libc, which the runtime needs itself");
    if (!fp_image_has_unwind(old) && !(image->is_static && fp_elfview_section(old, ".eh_frame")))
        return fp_fail(error, old->path,
                       "has no .eh_frame, which says where functions are; build it without "
                       "-fno-asynchronous-unwind-tables");
    return true;
}

/* ---- zones ---- */

static uint64_t pages(uint64_t size)
{
    return (size + IMAGE_PAGE - 1) & ~(uint64_t)(IMAGE_PAGE - 1);
}

static void place_zone(struct fp_image *image, unsigned zone, uint64_t *at, uint64_t most,
                       uint32_t flags, bool has_bytes)
{
    image->zones[zone] = (struct image_zone){
        .address = *at, .most = pages(most), .flags = flags, .has_bytes = has_bytes};
    *at += pages(most);
}

/* The first zone begins behind the old segments, in memory and in the file alike: the program
 * headers lie there, and kernels take an offset in the file for a distance from the first
 * segment. */
static void place_zones(struct fp_image *image, uint64_t runtime_text, uint64_t runtime_data)
{
    enum { SOME = 1 << 20 };
    const struct fp_elfview *old = &image->old;
    uint64_t at = old->end, text = old->text;
    if (at - old->base < old->file_end) at = old->base + pages(old->file_end);
    /* traps and marks take six times the code, counters eight times, new code less than twice */
    place_zone(image, FP_IMAGE_READ, &at, 14 * text + 2 * old->file_end + SOME, PF_R, true);
    place_zone(image, FP_IMAGE_CODE, &at, 6 * text + SOME, PF_R | PF_X, true);
    place_zone(image, ZONE_RUNTIME, &at, runtime_text, PF_R | PF_X, true);
    place_zone(image, ZONE_RUNTIME_DATA, &at, runtime_data, PF_R | PF_W, true);
    place_zone(image, FP_IMAGE_DATA, &at, text + SOME, PF_R | PF_W, true);
    place_zone(image, FP_IMAGE_TABLES, &at, text / 4 + SOME, PF_R | PF_W, true);
    place_zone(image, FP_IMAGE_DIRECT, &at, 4 * text + SOME, PF_R | PF_W, false);
    place_zone(image, FP_IMAGE_COUNTERS, &at, (uint64_t)1 << 31, PF_R | PF_W, false);
}

static bool grow(struct fp_image *image, struct image_zone *zone, uint64_t len)
{
    if (!zone->has_bytes) return true;
    if (len > zone->cap) {
        uint64_t cap = zone->cap * 2 < len ? len + IMAGE_PAGE : zone->cap * 2;
        unsigned char *bytes = fp_arena_alloc(image->arena, cap);
        if (zone->file_len) memcpy(bytes, zone->bytes, zone->file_len);
        zone->bytes = bytes;
        zone->cap = cap;
    }
    zone->file_len = len;
    return true;
}

bool fp_image_reserve(struct fp_image *image, enum fp_image_zone kind, uint64_t size,
                      uint64_t align, uint64_t *address, struct fp_error *error)
{
    static const uint64_t reach = (uint64_t)0x7ff00000; /* of 32-bit distances, less some */
    struct image_zone *zone = &image->zones[kind];
    /* only new code names counters */
    uint64_t from =
        kind == FP_IMAGE_COUNTERS ? image->zones[FP_IMAGE_CODE].address : image->old.base;
    uint64_t at = (zone->len + align - 1) & ~(align - 1);
    if (at > zone->most || size > zone->most - at || zone->address + at + size - from > reach)
        return fp_fail(
            error, image->old.path, "is too large: no room for %s within reach of its code",
            kind == FP_IMAGE_COUNTERS ? "counters (--cuts=fit takes the fewest)" : "new code");
    grow(image, zone, at + size);
    zone->len = at + size;
    *address = zone->address + at;
    return true;
}

uint64_t fp_image_next(const struct fp_image *image, enum fp_image_zone zone)
{
    return image->zones[zone].address + image->zones[zone].len;
}

struct image_zone *fp_image_zone_at(const struct fp_image *image, uint64_t address)
{
    for (unsigned i = 0; i < NZONES; i++) {
        const struct image_zone *zone = &image->zones[i];
        if (address - zone->address < zone->len) return (struct image_zone *)zone;
    }
    return NULL;
}

static unsigned char *bytes_at(const struct fp_image *image, uint64_t address, size_t *len)
{
    struct image_zone *zone = fp_image_zone_at(image, address);
    if (zone) {
        uint64_t at = address - zone->address;
        *len = at < zone->file_len ? zone->file_len - at : 0;
        return *len ? zone->bytes + at : NULL;
    }
    *len = fp_elfview_room(&image->old, address);
    return fp_elfview_at(&image->old, address, *len);
}

const unsigned char *fp_image_bytes(const struct fp_image *image, uint64_t address, size_t *len)
{
    return bytes_at(image, address, len);
}

bool fp_image_patch(struct fp_image *image, uint64_t address, const void *bytes, size_t len)
{
    size_t room;
    unsigned char *at = bytes_at(image, address, &room);
    if (!at || len > room) return false;
    memcpy(at, bytes, len);
    return true;
}

bool fp_image_put(struct fp_image *image, unsigned zone, const void *bytes, uint64_t len,
                  uint64_t align, uint64_t *address, struct fp_error *error)
{
    return fp_image_reserve(image, zone, len, align, address, error) &&
           (!len || fp_image_patch(image, *address, bytes, len));
}

bool fp_image_pointer(struct fp_image *image, uint64_t at, uint64_t target)
{
    if (!fp_image_patch(image, at, &target, sizeof target)) return false;
    Elf64_Rela rela = {at, ELF64_R_INFO(0, R_X86_64_RELATIVE), (int64_t)target};
    if (!image->fixed) fp_vec_push(image->arena, &image->relative, rela);
    return true;
}

bool fp_image_hash_table(struct fp_image *image, uint64_t table, uint64_t direct, uint32_t ndirect,
                         uint32_t nsparse)
{
    uint32_t counts[2] = {ndirect, nsparse};
    uint64_t empty = fp_image_runtime_symbol(image, FP_HASH_EMPTY_SYMBOL);
    bool ok = fp_image_patch(image, table + offsetof(struct fp_hash_table, ndirect), counts,
                             sizeof counts);
    if (!nsparse)
        ok &= fp_image_pointer(image, table + offsetof(struct fp_hash_table, level), empty);
    if (direct)
        ok &= fp_image_pointer(image, table + offsetof(struct fp_hash_table, direct), direct);
    return ok;
}

/* ---- what is added ---- */

uint32_t fp_image_trap_function(struct fp_image *image, uint64_t map_id, uint64_t counters)
{
    fp_vec_push(image->arena, &image->trap_functions, map_id);
    fp_vec_push(image->arena, &image->sums_at, (uint32_t)(counters - image->old.base));
    return (uint32_t)image->trap_functions.len - 1;
}

uint32_t fp_image_trap_sum(struct fp_image *image, const struct fp_image_sum *sum)
{
    struct fp_exe_sum one = {.to = (uint32_t)(sum->counter - image->old.base),
                             .disp = sum->disp,
                             .home = sum->home,
                             .base = sum->base};
    size_t n = image->trap_sums.len;
    if (n && !memcmp(&image->trap_sums.at[n - 1], &one, sizeof one)) return (uint32_t)n;
    fp_vec_push(image->arena, &image->trap_sums, one);
    return (uint32_t)n + 1;
}

void fp_image_trap(struct fp_image *image, uint64_t old_address, uint64_t new_address,
                   uint32_t function, uint32_t sum)
{
    struct fp_exe_trap trap = {(uint32_t)(old_address - image->old.base),
                               (uint32_t)(new_address - image->old.base), function, sum};
    fp_vec_push(image->arena, &image->traps, trap);
}

void fp_image_mark(struct fp_image *image, uint64_t address, uint32_t function, uint32_t block,
                   int32_t where)
{
    struct fp_exe_mark mark = {(uint32_t)(address - image->zones[FP_IMAGE_CODE].address), function,
                               block, where};
    fp_vec_push(image->arena, &image->marks, mark);
}

void fp_image_fde(struct fp_image *image, uint64_t pc, uint64_t fde)
{
    fp_vec_push(image->arena, &image->fdes, (struct fp_unwind_entry){pc, fde});
}

void fp_image_symbol(struct fp_image *image, const char *name, uint64_t address, uint64_t size,
                     bool is_function)
{
    struct image_symbol symbol = {fp_arena_strdup(image->arena, name), address, size, is_function};
    fp_vec_push(image->arena, &image->symbols, symbol);
}

void fp_image_add_section(struct fp_image *image, struct image_section section)
{
    fp_vec_push(image->arena, &image->sections, section);
}

void fp_image_section(struct fp_image *image, const char *name, uint64_t address, uint64_t size)
{
    const struct image_zone *zone = fp_image_zone_at(image, address);
    uint32_t rights = zone ? zone->flags : 0;
    struct image_section section = {
        .name = fp_arena_strdup(image->arena, name),
        .address = address,
        .size = size,
        .type = zone && !zone->has_bytes ? SHT_NOBITS : SHT_PROGBITS,
        .flags =
            SHF_ALLOC | (rights & PF_W ? SHF_WRITE : 0u) | (rights & PF_X ? SHF_EXECINSTR : 0u),
        .align = 16,
    };
    while (section.align > 1 && address % section.align) section.align /= 2;
    fp_image_add_section(image, section);
}

void fp_image_unloaded_section(struct fp_image *image, const char *name, const unsigned char *bytes,
                               size_t len)
{
    unsigned char *copy = fp_arena_alloc(image->arena, len + 1);
    memcpy(copy, bytes, len);
    fp_image_add_section(image, (struct image_section){.name = fp_arena_strdup(image->arena, name),
                                                       .type = SHT_PROGBITS,
                                                       .size = len,
                                                       .align = 8,
                                                       .bytes = copy});
}

void fp_image_set_entry(struct fp_image *image, uint64_t address)
{
    image->entry = address;
}

void fp_image_set_map(struct fp_image *image, const unsigned char *records, size_t len)
{
    image->map = records;
    image->map_len = len;
}

bool fp_image_is_fixed(const struct fp_image *image)
{
    return image->fixed;
}

uint64_t fp_image_text(const struct fp_image *image)
{
    return image->old.text;
}

bool fp_image_is_program(const struct fp_image *image)
{
    return image->program;
}

bool fp_image_is_static(const struct fp_image *image)
{
    return image->is_static;
}

struct fp_image_slot fp_image_slot(const struct fp_image *image)
{
    return (struct fp_image_slot){!image->fixed, FP_EXE_SLOT};
}

uint64_t fp_image_entry(const struct fp_image *image, enum fp_exe_entry entry)
{
    size_t len;
    const struct fp_exe_record *record = (const void *)fp_image_bytes(image, image->record, &len);
    return image->record + (uint64_t)record->entries[entry];
}

uint64_t fp_image_runtime_symbol(const struct fp_image *image, const char *name)
{
    static const char *const names[FP_EXE_NENTRIES] = {
        [FP_EXE_HASH_MISS] = FP_HASH_MISS_SYMBOL,
        [FP_EXE_SPARSE_MISS] = FP_SPARSE_MISS_SYMBOL,
        [FP_EXE_HASH_EMPTY] = FP_HASH_EMPTY_SYMBOL,
        [FP_EXE_PERSONALITY] = FP_PERSONALITY_SYMBOL,
    };
    for (unsigned i = 0; i < FP_EXE_NENTRIES; i++)
        if (names[i] && !strcmp(names[i], name)) return fp_image_entry(image, (enum fp_exe_entry)i);
    return 0;
}

/* ---- opening ---- */

static void find_kind(struct fp_image *image)
{
    const struct fp_elfview *old = &image->old;
    bool interp = fp_elfview_segment(old, PT_INTERP), pie = has_tag(old, DT_FLAGS_1, DF_1_PIE);
    struct stat about;
    if (stat(old->path, &about) == 0) image->mode = about.st_mode;
    image->fixed = old->header.e_type == ET_EXEC;
    image->program = image->fixed || pie || (interp && !fp_elfview_dynamic(old, DT_SONAME));
    image->is_static = !interp && (image->fixed || pie);
}

static bool open_parts(struct fp_image *image, const char *runtime, struct fp_error *error)
{
    enum { MORE_HEADERS = 13 };
    if (!runtime)
        runtime = fp_arena_printf(image->arena, "%s/../lib/footpath/libfootpath-%s.so",
                                  fp_own_folder(image->arena), image->is_static ? "static" : "exe");
    if (!fp_elfview_open(image->arena, runtime, &image->runtime, error)) return false;
    const Elf64_Phdr *data = NULL;
    for (size_t i = 0; i < image->runtime.nsegments && !data; i++) {
        const Elf64_Phdr *s = &image->runtime.segments[i];
        if (s->p_type == PT_LOAD && s->p_flags & PF_W) data = s;
    }
    if (!data) return fp_fail(error, runtime, "is not footpath's runtime; install footpath again");
    uint64_t text_size = data->p_vaddr & ~(uint64_t)(IMAGE_PAGE - 1);
    place_zones(image, text_size, image->runtime.end - text_size);
    uint64_t headers = (image->old.nsegments + MORE_HEADERS) * sizeof(Elf64_Phdr);
    return fp_image_reserve(image, FP_IMAGE_READ, headers, 64, &image->headers, error) &&
           fp_image_add_runtime(image, error);
}

/* The old code is replaced in the file. A copy goes into sections that are not loaded, so that
 * tools can show it. */
static void keep_code(struct fp_image *image)
{
    for (size_t i = 0; i < image->old.nsegments; i++) {
        const Elf64_Phdr *s = &image->old.segments[i];
        if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) || !s->p_filesz) continue;
        unsigned char *bytes = fp_arena_alloc(image->arena, s->p_filesz);
        memcpy(bytes, image->old.bytes + s->p_offset, s->p_filesz);
        struct image_section section = {.name = FP_ORIGINAL_SECTION,
                                        .type = SHT_PROGBITS,
                                        .address = s->p_vaddr,
                                        .size = s->p_filesz,
                                        .bytes = bytes};
        fp_vec_push(image->arena, &image->code, section);
    }
}

struct fp_image *fp_image_open(struct fp_arena *arena, const char *path, const char *runtime,
                               struct fp_error *error)
{
    struct fp_image *image = FP_NEW(arena, struct fp_image);
    image->arena = arena;
    if (!fp_elfview_open(arena, path, &image->old, error)) return NULL;
    find_kind(image);
    if (!refuse_unfit(image, error) || !open_parts(image, runtime, error)) return NULL;
    keep_code(image);
    return image;
}

void fp_image_close(struct fp_image *image)
{
    (void)image; /* files are closed as soon as they are read */
}
