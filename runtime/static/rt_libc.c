/* The functions of libc beside rt_libc_text.c that the runtime uses, for statically linked
 * programs. Most are a system call. Functions for threads say that there is nothing of the kind:
 * the runtime has no threads of its own here, and sees those of the program in rt_born.c.
 */
#include "static/rt_static.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <asm/ioctls.h>
#include <time.h>

/* ---- what the kernel has told ---- */

char **environ;
static const Elf64_auxv_t *told;
static struct {
    const Elf64_Phdr *at;
    uint64_t count;
} headers; /* of the file, of which the program is told less */

void rt_libc_start(char **environment, const Elf64_auxv_t *facts)
{
    environ = environment;
    told = facts;
    headers.at = (const Elf64_Phdr *)getauxval(AT_PHDR);
    headers.count = getauxval(AT_PHNUM);
}

unsigned long getauxval(unsigned long type)
{
    for (const Elf64_auxv_t *at = told; at->a_type != AT_NULL; at++)
        if (at->a_type == type) return at->a_un.a_val;
    errno = ENOENT;
    return 0;
}

/* ---- the kernel ---- */

RT_PER_THREAD(int, own_errno)

int *__errno_location(void)
{
    return own_errno();
}

static long checked(long result)
{
    if ((unsigned long)result < (unsigned long)-4095) return result;
    errno = (int)-result;
    return -1;
}

static long ask(long number, uint64_t a, uint64_t b, uint64_t c)
{
    return checked(rt_exe_call(number, (long)a, (long)b, (long)c, 0, 0, 0));
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    return checked(rt_exe_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

void *mmap(void *at, size_t len, int rights, int how, int fd, off_t offset)
{
    return (void *)checked(
        rt_exe_call(SYS_mmap, (long)at, (long)len, rights, how, fd, (long)offset));
}

int munmap(void *at, size_t len)
{
    return (int)ask(SYS_munmap, (uintptr_t)at, len, 0);
}

int mprotect(void *at, size_t len, int rights)
{
    return (int)ask(SYS_mprotect, (uintptr_t)at, len, (uint64_t)rights);
}

int madvise(void *at, size_t len, int advice)
{
    return (int)ask(SYS_madvise, (uintptr_t)at, len, (uint64_t)advice);
}

void *mremap(void *at, size_t len, size_t new_len, int how, ...)
{
    va_list list;
    va_start(list, how);
    void *to = how & MREMAP_FIXED ? va_arg(list, void *) : NULL;
    va_end(list);
    return (void *)checked(
        rt_exe_call(SYS_mremap, (long)at, (long)len, (long)new_len, how, (long)to, 0));
}

int open(const char *name, int how, ...)
{
    va_list list;
    va_start(list, how);
    mode_t mode = how & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return (int)ask(SYS_open, (uintptr_t)name, (uint64_t)how, mode);
}

int close(int fd)
{
    return (int)ask(SYS_close, (uint64_t)fd, 0, 0);
}

ssize_t read(int fd, void *bytes, size_t len)
{
    return ask(SYS_read, (uint64_t)fd, (uintptr_t)bytes, len);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    return ask(SYS_write, (uint64_t)fd, (uintptr_t)bytes, len);
}

/* The kernel's struct stat is libc's on x86-64. */
int stat(const char *restrict name, struct stat *restrict about)
{
    return (int)ask(SYS_stat, (uintptr_t)name, (uintptr_t)about, 0);
}

int lstat(const char *restrict name, struct stat *restrict about)
{
    return (int)ask(SYS_lstat, (uintptr_t)name, (uintptr_t)about, 0);
}

int fstat(int fd, struct stat *about)
{
    return (int)ask(SYS_fstat, (uint64_t)fd, (uintptr_t)about, 0);
}

int fstatfs(int fd, struct statfs *about)
{
    return (int)ask(SYS_fstatfs, (uint64_t)fd, (uintptr_t)about, 0);
}

int access(const char *name, int how)
{
    return (int)ask(SYS_access, (uintptr_t)name, (uint64_t)how, 0);
}

ssize_t readlinkat(int folder, const char *restrict name, char *restrict target, size_t size)
{
    return checked(rt_exe_call(SYS_readlinkat, folder, (long)name, (long)target, (long)size, 0, 0));
}

int mkdir(const char *name, mode_t mode)
{
    return (int)ask(SYS_mkdir, (uintptr_t)name, mode, 0);
}

int rename(const char *from, const char *to)
{
    return (int)ask(SYS_rename, (uintptr_t)from, (uintptr_t)to, 0);
}

int unlink(const char *name)
{
    return (int)ask(SYS_unlink, (uintptr_t)name, 0, 0);
}

char *getcwd(char *folder, size_t size)
{
    return ask(SYS_getcwd, (uintptr_t)folder, size, 0) < 0 ? NULL : folder;
}

int isatty(int fd)
{
    char unused[64]; /* more than struct termios */
    return ask(SYS_ioctl, (uint64_t)fd, TCGETS, (uintptr_t)unused) == 0;
}

int uname(struct utsname *about)
{
    return (int)ask(SYS_uname, (uintptr_t)about, 0, 0);
}

pid_t getpid(void)
{
    return (pid_t)ask(SYS_getpid, 0, 0, 0);
}

uid_t getuid(void)
{
    return (uid_t)ask(SYS_getuid, 0, 0, 0);
}

uid_t geteuid(void)
{
    return (uid_t)ask(SYS_geteuid, 0, 0, 0);
}

int sched_yield(void)
{
    return (int)ask(SYS_sched_yield, 0, 0, 0);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    return (int)ask(SYS_clock_gettime, (uint64_t)clock, (uintptr_t)now, 0);
}

/* ---- signals ---- */

static uint64_t *word_of(const sigset_t *set)
{
    return (uint64_t *)(uintptr_t)set; /* the kernel has 64 signals */
}

int sigemptyset(sigset_t *set)
{
    *set = (sigset_t){0};
    return 0;
}

int sigfillset(sigset_t *set)
{
    *set = (sigset_t){0};
    *word_of(set) = ~(uint64_t)0;
    return 0;
}

int sigaddset(sigset_t *set, int signal)
{
    *word_of(set) |= (uint64_t)1 << (signal - 1);
    return 0;
}

int sigdelset(sigset_t *set, int signal)
{
    *word_of(set) &= ~((uint64_t)1 << (signal - 1));
    return 0;
}

int sigismember(const sigset_t *set, int signal)
{
    return (int)(*word_of(set) >> (signal - 1) & 1);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)checked(
        rt_exe_call(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(uint64_t), 0, 0));
}

int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    return (int)ask(SYS_sigaltstack, (uintptr_t)stack, (uintptr_t)old, 0);
}

