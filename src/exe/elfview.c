/* Reading an ELF file as its loader does (exe/elfview.h). */
#include "exe/elfview.h"

#include "base/io.h"

#include <string.h>

enum { PAGE = 4096, MOST_SEGMENTS = 256 };

static bool has(const struct fp_elfview *view, uint64_t at, uint64_t len)
{
    return at <= view->len && len <= view->len - at;
}

static bool read_header(struct fp_elfview *view, struct fp_error *error)
{
    Elf64_Ehdr *h = &view->header;
    if (!has(view, 0, sizeof *h) || memcmp(view->bytes, ELFMAG, SELFMAG))
        return fp_fail(error, view->path, "expected an ELF file");
    memcpy(h, view->bytes, sizeof *h);
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        h->e_machine != EM_X86_64)
        return fp_fail(error, view->path, "is not for x86-64; only such programs can be rewritten");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return fp_fail(error, view->path,
                       "is not an executable or a shared library; link it first");
    return true;
}

static bool read_segments(struct fp_arena *arena, struct fp_elfview *view, struct fp_error *error)
{
    const Elf64_Ehdr *h = &view->header;
    view->nsegments = h->e_phnum;
    if (h->e_phentsize != sizeof *view->segments || !h->e_phnum || h->e_phnum > MOST_SEGMENTS ||
        !has(view, h->e_phoff, h->e_phnum * sizeof *view->segments))
        return fp_fail(error, view->path, "has damaged program headers");
    view->segments = FP_NEW_ARRAY(arena, Elf64_Phdr, view->nsegments);
    memcpy(view->segments, view->bytes + h->e_phoff, view->nsegments * sizeof *view->segments);
    view->base = UINT64_MAX;
    for (size_t i = 0; i < view->nsegments; i++) {
        const Elf64_Phdr *s = &view->segments[i];
        if (s->p_type != PT_LOAD) continue;
        if (!has(view, s->p_offset, s->p_filesz) || s->p_filesz > s->p_memsz ||
            s->p_vaddr > INT64_MAX - s->p_memsz || (s->p_vaddr - s->p_offset) % PAGE ||
            (view->end && s->p_vaddr < view->end - PAGE))
            return fp_fail(error, view->path, "has a damaged segment");
        if (s->p_vaddr < view->base) view->base = s->p_vaddr & ~(uint64_t)(PAGE - 1);
        view->end = (s->p_vaddr + s->p_memsz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        if (s->p_offset + s->p_filesz > view->file_end) view->file_end = s->p_offset + s->p_filesz;
        if (s->p_flags & PF_X) view->text += s->p_filesz;
        if (view->base == (s->p_vaddr & ~(uint64_t)(PAGE - 1)) && s->p_offset >= PAGE)
            return fp_fail(
                error, view->path,
                "is laid out as no linker does: its first segment is not the file's start");
    }
    return view->end ? true : fp_fail(error, view->path, "has nothing to load");
}

/* A file without sections, or with a table that is damaged, has none. */
static void read_sections(struct fp_arena *arena, struct fp_elfview *view)
{
    const Elf64_Ehdr *h = &view->header;
    if (h->e_shentsize != sizeof *view->sections || !h->e_shnum || h->e_shstrndx >= h->e_shnum ||
        !has(view, h->e_shoff, h->e_shnum * sizeof *view->sections))
        return;
    view->nsections = h->e_shnum;
    view->sections = FP_NEW_ARRAY(arena, Elf64_Shdr, view->nsections);
    memcpy(view->sections, view->bytes + h->e_shoff, view->nsections * sizeof *view->sections);
    for (size_t i = 0; i < view->nsections; i++) {
        const Elf64_Shdr *s = &view->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
            !has(view, s->sh_offset, s->sh_size))
            view->nsections = 0;
    }
    if (view->sections[h->e_shstrndx].sh_type != SHT_STRTAB) view->nsections = 0;
}

static void read_dynamic(struct fp_elfview *view)
{
    const Elf64_Phdr *s = fp_elfview_segment(view, PT_DYNAMIC);
    if (!s) return;
    view->dynamic = (Elf64_Dyn *)fp_elfview_at(view, s->p_vaddr, s->p_filesz);
    if ((uintptr_t)view->dynamic % 8) view->dynamic = NULL;
    size_t most = view->dynamic ? s->p_filesz / sizeof(Elf64_Dyn) : 0;
    while (view->ndynamic < most && view->dynamic[view->ndynamic].d_tag != DT_NULL)
        view->ndynamic++;
}

