/* Functions that a rewritten file calls instead of libc's: sigaltstack, those by which a
 * process ends without destructors, and those by which frames are left. Compiled modules have calls
 * of the runtime in front of such calls. `footpath exe` binds an import NAME to
 * __footpath_instead_NAME; other modules of the process are not concerned.
 *
 * Not handled: ends by bare system calls.
 */
#include "rt.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;
extern void __footpath_at_end(void) FP_HIDDEN;
extern void __footpath_before_end(void) FP_HIDDEN;
extern void __footpath_after_exec(void) FP_HIDDEN;

#define INSTEAD(name) __footpath_instead_##name
#define EXPORTED __attribute__((visibility("default")))

/* Stands in for libc's in the whole process: a handler that runs on the stack may have SIGSEGV
 * blocked, so its slots must be there before. */
int sigaltstack(const stack_t *stack, stack_t *old) EXPORTED;
int sigaltstack(const stack_t *stack, stack_t *old)
{
    stack_t another;
    if (stack && !(stack->ss_flags & SS_DISABLE) && !rt_is_confined() &&
        !rt_exe_shadow_own((uint64_t)stack->ss_sp, (uint64_t)stack->ss_sp + stack->ss_size,
                           RT_LOCAL->core.bias)) {
        another = *stack;
        another.ss_sp = rt_exe_shadow_new(stack->ss_size);
        if (another.ss_sp) stack = &another;
    }
    long result = rt_exe_call(SYS_sigaltstack, (long)stack, (long)old, 0, 0, 0, 0);
    if (result >= 0) return 0;
    errno = (int)-result;
    return -1;
}

_Noreturn void INSTEAD(_exit)(int status) EXPORTED;
RT_ENTRY _Noreturn void INSTEAD(_exit)(int status)
{
    __footpath_at_end();
    for (;;) rt_exe_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

_Noreturn void INSTEAD(_Exit)(int status) EXPORTED;
RT_ENTRY _Noreturn void INSTEAD(_Exit)(int status)
{
    INSTEAD(_exit)(status);
}

/* The kernel replaces the program, or the call returns. */
#define EXEC(name, parameters, call)      \
    int INSTEAD(name)                     \
    parameters EXPORTED;                  \
    RT_ENTRY int INSTEAD(name) parameters \
    {                                     \
        __footpath_before_end();          \
        int result = call;                \
        __footpath_after_exec();          \
        return result;                    \
    }

EXEC(execve, (const char *path, char *const *arguments, char *const *environment),
     execve(path, arguments, environment))
EXEC(execv, (const char *path, char *const *arguments), execv(path, arguments))
EXEC(execvp, (const char *file, char *const *arguments), execvp(file, arguments))
EXEC(execvpe, (const char *file, char *const *arguments, char *const *environment),
     execvpe(file, arguments, environment))
EXEC(fexecve, (int fd, char *const *arguments, char *const *environment),
     fexecve(fd, arguments, environment))
EXEC(daemon, (int nochdir, int noclose), daemon(nochdir, noclose))

/* The arguments of execl and its kin, as an array on the stack. They are words of 8 bytes
 * that end with NULL. */
#define COLLECT(first, list)                        \
    size_t count = 1;                               \
    va_list again;                                  \
    va_copy(again, list);                           \
    while (first && va_arg(again, char *)) count++; \
    va_end(again);                                  \
    char *words[count + 1];                         \
    words[0] = (char *)(uintptr_t)first;            \
    for (size_t i = 1; i <= count; i++) words[i] = first ? va_arg(list, char *) : NULL

int INSTEAD(execl)(const char *path, const char *first, ...) EXPORTED;
RT_ENTRY int INSTEAD(execl)(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    COLLECT(first, list);
    va_end(list);
    return INSTEAD(execve)(path, words, environ);
}

int INSTEAD(execlp)(const char *file, const char *first, ...) EXPORTED;
RT_ENTRY int INSTEAD(execlp)(const char *file, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    COLLECT(first, list);
    va_end(list);
    return INSTEAD(execvp)(file, words);
}

int INSTEAD(execle)(const char *path, const char *first, ...) EXPORTED;
RT_ENTRY int INSTEAD(execle)(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    COLLECT(first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return INSTEAD(execve)(path, words, environment);
}

/* ---- frames that are left ---- */

/* Called with env, then pc, sp and rbp of the frame that jumps, behind its call. */
extern void rt_before_longjmp(const uint64_t *env, uint64_t pc, uint64_t sp,
                              uint64_t rbp) FP_HIDDEN;
void rt_exe_before_jump(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;
void rt_exe_before_jump(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    if (rt_has_marks()) rt_before_longjmp(env, pc, sp, rbp);
}

/* void NAME(jmp_buf env, int value): the registers are to be those of the caller. */
#define JUMP(name)                                                                           \
    __asm__(".pushsection .text\n.globl " FP_EXE_INSTEAD_PREFIX name                         \
            "\n.type " FP_EXE_INSTEAD_PREFIX name ", @function\n" FP_EXE_INSTEAD_PREFIX name \
            ":\n.cfi_startproc\npushq %rdi\n.cfi_adjust_cfa_offset 8\npushq %rsi\n"          \
            ".cfi_adjust_cfa_offset 8\nsubq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"            \
            "movq 24(%rsp), %rsi\nleaq 32(%rsp), %rdx\nmovq %rbp, %rcx\n"                    \
            "call rt_exe_before_jump\naddq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"            \
            "popq %rsi\n.cfi_adjust_cfa_offset -8\npopq %rdi\n.cfi_adjust_cfa_offset -8\n"   \
            "jmp *" name "@GOTPCREL(%rip)\n.cfi_endproc\n.size " FP_EXE_INSTEAD_PREFIX name  \
            ", . - " FP_EXE_INSTEAD_PREFIX name "\n.popsection")

JUMP("longjmp");
JUMP("_longjmp");
JUMP("siglongjmp");
JUMP("__longjmp_chk");

/* sp: the stack pointer of the frame that calls vfork. */
void rt_exe_before_vfork(uint64_t sp) FP_HIDDEN;
void rt_exe_before_vfork(uint64_t sp)
{
    rt_local.exits.vfork_stack = sp - 16; /* as a function has it that this frame calls */
}

/* pid_t vfork(void): a jump, since the frame of a function that calls vfork would be gone when the
 * parent returns. */
#define VFORK FP_EXE_INSTEAD_PREFIX "vfork"
__asm__(".pushsection .text\n.globl " VFORK "\n.type " VFORK ", @function\n" VFORK
        ":\n.cfi_startproc\nleaq 8(%rsp), %rdi\nsubq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
        "call rt_exe_before_vfork\naddq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
        "jmp *vfork@GOTPCREL(%rip)\n.cfi_endproc\n.size " VFORK ", . - " VFORK "\n.popsection");
