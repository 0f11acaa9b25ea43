/* Writes the image (exe/image.h): puts the tables together, fills in the runtime's record, gives
 * OUT a build-id of its own, lays the file out and writes it.
 *
 *     old bytes up to the end of what is loaded | zone READ, with the program headers |
 *     other zones | old sections that are not loaded, symbols, map, section headers
 */
#include "exe/imageparts.h"

#include "base/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the runtime's record ---- */

static int by_from(const void *a, const void *b)
{
    const struct fp_exe_trap *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static bool put_part(struct fp_image *image, const void *bytes, uint64_t size,
                     struct fp_exe_part *part, struct fp_error *error)
{
    uint64_t at;
    if (!fp_image_put(image, FP_IMAGE_READ, bytes, size, 8, &at, error)) return false;
    *part = (struct fp_exe_part){(int64_t)(at - image->record), size};
    return true;
}

static bool put_traps(struct fp_image *image, struct fp_exe_record *record, struct fp_error *error)
{
    size_t nfunctions = image->trap_functions.len;
    uint64_t size = nfunctions * sizeof(uint32_t), at;
    if (image->traps.len)
        qsort(image->traps.at, image->traps.len, sizeof *image->traps.at, by_from);
    if (!put_part(image, image->traps.at, image->traps.len * sizeof(struct fp_exe_trap),
                  &record->traps, error) ||
        !put_part(image, image->trap_sums.at, image->trap_sums.len * sizeof(struct fp_exe_sum),
                  &record->sums, error) ||
        !put_part(image, image->trap_functions.at, nfunctions * sizeof(uint64_t),
                  &record->functions, error) ||
        !put_part(image, image->sums_at.at, size, &record->sums_at, error) ||
        !put_part(image, image->marks.at, image->marks.len * sizeof(struct fp_exe_mark),
                  &record->marks, error))
        return false;
    if (!fp_image_reserve(image, FP_IMAGE_DATA, size, 8, &at, error)) return false;
    record->caught = (struct fp_exe_part){(int64_t)(at - image->record), size};
    return true;
}

static struct fp_exe_part part_of(const struct fp_image *image, enum fp_image_zone kind)
{
    const struct image_zone *zone = &image->zones[kind];
    return (struct fp_exe_part){(int64_t)(zone->address - image->record), zone->len};
}

/* Of a static program. The headers are written when the zones have their places in the file. */
static bool fill_static(struct fp_image *image, struct fp_exe_record *record,
                        struct fp_error *error)
{
    size_t count = image->old.nsegments + !fp_elfview_segment(&image->old, PT_GNU_EH_FRAME);
    uint64_t size = count * sizeof(Elf64_Phdr);
    record->flags |= FP_EXE_STATIC;
    record->address = image->record;
    record->program_entry =
        (int64_t)((image->entry ? image->entry : image->old.header.e_entry) - image->record);
    if (!fp_image_reserve(image, FP_IMAGE_READ, size, 8, &image->told, error)) return false;
    record->headers = (struct fp_exe_part){(int64_t)(image->told - image->record), size};
    return fp_image_relocate_runtime(image, record, error);
}

static bool fill_record(struct fp_image *image, struct fp_error *error)
{
    struct fp_exe_record record;
    size_t len;
    memcpy(&record, fp_image_bytes(image, image->record, &len), sizeof record);
    record.flags = (image->program ? FP_EXE_PROGRAM : 0u) | (image->fixed ? FP_EXE_FIXED : 0u);
    record.base = (int64_t)(image->old.base - image->record);
    record.counters = part_of(image, FP_IMAGE_COUNTERS);
    record.tables = part_of(image, FP_IMAGE_TABLES);
    record.direct = part_of(image, FP_IMAGE_DIRECT);
    record.code = part_of(image, FP_IMAGE_CODE);
    if (image->is_static && !fill_static(image, &record, error)) return false;
    return put_traps(image, &record, error) &&
           fp_image_patch(image, image->record, &record, sizeof record);
}

/* ---- section headers of zones ---- */

static bool is_covered(const struct fp_image *image, const struct image_zone *zone)
{
    for (size_t i = 0; i < image->sections.len; i++)
        if (image->sections.at[i].address - zone->address < zone->len) return true;
    return false;
}

static void add_zone_section(struct fp_image *image, enum fp_image_zone kind, const char *name)
{
    const struct image_zone *zone = &image->zones[kind];
    if (zone->len && !is_covered(image, zone))
        fp_image_section(image, name, zone->address, zone->len);
}

static void add_sections(struct fp_image *image)
{
    size_t len;
    uint64_t note = fp_elfview_note(&image->runtime, "footpath", FP_NOTE_MODULE, &len);
    const Elf64_Phdr *notes = note ? fp_elfview_segment(&image->runtime, PT_NOTE) : NULL;
    add_zone_section(image, FP_IMAGE_CODE, ".text.footpath");
    add_zone_section(image, FP_IMAGE_COUNTERS, FP_COUNTER_SECTION);
    add_zone_section(image, FP_IMAGE_TABLES, FP_HASH_SECTION);
    add_zone_section(image, FP_IMAGE_DIRECT, FP_DIRECT_SECTION);
    if (notes)
        fp_image_add_section(image, (struct image_section){.name = ".note.footpath",
                                                           .address = notes->p_vaddr + image->delta,
                                                           .size = notes->p_memsz,
                                                           .type = SHT_NOTE,
                                                           .flags = SHF_ALLOC,
                                                           .align = 4});
}

/* ---- build-id ---- */

enum { ID_SIZE = 20, NOTE_HEAD = 16 };

/* Of everything that is loaded, and the map. */
static void hash_content(const struct fp_image *image, unsigned char *id, size_t len)
{
    uint64_t sum = fp_checksum(image->old.bytes, image->old.len, 0);
    for (unsigned i = 0; i < NZONES; i++) {
        const struct image_zone *zone = &image->zones[i];
        sum = fp_checksum(&zone->len, sizeof zone->len, sum);
        if (zone->file_len) sum = fp_checksum(zone->bytes, zone->file_len, sum);
    }
    if (image->map_len) sum = fp_checksum(image->map, image->map_len, sum);
    for (size_t at = 0; at < len; at += sizeof sum) {
        size_t some = len - at < sizeof sum ? len - at : sizeof sum;
        memcpy(id + at, &sum, some);
        sum = fp_checksum(&sum, sizeof sum, at + 1);
    }
}

/* Makes room for a note where the program has none. *note: its content. */
static bool find_id(struct fp_image *image, uint64_t *note, size_t *len, struct fp_error *error)
{
    *note = fp_elfview_note(&image->old, "GNU", NT_GNU_BUILD_ID, len);
    if (*note && *len) return true;
    const uint32_t head[] = {4, ID_SIZE, NT_GNU_BUILD_ID, 0x00554e47 /* GNU */};
    uint64_t at;
    if (!fp_image_reserve(image, FP_IMAGE_READ, NOTE_HEAD + ID_SIZE, 4, &at, error)) return false;
    fp_image_patch(image, at, head, sizeof head);
    fp_image_add_section(image, (struct image_section){.name = ".note.gnu.build-id",
                                                       .address = at,
                                                       .size = NOTE_HEAD + ID_SIZE,
                                                       .type = SHT_NOTE,
                                                       .flags = SHF_ALLOC,
                                                       .align = 4});
    *note = at + NOTE_HEAD;
    *len = ID_SIZE;
    return true;
}

static bool set_id(struct fp_image *image, uint64_t note, size_t len)
{
    unsigned char *id = fp_arena_alloc(image->arena, len);
    hash_content(image, id, len);
    return fp_image_patch(image, note, id, len);
}

/* ---- layout ---- */

static uint64_t pages(uint64_t size)
{
    return (size + IMAGE_PAGE - 1) & ~(uint64_t)(IMAGE_PAGE - 1);
}

/* Gives zones their places in the file. Returns where the rest goes. */
static uint64_t lay_out(struct fp_image *image)
{
    uint64_t at = image->zones[FP_IMAGE_READ].address - image->old.base;
    for (unsigned i = 0; i < NZONES; i++) {
        struct image_zone *zone = &image->zones[i];
        zone->offset = at;
        at += pages(zone->file_len);
    }
    return at;
}

static Elf64_Phdr header_of(const struct image_zone *zone)
{
    return (Elf64_Phdr){.p_type = PT_LOAD,
                        .p_flags = zone->flags,
                        .p_offset = zone->offset,
                        .p_vaddr = zone->address,
                        .p_paddr = zone->address,
                        .p_filesz = zone->file_len,
                        .p_memsz = zone->len,
                        .p_align = IMAGE_PAGE};
}

/* By address: the loader wants them so. */
static const unsigned zone_order[NZONES] = {FP_IMAGE_READ,     FP_IMAGE_CODE,    ZONE_RUNTIME,
                                            ZONE_RUNTIME_DATA, FP_IMAGE_DATA,    FP_IMAGE_TABLES,
                                            FP_IMAGE_DIRECT,   FP_IMAGE_COUNTERS};

static void point_to(const struct fp_image *image, Elf64_Phdr *h, uint64_t address, uint64_t size)
{
    const struct image_zone *zone = fp_image_zone_at(image, address);
    h->p_vaddr = h->p_paddr = address;
    h->p_offset = zone->offset + (address - zone->address);
    h->p_filesz = h->p_memsz = size;
}

static size_t last_load(const struct fp_elfview *old)
{
    size_t last = 0;
    for (size_t i = 0; i < old->nsegments; i++)
        if (old->segments[i].p_type == PT_LOAD) last = i;
    return last;
}

static void add_notes(const struct fp_image *image, Elf64_Phdr *headers, size_t *n)
{
    for (size_t i = 0; i < image->sections.len; i++) {
        const struct image_section *s = &image->sections.at[i];
        if (s->type != SHT_NOTE) continue;
        headers[*n] = (Elf64_Phdr){.p_type = PT_NOTE, .p_flags = PF_R, .p_align = 4};
        point_to(image, &headers[(*n)++], s->address, s->size);
    }
}

/* Where the program has none. */
static void add_unwind(const struct fp_image *image, Elf64_Phdr *headers, size_t *n)
{
    const struct image_table *table = &image->tables[TABLE_EH_FRAME_HDR];
    if (fp_elfview_segment(&image->old, PT_GNU_EH_FRAME)) return;
    headers[*n] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_align = 4};
    point_to(image, &headers[(*n)++], table->address, table->size);
}

