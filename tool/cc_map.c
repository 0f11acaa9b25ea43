/* Packing and moving maps: see cc_map.h.
 *
 *     ... loaded segments | .footpath_map | other sections | section headers
 *
 * The map is not loaded, so nothing that is loaded lies behind it and no address
 * depends on it. What lies behind it moves towards the front of the file by what the
 * map gets shorter, rounded down to the largest alignment there. A file that is
 * arranged otherwise is left alone. */
#include "cc_map.h"

#include "base/io.h"
#include "footpath/abi.h"
#include "profile/mapcode.h"
#include "profile/mappack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy of the file, to be changed. */
struct image {
    unsigned char *bytes;
    size_t len;
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    size_t nsections;
    Elf *elf; /* where a section is read by libelf */
};

static bool lies_inside(const struct image *m, uint64_t offset, uint64_t size)
{
    return offset <= m->len && size <= m->len - offset;
}

static bool read_headers(struct fp_arena *arena, struct image *m)
{
    if (m->len < sizeof m->header) return false;
    memcpy(&m->header, m->bytes, sizeof m->header);
    const Elf64_Ehdr *h = &m->header;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_machine != EM_X86_64 || (h->e_type != ET_EXEC && h->e_type != ET_DYN) ||
        h->e_shentsize != sizeof(Elf64_Shdr))
        return false;
    m->nsections = h->e_shnum;
    if (!m->nsections || h->e_shstrndx >= m->nsections ||
        !lies_inside(m, h->e_shoff, m->nsections * sizeof(Elf64_Shdr)))
        return false;
    m->sections = FP_NEW_ARRAY(arena, Elf64_Shdr, m->nsections);
    memcpy(m->sections, m->bytes + h->e_shoff, m->nsections * sizeof(Elf64_Shdr));
    for (size_t i = 0; i < m->nsections; i++)
        if (m->sections[i].sh_type != SHT_NOBITS &&
            !lies_inside(m, m->sections[i].sh_offset, m->sections[i].sh_size))
            return false;
    return true;
}

static Elf64_Shdr *find_section(struct image *m, const char *name)
{
    const Elf64_Shdr *names = &m->sections[m->header.e_shstrndx];
    for (size_t i = 0; i < m->nsections; i++) {
        uint64_t at = m->sections[i].sh_name;
        if (m->sections[i].sh_type == SHT_NOBITS || at >= names->sh_size) continue;
        if (strnlen((char *)m->bytes + names->sh_offset + at, names->sh_size - at) ==
                strlen(name) &&
            !memcmp(m->bytes + names->sh_offset + at, name, strlen(name)))
            return &m->sections[i];
    }
    return NULL;
}

/* Nothing behind `end` is loaded. */
static bool only_unloaded_behind(const struct image *m, uint64_t end)
{
    for (size_t i = 0; i < m->nsections; i++) {
        const Elf64_Shdr *s = &m->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_flags & SHF_ALLOC && s->sh_offset + s->sh_size > end)
            return false;
    }
    for (uint16_t i = 0; i < m->header.e_phnum; i++) {
        Elf64_Phdr segment;
        uint64_t at = m->header.e_phoff + (uint64_t)i * m->header.e_phentsize;
        if (!lies_inside(m, at, sizeof segment) || at + sizeof segment > end) return false;
        memcpy(&segment, m->bytes + at, sizeof segment);
        if (segment.p_filesz && segment.p_offset + segment.p_filesz > end) return false;
    }
    return true;
}

/* Puts `len` bytes, no more than before, in the place of the section. */
static void replace(struct image *m, Elf64_Shdr *section, const unsigned char *bytes, size_t len)
{
    uint64_t begin = section->sh_offset, end = begin + section->sh_size, align = 8;
    for (size_t i = 0; i < m->nsections; i++)
        if (m->sections[i].sh_offset >= end && m->sections[i].sh_addralign > align)
            align = m->sections[i].sh_addralign;
    uint64_t gap = (section->sh_size - len) / align * align;
    if (len) memcpy(m->bytes + begin, bytes, len);
    memset(m->bytes + begin + len, 0, section->sh_size - len);
    memmove(m->bytes + end - gap, m->bytes + end, m->len - end);
    m->len -= gap;
    section->sh_size = len;
    for (size_t i = 0; i < m->nsections; i++)
        if (m->sections[i].sh_offset >= end) m->sections[i].sh_offset -= gap;
    if (m->header.e_shoff >= end) m->header.e_shoff -= gap;
    memcpy(m->bytes, &m->header, sizeof m->header);
    memcpy(m->bytes + m->header.e_shoff, m->sections, m->nsections * sizeof(Elf64_Shdr));
}

/* The note is: sizes of name and content, type, "GNU", content. */
static void find_build_id(struct image *m, struct fp_map_file *file)
{
    enum { HEADER = 16 };
    const Elf64_Shdr *note = find_section(m, ".note.gnu.build-id");
    if (!note || note->sh_size <= HEADER) return;
    file->build_id = m->bytes + note->sh_offset + HEADER;
    file->build_id_len = note->sh_size - HEADER;
}

