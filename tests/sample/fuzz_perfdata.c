/* Hostile perf.data files. With clang's -fsanitize=fuzzer this is a fuzz target;
 * without it, a program that reads the files it is given and mutations of them. */
#include "perf/perfdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_perf_data data;
    struct fp_error error = {0};
    if (fp_perf_parse(&arena, bytes, len, "input", &data, &error)) {
        for (size_t i = 0; i < data.samples.len; i++) {
            const struct fp_perf_sample *s = &data.samples.at[i];
            if (s->event >= data.events.len) abort();
            if (s->nbranches && (size_t)s->first_branch + s->nbranches > data.branches.len) abort();
        }
    } else if (!error.set) {
        abort(); /* a failure says why */
    }
    fp_arena_free(&arena);
    return 0;
}

#ifndef FOOTPATH_LIBFUZZER
#include "random.h"

static void mutate(unsigned char *bytes, size_t len, uint64_t *random)
{
    for (uint32_t n = 1 + random_below(random, 8); n > 0; n--) {
        size_t at = random_next(random) % len;
        static const uint64_t values[] = {0, 1, 8, 16, 64, 81, 255, 0xffff, UINT32_MAX, UINT64_MAX, INT64_MAX};
        uint64_t value = random_chance(random, 50) ? values[random_below(random, 11)] : random_next(random);
        size_t width = (size_t)1 << random_below(random, 4);
        memcpy(bytes + at, &value, width < len - at ? width : len - at);
    }
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, done = 0;
    for (int i = 2; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");
        static unsigned char original[1 << 22], copy[1 << 22];
        size_t len = in ? fread(original, 1, sizeof original, in) : 0;
        if (!len) return fprintf(stderr, "%s: cannot read\n", argv[i]), 1;
        fclose(in);
        LLVMFuzzerTestOneInput(original, len);
        for (uint64_t round = 1; round <= rounds; round++, done++) {
            uint64_t random = round * 7919 + (uint64_t)i;
            size_t cut = random_chance(&random, 30) ? 1 + random_next(&random) % len : len;
            memcpy(copy, original, cut);
            mutate(copy, cut, &random);
            LLVMFuzzerTestOneInput(copy, cut);
        }
    }
    printf("%lu passed, 0 failed\n", done + (unsigned long)(argc > 2));
    return 0;
}
#endif
