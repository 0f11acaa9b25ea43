/* A program that asks for its own paths (footpath/runtime.h) and knows what the answers must be.
 *
 *     asks exact     one thread, arrays and tables, marks, resets, children, wrong questions
 *     asks threads   the counts of all threads, those that ended too
 *     asks samples   sampled paths: the hot path of a phase
 *     asks print     the hottest paths of all functions, for comparison with the profile
 *
 * Exit status 0: all as it must be. Built without footpath the functions are null: status 0. */
#include <footpath/runtime.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONE __attribute__((noinline))
#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) printf("line %d: not so: %s\n", __LINE__, #condition), failed = 1; \
    } while (0)

static int failed;
volatile int sink, drain;

/* ---- what is asked about ---- */

/* Three paths, and no loop. */
LONE static int three(int n)
{
    if (n % 3 == 0) return sink += 1;
    if (n % 2 == 0) return sink += 2;
    return sink += 3;
}

/* Rounds of loops: one with two ways round, one with one. */
LONE static int rounds(const char *text, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (text[i & 7] == 'a')
            sum += sink;
        else
            sum -= i;
    }
    for (int i = 0; i < n; i++) sum += text[i & 7];
    return sum;
}

/* 2^14 paths: a table, or a sparse array, where arrays have fewer. */
#define BIT(i) \
    if (n & 1 << (i)) sink += i + 1;
LONE static int many(int n)
{
    BIT(0) BIT(1) BIT(2) BIT(3) BIT(4) BIT(5) BIT(6) BIT(7) BIT(8) BIT(9) BIT(10) BIT(11) BIT(12) BIT(13)
    return n;
}

LONE static int never(int n)
{
    if (n) return sink += 1;
    return three(n);
}

__attribute__((no_profile_instrument_function)) LONE static int uncounted(int n)
{
    return n ? sink : 1;
}

/* ---- questions ---- */

enum { ROOM = 1 << 15 };
static struct footpath_query_path kept[ROOM], got[ROOM];

static uint64_t total_since(const struct footpath_query_mark *mark)
{
    uint64_t total = 77;
    long n = footpath_query_hottest(mark, got, ROOM, &total);
    uint64_t sum = 0;
    CHECK(n >= 0 && n <= ROOM);
    for (long i = 0; i < n; i++) sum += got[i].count;
    CHECK(sum == total);
    for (long i = 1; i < n; i++)
        CHECK(got[i - 1].count > got[i].count ||
              (got[i - 1].count == got[i].count && got[i - 1].id < got[i].id));
    return total;
}

static struct footpath_query_mark mark_of(const void *function)
{
    struct footpath_query_mark mark;
    CHECK(footpath_query_mark(&mark, function, kept, ROOM) >= 0);
    return mark;
}

static void ask_array(void)
{
    struct footpath_query_mark start = FOOTPATH_QUERY_FROM_START(three), mark;
    CHECK(footpath_query_hottest(&start, got, ROOM, NULL) == 0);
    for (int i = 0; i < 600; i++) three(i);
    CHECK(total_since(&start) == 600);
    CHECK(got[0].count == 200 && got[1].count == 200 && got[2].count == 200);
    mark = mark_of((void *)three);
    CHECK(total_since(&mark) == 0);
    for (int i = 0; i < 1000; i++) {
        three(1 + 6 * i);
        if (i % 4 == 0) three(2 + 6 * i);
        CHECK(footpath_query_hottest(&mark, got, 1, NULL) == (i < 0 ? 0 : 2));
        CHECK(got[0].count == (uint64_t)i + 1); /* right to the last one */
    }
    uint64_t hottest = got[0].id, count, total;
    CHECK(total_since(&mark) == 1250 && got[0].count == 1000 && got[1].count == 250);
    CHECK(footpath_query_share(&mark, hottest) == 0.8);
    CHECK(footpath_query_share(&mark, got[1].id) == 0.2);
    CHECK(footpath_query_share(&mark, 12345678) == 0);
    CHECK(footpath_query_count(&mark, hottest, &count, &total) == 0 && count == 1000 && total == 1250);
    CHECK(footpath_query_count(&start, hottest, &count, NULL) == 0 && count == 1200);
    CHECK(footpath_query_count(&mark, 12345678, &count, NULL) == 0 && count == 0);
}