/* What a static program is told of itself: the headers that it had, so that its libc does what it
 * did. The last segment reaches to the end of the new code, for the program's unwinder. */
static size_t make_told(const struct fp_image *image, Elf64_Phdr *headers)
{
    const struct image_zone *code = &image->zones[FP_IMAGE_CODE];
    size_t n = image->old.nsegments;
    memcpy(headers, image->old.segments, n * sizeof *headers);
    Elf64_Phdr *last = &headers[last_load(&image->old)];
    last->p_memsz = code->address + code->len - last->p_vaddr;
    for (size_t i = 0; i < n; i++)
        if (headers[i].p_type == PT_GNU_EH_FRAME)
            point_to(image, &headers[i], image->tables[TABLE_EH_FRAME_HDR].address,
                     image->tables[TABLE_EH_FRAME_HDR].size);
    add_unwind(image, headers, &n);
    for (size_t i = 0; i < n; i++)
        if (headers[i].p_type == PT_PHDR)
            point_to(image, &headers[i], image->told, n * sizeof *headers);
    return n;
}

static size_t make_headers(const struct fp_image *image, Elf64_Phdr *headers)
{
    const struct fp_elfview *old = &image->old;
    size_t n = 0, last = last_load(old);
    for (size_t i = 0; i < old->nsegments; i++) {
        Elf64_Phdr *h = &headers[n++];
        *h = old->segments[i];
        if (h->p_type == PT_DYNAMIC && !image->is_static)
            point_to(image, h, image->tables[TABLE_DYNAMIC].address,
                     image->tables[TABLE_DYNAMIC].size);
        if (h->p_type == PT_GNU_EH_FRAME)
            point_to(image, h, image->tables[TABLE_EH_FRAME_HDR].address,
                     image->tables[TABLE_EH_FRAME_HDR].size);
        for (size_t k = 0; i == last && k < NZONES; k++)
            if (image->zones[zone_order[k]].len)
                headers[n++] = header_of(&image->zones[zone_order[k]]);
    }
    add_notes(image, headers, &n);
    add_unwind(image, headers, &n);
    for (size_t i = 0; i < n; i++)
        if (headers[i].p_type == PT_PHDR)
            point_to(image, &headers[i], image->headers, n * sizeof *headers);
    return n;
}

