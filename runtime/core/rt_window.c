/* Reads parts of a file, many of them with one system call: a window is a piece of the file
 * in memory, and what lies in the window is not read again.
 *
 * Not handled: parts longer than a window; rt_read_at reads those.
 */
#include "core/rt_call.h"
#include "core/rt_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Reads up to `len` bytes. Returns how many it has read; 0 at the end, or on failure. */
static size_t read_some(int fd, void *bytes, size_t len, uint64_t at)
{
    ssize_t got;
    do got = rt_pread(fd, bytes, len, at);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

bool rt_read_at(int fd, void *bytes, size_t len, uint64_t at)
{
    for (size_t got; len; bytes = (char *)bytes + got, at += got, len -= got)
        if (!(got = read_some(fd, bytes, len, at))) return false;
    return true;
}

/* A short read goes on where it ended, so what counts is that all of the part was read. */
const void *rt_window_at(struct rt_window *window, int fd, uint64_t at, size_t len)
{
    bool inside = at >= window->at && at - window->at <= window->len &&
                  len <= window->len - (at - window->at);
    if (inside) return window->bytes + (at - window->at);
    if (len > sizeof window->bytes) return NULL;
    window->at = at;
    window->len = 0;
    for (size_t got = 1; got && window->len < len; window->len += got)
        got = read_some(fd, window->bytes + window->len, sizeof window->bytes - window->len,
                        at + window->len);
    return window->len >= len ? window->bytes : NULL;
}

void rt_window_cut(struct rt_window *window, uint64_t end)
{
    if (end < window->at)
        window->len = 0;
    else if (end - window->at < window->len)
        window->len = (size_t)(end - window->at);
}
