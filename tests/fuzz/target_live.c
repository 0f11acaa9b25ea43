/* Live files, as a killed process leaves them. Nothing in them has a checksum: the process writes
 * them while it runs. */
#include "fuzz.h"

#include "footpath/live_abi.h"
#include "profile/live.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool take_run(struct fp_arena *arena, const struct fp_run *run, uint64_t earlier,
                     void *context)
{
    struct fp_writer bytes = {0};
    (void)arena, (void)earlier, (void)context;
    fp_run_encode(&bytes, run);
    fp_writer_free(&bytes);
    return true;
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    uint64_t outside;
    const char *path = fuzz_file(bytes, len);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fp_live_owner(fd);
    if (!fp_live_read(&arena, fd, path, take_run, NULL, &outside, &error) && !error.set)
        __builtin_trap(); /* a failure says why */
    close(fd);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    struct fp_live_header header;
    if (len < sizeof header) return;
    memcpy(&header, bytes, sizeof header);
    memcpy(header.magic, FP_LIVE_MAGIC, sizeof header.magic);
    header.oldest_reader = FP_LIVE_OLDEST_READER;
    memcpy(bytes, &header, sizeof header);
}
