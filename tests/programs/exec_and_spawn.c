/* exec that works, exec that fails and returns, vfork and posix_spawn.
 * run: exec -> 0
 * run: fail -> 7
 * run: vfork -> 0
 * run: spawn -> 0
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void __attribute__((noinline)) down(int n, const char *how)
{
    char *const echo[] = {"echo", "from echo", NULL};
    if (n % 2) putchar('.');
    if (n) {
        down(n - 1, how);
        return;
    }
    fflush(stdout);
    if (!strcmp(how, "exec")) execvp("echo", echo);
    if (!strcmp(how, "fail")) {
        execl("/nonexistent/program", "program", (char *)NULL);
        puts("could not");
        exit(7);
    }
    int status = 0;
    pid_t child;
    if (!strcmp(how, "vfork")) {
        for (int i = 0; i < 2; i++) {
            child = vfork();
            if (child == 0) {
                if (i == 0) execv("/bin/true", echo);
                _exit(i);
            }
            waitpid(child, &status, 0);
            printf("child %d\n", WEXITSTATUS(status));
        }
    }
    if (!strcmp(how, "spawn")) {
        if (posix_spawnp(&child, "true", NULL, NULL, echo, environ)) exit(1);
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
}

int main(int argc, char **argv)
{
    down(5, argc > 1 ? argv[1] : "fail");
    return 0;
}
