/* What all fuzz targets share: see fuzz.h. */
#include "fuzz.h"

#include "base/checksum.h"
#include "base/io.h"
#include "profile/mapcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t len);
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t len, size_t most);
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t len, size_t most, unsigned seed);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t len)
{
    fuzz_one(bytes, len);
    return 0;
}

size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t len, size_t most, unsigned seed)
{
    size_t changed = LLVMFuzzerMutate(bytes, len, most);
    if (seed % 16) fuzz_repair(bytes, changed);
    return changed;
}

const char *fuzz_file(const unsigned char *bytes, size_t len)
{
    static char name[32];
    static int fd = -1;
    if (fd < 0) fd = memfd_create("fuzz", 0);
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, bytes, len, 0) != (ssize_t)len) abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return name;
}

const struct fp_program *fuzz_program(void)
{
    static struct fp_program program;
    static struct fp_arena arena;
    if (program.nfunctions) return &program;
    const char *folder = getenv("FUZZ_SEEDS");
    char path[4096];
    struct fp_file file;
    struct fp_error error = {0};
    snprintf(path, sizeof path, "%s/map/0-control_flow", folder ? folder : ".cache/fuzz/seeds");
    if (!fp_file_open(&file, path, &error) ||
        !fp_program_parse(&arena, "map", file.bytes, file.len, NULL, 0, &program, &error)) {
        fprintf(stderr, "%s: %s; set FUZZ_SEEDS\n", path, error.what);
        exit(1);
    }
    /* counters from 8 on, wherever the linker put them */
    program.sections.counters_address = 8;
    program.sections.counters_size = (uint64_t)1 << 40;
    return &program;
}

/* Map records wherever they lie in some bytes: found by their magic. */
void fuzz_repair_maps_within(unsigned char *bytes, size_t len)
{
    const uint32_t magic = FP_MAP_MAGIC;
    for (size_t at = 0; at + FP_MAP_HEADER_SIZE <= len; at++) {
        uint32_t payload;
        if (memcmp(bytes + at, &magic, sizeof magic)) continue;
        memcpy(&payload, bytes + at + 4, sizeof payload);
        if (payload > len - at - FP_MAP_HEADER_SIZE) continue;
        uint64_t checksum = fp_checksum(bytes + at + FP_MAP_HEADER_SIZE, payload, 0);
        memcpy(bytes + at + 8, &checksum, sizeof checksum);
    }
}
