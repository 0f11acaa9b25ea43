// Exceptions through frames with and without something to do there, and threads that end in mid-call.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile unsigned long seen[8];
static const char *how;

struct counts {
    int *at;
    explicit counts(int *to) : at(to) {}
    ~counts() { seen[0] = seen[0] + 1, ++*at; }
};

APART static void fails(int n)
{
    if (n % 5 == 3) throw std::runtime_error("three");
    if (n % 7 == 5) throw n;
    if (n % 7 != 6) return;
    if (!std::strcmp(how, "exit")) std::exit(6);
    if (!std::strcmp(how, "thread")) pthread_exit(nullptr);
    if (!std::strcmp(how, "uncaught")) throw 1.5;
}

// Nothing to do when an exception passes.
APART static int passed(int n, int odd)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (i ^ odd) & 1 ? 2 : 1;
        if (i == n / 2) fails(n);
        if (i == n - 1) seen[1] = seen[1] + 1;
    }
    return sum;
}

// A destructor runs.
APART static int cleans(int n)
{
    int destroyed = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        counts one(&destroyed);
        if (i & 1) continue;
        sum += passed(n + i, i);
    }
    return sum + destroyed;
}

// Catches some, lets others pass.
APART static int catches(int n)
{
    int caught = 0;
    for (int i = 0; i < n; i++) {
        try {
            caught += cleans(i) & 1;
        } catch (const std::exception &e) {
            caught += e.what()[0] == 't' ? 1 : 2;
        }
        if (caught > 3) seen[2] = seen[2] + 1;
    }
    return caught;
}

static void *in_thread(void *)
{
    try {
        catches(9);
    } catch (int) {
        how = "thread";
        catches(6);
    }
    return nullptr;
}

APART static void *spins(void *)
{
    for (int i = 0;; i++) {
        if (i & 1) seen[3] = seen[3] + 1;
        usleep(1000);
    }
}

static void with_thread(void *(*what)(void *), bool cancel)
{
    pthread_t thread;
    pthread_create(&thread, nullptr, what, nullptr);
    usleep(20000);
    if (cancel) pthread_cancel(thread);
    pthread_join(thread, nullptr);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "catch";
    int sum = 0;
    if (!std::strcmp(how, "thread")) with_thread(in_thread, false);
    if (!std::strcmp(how, "cancel")) with_thread(spins, true);
    for (int i = 0; i < 6; i++) {
        try {
            sum += catches(i + 2);
        } catch (int n) {
            sum += n;
        }
    }
    std::printf("%d\n", sum);
    return 0;
}
