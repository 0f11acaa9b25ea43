/* Reading maps from ELF files, by libelf. */
#include "profile/program.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/io.h"
#include "base/table.h"
#include "base/vec.h"
#include "footpath/abi.h"
#include "profile/mapcode.h"
#include "profile/mappack.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- records ---- */

struct map_parsing {
    struct fp_arena *arena;
    struct fp_table live; /* function id -> 1 if some copy of it was kept */
    bool have_live;
    struct fp_table seen; /* function id -> 1 */
    uint32_t nrecords;
    size_t most; /* the most that arena->total may become */
    FP_VEC(struct fp_function) functions;
};

/* Pairs of address and id; the linker leaves 0 as the address of what it dropped. */
static void read_live(struct map_parsing *p, const unsigned char *bytes, size_t len)
{
    p->have_live = bytes != NULL;
    for (size_t at = 0; bytes && at + 16 <= len; at += 16) {
        uint64_t pair[2];
        memcpy(pair, bytes + at, sizeof pair);
        if (pair[0]) *fp_table_add(&p->live, pair[1]) = 1;
    }
}

static bool is_wanted(struct map_parsing *p, const struct fp_function *f)
{
    uint64_t *seen = fp_table_add(&p->seen, f->id);
    if (*seen)
        return false; /* the linker keeps one section of this name; ld -r may have left two */
    *seen = 1;
    bool unmarked = f->flags & (FP_FUNCTION_SKIPPED | FP_FUNCTION_EARLY);
    if (f->flags & FP_FUNCTION_UNDIVIDED) unmarked = false;
    if (unmarked || !p->have_live) return true;
    return fp_table_find(&p->live, f->id) != NULL;
}

/* Decoded, a record takes up to 60 times its length (edges of two bytes). */
static bool has_room(const struct map_parsing *p, const struct fp_reader *section, uint64_t offset,
                     uint32_t len)
{
    enum { MOST_GROWTH = 64 };
    size_t total = p->arena->total;
    if (total <= p->most && len <= (p->most - total) / MOST_GROWTH) return true;
    return fp_fail_at(
        section->error, section->file, offset,
        "map: expected at most %zu MB of records in memory, got another one of %u bytes",
        p->most >> 20, len);
}

static bool read_record(struct map_parsing *p, struct fp_reader *section)
{
    uint64_t offset = section->at;
    uint32_t magic = fp_read_u32(section);
    uint32_t len = fp_read_u32(section);
    uint64_t checksum = fp_read_u64(section);
    struct fp_function f = {.layout.path_address = fp_read_u64(section)};
    f.layout.edge_address = fp_read_u64(section);
    if (section->failed) return false;
    if (magic != FP_MAP_MAGIC)
        return fp_fail_at(section->error, section->file, offset,
                          "map: expected a record (%08x), got %08x", FP_MAP_MAGIC, magic);
    const unsigned char *payload = fp_read_bytes(section, len);
    if (!payload || !has_room(p, section, offset, len)) return false;
    uint64_t got = fp_checksum(payload, len, 0);
    if (got != checksum)
        return fp_fail_at(section->error, section->file, offset,
                          "map: expected checksum %016" PRIx64 ", got %016" PRIx64, checksum, got);
    struct fp_reader reader = {.bytes = payload,
                               .len = len,
                               .base = offset + FP_MAP_HEADER_SIZE,
                               .file = section->file,
                               .error = section->error};
    if (!fp_map_decode(p->arena, &reader, &f)) return false;
    f.ordinal = p->nrecords++;
    if (is_wanted(p, &f)) fp_vec_push(p->arena, &p->functions, f);
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct fp_function *x = a, *y = b;
    if (x->layout.path_address != y->layout.path_address)
        return x->layout.path_address < y->layout.path_address ? -1 : 1;
    if (x->layout.edge_address != y->layout.edge_address)
        return x->layout.edge_address < y->layout.edge_address ? -1 : 1;
    return strcmp(x->name, y->name);
}

bool fp_program_parse(struct fp_arena *arena, const char *path, const unsigned char *map,
                      size_t map_len, const unsigned char *live, size_t live_len,
                      struct fp_program *program, struct fp_error *error)
{
    struct map_parsing p = {.arena = arena};
    p.most = (size_t)fp_add_saturated(arena->total, fp_map_most_memory(map_len));
    map = fp_map_unpack(arena, path, map, map_len, &map_len, error);
    if (!map) return false;
    fp_table_init(&p.live, arena);
    fp_table_init(&p.seen, arena);
    read_live(&p, live, live_len);
    struct fp_reader section = {.bytes = map, .len = map_len, .file = path, .error = error};
    while (fp_reader_left(&section))
        if (!read_record(&p, &section)) return false;
    if (p.functions.len) qsort(p.functions.at, p.functions.len, sizeof *p.functions.at, by_address);
    program->path = path;
    program->functions = p.functions.at;
    program->nfunctions = p.functions.len;
    for (size_t i = 0; i < p.functions.len; i++)
        program->nskipped += (p.functions.at[i].flags & FP_FUNCTION_SKIPPED) != 0;
    return true;
}

/* ---- the ELF file ---- */

struct sections {
    Elf_Data *map, *live, *build_id, *body;
    GElf_Shdr counters, tables;
};

/* Linkers and objcopy compress what has the name of a debug section. */
static Elf_Data *plain_data(Elf_Scn *section, const GElf_Shdr *header)
{
    if (header->sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0) return NULL;
    return elf_getdata(section, NULL);
}

