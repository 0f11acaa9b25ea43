/* Replays map and profile files through their readers: whole, cut at every length,
 * and with every bit flipped, with and without checksums made right.
 *
 *     replay map|profile [--flips N] FILE...
 *
 * A whole file must be read. A damaged one is read, or refused by an error that
 * says where and what was expected; never a crash. A flipped bit behind a checksum
 * must be refused.
 */
#include "base/io.h"
#include "readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool reader(const unsigned char *, size_t, struct fp_error *);
typedef void repairer(unsigned char *, size_t);

static const char *file_name;
static unsigned long tried, refused;

static bool attempt(reader *read, const unsigned char *bytes, size_t len, const char *what,
                    size_t at)
{
    struct fp_error error = {0};
    tried++;
    if (read(bytes, len, &error)) return true;
    refused++;
    if (!error.set || error.offset == FP_NO_OFFSET || !strstr(error.what, "expected")) {
        printf("%s: %s at %zu: an error without offset or expectation: %s\n", file_name, what, at,
               error.what);
        exit(1);
    }
    if (error.offset > len) {
        printf("%s: %s at %zu: offset %llu is outside\n", file_name, what, at,
               (unsigned long long)error.offset);
        exit(1);
    }
    return false;
}

static void cuts(reader *read, repairer *repair, const unsigned char *bytes, size_t len)
{
    size_t step = 1 + len / 2000;
    for (size_t cut = 0; cut < len; cut += step) {
        /* in a block of its own, so that a read behind the end is seen */
        unsigned char *copy = malloc(cut ? cut : 1);
        memcpy(copy, bytes, cut);
        attempt(read, copy, cut, "cut", cut);
        repair(copy, cut);
        attempt(read, copy, cut, "repaired cut", cut);
        free(copy);
    }
}

static void flips(reader *read, repairer *repair, const unsigned char *bytes, size_t len,
                  size_t most)
{
    size_t step = 1 + len * 8 / most;
    unsigned char *copy = malloc(len);
    for (size_t bit = 0; bit < len * 8; bit += step) {
        memcpy(copy, bytes, len);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        attempt(read, copy, len, "flip", bit / 8);
        repair(copy, len);
        attempt(read, copy, len, "repaired flip", bit / 8);
    }
    free(copy);
}

static int replay(const char *path, reader *read, repairer *repair, size_t most)
{
    struct fp_file file;
    struct fp_error error = {0};
    file_name = path;
    if (!fp_file_open(&file, path, &error) || !read(file.bytes, file.len, &error)) {
        printf("%s: at %llu: %s\n", path, (unsigned long long)error.offset, error.what);
        return 1;
    }
    cuts(read, repair, file.bytes, file.len);
    flips(read, repair, file.bytes, file.len, most);
    fp_file_close(&file);
    return 0;
}

int main(int argc, char **argv)
{
    size_t most = 2000;
    int first = 2, failed = 0;
    if (argc > 3 && !strcmp(argv[2], "--flips")) {
        most = strtoul(argv[3], NULL, 10);
        first = 4;
    }
    if (argc <= first || !most) return 2;
    bool map = !strcmp(argv[1], "map");
    for (int i = first; i < argc; i++)
        failed |= map ? replay(argv[i], fuzz_read_map, fuzz_repair_map, most)
                      : replay(argv[i], fuzz_read_profile, fuzz_repair_profile, most);
    printf("%lu damaged inputs, %lu refused\n", tried, refused);
    return failed || !refused;
}
