/* Outputs that are inputs: see cli_lock.h. */
#include "cli_lock.h"

#include "footpath/profile_abi.h"
#include "profile/aside.h"
#include "profile/runs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t cli_find_in_place(const char *output, const char *const *inputs, size_t count)
{
    struct stat written, read;
    if (stat(output, &written) < 0 || !S_ISREG(written.st_mode)) return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (stat(inputs[i], &read) == 0 && read.st_ino == written.st_ino &&
            read.st_dev == written.st_dev)
            return i;
    return SIZE_MAX;
}

/* The file that takes the place of this one says that there may be runs beside: one may
 * have come that only this file was told of. This one says so too, for programs that have it open:
 * they then look whether the name is still this file's. */
static uint64_t next_id(int fd)
{
    struct fp_profile_header header = {0};
    if (pread(fd, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.magic, FP_PROFILE_MAGIC, 8))
        return 0;
    header.id |= FP_PROFILE_ASIDE;
    ssize_t put = pwrite(fd, &header.id, sizeof header.id, offsetof(struct fp_profile_header, id));
    (void)put; /* the number of names tells, where the file system counts them */
    return header.id;
}

bool cli_in_place_begin(struct cli_in_place *in_place, const char *output,
                        const char *const *inputs, size_t count, struct fp_error *error)
{
    *in_place = (struct cli_in_place){cli_find_in_place(output, inputs, count), -1, 0};
    if (in_place->index == SIZE_MAX) return true;
    in_place->lock = fp_profile_lock(output, false);
    if (in_place->lock < 0) return true; /* writing says why not */
    in_place->id = next_id(in_place->lock);
    return fp_profile_take_in(in_place->lock, output, NULL, error);
}

void cli_in_place_end(struct cli_in_place *in_place)
{
    if (in_place->lock >= 0) close(in_place->lock);
}
