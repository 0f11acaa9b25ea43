/* Names of the functions of a program, by address, from its symbol table. Guides and profiles for
 * other compilers use them to name the targets of indirect calls. */
#ifndef FP_PROFILE_SYMBOLS_H
#define FP_PROFILE_SYMBOLS_H

#include "base/arena.h"
#include "base/table.h"

#include <stddef.h>
#include <stdint.h>

struct fp_symbol {
    uint64_t address;
    const char *name;
    const char *file; /* of a static function: the source file, as the compiler noted it, or NULL */
};

struct fp_symbols {
    struct fp_symbol *at; /* by address, then name; see fp_symbols_prefer */
    size_t len;
};

/* Empty if the file has no symbols (it was stripped) or cannot be read. */
void fp_symbols_read(struct fp_arena *arena, const char *path, struct fp_symbols *symbols);

/* Of several names of one function those come first that are keys of `known`: a destructor has one
 * by which it is called, and another by which the compiler knows its code. */
void fp_symbols_prefer(struct fp_symbols *symbols, const struct fp_strtable *known);

/* The first function that begins there, or NULL. */
const struct fp_symbol *fp_symbols_find(const struct fp_symbols *symbols, uint64_t address);

#endif
