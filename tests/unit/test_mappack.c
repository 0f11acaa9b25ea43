/* src/profile/mappack: what is packed can be read again, also where it packs far too well. */
#include "profile/mappack.h"

#include "../check.h"

#include <string.h>

/* What the decoded records of a program may take, in lengths of its map. */
enum { GROWTH = 32 };

/* Records that differ in a few bytes, as those of generated functions do. */
static unsigned char *records(size_t len)
{
    unsigned char *made = calloc(1, len);
    if (!made) abort();
    for (size_t i = 0; i < len; i++) made[i] = (unsigned char)(i % 509);
    for (size_t i = 0; i + 8 < len; i += 509) memcpy(made + i, &i, sizeof i);
    return made;
}

static void test_length(size_t len)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_writer w = {0};
    unsigned char *plain = records(len);
    size_t unpacked;
    fp_map_pack(&w, plain, len);
    CHECK(w.len < len && fp_map_is_packed(w.bytes, w.len));
    CHECK(fp_map_most_memory(w.len) / GROWTH >= len);
    const unsigned char *got = fp_map_unpack(&arena, "map", w.bytes, w.len, &unpacked, &error);
    CHECK(got && unpacked == len && !memcmp(got, plain, len));
    fp_arena_free(&arena);
    fp_writer_free(&w);
    free(plain);
}

int main(void)
{
    const size_t sizes[] = {1000, 1 << 20, 9 << 20, 15 << 20, 60 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) test_length(sizes[i]);
    return check_summary();
}
