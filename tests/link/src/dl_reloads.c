/* Opens the libraries named in turn, so many times in all, and calls work() of each 10 times. Each
 * is closed just before it is opened again: there always are others. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { MOST = 8 };
    void *open[MOST] = {0};
    int sum = 0, count = argc - 2;
    if (count < 1 || count > MOST) return 2;
    for (int round = 0; round < atoi(argv[1]); round++) {
        int i = round % count;
        if (open[i]) dlclose(open[i]);
        open[i] = dlopen(argv[2 + i], RTLD_NOW | RTLD_LOCAL);
        if (!open[i]) return fprintf(stderr, "%d: %s\n", round, dlerror()), 1;
        int (*work)(int) = (int (*)(int))dlsym(open[i], "work");
        for (int x = 0; x < 10; x++) sum += work(x);
    }
    printf("%d\n", sum);
    return 0;
}