static void find_sections(Elf *elf, struct sections *found)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) < 0) return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (!name) continue;
        if (!strcmp(name, FP_COUNTER_SECTION)) found->counters = header;
        if (!strcmp(name, FP_HASH_SECTION)) found->tables = header;
        if (header.sh_type == SHT_NOBITS) continue;
        if (!strcmp(name, FP_MAP_SECTION)) found->map = plain_data(section, &header);
        if (!strcmp(name, FP_MAP_LIVE_SECTION)) found->live = plain_data(section, &header);
        if (!strcmp(name, FP_BODY_SECTION)) found->body = elf_getdata(section, NULL);
        if (!strcmp(name, ".note.gnu.build-id")) found->build_id = elf_getdata(section, NULL);
    }
}

/* Reads one note: sizes of name and content, type, "GNU", content. libelf's own reader refuses
 * a note whose end is not padded, and ld writes a short build-id that way. */
static void read_build_id(struct fp_arena *arena, Elf_Data *note, struct fp_program *program)
{
    enum { HEADER = 16 };
    uint32_t sizes[2];
    if (!note || !note->d_buf || note->d_size < HEADER) return;
    memcpy(sizes, note->d_buf, sizeof sizes);
    if (sizes[0] != sizeof "GNU" || sizes[1] > note->d_size - HEADER) return;
    unsigned char *id = fp_arena_alloc(arena, sizes[1] + 1u);
    memcpy(id, (const char *)note->d_buf + HEADER, sizes[1]);
    program->build_id = id;
    program->build_id_len = sizes[1];
}

static const unsigned char *copied(struct fp_arena *arena, const void *bytes, size_t len)
{
    return len ? (const unsigned char *)fp_arena_strndup(arena, bytes, len) : NULL;
}

/* The functions of the map, or with `raw` its bytes. */
static bool take_map(struct fp_arena *arena, const char *path, const struct fp_map_file *map,
                     struct fp_program *program, struct fp_map_file *raw, struct fp_error *error)
{
    if (!raw)
        return fp_program_parse(arena, path, map->map, map->map_len, map->live, map->live_len,
                                program, error);
    *raw = *map;
    raw->map = copied(arena, map->map, map->map_len);
    raw->live = copied(arena, map->live, map->live_len);
    raw->build_id = program->build_id;
    raw->build_id_len = program->build_id_len;
    return true;
}

/* The map of a program that was linked with --fp-map=separate. */
static bool read_beside(struct fp_arena *arena, const char *path, struct fp_program *program,
                        struct fp_map_file *raw, struct fp_error *error)
{
    const char *name = fp_arena_printf(arena, "%s" FP_MAP_FILE_SUFFIX, path);
    struct fp_file file;
    struct fp_map_file map = {0};
    if (access(name, F_OK) < 0)
        return fp_fail(
            error, path,
            "has no footpath map; build it with footpath-cc (a map in a file of its own is "
            "looked for as %s)",
            name);
    if (!fp_file_open(&file, name, error)) return false;
    struct fp_reader r = {.bytes = file.bytes, .len = file.len, .file = name, .error = error};
    bool ok = fp_map_file_decode(&r, &map);
    if (ok && (map.build_id_len != program->build_id_len ||
               (map.build_id_len && memcmp(map.build_id, program->build_id, map.build_id_len))))
        ok = fp_fail(error, name, "is the map of another build of %s; link it again", path);
    if (!map.live_len) map.live = NULL;
    if (ok) ok = take_map(arena, path, &map, program, raw, error);
    fp_file_close(&file);
    return ok;
}

static void read_body(const Elf_Data *data, struct fp_program *program)
{
    struct fp_body_record record;
    if (!data || !data->d_buf || data->d_size != sizeof record) return;
    memcpy(&record, data->d_buf, sizeof record);
    if (record.version != FP_BODY_VERSION) return;
    program->second_bodies = record.functions;
    program->no_second_body = record.left_out;
}

static bool read_elf(struct fp_arena *arena, Elf *elf, const char *path, struct fp_program *program,
                     struct fp_map_file *raw, struct fp_error *error)
{
    struct sections found = {0};
    if (elf_kind(elf) != ELF_K_ELF) return fp_fail(error, path, "expected an ELF file");
    find_sections(elf, &found);
    read_build_id(arena, found.build_id, program);
    read_body(found.body, program);
    program->sections.counters_address = found.counters.sh_addr;
    program->sections.counters_size = found.counters.sh_size;
    program->sections.tables_address = found.tables.sh_addr;
    program->sections.tables_size = found.tables.sh_size;
    if (!found.map || !found.map->d_buf) return read_beside(arena, path, program, raw, error);
    struct fp_map_file map = {.map = found.map->d_buf, .map_len = found.map->d_size};
    if (found.live) map.live = found.live->d_buf, map.live_len = found.live->d_size;
    return take_map(arena, path, &map, program, raw, error);
}

static bool read_file(struct fp_arena *arena, const char *path, struct fp_program *program,
                      struct fp_map_file *raw, struct fp_error *error)
{
    *program = (struct fp_program){0};
    elf_version(EV_CURRENT);
    int fd = fp_open_regular(path, error);
    if (fd < 0) return false;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool ok = elf ? read_elf(arena, elf, fp_arena_strdup(arena, path), program, raw, error)
                  : fp_fail(error, path, "cannot read: %s", elf_errmsg(-1));
    if (elf) elf_end(elf);
    close(fd);
    return ok;
}

bool fp_program_read(struct fp_arena *arena, const char *path, struct fp_program *program,
                     struct fp_error *error)
{
    return read_file(arena, path, program, NULL, error);
}

bool fp_program_map(struct fp_arena *arena, const char *path, struct fp_map_file *map,
                    struct fp_error *error)
{
    struct fp_program program;
    return read_file(arena, path, &program, map, error);
}
