/* footpath collect: takes profiles that programs put into a spool folder into a store, as they
 * come (FOOTPATH_OUT=store:PATH). */
#include "commands.h"

#include "base/io.h"
#include "cli_store.h"
#include "store/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static struct {
    const char *store, *spool;
    bool once, quiet;
} given;

static void take_store(const struct cli_command *command, char *word)
{
    if (given.store) cli_usage(command, "one store at a time");
    given.store = word;
}

static const struct cli_option options[] = {
    {"--spool", "FOLDER", "where profiles come (STORE.spool)", .text = &given.spool},
    {"--once", NULL, "take in what is there, and end", .flag = &given.once},
    {"--quiet", NULL, "do not say what was added", .flag = &given.quiet},
    {0},
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static void tell(const struct fp_spool *spool)
{
    if (given.quiet || !spool->files) return;
    printf("added %s record%s of %s file%s%s\n", cli_count(spool->added.records),
           spool->added.records == 1 ? "" : "s", cli_count(spool->files),
           spool->files == 1 ? "" : "s", spool->added.known ? "; some were known already" : "");
    fflush(stdout);
}

static bool take_in(struct fp_store *store, const char *folder, bool *again, struct fp_error *error)
{
    struct fp_spool spool = {.folder = folder};
    bool ok = cli_store_take(store, &spool, error);
    if (ok) tell(&spool);
    *again = spool.busy != 0;
    return ok;
}

/* Waits until something is new in the folder. Files that were locked come again soon; now and then
 * a look without news is for file systems that tell none. */
static void wait_for_news(int news, bool again)
{
    enum { SOON_MS = 200, SELDOM_MS = 30000, GATHER_MS = 50 };
    char events[4096];
    struct pollfd one = {.fd = news, .events = POLLIN};
    if (poll(&one, 1, again || news < 0 ? SOON_MS : SELDOM_MS) <= 0 || ended) return;
    poll(NULL, 0, GATHER_MS); /* many files at a time cost one transaction */
    while (news >= 0 && read(news, events, sizeof events) > 0) continue;
}

static bool watch(struct fp_store *store, const char *folder, struct fp_error *error)
{
    struct sigaction stop = {.sa_handler = end};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    int news = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (news < 0 || inotify_add_watch(news, folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
        return fp_fail(error, folder, "cannot watch: %s", strerror(errno));
    bool ok = true, again = false;
    while (ok && !ended) {
        ok = take_in(store, folder, &again, error);
        if (ok && !ended) wait_for_news(news, again);
    }
    close(news);
    return ok;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_error error = {0};
    bool again;
    cli_parse(command, argc, argv);
    struct fp_store *store =
        fp_store_open(given.store ? given.store : cli_store_default(), FP_DB_CREATE, &error);
    if (!store) return cli_fail(&error, NULL);
    const char *folder = given.spool ? given.spool : fp_spool_of(&store->arena, &store->name);
    if (!folder) cli_usage(command, "name the folder of the profiles by --spool FOLDER");
    bool ok = fp_make_folder(folder, &error) &&
              (given.once ? take_in(store, folder, &again, &error) : watch(store, folder, &error));
    fp_store_close(store);
    return ok ? EXIT_OK : cli_fail(&error, "what was added before stays");
}

struct cli_command command_collect = {
    .name = "collect",
    .arguments = "[STORE]",
    .summary = "Take profiles of running programs into a store, as they come",
    .text = "  FOOTPATH_OUT=store:prod.store FOOTPATH_DUMP_SECONDS=60 ./server &\n"
            "  footpath collect prod.store",
    .options = options,
    .take_word = take_store,
    .run = run,
};
