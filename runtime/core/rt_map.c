/* The module's map goes into the profile, once per build: then the profile can be read after
 * the program was built again, and on machines that do not have the program.
 *
 * The map is in sections of the module's file that are not loaded, or in a file beside it
 * (--fp-map=separate). It is read when the first run of the build is written, behind that
 * run's record, so that a full disk costs the map and not the counts.
 *
 * Left out, and looked for in the program's file by the tools: maps of modules whose file
 * cannot be read, was replaced since it was loaded, or has compressed sections; and maps of
 * runs that have a file each (%p or %t in FOOTPATH_OUT), where every file would hold one.
 * FOOTPATH_MAP=1 writes the map there too, FOOTPATH_MAP=0 writes it nowhere. In the spool of a
 * store (FOOTPATH_OUT=store:PATH) the map is a file of its own, once per build.
 */
#include "core/rt_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_RECORDS = 4096,     /* that are looked at to find the map of this build */
    MOST_SECTIONS = 1 << 16, /* in a file */
    MOST_BYTES = 1 << 26     /* of a map */
};

/* A part of a file. */
struct extent {
    uint64_t at, len;
};

/* A length and the bytes of a part of a file. */
static bool put_extent(struct rt_buffer *out, int fd, struct extent part)
{
    char bytes[2048];
    rt_put_uint(out, part.len);
    while (part.len) {
        size_t some = part.len < sizeof bytes ? part.len : sizeof bytes;
        if (!rt_read_at(fd, bytes, some, part.at)) return false;
        rt_put_bytes(out, bytes, some);
        part.at += some;
        part.len -= some;
    }
    return !out->failed;
}

/* ---- is the map there already? ---- */

/* Reads a packed integer and moves *at behind it. UINT64_MAX: there is none. */
static uint64_t read_uint(const struct rt_file *file, uint64_t *at, uint64_t end)
{
    enum { LONGEST = 10 };
    size_t len = end - *at < LONGEST ? (size_t)(end - *at) : LONGEST;
    const unsigned char *bytes = rt_window_at(file->window, file->fd, *at, len);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < len; i++) {
        value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        ++*at;
        if (!(bytes[i] & 0x80)) return value;
    }
    return UINT64_MAX;
}

/* Is the map at that place of this build? It begins with path and build-id of a module. */
static bool is_ours(const struct rt_file *file, uint64_t at, uint64_t length)
{
    uint64_t end = at + length, path = read_uint(file, &at, end);
    if (path > end - at) return false;
    at += path;
    uint64_t build_id = read_uint(file, &at, end);
    if (build_id != rt_identity->build_id_len || build_id > end - at) return false;
    const void *bytes = rt_window_at(file->window, file->fd, at, build_id);
    return bytes && !memcmp(bytes, rt_identity->build_id, build_id);
}

static bool has_map(const struct rt_file *file)
{
    struct fp_record_header record;
    uint64_t end = rt_file_end(file), at = sizeof file->header;
    for (int i = 0; i < MOST_RECORDS; i++) {
        const void *bytes = end - at < sizeof record
                                ? NULL
                                : rt_window_at(file->window, file->fd, at, sizeof record);
        if (!bytes) return false;
        memcpy(&record, bytes, sizeof record);
        at += sizeof record;
        if (record.magic != FP_RECORD_MAGIC || record.length > end - at) return true;
        if (record.type == FP_RECORD_MAP && is_ours(file, at, record.length)) return true;
        at += record.length;
    }
    return true;
}

/* ---- the module's file ---- */

struct map_parts {
    struct extent map, live;
    bool compressed; /* by the linker */
    bool same_build;
};

/* A note of this build: sizes of name and content, type, "GNU", content. */
static bool is_this_build(int fd, const Elf64_Shdr *section)
{
    enum { HEADER = 16 };
    unsigned char note[HEADER + sizeof rt_identity->build_id];
    uint32_t len = 0;
    size_t size = HEADER + rt_identity->build_id_len;
    if (section->sh_size < size || !rt_read_at(fd, note, size, section->sh_offset)) return false;
    memcpy(&len, note + 4, sizeof len);
    return len == rt_identity->build_id_len && !memcmp(note + HEADER, rt_identity->build_id, len);
}

static void look_at_section(int fd, const Elf64_Shdr *section, const char *name,
                            struct map_parts *parts)
{
    bool map = !strcmp(name, FP_MAP_SECTION), live = !strcmp(name, FP_MAP_LIVE_SECTION);
    struct extent part = {section->sh_offset, section->sh_size};
    if (!strcmp(name, ".note.gnu.build-id")) parts->same_build = is_this_build(fd, section);
    if ((!map && !live) || section->sh_type == SHT_NOBITS) return;
    if (section->sh_flags & SHF_COMPRESSED) parts->compressed = true;
    if (map) parts->map = part;
    if (live) parts->live = part;
}

static bool find_sections(int fd, struct map_parts *parts)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    struct rt_window headers = {.len = 0}, strings = {.len = 0};
    if (!rt_read_at(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof section ||
        header.e_shstrndx >= header.e_shnum ||
        !rt_read_at(fd, &names, sizeof names, header.e_shoff + header.e_shstrndx * sizeof names))
        return false;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        enum { LONGEST = sizeof FP_MAP_LIVE_SECTION };
        const void *bytes =
            rt_window_at(&headers, fd, header.e_shoff + i * sizeof section, sizeof section);
        if (!bytes) return false;
        memcpy(&section, bytes, sizeof section);
        if (section.sh_name + LONGEST > names.sh_size) continue;
        const char *name = rt_window_at(&strings, fd, names.sh_offset + section.sh_name, LONGEST);
        if (!name) return false;
        if (!memchr(name, 0, LONGEST)) continue; /* a longer one */
        look_at_section(fd, &section, name, parts);
    }
    return true;
}