static void ask_rounds(void)
{
    struct footpath_query_mark mark = mark_of((void *)rounds);
    for (int i = 0; i < 10; i++) sink = rounds("abbbabbb", 80);
    CHECK(total_since(&mark) > 0);
    /* whatever the compiler made of the loops, the numbers are those of whole calls */
    for (int i = 0; got[i].count && i < ROOM; i++) CHECK(got[i].count % 10 == 0);
}

static void ask_table(void)
{
    struct footpath_query_mark mark = mark_of((void *)many), more;
    for (int i = 0; i < 1 << 14; i++) many(i);
    CHECK(total_since(&mark) == 1 << 14);
    CHECK(footpath_query_hottest(&mark, NULL, 0, NULL) == 1 << 14);
    for (int i = 0; i < 5000; i++) many(4711);
    CHECK(total_since(&mark) == (1 << 14) + 5000 && got[0].count == 5001 && got[1].count == 1);
    /* one that fits exactly, one that does not */
    CHECK(footpath_query_mark(&more, (void *)many, kept, (1 << 14) - 1) == 1 << 14);
    CHECK(footpath_query_hottest(&more, got, ROOM, NULL) == -1);
    CHECK(footpath_query_mark(&more, (void *)many, kept, 1 << 14) == 1 << 14);
    for (int i = 0; i < 100; i++) many(i % 2 ? 17 : 4711);
    CHECK(total_since(&more) == 100 && got[0].count == 50 && got[1].count == 50);
}

static void ask_wrong(void)
{
    struct footpath_query_mark mark, none = FOOTPATH_QUERY_FROM_START(NULL);
    uint64_t count = 5, total = 5;
    const void *wrong[] = {NULL,
                           (void *)printf,
                           (void *)uncounted,
                           (char *)(void *)three + 1,
                           (void *)&sink,
                           (void *)1,
                           (void *)(uintptr_t)-1,
                           kept};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(footpath_query_mark(&mark, wrong[i], kept, ROOM) == -1);
        CHECK(footpath_query_hottest(&mark, got, ROOM, &total) == -1 && total == 0);
        CHECK(footpath_query_count(&mark, 0, &count, &total) == -1 && count == 0);
        CHECK(footpath_query_share(&mark, 0) == -1);
    }
    CHECK(footpath_query_mark(NULL, (void *)three, kept, ROOM) == -1);
    CHECK(footpath_query_hottest(NULL, got, ROOM, NULL) == -1);
    CHECK(footpath_query_hottest(&none, got, ROOM, NULL) == -1);
    /* memory that is not there */
    CHECK(footpath_query_mark(&mark, (void *)three, NULL, 0) == 3);
    CHECK(footpath_query_hottest(&mark, got, ROOM, NULL) == -1);
    CHECK(footpath_query_mark(&mark, (void *)three, NULL, 3) == 3);
    CHECK(footpath_query_hottest(&mark, got, ROOM, NULL) == -1);
    /* nothing counted yet: no memory is needed */
    CHECK(footpath_query_mark(&mark, (void *)never, NULL, 0) == 0);
    CHECK(footpath_query_hottest(&mark, NULL, 0, &total) == 0 && total == 0);
    CHECK(footpath_query_share(&mark, 0) == 0);
}

static void ask_reset(void)
{
    struct footpath_query_mark mark = mark_of((void *)three);
    footpath_reset();
    for (int i = 0; i < 30; i++) three(i);
    CHECK(total_since(&mark) == 30);
    footpath_pause();
    for (int i = 0; i < 30; i++) three(i);
    footpath_resume();
    CHECK(total_since(&mark) == 30);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 12; i++) three(i);
        CHECK(total_since(&mark) == 12);
        _exit(failed);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(total_since(&mark) == 30);
}

static void ask_exact(void)
{
    errno = 4321;
    ask_array();
    ask_rounds();
    ask_table();
    ask_wrong();
    ask_reset();
    CHECK(errno == 4321 || errno == 0); /* waitpid and fork may set it, queries do not */
}

/* ---- threads ---- */

enum { THREADS = 6, CALLS = 20000 };
static pthread_barrier_t counted, asked;

static void *work(void *context)
{
    int me = (int)(intptr_t)context;
    for (int i = 0; i < CALLS; i++) three(3 * i), many(me);
    pthread_barrier_wait(&counted);
    pthread_barrier_wait(&asked);
    return NULL;
}

