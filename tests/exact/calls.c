/* Runs a program and says how many system calls it made, execve included:
 *
 *     calls OUT PROGRAM ARGUMENT...
 *
 * Writes to the file OUT how many calls there were, and how many of them were pread.
 * Ends with the status of the program. With the variable CALLS_SIGNAL the program gets that signal
 * as it makes its first pwrite. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
    perror(what);
    return 125;
}

int main(int argc, char **argv)
{
    int status = 0;
    unsigned long calls = 0, reads = 0;
    const char *sent = getenv("CALLS_SIGNAL");
    int number = sent ? atoi(sent) : 0;
    if (argc < 3) return 125;
    pid_t child = fork();
    if (child < 0) return fail("fork");
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) _exit(fail("ptrace"));
        raise(SIGSTOP);
        execv(argv[2], argv + 2);
        _exit(fail(argv[2]));
    }
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) return 125;
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    for (int enters = 1, signal = 0;; ) {
        if (ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)signal) < 0) return fail("ptrace");
        signal = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) || WIFSIGNALED(status)) break;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            /* behind execve there is a SIGTRAP for us */
            signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
            continue;
        }
        struct user_regs_struct regs;
        ptrace(PTRACE_GETREGS, child, NULL, &regs);
        if (number && enters && regs.orig_rax == SYS_pwrite64) {
            kill(child, number);
            number = 0;
        }
        calls += enters;
        reads += enters && regs.orig_rax == SYS_pread64;
        enters = !enters;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out) return fail(argv[1]);
    fprintf(out, "%lu %lu\n", calls, reads);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