/* ---- the file ---- */

static bool write_all(int fd, const void *bytes, uint64_t len, uint64_t at)
{
    for (ssize_t got; len;
         bytes = (const char *)bytes + got, at += (uint64_t)got, len -= (uint64_t)got) {
        got = pwrite(fd, bytes, len < 1u << 30 ? len : 1u << 30, (off_t)at);
        if (got < 0 && errno == EINTR) got = 0;
        if (got < 0) return false;
    }
    return true;
}

static bool write_parts(const struct fp_image *image, const struct image_unloaded *unloaded, int fd)
{
    bool ok = write_all(fd, image->old.bytes, image->old.file_end, 0);
    for (unsigned i = 0; i < NZONES && ok; i++)
        ok = write_all(fd, image->zones[i].bytes, image->zones[i].file_len, image->zones[i].offset);
    ok = ok && write_all(fd, unloaded->bytes, unloaded->len, unloaded->offset);
    return ok && fchmod(fd, image->mode & 0777) == 0;
}

static bool write_file(const struct fp_image *image, const struct image_unloaded *unloaded,
                       const char *out, struct fp_error *error)
{
    char *beside = fp_arena_printf(image->arena, "%s.XXXXXX", out);
    int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0) return fp_fail(error, out, "cannot write: %s", strerror(errno));
    bool ok = write_parts(image, unloaded, fd);
    ok &= close(fd) == 0;
    if (ok && rename(beside, out) == 0) return true;
    fp_fail(error, out, "cannot write: %s", strerror(errno));
    unlink(beside);
    return false;
}

