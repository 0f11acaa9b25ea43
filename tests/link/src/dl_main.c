/* Opens each library named, calls its work() 100 times and closes it, three times over;
 * the last time all stay open until the end. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int use(void *library)
{
    int (*work)(int) = (int (*)(int))dlsym(library, "work");
    if (!work) return -1;
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += work(i);
    return sum;
}

int main(int argc, char **argv)
{
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++) {
            void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
            if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
            printf("%d\n", use(library));
            if (round < 2) dlclose(library);
        }
    return 0;
}
