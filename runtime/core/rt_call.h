/* System calls without libc: what every process needs at its start and its end.
 *
 * A function of libc that is called once costs the search for its symbol, some 800
 * instructions, and often a page of libc that nobody else touches. A call that goes to the
 * kernel directly costs neither. It is no point of cancellation of a thread either.
 *
 * On failure each returns -1 and sets errno, as libc's do.
 */
#ifndef FP_RT_CALL_H
#define FP_RT_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>

static inline long rt_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    long result;
    register uint64_t fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    if ((unsigned long)result < (unsigned long)-4095) return result;
    errno = (int)-result;
    return -1;
}

static inline pid_t rt_getpid(void)
{
    return (pid_t)rt_call(SYS_getpid, 0, 0, 0, 0);
}

static inline int rt_open(const char *name, int how, mode_t mode)
{
    return (int)rt_call(SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)name, (uint64_t)how, mode);
}

static inline void rt_close(int fd)
{
    rt_call(SYS_close, (uint64_t)fd, 0, 0, 0);
}

static inline ssize_t rt_pread(int fd, void *bytes, size_t len, uint64_t at)
{
    return rt_call(SYS_pread64, (uint64_t)fd, (uintptr_t)bytes, len, at);
}

static inline ssize_t rt_pwrite(int fd, const void *bytes, size_t len, uint64_t at)
{
    return rt_call(SYS_pwrite64, (uint64_t)fd, (uintptr_t)bytes, len, at);
}

static inline int rt_flock(int fd, int how)
{
    return (int)rt_call(SYS_flock, (uint64_t)fd, (uint64_t)how, 0, 0);
}

/* The kernel's struct stat is libc's on x86-64. */
static inline int rt_fstat(int fd, struct stat *info)
{
    return (int)rt_call(SYS_fstat, (uint64_t)fd, (uintptr_t)info, 0, 0);
}

static inline int rt_uname(struct utsname *about)
{
    return (int)rt_call(SYS_uname, (uintptr_t)about, 0, 0, 0);
}

static inline ssize_t rt_readlink(const char *name, char *target, size_t size)
{
    return rt_call(SYS_readlink, (uintptr_t)name, (uintptr_t)target, size, 0);
}

/* Returns the length, with the byte 0 at the end. Of a folder that is not below the root of
 * this process the name does not begin with a slash. */
static inline ssize_t rt_getcwd(char *folder, size_t size)
{
    return rt_call(SYS_getcwd, (uintptr_t)folder, size, 0, 0);
}

static inline int rt_sigaltstack(const stack_t *stack, stack_t *old)
{
    return (int)rt_call(SYS_sigaltstack, (uintptr_t)stack, (uintptr_t)old, 0, 0);
}

#endif
