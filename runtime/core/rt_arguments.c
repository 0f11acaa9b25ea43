/* The arguments of the program, as /proc/self/cmdline shows them when the profile is written.
 *
 * The kernel puts the arguments one behind the other in memory, and that file shows this
 * memory. Constructors are told where it begins, so mostly the file need not be opened.
 *
 * Not handled: a program that has moved its arguments (PR_SET_MM_ARG_START) and leaves the
 * old ones as they were. Arguments of more than 64 KiB are cut off.
 */
#include "rt.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16, MOSTLY = 1 << 10 };

static struct rt_range place; /* of the arguments; empty where it is not known */

/* libc passes what is on the stack: the arguments, NULL, the environment. The strings of the
 * environment begin where those of the arguments end. */
void rt_arguments_note(int count, char **arguments, char **environment)
{
    if (count < 1 || (uintptr_t)arguments % sizeof *arguments ||
        environment != arguments + count + 1 || arguments[count])
        return;
    char *end = arguments[count - 1] + strlen(arguments[count - 1]) + 1;
    if (environment[0] != end || end < arguments[0]) return;
    place = (struct rt_range){arguments[0], end};
}

/* The last byte is not 0 where the program has written a longer text into the place. */
static bool copy_arguments(char *text, ssize_t *len)
{
    *len = place.end - place.start;
    if (!*len || *len >= MOSTLY) return false;
    memcpy(text, place.start, (size_t)*len);
    return !text[*len - 1];
}

static void put_text(struct rt_buffer *out, char *text, ssize_t len)
{
    uint64_t count = 0;
    if (len < 0) len = 0;
    text[len] = 0;
    for (ssize_t i = 0; i < len; i++) count += text[i] == 0 || i + 1 == len;
    rt_put_uint(out, count);
    for (ssize_t i = 0; i < len; i += (ssize_t)strlen(text + i) + 1) rt_put_string(out, text + i);
}

/* Without memory only the first of them. */
static RT_SELDOM void put_file(struct rt_buffer *out, char *few)
{
    char *text = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool whole = text != MAP_FAILED;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, whole ? text : few, whole ? MOST - 1 : MOSTLY - 1) : 0;
    put_text(out, whole ? text : few, len);
    if (fd >= 0) close(fd);
    if (whole) munmap(text, MOST);
}

void rt_put_arguments(struct rt_buffer *out)
{
    char few[MOSTLY];
    ssize_t len;
    if (copy_arguments(few, &len))
        put_text(out, few, len);
    else
        put_file(out, few);
}
