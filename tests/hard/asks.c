/* Counts, and does what its argument says. Built without footpath too. */
#include <footpath/runtime.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int step(int x)
{
    return x & 1 ? x * 3 : x / 2;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int sum = 0;
    for (int i = 0; i < 1000; i++) sum += step(i);
    if (!strcmp(how, "drop") && (setgroups(0, NULL) || setgid(4001) || setuid(4001))) return 3;
    if (!strcmp(how, "name") && footpath_set_output) footpath_set_output(argv[2]);
    return sum == 874750 ? 7 : 8;
}