bool fp_elfview_open(struct fp_arena *arena, const char *path, struct fp_elfview *view,
                     struct fp_error *error)
{
    struct fp_file file;
    *view = (struct fp_elfview){.path = fp_arena_strdup(arena, path)};
    if (!fp_file_open(&file, path, error)) return false;
    view->len = file.len;
    view->bytes = fp_arena_alloc(arena, file.len + 1);
    memcpy(view->bytes, file.bytes, file.len);
    fp_file_close(&file);
    if (!read_header(view, error) || !read_segments(arena, view, error)) return false;
    read_sections(arena, view);
    read_dynamic(view);
    return true;
}

static const Elf64_Phdr *segment_of(const struct fp_elfview *view, uint64_t address)
{
    for (size_t i = 0; i < view->nsegments; i++) {
        const Elf64_Phdr *s = &view->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return s;
    }
    return NULL;
}

uint64_t fp_elfview_room(const struct fp_elfview *view, uint64_t address)
{
    const Elf64_Phdr *s = segment_of(view, address);
    return s ? s->p_filesz - (address - s->p_vaddr) : 0;
}

unsigned char *fp_elfview_at(const struct fp_elfview *view, uint64_t address, uint64_t len)
{
    const Elf64_Phdr *s = segment_of(view, address);
    if (!s || len > fp_elfview_room(view, address)) return NULL;
    return view->bytes + s->p_offset + (address - s->p_vaddr);
}

const char *fp_elfview_string(const struct fp_elfview *view, uint64_t address)
{
    uint64_t room = fp_elfview_room(view, address);
    const char *text = (const char *)fp_elfview_at(view, address, room);
    return text && memchr(text, 0, room) ? text : NULL;
}

const Elf64_Phdr *fp_elfview_segment(const struct fp_elfview *view, uint32_t type)
{
    for (size_t i = 0; i < view->nsegments; i++)
        if (view->segments[i].p_type == type) return &view->segments[i];
    return NULL;
}

uint64_t fp_elfview_dynamic(const struct fp_elfview *view, int64_t tag)
{
    for (size_t i = 0; i < view->ndynamic; i++)
        if (view->dynamic[i].d_tag == tag) return view->dynamic[i].d_un.d_val;
    return 0;
}

const char *fp_elfview_section_name(const struct fp_elfview *view, const Elf64_Shdr *section)
{
    const Elf64_Shdr *names = &view->sections[view->header.e_shstrndx];
    const char *text = (const char *)view->bytes + names->sh_offset;
    if (section->sh_name >= names->sh_size ||
        !memchr(text + section->sh_name, 0, names->sh_size - section->sh_name))
        return "";
    return text + section->sh_name;
}

Elf64_Shdr *fp_elfview_section(const struct fp_elfview *view, const char *name)
{
    for (size_t i = 1; i < view->nsections; i++)
        if (!strcmp(fp_elfview_section_name(view, &view->sections[i]), name))
            return &view->sections[i];
    return NULL;
}

bool fp_elfview_array(const struct fp_elfview *view, int64_t at, int64_t bytes, size_t size,
                      const void **array, size_t *count)
{
    uint64_t address = fp_elfview_dynamic(view, at), len = fp_elfview_dynamic(view, bytes);
    *array = NULL;
    *count = 0;
    if (!address || !len) return true;
    *array = fp_elfview_at(view, address, len);
    *count = len / size;
    return *array && len % size == 0 && (uintptr_t)*array % 8 == 0;
}

static uint64_t find_note(const struct fp_elfview *view, const Elf64_Phdr *segment,
                          const char *name, uint32_t type, size_t *len)
{
    const unsigned char *notes = fp_elfview_at(view, segment->p_vaddr, segment->p_filesz);
    uint64_t align = segment->p_align == 8 ? 8 : 4, size = notes ? segment->p_filesz : 0, at = 0;
    while (size - at >= 12) {
        uint32_t head[3];
        memcpy(head, notes + at, sizeof head);
        uint64_t content = at + 12 + (((uint64_t)head[0] + align - 1) & ~(align - 1));
        uint64_t next = content + (((uint64_t)head[1] + align - 1) & ~(align - 1));
        if (content > size || head[1] > size - content) break;
        if (head[2] == type && head[0] == strlen(name) + 1 &&
            !memcmp(notes + at + 12, name, head[0])) {
            *len = head[1];
            return segment->p_vaddr + content;
        }
        if (next > size) break;
        at = next;
    }
    return 0;
}

uint64_t fp_elfview_note(const struct fp_elfview *view, const char *name, uint32_t type,
                         size_t *len)
{
    uint64_t found = 0;
    for (size_t i = 0; i < view->nsegments && !found; i++)
        if (view->segments[i].p_type == PT_NOTE)
            found = find_note(view, &view->segments[i], name, type, len);
    return found;
}
