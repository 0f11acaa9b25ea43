/* Executables: the ELF file around a map, and its symbols. */
#include "fuzz.h"

#include "profile/symbols.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_symbols symbols;
    struct fp_error error = {0};
    const char *path = fuzz_file(bytes, len);
    fp_program_read(&arena, path, &program, &error);
    fp_symbols_read(&arena, path, &symbols);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    fuzz_repair_maps_within(bytes, len);
}
