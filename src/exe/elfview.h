/* The bytes of an ELF file, 64-bit and x86-64, as its loader sees them: segments and the dynamic
 * section. Sections are looked at only where the loader has no need of them. All reads are
 * checked: the file may be anything. */
#ifndef FP_EXE_ELFVIEW_H
#define FP_EXE_ELFVIEW_H

#include "base/arena.h"
#include "base/error.h"

#include <elf.h>
#include <stdbool.h>

struct fp_elfview {
    const char *path;
    unsigned char *bytes; /* a copy: may be changed */
    size_t len;
    Elf64_Ehdr header;
    Elf64_Phdr *segments;
    size_t nsegments;
    Elf64_Shdr *sections; /* the first one is unused; none where the file has no table of them */
    size_t nsections;
    uint64_t base, end; /* of what is loaded, in whole pages */
    uint64_t file_end;  /* how much of the file is loaded */
    uint64_t text;      /* bytes of executable segments */
    Elf64_Dyn *dynamic; /* NULL: none */
    size_t ndynamic;    /* without the end */
};

bool fp_elfview_open(struct fp_arena *arena, const char *path, struct fp_elfview *view,
                     struct fp_error *error);

/* The bytes that are loaded at an address, of which `len` must be in the file; else NULL. */
unsigned char *fp_elfview_at(const struct fp_elfview *view, uint64_t address, uint64_t len);
/* How many bytes from there on are in the file, in one segment. */
uint64_t fp_elfview_room(const struct fp_elfview *view, uint64_t address);
/* A string that ends in the file, or NULL. */
const char *fp_elfview_string(const struct fp_elfview *view, uint64_t address);

/* The first segment of this type, or NULL. */
const Elf64_Phdr *fp_elfview_segment(const struct fp_elfview *view, uint32_t type);
/* The value of an entry of the dynamic section; 0 where there is none. */
uint64_t fp_elfview_dynamic(const struct fp_elfview *view, int64_t tag);
/* The section of that name, or NULL. */
Elf64_Shdr *fp_elfview_section(const struct fp_elfview *view, const char *name);
const char *fp_elfview_section_name(const struct fp_elfview *view, const Elf64_Shdr *section);

/* An array of the dynamic section: an address and a size in bytes, of elements of `size` bytes.
 * NULL where there is none; false where it is not in the file. */
bool fp_elfview_array(const struct fp_elfview *view, int64_t at, int64_t bytes, size_t size,
                      const void **array, size_t *count);

/* A note of this name and type: where its content is; 0: none. */
uint64_t fp_elfview_note(const struct fp_elfview *view, const char *name, uint32_t type,
                         size_t *len);

#endif