/* Linkers compress what has the name of a debug section. Readers of the map's file take it as it
 * is. False: it cannot be read. */
static bool take_live(struct image *m, struct fp_map_file *file)
{
    const Elf64_Shdr *live = find_section(m, FP_MAP_LIVE_SECTION);
    if (!live) return true;
    file->live = m->bytes + live->sh_offset, file->live_len = live->sh_size;
    if (!(live->sh_flags & SHF_COMPRESSED)) return true;
    elf_version(EV_CURRENT);
    m->elf = elf_memory((char *)m->bytes, m->len);
    Elf_Scn *section = elf_getscn(m->elf, (size_t)(live - m->sections));
    Elf_Data *data = elf_compress(section, 0, 0) < 0 ? NULL : elf_getdata(section, NULL);
    if (data) file->live = data->d_buf, file->live_len = data->d_size;
    return data;
}

static bool write_beside(struct image *m, const char *path, const struct fp_writer *packed,
                         struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_map_file file = {.map = packed->bytes, .map_len = packed->len};
    find_build_id(m, &file);
    bool ok = take_live(m, &file) || fp_fail(error, path, "cannot read " FP_MAP_LIVE_SECTION);
    fp_map_file_encode(&out, &file);
    ok = ok && fp_file_write(fp_arena_printf(&arena, "%s" FP_MAP_FILE_SUFFIX, path), out.bytes,
                             out.len, error);
    if (m->elf) elf_end(m->elf);
    m->elf = NULL;
    fp_writer_free(&out);
    fp_arena_free(&arena);
    return ok;
}

static bool place(struct image *m, const char *path, enum fp_map_place how, bool *changed,
                  struct fp_error *error)
{
    struct fp_writer packed = {0};
    Elf64_Shdr *map = find_section(m, FP_MAP_SECTION);
    bool ok = true;
    if (!map || !map->sh_size || map->sh_flags & SHF_ALLOC ||
        !only_unloaded_behind(m, map->sh_offset) ||
        m->header.e_shoff < map->sh_offset + map->sh_size ||
        fp_map_is_packed(m->bytes + map->sh_offset, map->sh_size))
        return true;
    fp_map_pack(&packed, m->bytes + map->sh_offset, map->sh_size);
    if (how == FP_MAP_SEPARATE) {
        ok = write_beside(m, path, &packed, error);
        if (ok) replace(m, map, NULL, 0);
        *changed = ok;
    } else if (packed.len < map->sh_size) {
        replace(m, map, packed.bytes, packed.len);
        *changed = true;
    }
    fp_writer_free(&packed);
    return ok;
}

/* ---- the order of marks ---- */

/* Records of this size begin with the distance from themselves to an address. Do the addresses
 * rise? True where there is no such section. */
static bool rises(struct image *m, const char *name, size_t size)
{
    const Elf64_Shdr *section = find_section(m, name);
    int64_t last = INT64_MIN;
    for (uint64_t at = 0; section && section->sh_size - at >= size; at += size) {
        int32_t distance;
        memcpy(&distance, m->bytes + section->sh_offset + at, sizeof distance);
        if ((int64_t)at + distance < last) return false;
        last = (int64_t)at + distance;
    }
    return true;
}

/* Tells the runtime that marks are in the order of the code: then it need not look. */
static void note_order(struct image *m, bool *changed)
{
    const Elf64_Shdr *order = find_section(m, FP_ORDER_SECTION);
    uint32_t yes = 1;
    if (!order || order->sh_size != sizeof yes || !find_section(m, FP_MARK_SECTION) ||
        !rises(m, FP_MARK_SECTION, sizeof(struct fp_mark)) ||
        !rises(m, FP_SLOT_SECTION, sizeof(struct fp_slot_mark)))
        return;
    memcpy(m->bytes + order->sh_offset, &yes, sizeof yes);
    *changed = true;
}

static bool write_all(int fd, const unsigned char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t got = pwrite(fd, bytes + at, len - at, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return ftruncate(fd, (off_t)len) == 0;
}

bool cc_place_map(const char *path, enum fp_map_place how, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_file file;
    struct stat info;
    struct image m = {0};
    struct fp_error ignored = {0};
    bool changed = false, ok = true;
    if (how == FP_MAP_PLAIN || stat(path, &info) < 0 || !S_ISREG(info.st_mode)) return true;
    if (!fp_file_open(&file, path, &ignored)) return true;
    m.len = file.len;
    m.bytes = fp_arena_alloc(&arena, file.len + 1);
    memcpy(m.bytes, file.bytes, file.len);
    fp_file_close(&file);
    if (read_headers(&arena, &m)) {
        note_order(&m, &changed);
        ok = place(&m, path, how, &changed, error);
    }
    if (changed) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || !write_all(fd, m.bytes, m.len))
            ok = fp_fail(error, path, "cannot write: %s", strerror(errno));
        if (fd >= 0) close(fd);
    }
    fp_arena_free(&arena);
    return ok;
}
