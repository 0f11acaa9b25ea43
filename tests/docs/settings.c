/* For settings.py: does what its arguments say.
 *   chdir DIR | fork | sleep | exec PROGRAM | out PATTERN */
#include <footpath/runtime.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int going = 1;

__attribute__((noinline)) static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i % 3 ? 1 : 2;
    return sum;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "chdir") && chdir(argv[++i]) < 0) return 9;
        if (!strcmp(argv[i], "fork")) {
            if (fork() == 0) return work(5) == 99;
            wait(NULL);
        }
        if (!strcmp(argv[i], "sleep")) {
            work(7);
            puts("ready");
            fflush(stdout);
            while (going) usleep(10000);
        }
        if (!strcmp(argv[i], "exec")) execl(argv[i + 1], argv[i + 1], (char *)NULL);
        if (!strcmp(argv[i], "out") && footpath_set_output) footpath_set_output(argv[++i]);
    }
    return work(9) == 99;
}
