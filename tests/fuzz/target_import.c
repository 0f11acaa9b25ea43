/* Legacy files of LLVM 2.8 to 3.3, made into counters of a real program and written. */
#include "fuzz.h"

#include "profile/legacyimport.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char output[64];

static void remove_output(void)
{
    unlink(output);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    static char program[4096];
    struct fp_error error = {0};
    if (!program[0]) {
        const char *folder = getenv("FUZZ_SEEDS");
        snprintf(program, sizeof program, "%s/program/0-control_flow",
                 folder ? folder : ".cache/fuzz/seeds");
        snprintf(output, sizeof output, "/tmp/footpath-fuzz-%d.prof", (int)getpid());
        atexit(remove_output);
    }
    if (!fp_legacy_import(fuzz_file(bytes, len), program, output, &error) && !error.set) abort();
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums */
}
