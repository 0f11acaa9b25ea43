/* One more segment in an ELF file: see bodyfile.h.
 *
 *     the file as it was | the new segment | symbols, names, section headers
 *
 * The old tables of symbols and sections stay where they are, unused.
 */
#include "exe/bodyfile.h"

#include "exe/newframes.h"
#include "footpath/abi.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, MORE_SECTIONS = 16 };

/* ---- program headers ---- */

static Elf64_Phdr *find_room(const struct fp_elfview *view)
{
    const Elf64_Shdr *section = fp_elfview_section(view, FP_BODY_ROOM_SECTION);
    for (size_t i = 0; section && i < view->nsegments; i++)
        if (view->segments[i].p_type == PT_NOTE && view->segments[i].p_vaddr == section->sh_addr &&
            view->segments[i].p_memsz == section->sh_size)
            return &view->segments[i];
    return NULL;
}

const char *fp_body_file_open(struct fp_body_file *file, struct fp_arena *arena, const char *path)
{
    struct fp_error error = {0};
    *file = (struct fp_body_file){.arena = arena};
    if (!fp_elfview_open(arena, path, &file->view, &error))
        return fp_arena_strdup(arena, error.what);
    if (!file->view.nsections) return "it has no sections";
    if (!find_room(&file->view)) return "it has no room for a program header";
    if (!fp_elfview_segment(&file->view, PT_GNU_EH_FRAME)) return "it has no .eh_frame_hdr";
    file->address = file->view.end;
    return NULL;
}

/* Loaded segments must be by address: the new one goes behind the last. */
static void set_segments(struct fp_body_file *file, uint64_t offset)
{
    struct fp_elfview *view = &file->view;
    size_t room = (size_t)(find_room(view) - view->segments), last = 0;
    for (size_t i = 0; i < view->nsegments; i++)
        if (view->segments[i].p_type == PT_LOAD) last = i;
    if (room > last) last++;
    for (; room < last; room++) view->segments[room] = view->segments[room + 1];
    for (; room > last; room--) view->segments[room] = view->segments[room - 1];
    view->segments[last] = (Elf64_Phdr){.p_type = PT_LOAD,
                                        .p_flags = PF_R | PF_X,
                                        .p_offset = offset,
                                        .p_vaddr = file->address,
                                        .p_paddr = file->address,
                                        .p_filesz = file->bytes.len,
                                        .p_memsz = file->bytes.len,
                                        .p_align = PAGE};
    for (size_t i = 0; i < view->nsegments; i++) {
        Elf64_Phdr *s = &view->segments[i];
        if (s->p_type != PT_GNU_EH_FRAME) continue;
        s->p_vaddr = s->p_paddr = file->unwind;
        s->p_offset = offset + (file->unwind - file->address);
        s->p_filesz = s->p_memsz = file->unwind_size;
    }
    memcpy(view->bytes + view->header.e_phoff, view->segments,
           view->nsegments * sizeof *view->segments);
}

/* ---- the segment ---- */

uint64_t fp_body_file_here(const struct fp_body_file *file)
{
    return file->address + file->bytes.len;
}

void fp_body_file_align(struct fp_body_file *file, unsigned align)
{
    while (file->bytes.len % align) fp_write_u8(&file->bytes, 0);
}

void fp_body_file_part(struct fp_body_file *file, const char *name, uint64_t from, bool code)
{
    struct fp_body_part part = {name, from, fp_body_file_here(file) - from, code};
    if (part.size) fp_vec_push(file->arena, &file->parts, part);
}

bool fp_body_file_unwind(struct fp_body_file *file, const struct fp_new_fde *fdes, size_t count)
{
    struct fp_unwind_table old;
    if (!fp_unwind_table_find(&file->view, &old)) return false;
    size_t all = old.count + count;
    struct fp_unwind_entry *entries = FP_NEW_ARRAY(file->arena, struct fp_unwind_entry, all);
    for (uint32_t i = 0; i < old.count; i++) entries[i] = fp_unwind_table_entry(&old, i);
    for (size_t i = 0; i < count; i++)
        entries[old.count + i] = (struct fp_unwind_entry){fdes[i].pc, fdes[i].address};
    fp_body_file_align(file, 4);
    file->unwind = fp_body_file_here(file);
    file->unwind_size = fp_unwind_table_size(all);
    unsigned char *bytes = fp_arena_alloc(file->arena, file->unwind_size);
    fp_unwind_table_write(entries, all, file->unwind, old.eh_frame, bytes);
    fp_write_bytes(&file->bytes, bytes, file->unwind_size);
    fp_body_file_part(file, ".eh_frame_hdr.footpath", file->unwind, false);
    return true;
}

/* ---- sections ---- */

struct body_sections {
    struct fp_body_file *file;
    Elf64_Shdr *headers;
    size_t count;
    uint64_t segment;       /* where it is in the file */
    struct fp_writer names; /* of sections */
    struct fp_writer tail;  /* what is behind the segment */
    uint64_t tail_at;
};

static uint32_t add_name(struct fp_writer *names, const char *name)
{
    uint32_t at = (uint32_t)names->len;
    fp_write_bytes(names, name, strlen(name) + 1);
    return at;
}

static void align_tail(struct body_sections *s)
{
    while ((s->tail_at + s->tail.len) % 8) fp_write_u8(&s->tail, 0);
}

/* Puts the section's bytes behind the segment. */
static void put_behind(struct body_sections *s, Elf64_Shdr *header, const struct fp_writer *bytes)
{
    align_tail(s);
    header->sh_offset = s->tail_at + s->tail.len;
    header->sh_size = bytes->len;
    fp_write_bytes(&s->tail, bytes->bytes, bytes->len);
}