static void *ask_beside(void *stop)
{
    struct footpath_query_mark start = FOOTPATH_QUERY_FROM_START(three);
    static struct footpath_query_path own[64];
    uint64_t last = 0, total;
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        if (footpath_query_hottest(&start, own, 64, &total) < 0 || total < last) return "less";
        last = total;
    }
    return NULL;
}

static void ask_threads(void)
{
    struct footpath_query_mark start = FOOTPATH_QUERY_FROM_START(three);
    struct footpath_query_mark table = FOOTPATH_QUERY_FROM_START(many);
    pthread_t threads[THREADS], beside;
    int stop = 0;
    void *said;
    pthread_barrier_init(&counted, NULL, THREADS + 1);
    pthread_barrier_init(&asked, NULL, THREADS + 1);
    pthread_create(&beside, NULL, ask_beside, &stop);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    pthread_barrier_wait(&counted);
    for (int i = 0; i < 7; i++) three(3 * i);
    CHECK(total_since(&start) == THREADS * CALLS + 7); /* they live */
    CHECK(got[0].count == THREADS * CALLS + 7);
    CHECK(total_since(&table) == THREADS * CALLS && got[THREADS - 1].count == CALLS);
    pthread_barrier_wait(&asked);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(total_since(&start) == THREADS * CALLS + 7); /* they have ended */
    struct footpath_query_mark mark = mark_of((void *)three);
    three(2);
    CHECK(total_since(&mark) == 1);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(beside, &said);
    CHECK(said == NULL);
}

/* ---- samples ---- */

LONE static int phase(int n, int way)
{
    for (int i = 0; i < n; i++) {
        if (way)
            sink += i * 3;
        else
            drain -= i ^ 5;
    }
    return sink;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The hottest path of a phase, of the samples of so many ticks. The first of them may be samples of
 * the phase before: what a tick has taken is counted when it is complete, or at the next tick. The
 * total changes at ticks alone, and each stands for about the same time. */
static uint64_t hottest_of(int way)
{
    enum { TICKS = 30 };
    struct footpath_query_mark mark = mark_of((void *)phase);
    uint64_t total = 0, before = 0;
    int ticks = 0;
    double until = cpu_seconds() + 60;
    while (ticks < TICKS && cpu_seconds() < until) {
        for (int i = 0; i < 100; i++) phase(10000, way);
        if (footpath_query_hottest(&mark, got, ROOM, &total) > 0 && total != before) ticks++;
        before = total;
    }
    CHECK(ticks == TICKS);
    CHECK(footpath_query_share(&mark, got[0].id) > 0.5);
    return got[0].id;
}

static void ask_samples(void)
{
    struct footpath_query_mark mark = FOOTPATH_QUERY_FROM_START(never);
    CHECK(footpath_query_hottest(&mark, got, ROOM, NULL) == 0);
    uint64_t one = hottest_of(0), other = hottest_of(1), again = hottest_of(0);
    CHECK(one != other && one == again);
}

/* ---- for comparison with the profile ---- */

static void print(const char *name, const void *function)
{
    struct footpath_query_mark start = FOOTPATH_QUERY_FROM_START(function);
    long n = footpath_query_hottest(&start, got, ROOM, NULL);
    printf("%s %ld\n", name, n);
    for (long i = 0; i < n; i++)
        printf("%llu %llu\n", (unsigned long long)got[i].id, (unsigned long long)got[i].count);
}

/* Laps are asked for by their ids. */
static void print_laps(const char *name, const void *function)
{
    struct footpath_query_mark start = FOOTPATH_QUERY_FROM_START(function);
    printf("%s", name);
    for (uint64_t id = 0; id < 1024; id++) {
        uint64_t count = 0;
        CHECK(footpath_query_count(&start, id, &count, NULL) == 0);
        if (count) printf(" %llu:%llu", (unsigned long long)id, (unsigned long long)count);
    }
    printf("\n");
}

static void print_all(void)
{
    for (int i = 0; i < 1000; i++) three(i), many(i * i & 0x3fff);
    for (int i = 0; i < 50; i++) sink = rounds("abababbb", i);
    print("three", (void *)three);
    print("rounds", (void *)rounds);
    print("many", (void *)many);
    print_laps("rounds", (void *)rounds);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!footpath_query_mark) return puts("no queries"), 0;
    if (!strcmp(how, "exact")) ask_exact();
    if (!strcmp(how, "threads")) ask_threads();
    if (!strcmp(how, "samples")) ask_samples();
    if (!strcmp(how, "print")) print_all();
    if (argc > 99) never(argc);
    return failed;
}
