/* All at once: threads that compute, throw nothing away and say what they computed; calls into a
 * library by dlopen; forks; signals, of which some are left by siglongjmp; asynchronous
 * cancellation; deep recursion; callbacks of libc. The output does not depend on any of it.
 *
 *     storm LIBRARY ROUNDS
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, WORDS = 300 };

static const char *library;
static int rounds;
static volatile sig_atomic_t alarms, done;

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

static unsigned long deep(unsigned n, unsigned *seed)
{
    char room[64];
    memset(room, (int)n, sizeof room);
    if (!n) return next(seed);
    unsigned long below = deep(n - 1, seed);
    return below + (next(seed) & 1 ? (unsigned long)room[n % 64] : n);
}

static unsigned long interpret(const unsigned char *code)
{
    static const void *const labels[] = {&&add, &&twice, &&mix, &&end};
    unsigned long value = 1;
    goto *labels[*code++];
add:
    value += *code;
    goto *labels[*code++];
twice:
    value *= 2;
    if (value > 1u << 30) value -= 1u << 30;
    goto *labels[*code++];
mix:
    value ^= value >> 3;
    goto *labels[*code++];
end:
    return value;
}

static unsigned long compute(unsigned *seed)
{
    unsigned words[WORDS];
    unsigned char code[WORDS];
    unsigned long sum = 0;
    for (int i = 0; i < WORDS; i++) {
        words[i] = next(seed);
        switch (words[i] % 7) {
        case 0: sum += words[i]; break;
        case 1: sum ^= words[i]; break;
        case 2: sum -= 3; break;
        case 3: sum = sum * 5 + 1; break;
        case 4: sum += words[i] & 15; break;
        case 5: sum ^= 0x55; break;
        default: sum++;
        }
        code[i] = (unsigned char)(words[i] % 3);
    }
    code[WORDS - 1] = 3;
    qsort(words, WORDS, sizeof *words, by_value);
    return sum + words[WORDS / 2] + interpret(code) + deep(next(seed) % 200, seed);
}

static unsigned long ask_library(unsigned n)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
    unsigned long (*visit)(unsigned, int (*)(const void *, const void *));
    *(void **)&visit = dlsym(handle, "visit");
    unsigned long got = visit ? visit(n, by_value) : 0;
    dlclose(handle);
    return got;
}

static unsigned long ask_child(unsigned *seed)
{
    int ends[2];
    unsigned long got = 0;
    if (pipe(ends) < 0) return 0;
    pid_t child = fork();
    if (child == 0) {
        unsigned long value = compute(seed);
        _exit(write(ends[1], &value, sizeof value) != sizeof value);
    }
    close(ends[1]);
    while (read(ends[0], &got, sizeof got) < 0) {
    }
    close(ends[0]);
    while (waitpid(child, NULL, 0) < 0) {
    }
    return got;
}

static void *work(void *number)
{
    unsigned seed = (unsigned)(long)number + 1;
    unsigned long sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += compute(&seed);
        if (i % 50 == 7) sum += ask_library(seed & 1023);
        if (i % 200 == 19) sum += ask_child(&seed);
    }
    return (void *)sum;
}

static void *endless(void *seed)
{
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (unsigned value = (unsigned)(long)seed;;) *(volatile unsigned *)&value = next(&value);
    return NULL;
}

static __thread sigjmp_buf back;
static __thread volatile int may_jump;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
    unsigned seed = 5;
    deep(20, &seed);
    if (may_jump) siglongjmp(back, 1);
}

/* Is left by the handler, wherever it is then. */
static void *jump_out(void *unused)
{
    unsigned seed = 3;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sigsetjmp(back, 1);
    may_jump = 1;
    for (; !done; next(&seed)) deep(seed % 50, &seed);
    may_jump = 0;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], jumper, victim;
    struct itimerval every = {{0, 1000}, {0, 1000}};
    if (argc < 3) return 2;
    library = argv[1];
    rounds = atoi(argv[2]);
    /* stays loaded: unloading it while others fork and are cancelled is another test's matter */
    if (!dlopen(library, RTLD_NOW | RTLD_LOCAL)) return 2;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGALRM, on_alarm);
    signal(SIGUSR1, on_alarm);
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_create(&jumper, NULL, jump_out, NULL);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < rounds / 20; i++) {
        void *how;
        pthread_create(&victim, NULL, endless, (void *)(long)i);
        usleep(1000);
        pthread_kill(jumper, SIGUSR1);
        pthread_cancel(victim);
        pthread_join(victim, &how);
        if (how != PTHREAD_CANCELED) puts("not cancelled");
    }
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        printf("%d %lu\n", i, (unsigned long)sum);
    }
    done = 1;
    pthread_join(jumper, NULL);
    return 0;
}
