/* Executables that are rewritten, from the file as it comes to the file that counts. */
#include "fuzz.h"

#include "exe/exe.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The runtime, which seeds.py puts beside the seeds. */
static const char *runtime(void)
{
    static char path[4096];
    const char *folder = getenv("FUZZ_SEEDS");
    snprintf(path, sizeof path, "%s/runtime.so", folder ? folder : ".cache/fuzz/seeds");
    return path;
}

static const char *output(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/footpath-fuzz-%d", (int)getpid());
    return path;
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_exe_options options = {.runtime = runtime()};
    struct fp_exe_summary summary;
    if (!fp_exe_rewrite(&arena, fuzz_file(bytes, len), output(), &options, &summary, &error) &&
        !*error.what)
        abort(); /* a refusal has a reason */
    unlink(output());
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* nothing in an executable has a checksum */
}
