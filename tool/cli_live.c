/* Running programs where a profile is named: see cli_live.h. */
#include "cli_live.h"

#include "base/varint.h"
#include "profile/live.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "pid:"

bool cli_is_live_name(const char *name)
{
    return !strncmp(name, PREFIX, sizeof PREFIX - 1);
}

const char *cli_live_name(struct fp_arena *arena, const char *pid)
{
    if (!*pid || strspn(pid, "0123456789") != strlen(pid)) return NULL;
    return fp_arena_printf(arena, PREFIX "%s", pid);
}

static int look(const char *name, struct fp_error *error)
{
    struct fp_writer bytes = {0};
    const char *digits = name + sizeof PREFIX - 1;
    size_t len = strspn(digits, "0123456789");
    if (!len || (digits[len] && digits[len] != '#')) {
        fp_fail(error, name, "expected pid:N with the number of a process");
        return -1;
    }
    bool ok = fp_live_profile(strtoull(digits, NULL, 10), &bytes, error);
    int fd = ok ? fp_keep_bytes(bytes.bytes, bytes.len, error) : -1;
    fp_writer_free(&bytes);
    return fd;
}

bool cli_live_open(struct fp_file *file, const char *name, struct fp_error *error)
{
    static char *kept;
    static int fd = -1;
    if (!kept || strcmp(kept, name)) {
        if (fd >= 0) close(fd);
        free(kept);
        fd = look(name, error);
        kept = fd >= 0 ? strdup(name) : NULL;
    }
    return fd >= 0 && fp_file_of(file, fd, name, error);
}
