/* Children of fork from inside nested calls: each counts from its fork on.
 * run: -> 0
 * run: daemon -> 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int __attribute__((noinline)) work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) sum += i;
        else if (i % 5 == 0) sum -= 1;
    }
    return sum;
}

static int __attribute__((noinline)) fork_deep(int n, int how)
{
    int sum = work(n);
    if (n > 0) {
        if (n % 2) sum++;
        return sum + fork_deep(n - 1, how);
    }
    pid_t child = fork();
    if (child == 0) {
        if (how == 0) return -work(50); /* the child returns through all frames */
        work(7);
        if (how == 1) exit(3);
        if (how == 2) _exit(4);
        abort();
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) printf("child exit %d\n", WEXITSTATUS(status));
    else printf("child signal %d\n", WTERMSIG(status));
    return sum;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "daemon")) {
        work(11);
        if (daemon(1, 1) < 0) return 1;
        work(13);
        return 0;
    }
    pid_t parent = getpid();
    for (int how = 0; how < 4; how++) {
        int sum = fork_deep(4, how);
        if (getpid() != parent) exit(sum < 0 ? 9 : 8);
    }
    puts("done");
    return 0;
}
