/* A child ends paths that its parent began: the calls are the parent's.
 * calls: step 3
 * calls: main 1
 * run: -> 1
 */
#include <sys/wait.h>
#include <unistd.h>

static int __attribute__((noinline)) step(int n)
{
    int status = 0;
    if (n & 1) {
        pid_t child = fork();
        if (child)
            waitpid(child, &status, 0);
        else
            status = 0x100;
    }
    return status >> 8;
}

int main(void)
{
    int sum = step(1);
    return sum + step(2);
}
