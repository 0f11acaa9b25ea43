/* Drives a fuzz target without libFuzzer: mutations of the files it is given, for a while.
 *
 *     fuzz-TARGET ROUNDS SECONDS FILE...
 *
 * At most so many mutations of each file, in so many seconds of CPU time in all. The files
 * themselves come first. A crash, an abort or a sanitizer's report is a failure.
 */
#include "base/io.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t len);
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t len, size_t most);
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t len, size_t most, unsigned seed);

static uint64_t dice;

/* What libFuzzer would have: numbers at the edges of their types, and cuts. */
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t len, size_t most)
{
    static const uint64_t values[] = {0,   1,      8,          16,         64,       81,
                                      255, 0xffff, UINT32_MAX, UINT64_MAX, INT64_MAX};
    (void)most;
    if (len && random_chance(&dice, 10)) len = random_next(&dice) % len;
    for (uint32_t n = 1 + random_below(&dice, 8); n > 0 && len; n--) {
        size_t at = random_next(&dice) % len, width = (size_t)1 << random_below(&dice, 4);
        uint64_t value =
            random_chance(&dice, 50) ? values[random_below(&dice, 11)] : random_next(&dice);
        memcpy(bytes + at, &value, width < len - at ? width : len - at);
    }
    return len;
}

static bool time_left(double seconds)
{
    return (double)clock() / CLOCKS_PER_SEC < seconds;
}

static unsigned long drive(const struct fp_file *file, unsigned long rounds, double seconds)
{
    unsigned long done = 0;
    while (done < rounds && time_left(seconds)) {
        unsigned char *copy = malloc(file->len);
        memcpy(copy, file->bytes, file->len);
        size_t len = LLVMFuzzerCustomMutator(copy, file->len, file->len, random_below(&dice, 16));
        /* in a block of its own size, so that a read behind the end is seen */
        copy = realloc(copy, len ? len : 1);
        LLVMFuzzerTestOneInput(copy, len);
        free(copy);
        done++;
    }
    return done;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    unsigned long rounds = strtoul(argv[1], NULL, 10), done = 0;
    double seconds = strtod(argv[2], NULL);
    for (int i = 3; i < argc; i++) {
        struct fp_file file;
        struct fp_error error = {0};
        if (!fp_file_open(&file, argv[i], &error) || !file.len) {
            printf("%s: %s\n", argv[i], error.set ? error.what : "is empty");
            return 1;
        }
        dice = (uint64_t)i;
        LLVMFuzzerTestOneInput(file.bytes, file.len);
        /* each file has its part of the time */
        done += drive(&file, rounds, seconds * (i - 2) / (argc - 3));
        fp_file_close(&file);
    }
    printf("%d files, %lu mutations of them\n", argc - 3, done);
    return done ? 0 : 1;
}