int __libc_current_sigrtmin(void)
{
    return 34; /* libcs keep 32 and 33 for themselves */
}

int __libc_current_sigrtmax(void)
{
    return NSIG - 1;
}

/* ---- modules ---- */

static int visit(const Elf64_Phdr *at, uint64_t count, uint64_t bias, const char *name,
                 int (*call)(struct dl_phdr_info *, size_t, void *), void *context)
{
    struct dl_phdr_info info = {
        .dlpi_addr = bias, .dlpi_name = name, .dlpi_phdr = at, .dlpi_phnum = (Elf64_Half)count};
    return call(&info, sizeof info, context);
}

/* The program, and the kernel's page of functions. */
int dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *context)
{
    const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    uint64_t bias = (uint64_t)&rt_exe_record - rt_exe_record.address;
    int result = visit(headers.at, headers.count, bias, "", call, context);
    if (result || !vdso) return result;
    return visit((const Elf64_Phdr *)((const char *)vdso + vdso->e_phoff), vdso->e_phnum,
                 (uint64_t)vdso, "linux-vdso.so.1", call, context);
}

/* ---- threads and processes ---- */

char __libc_single_threaded = 1;

void rt_libc_many_threads(void)
{
    __atomic_store_n(&__libc_single_threaded, 0, __ATOMIC_RELEASE);
}

static void (*before)(void), (*in_parent)(void), (*in_child)(void);

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
    (void)dso;
    before = prepare;
    in_parent = parent;
    in_child = child;
    return 0;
}

void rt_libc_before_fork(void)
{
    if (before) before();
}

void rt_libc_after_fork(bool child)
{
    void (*call)(void) = child ? in_child : in_parent;
    if (child) __libc_single_threaded = 1;
    if (call) call();
}

/* Tells threads apart, as the runtime asks. */
pthread_t pthread_self(void)
{
    return rt_thread_id();
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*routine)(void *), void *restrict arg)
{
    (void)thread, (void)attributes, (void)routine, (void)arg;
    return EAGAIN;
}

int pthread_join(pthread_t thread, void **result)
{
    (void)thread, (void)result;
    return ESRCH;
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    (void)key, (void)destructor;
    return EAGAIN;
}

int pthread_key_delete(pthread_key_t key)
{
    (void)key;
    return EINVAL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    (void)key, (void)value;
    return EINVAL;
}

int pthread_attr_init(pthread_attr_t *attributes)
{
    (void)attributes;
    return 0;
}

int pthread_attr_destroy(pthread_attr_t *attributes)
{
    (void)attributes;
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size)
{
    (void)attributes, (void)size;
    return 0;
}