static void add_part(struct body_sections *s, const struct fp_body_part *part)
{
    const struct fp_body_file *file = s->file;
    s->headers[s->count++] = (Elf64_Shdr){
        .sh_name = add_name(&s->names, part->name),
        .sh_type = SHT_PROGBITS,
        .sh_flags = SHF_ALLOC | (part->code ? SHF_EXECINSTR : 0u),
        .sh_addr = part->address,
        .sh_offset = s->segment + (part->address - file->address),
        .sh_size = part->size,
        .sh_addralign = part->code ? 16 : 4,
    };
}

/* Behind the old symbols, so that these keep their numbers: hidden, since only local ones may
 * stand in front. */
static void add_symbols(struct body_sections *s)
{
    const struct fp_body_file *file = s->file;
    const unsigned char *bytes = file->view.bytes;
    Elf64_Shdr *table = fp_elfview_section(&file->view, ".symtab");
    if (!table || table->sh_link >= file->view.nsections || !file->symbols.len) return;
    Elf64_Shdr *header = &s->headers[table - file->view.sections];
    Elf64_Shdr *strings = &s->headers[table->sh_link];
    struct fp_writer symbols = {0}, names = {0};
    fp_write_bytes(&symbols, bytes + table->sh_offset, table->sh_size);
    fp_write_bytes(&names, bytes + strings->sh_offset, strings->sh_size);
    size_t code = file->view.nsections; /* the first new section is the code */
    for (size_t i = 0; i < file->symbols.len; i++) {
        const struct fp_body_symbol *one = &file->symbols.at[i];
        Elf64_Sym symbol = {.st_name = add_name(&names, one->name),
                            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                            .st_other = STV_HIDDEN,
                            .st_shndx = (uint16_t)code,
                            .st_value = one->address,
                            .st_size = one->size};
        fp_write_bytes(&symbols, &symbol, sizeof symbol);
    }
    put_behind(s, header, &symbols);
    put_behind(s, strings, &names);
    fp_writer_free(&symbols);
    fp_writer_free(&names);
}

/* gdb unwinds by a .debug_frame where .eh_frame has nothing. */
static void add_debug(struct body_sections *s)
{
    Elf64_Shdr *old = fp_elfview_section(&s->file->view, ".debug_frame");
    struct fp_writer *debug = &s->file->debug;
    if (!debug->len || (old && old->sh_flags & SHF_COMPRESSED)) return;
    Elf64_Shdr *header = old ? &s->headers[old - s->file->view.sections] : &s->headers[s->count];
    struct fp_writer all = {0};
    if (old) fp_write_bytes(&all, s->file->view.bytes + old->sh_offset, old->sh_size);
    if (!old)
        s->headers[s->count++] = (Elf64_Shdr){.sh_name = add_name(&s->names, ".debug_frame"),
                                              .sh_type = SHT_PROGBITS,
                                              .sh_addralign = 8};
    if (!all.len) {
        fp_write_bytes(&all, debug->bytes, debug->len);
        put_behind(s, header, &all);
    }
    fp_writer_free(&all);
}

static void make_sections(struct body_sections *s)
{
    struct fp_elfview *view = &s->file->view;
    const Elf64_Shdr *names = &view->sections[view->header.e_shstrndx];
    Elf64_Shdr *room = fp_elfview_section(view, FP_BODY_ROOM_SECTION);
    s->headers = FP_NEW_ARRAY(s->file->arena, Elf64_Shdr,
                              view->nsections + s->file->parts.len + MORE_SECTIONS);
    memcpy(s->headers, view->sections, view->nsections * sizeof *s->headers);
    s->count = view->nsections;
    fp_write_bytes(&s->names, view->bytes + names->sh_offset, names->sh_size);
    s->headers[room - view->sections].sh_type = SHT_PROGBITS; /* no longer a note */
    for (size_t i = 0; i < s->file->parts.len; i++) add_part(s, &s->file->parts.at[i]);
    add_symbols(s);
    add_debug(s);
    put_behind(s, &s->headers[view->header.e_shstrndx], &s->names);
    align_tail(s);
    view->header.e_shoff = s->tail_at + s->tail.len;
    view->header.e_shnum = (uint16_t)s->count;
    fp_write_bytes(&s->tail, (const void *)s->headers, s->count * sizeof *s->headers);
}

/* ---- writing ---- */

static bool write_at(int fd, const unsigned char *bytes, uint64_t len, uint64_t at)
{
    while (len) {
        ssize_t got = pwrite(fd, bytes, len < 1u << 30 ? len : 1u << 30, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got, at += (uint64_t)got, len -= (uint64_t)got;
    }
    return true;
}

/* In place, as a linker writes its output: links and modes of the file stay. */
bool fp_body_file_write(struct fp_body_file *file, struct fp_error *error)
{
    struct fp_elfview *view = &file->view;
    uint64_t offset = (view->len + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    struct body_sections s = {.file = file, .segment = offset, .tail_at = offset + file->bytes.len};
    set_segments(file, offset);
    make_sections(&s);
    memcpy(view->bytes, &view->header, sizeof view->header);
    int fd = open(view->path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_at(fd, file->bytes.bytes, file->bytes.len, offset) &&
              write_at(fd, s.tail.bytes, s.tail.len, s.tail_at) &&
              write_at(fd, view->bytes, view->len, 0);
    if (!ok) fp_fail(error, view->path, "cannot write: %s", strerror(errno));
    if (fd >= 0 && close(fd) < 0 && ok)
        ok = fp_fail(error, view->path, "cannot write: %s", strerror(errno));
    fp_writer_free(&s.names);
    fp_writer_free(&s.tail);
    return ok;
}
