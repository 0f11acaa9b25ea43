/* Maps in a file beside their program (--fp-map=separate). */
#include "fuzz.h"

#include "profile/mappack.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_program program = {0};
    struct fp_error error = {0};
    struct fp_map_file map;
    struct fp_reader r = {.bytes = bytes, .len = len, .file = "map", .error = &error};
    if (fp_map_file_decode(&r, &map))
        fp_program_parse(&arena, "map", map.map, map.map_len, map.live_len ? map.live : NULL,
                         map.live_len, &program, &error);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    fuzz_repair_maps_within(bytes, len);
}
