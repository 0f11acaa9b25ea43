/* Makes or finds struct rt_process, which all modules of a process share: the first module
 * makes it, the others find it.
 *
 * A program that is not instrumented may unload its last instrumented library. Threads keep
 * their bases and copies, so the struct stays for the next library. A library that makes the
 * struct maps memory for it, since its own goes with it, and leaves an anchor: one page of an
 * empty file in memory, never touched. In /proc/self/maps the anchor has a name by which it is
 * found, and the address of the struct as its offset.
 *
 * Not handled: without /proc the struct is not found again once no instrumented module is
 * loaded.
 */
#include "rt.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANCHOR "footpath-process"

static void leave_anchor(struct rt_process *process)
{
    int fd = (int)syscall(SYS_memfd_create, ANCHOR, 1u); /* closed by exec */
    if (fd < 0) return;
    mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, fd, (off_t)(uintptr_t)process);
    close(fd);
}

static uint64_t hex_at(const char **at)
{
    uint64_t value = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (uint64_t)(c - 'a') + 10;
        else
            return value;
    }
}

/* start-end rights offset device inode /memfd:NAME */
static struct rt_process *anchored_by(const char *line)
{
    if (!strstr(line, "/memfd:" ANCHOR " ")) return NULL;
    const char *at = strchr(line, ' ');
    at = at ? strchr(at + 1, ' ') : NULL;
    if (!at) return NULL;
    at++;
    return (struct rt_process *)(uintptr_t)hex_at(&at);
}

/* Passes over lines longer than the buffer: the anchor's line is short. */
static struct rt_process *find_anchor(void)
{
    char text[4096];
    size_t len = 0;
    struct rt_process *found = NULL;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !found) {
        ssize_t got = read(fd, text + len, sizeof text - 1 - len);
        if (got <= 0) break;
        len += (size_t)got;
        text[len] = 0;
        char *line = text;
        for (char *end; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            found = anchored_by(line);
        }
        len = line == text && len == sizeof text - 1 ? 0 : len - (size_t)(line - text);
        memmove(text, line, len);
    }
    if (fd >= 0) close(fd);
    return found;
}

static void take_from(struct rt_module *module, void *context)
{
    struct rt_process **process = context;
    if (module->process) *process = module->process;
}

struct rt_process *rt_process_get(void)
{
    struct rt_process *process = NULL;
    rt_each_module(take_from, &process);
    bool is_program = rt_is_program();
    if (!process && !is_program) process = find_anchor();
    if (process) return process;
    process = is_program ? &rt_of_program
                         : mmap(NULL, sizeof *process, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (process == MAP_FAILED) return NULL;
    rt_hide_from_helgrind(process, sizeof *process);
    if (!is_program) leave_anchor(process);
    return process;
}
