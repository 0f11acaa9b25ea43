/* What the files behind exe/image.h share: the image as it is being put together. */
#ifndef FP_EXE_IMAGEPARTS_H
#define FP_EXE_IMAGEPARTS_H

#include "base/vec.h"
#include "exe/elfview.h"
#include "exe/image.h"
#include "exe/unwindtable.h"

enum { IMAGE_PAGE = 4096 };

/* Zones that only the image itself uses follow those of exe/image.h. */
enum { ZONE_RUNTIME = FP_IMAGE_NZONES, ZONE_RUNTIME_DATA, NZONES };

/* A range of addresses that is filled from its start. */
struct image_zone {
    uint64_t address, most; /* where it begins, and how large it may become */
    uint64_t len;           /* in memory */
    unsigned char *bytes;   /* of the file; NULL: all 0 at first */
    uint64_t file_len, cap; /* how many there are */
    uint64_t offset;        /* in OUT, once laid out */
    uint32_t flags;         /* of its segment */
    bool has_bytes;
};

struct image_section {
    const char *name;
    uint64_t address, size;
    uint32_t type;
    uint64_t flags, align, entry;
    const char *link; /* the section that sh_link is, or NULL */
    uint32_t info;
    const unsigned char *bytes; /* of a section that is not loaded */
};

struct image_symbol {
    const char *name;
    uint64_t address, size;
    bool is_function;
};

/* Where a table for the loader is now. */
struct image_table {
    uint64_t address, size;
};

enum image_table_kind {
    TABLE_DYNSYM,
    TABLE_DYNSTR,
    TABLE_HASH,
    TABLE_VERSYM,
    TABLE_VERNEED,
    TABLE_RELA,
    TABLE_DYNAMIC,
    TABLE_EH_FRAME_HDR,
    NTABLES
};

struct fp_image {
    struct fp_arena *arena;
    struct fp_elfview old, runtime;
    bool fixed, program, is_static;
    uint32_t mode;  /* of the file */
    uint64_t delta; /* address of the runtime in OUT less its own */
    uint64_t record, headers;
    uint64_t told; /* the headers that a static program is told of */
    struct image_zone zones[NZONES];
    FP_VEC(Elf64_Rela) relative; /* new relocations without a symbol */
    FP_VEC(Elf64_Rela) symbolic; /* with one of the new symbol table */
    FP_VEC(struct fp_unwind_entry) fdes;
    FP_VEC(struct image_symbol) symbols;
    FP_VEC(struct image_section) sections;
    FP_VEC(struct fp_exe_trap) traps;
    FP_VEC(struct fp_exe_sum) trap_sums;
    FP_VEC(uint64_t) trap_functions;
    FP_VEC(uint32_t) sums_at; /* of the same functions */
    FP_VEC(struct fp_exe_mark) marks;
    FP_VEC(Elf64_Dyn) dynamic;
    uint64_t entry; /* 0: the old one */
    const unsigned char *map;
    size_t map_len;
    FP_VEC(struct image_section) code; /* the old executable segments as they were */
    struct image_table tables[NTABLES];
    uint32_t nverneed, nlocals;
    uint64_t runpath, rpath; /* new strings of DT_RUNPATH and DT_RPATH, or 0 */
    FP_VEC(uint64_t) needed; /* names of libraries that the runtime needs beside the program's */
    uint32_t *renumbered;    /* old symbol -> new one, for relocations; ends with UINT32_MAX */
    uint32_t *imported;      /* symbol of the runtime -> new one */
};

/* ---- imagemerge.c: the runtime's segments, and relocations ---- */

/* Makes the runtime, which is open, part of the image. */
bool fp_image_add_runtime(struct fp_image *image, struct fp_error *error);
/* Puts all relocations together. needs: renumbered, imported. */
bool fp_image_merge_relocations(struct fp_image *image, struct fp_error *error);
/* Of a static program, which relocates itself: only the runtime's and those of new data, for the
 * runtime's entry point. */
bool fp_image_relocate_runtime(struct fp_image *image, struct fp_exe_record *record,
                               struct fp_error *error);
/* The dynamic section, with our constructors in front. needs: all other tables. */
bool fp_image_merge_dynamic(struct fp_image *image, struct fp_error *error);

/* ---- imagesymbols.c: symbols, versions, hash ---- */

bool fp_image_merge_symbols(struct fp_image *image, struct fp_error *error);

/* ---- imageunwind.c ---- */

/* Writes .eh_frame_hdr. */
bool fp_image_merge_unwind(struct fp_image *image, struct fp_error *error);
/* Does the file have a table of FDEs that can be read? */
bool fp_image_has_unwind(const struct fp_elfview *view);

/* ---- imagesections.c: what is not loaded ---- */

/* Puts a copy of the sections together, with new ones. *table: the section headers. */
struct image_unloaded {
    unsigned char *bytes; /* to be written at `offset` */
    size_t len;
    uint64_t offset;
    uint64_t table; /* offset of the section headers in the file */
    uint32_t nsections, names;
};
bool fp_image_make_sections(struct fp_image *image, uint64_t offset,
                            struct image_unloaded *unloaded, struct fp_error *error);
/* The number of the new section that covers an address, when all is written. */
uint16_t fp_image_runtime_section(const struct fp_image *image);

/* ---- image.c ---- */

/* Room in a zone with these bytes in it. */
bool fp_image_put(struct fp_image *image, unsigned zone, const void *bytes, uint64_t len,
                  uint64_t align, uint64_t *address, struct fp_error *error);
void fp_image_add_section(struct fp_image *image, struct image_section section);
struct image_zone *fp_image_zone_at(const struct fp_image *image, uint64_t address);

#endif
