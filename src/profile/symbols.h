/* Names of the functions of a program, by address, from its symbol table. Guides and profiles for
 * other compilers use them to name the targets of indirect calls. */
#ifndef FP_PROFILE_SYMBOLS_H
#define FP_PROFILE_SYMBOLS_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct fp_symbol {
    uint64_t address;
    const char *name;
    const char *file; /* of a static function: the source file, as the compiler noted it, or NULL */
};

struct fp_symbols {
    struct fp_symbol *at; /* by address, then name */
    size_t len;
};

/* Empty if the file has no symbols (it was stripped) or cannot be read. */
void fp_symbols_read(struct fp_arena *arena, const char *path, struct fp_symbols *symbols);

/* The first function that begins there, or NULL. */
const struct fp_symbol *fp_symbols_find(const struct fp_symbols *symbols, uint64_t address);

#endif
