/* Executables that are rewritten, from the file as it comes to the file that counts. */
#include "fuzz.h"

#include "exe/exe.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The runtimes, which seeds.py puts beside the seeds: of programs with a loader, and of others. */
static const char *const runtimes[] = {"runtime.so", "static.so"};

static const char *runtime(const char *name)
{
    static char path[4096];
    const char *folder = getenv("FUZZ_SEEDS");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".cache/fuzz/seeds", name);
    return path;
}

static const char *output(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/footpath-fuzz-%d", (int)getpid());
    return path;
}

static void rewrite(const char *file, const char *by)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_exe_options options = {.runtime = runtime(by)};
    struct fp_exe_summary summary;
    if (!fp_exe_rewrite(&arena, file, output(), &options, &summary, &error) && !*error.what)
        abort(); /* a refusal has a reason */
    unlink(output());
    fp_arena_free(&arena);
}

/* The runtime that is not the program's is refused at once. */
void fuzz_one(const unsigned char *bytes, size_t len)
{
    const char *file = fuzz_file(bytes, len);
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) rewrite(file, runtimes[i]);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* nothing in an executable has a checksum */
}
