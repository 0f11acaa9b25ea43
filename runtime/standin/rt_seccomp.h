/* Stands in for prctl and syscall, which set seccomp filters: the runtime must know before
 * a filter is set (rt_confine.c). The symbols are weak, so a program may define its own.
 *
 * Not handled: filters set by the bare instruction. */
#ifndef FP_RT_SECCOMP_H
#define FP_RT_SECCOMP_H

#include <stdarg.h>
#include <sys/syscall.h>

enum { SET_SECCOMP = 22 /* of prctl */, MOST_MODES = 1 /* of seccomp: strict, filter */ };

extern void __footpath_before_seccomp(void) __attribute__((weak));
extern void __footpath_after_seccomp(bool done) __attribute__((weak));

static long call_kernel(long number, long a, long b, long c, long d, long e)
{
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    if (result >= 0 || result < -4095) return result;
    errno = (int)-result;
    return -1;
}

static long set_filter(long number, long a, long b, long c, long d, long e)
{
    if (__footpath_before_seccomp) __footpath_before_seccomp();
    long result = call_kernel(number, a, b, c, d, e);
    if (__footpath_after_seccomp) __footpath_after_seccomp(result >= 0);
    return result;
}

typedef int prctl_function(int, ...);
extern prctl_function __interceptor_prctl __attribute__((weak));

int prctl(int option, ...);
__attribute__((visibility("default"), weak)) int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long),
         d = va_arg(list, long);
    va_end(list);
    if (option == SET_SECCOMP) return (int)set_filter(SYS_prctl, option, a, b, c, d);
    if (__interceptor_prctl) return __interceptor_prctl(option, a, b, c, d);
    return (int)call_kernel(SYS_prctl, option, a, b, c, d);
}

/* A call without a filter only asks whether the kernel has seccomp: it is passed on. */
long __footpath_seccomp(long number, long mode, long flags, long args)
    __attribute__((visibility("hidden"), used));
long __footpath_seccomp(long number, long mode, long flags, long args)
{
    bool sets = mode == 0 || (mode <= MOST_MODES && args);
    return sets ? set_filter(number, mode, flags, args, 0, 0)
                : call_kernel(number, mode, flags, args, 0, 0);
}

/* Written in assembly, as libc's is: a call made through it may return on another stack.
 * 317 is SYS_seccomp. */
__asm__(".pushsection .text\n"
        ".weak syscall\n"
        ".type syscall, @function\n"
        "syscall: .cfi_startproc\n"
        "cmp $317, %rdi\n"
        "je __footpath_seccomp\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rsi\n"
        "mov %rcx, %rdx\n"
        "mov %r8, %r10\n"
        "mov %r9, %r8\n"
        "mov 8(%rsp), %r9\n"
        "syscall\n"
        "cmp $-4095, %rax\n"
        "jae 1f\n"
        "ret\n"
        "1: neg %eax\n"
        "push %rax\n"
        ".cfi_adjust_cfa_offset 8\n"
        "call __errno_location@PLT\n"
        "pop %rcx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "mov %ecx, (%rax)\n"
        "mov $-1, %rax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size syscall, . - syscall\n"
        ".popsection\n");

#endif
