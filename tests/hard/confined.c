/* Confines itself by seccomp, in the way that its argument says, to what it needs from then
 * on: everything else kills. Counts before and after. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static void step(unsigned x)
{
    if (x & 1) sink += x;
    if (x & 2) sink ^= x;
}

static int confine(const char *how)
{
    struct sock_filter only[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pause, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog kills = {sizeof only / sizeof *only, only}, allows = {1, all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!strcmp(how, "prctl")) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &kills);
    if (!strcmp(how, "syscall")) return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &kills);
    if (!strcmp(how, "strict")) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (!strcmp(how, "allow")) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &allows);
    /* is there such a thing, and a filter that is none */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0 || errno != EFAULT) return 1;
    kills.len = 0;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &kills) == -1 && errno == EINVAL ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    for (unsigned x = 0; x < 1000; x++) step(x);
    if (confine(how)) return 9;
    for (unsigned x = 0; x < 500; x++) step(x);
    if (write(1, "done\n", 5) != 5) return 10;
    if (argc > 2) pause();
    if (!strcmp(how, "strict")) syscall(SYS_exit, 7);
    return 7;
}