/* Each part of a map file: its length, then its bytes. */
static bool next_part(int fd, uint64_t *at, struct extent *part)
{
    if (!rt_read_at(fd, &part->len, sizeof part->len, *at)) return false;
    part->at = *at + sizeof part->len;
    *at = part->at + part->len;
    return part->len <= MOST_BYTES;
}

static bool find_in_map_file(int fd, struct map_parts *parts)
{
    unsigned char build_id[sizeof rt_identity->build_id];
    uint32_t magic = 0;
    uint64_t at = 8;
    struct extent id;
    if (!rt_read_at(fd, &magic, sizeof magic, 0) || magic != FP_MAP_FILE_MAGIC) return false;
    if (!next_part(fd, &at, &id) || !next_part(fd, &at, &parts->map) ||
        !next_part(fd, &at, &parts->live))
        return false;
    parts->same_build = id.len == rt_identity->build_id_len && id.len <= sizeof build_id &&
                        rt_read_at(fd, build_id, id.len, id.at) &&
                        !memcmp(build_id, rt_identity->build_id, id.len);
    return true;
}

static int open_for_reading(const char *name)
{
    return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int open_map_file(void)
{
    char path[RT_LONGEST_PATH + 16];
    struct rt_text name = {path, 0, sizeof path};
    rt_text_add(&name, rt_identity->path);
    rt_text_add(&name, FP_MAP_FILE_SUFFIX);
    return open_for_reading(path);
}

/* The file that has the map, open; or -1. */
static RT_SELDOM int find_map(struct map_parts *parts)
{
    int fd = open_for_reading(rt_is_program() ? "/proc/self/exe" : rt_identity->path);
    if (fd < 0 || !find_sections(fd, parts)) goto none;
    if (!parts->map.len) {
        close(fd);
        *parts = (struct map_parts){0};
        fd = open_map_file();
        if (fd < 0 || !find_in_map_file(fd, parts)) goto none;
    }
    if (parts->same_build && !parts->compressed && parts->map.len && parts->map.len <= MOST_BYTES &&
        parts->live.len <= MOST_BYTES)
        return fd;
none:
    if (fd >= 0) close(fd);
    return -1;
}

/* ---- the record ---- */

static bool make_record(struct rt_buffer *record, int fd, const struct map_parts *parts)
{
    struct fp_record_header header = {.magic = FP_RECORD_MAGIC, .type = FP_RECORD_MAP};
    rt_put_bytes(record, &header, sizeof header);
    rt_put_module(record, rt_identity);
    if (!put_extent(record, fd, parts->map) || !put_extent(record, fd, parts->live)) return false;
    rt_finish_record(record);
    return true;
}

/* ---- a spool ---- */

/* BUILD-ID.map in the folder of the profile. */
static void name_in_spool(struct rt_text *name, const struct rt_file *file)
{
    rt_folder_of(name, file->path);
    rt_text_add_char(name, '/');
    for (uint32_t i = 0; i < rt_identity->build_id_len; i++)
        rt_text_add_hex(name, rt_identity->build_id[i], 2);
    rt_text_add(name, ".map");
}

/* Complete by rename. Two processes may both write it, under names of their own. */
static void write_to_spool(const struct rt_file *file, const char *path,
                           const struct rt_buffer *record)
{
    char new_path[RT_LONGEST_NAME];
    struct rt_text name = {new_path, 0, sizeof new_path};
    struct fp_profile_header header;
    rt_text_add(&name, path);
    rt_text_add_char(&name, '.');
    rt_text_add_hex(&name, rt_settings.run_id, 16);
    rt_text_add(&name, ".new");
    rt_new_header(&header, file->program, 0);
    header.commits[0].length += record->len;
    header.commits[0].check = rt_commit_check(&header.commits[0]);
    if (rt_write_new(new_path, &header, record->bytes, record->len) && rename(new_path, path) < 0)
        unlink(new_path);
}

static RT_SELDOM void put_map_in_spool(const struct rt_file *file)
{
    static uint64_t done; /* the spool that is known to have the map, by the map's name */
    char path[RT_LONGEST_NAME];
    struct rt_text name = {path, 0, sizeof path};
    struct map_parts parts = {0};
    struct rt_buffer record = {0};
    path[0] = 0;
    name_in_spool(&name, file);
    uint64_t key = rt_checksum(path, name.len, 0);
    if (done == key) return;
    done = key;
    int fd = access(path, F_OK) == 0 ? -1 : find_map(&parts);
    if (fd < 0) return;
    if (make_record(&record, fd, &parts)) write_to_spool(file, path, &record);
    close(fd);
    rt_buffer_free(&record);
}

static void put_map_behind(struct rt_file *file)
{
    static uint64_t done; /* the file that is known to have the map, by its id */
    struct map_parts parts = {0};
    struct rt_buffer record = {0};
    int fd;
    if (done && done == file->header.id) return;
    if (!has_map(file) && (fd = find_map(&parts)) >= 0) {
        if (make_record(&record, fd, &parts)) rt_append(file, record.bytes, record.len);
        close(fd);
        rt_buffer_free(&record);
    }
    done = file->header.id;
}

void rt_put_map(struct rt_file *file)
{
    int saved = errno;
    if (!rt_map_wanted() || !rt_identity->build_id_len) return;
    if (rt_output_is_store())
        put_map_in_spool(file);
    else
        put_map_behind(file);
    errno = saved;
}
