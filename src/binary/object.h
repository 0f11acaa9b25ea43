/* An ELF file as src/binary and src/perf need it: where its code is, the names of its
 * functions, its build-id, and its debug information, which may be in a file of its own. x86-64
 * only. */
#ifndef FP_BINARY_OBJECT_H
#define FP_BINARY_OBJECT_H

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <libelf.h>

struct fp_object_symbol {
    uint64_t address, size;
    const char *name;
    bool global;
};

struct fp_section {
    uint64_t address, size;
    const unsigned char *bytes;
    bool code, writable;
    bool settled;     /* writable until the loader is done: .data.rel.ro */
    const char *name; /* "" where it has none */
};

struct fp_segment {
    uint64_t address, offset, size;
};

struct fp_object {
    struct fp_arena *arena;
    const char *path;
    const unsigned char *build_id;
    size_t build_id_len;
    FP_VEC(struct fp_segment) segments; /* the executable ones */
    FP_VEC(struct fp_section) sections; /* those that are loaded from the file */
    FP_VEC(struct fp_object_symbol)
    functions;                /* by address, one per address, none inside another */
    FP_VEC(uint64_t) inner;   /* addresses of symbols of functions inside of others */
    uint64_t entry;           /* where execution starts; 0: none */
    struct fp_table imports;  /* address of a PLT entry or GOT slot -> name (a pointer) */
    struct fp_table defined;  /* names (pointers) among them that the object itself defines */
    struct fp_table pointers; /* address of a relocated word -> what it points to */
    struct fp_table resolved; /* words that are what a function of the object returns (ifunc) */
    struct fp_table endless;  /* entries of functions that were found not to return (returns.h) */
    bool fixed;               /* linked at its address: not PIE, not shared */
    const char *debug_path;   /* separate debug file, or NULL */
    Dwarf *dwarf;             /* or NULL */
    int fd, debug_fd;
    Elf *elf, *debug_elf;
};

/* Fails if it is not an x86-64 ELF file. Debug information is optional. */
bool fp_object_open(struct fp_arena *arena, const char *path, struct fp_object *object,
                    struct fp_error *error);
void fp_object_close(struct fp_object *object);

/* The address of a byte of the file, as linked; 0 if it is not code. */
uint64_t fp_object_address(const struct fp_object *object, uint64_t file_offset);

/* The bytes that are loaded at an address, and how many follow; NULL outside. */
const unsigned char *fp_object_bytes(const struct fp_object *object, uint64_t address, size_t *len);

/* The same, of what no instruction of the program changes: NULL where it can be written. */
const unsigned char *fp_object_constant(const struct fp_object *object, uint64_t address,
                                        size_t *len);

/* A pointer into the object that the loader makes, and nobody changes then. Other words beside such
 * may be set when the program starts: variables of libc, copies of another object's constants,
 * addresses in other objects. */
bool fp_object_constant_pointer(const struct fp_object *object, uint64_t address, uint64_t *value);

/* The word at an address after relocation; false outside of the file. */
bool fp_object_pointer(const struct fp_object *object, uint64_t address, uint64_t *value);

/* The function that covers an address, or NULL. */
const struct fp_object_symbol *fp_object_function(const struct fp_object *object, uint64_t address);

/* The name behind a PLT entry or a GOT slot, or NULL. */
const char *fp_object_import(const struct fp_object *object, uint64_t address);

/* Is a function of this name, which fp_object_import gave, the object's own? */
bool fp_object_defines(const struct fp_object *object, const char *name);

#endif
