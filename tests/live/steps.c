/* Does what the letters of its argument say, one after the other. With COUNTED it is built by footpath-cc.
 *
 *     steps LETTERS
 *
 * l, m: load plugin.so, other.so (in the place of what was loaded); u: unload it; c: 100 calls of what is loaded; w: 1,000 calls of
 * `work`; d: write the profile now; p, r: pause and resume counting; f: go on in a child alone; o: go on beside a child that
 * waits for its end; s: are signals as they were in children of forks?; k: SIGKILL */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef COUNTED
#include <footpath/runtime.h>
#endif

static volatile int sink;

__attribute__((noinline)) static int work(int n)
{
    if (n & 1) sink = n * 3;
    return n - 1;
}

static int load(void **library, int (**call)(int), const char *name)
{
    *library = dlopen(name, RTLD_NOW);
    if (!*library) return 1;
    *call = (int (*)(int))dlsym(*library, "called");
    return 0;
}

/* Of 50 children, how many block a signal that this process does not block? */
static int children_that_block(void)
{
    int bad = 0;
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (!child) {
            sigset_t blocked;
            sigprocmask(SIG_BLOCK, 0, &blocked);
            _exit(sigismember(&blocked, SIGTERM));
        }
        int status;
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    return bad;
}

int main(int argc, char **argv)
{
    void *library = 0;
    int (*call)(int) = 0;
    for (const char *at = argc > 1 ? argv[1] : ""; *at; at++) {
        int status;
        pid_t child;
        switch (*at) {
        case 'l':
            if (load(&library, &call, "./plugin.so")) return 3;
            break;
        case 'm':
            if (load(&library, &call, "./other.so")) return 3;
            break;
        case 'u': dlclose(library); break;
        case 'c':
            for (int i = 0; i < 100; i++) call(i);
            break;
        case 'w':
            for (int i = 0; i < 1000; i++) work(i);
            break;
#ifdef COUNTED
        case 'd': footpath_dump(); break;
        case 'p': footpath_pause(); break;
        case 'r': footpath_resume(); break;
#endif
        case 'f':
            if ((child = fork())) return waitpid(child, &status, 0) < 0;
            break;
        case 'o':
            if (!fork()) pause();
            break;
        case 's': printf("%d\n", children_that_block()); break;
        case 'k': raise(SIGKILL);
        }
    }
    return 0;
}