static bool finish_headers(struct fp_image *image, const struct image_unloaded *unloaded)
{
    Elf64_Phdr headers[512];
    size_t n = make_headers(image, headers);
    Elf64_Ehdr *h = (Elf64_Ehdr *)image->old.bytes;
    h->e_phoff = image->headers - image->old.base;
    h->e_phnum = (uint16_t)n;
    h->e_shoff = unloaded->table;
    h->e_shnum = (uint16_t)unloaded->nsections;
    h->e_shstrndx = (uint16_t)unloaded->names;
    h->e_shentsize = sizeof(Elf64_Shdr);
    if (image->entry) h->e_entry = image->entry;
    if (image->is_static) {
        Elf64_Phdr told[512];
        size_t count = make_told(image, told);
        h->e_entry = fp_image_entry(image, FP_EXE_ENTRY);
        fp_image_patch(image, image->told, told, count * sizeof *told);
    }
    return fp_image_patch(image, image->headers, headers, n * sizeof *headers);
}

bool fp_image_write(struct fp_image *image, const char *out, struct fp_error *error)
{
    struct image_unloaded unloaded = {0};
    uint64_t id;
    size_t id_len;
    bool loaded = image->is_static || (fp_image_merge_symbols(image, error) &&
                                       fp_image_merge_relocations(image, error) &&
                                       fp_image_merge_dynamic(image, error));
    if (!loaded || !fp_image_merge_unwind(image, error) || !fill_record(image, error) ||
        !find_id(image, &id, &id_len, error))
        return false;
    add_sections(image);
    if (!fp_image_make_sections(image, lay_out(image), &unloaded, error)) return false;
    set_id(image, id, id_len);
    finish_headers(image, &unloaded);
    return write_file(image, &unloaded, out, error);
}
