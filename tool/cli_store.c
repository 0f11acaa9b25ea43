/* Stores where a profile is named: see cli_store.h.
 *
 * The answer to a name is kept for the life of the process: commands open a profile several times
 * and must see the same each time, though others write to the store meanwhile.
 */
#include "cli_store.h"

#include "base/io.h"
#include "cli_live.h"
#include "store/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *wanted;

void cli_store_wanted(const char *program)
{
    wanted = program;
}

const char *cli_store_default(void)
{
    const char *name = getenv("FOOTPATH_STORE");
    return name && *name ? name : "footpath.store";
}

bool cli_store_by_time(struct cli_profiles *profiles, size_t index)
{
    const char **name = &profiles->names.at[index], *words = strchr(*name, '?');
    if (!fp_is_store_name(*name)) return false;
    if (!words || (!strstr(words, "?by=") && !strstr(words, "&by=")))
        *name = fp_arena_printf(&profiles->arena, "%s%sby=time", *name, words ? "&" : "?");
    return true;
}

static void tell_bad(const struct fp_error *error, void *context)
{
    (void)context;
    cli_fail(error, "kept as NAME.bad");
}

bool cli_store_take(struct fp_store *store, struct fp_spool *spool, struct fp_error *error)
{
    spool->tell = tell_bad;
    return fp_spool_take(spool, store, error);
}

/* Who may not write to the store reads it without what waits. */
struct fp_store *cli_store_open(const char *name, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_store_name parsed;
    struct fp_store *store = NULL;
    struct fp_error problem = {0};
    struct fp_spool spool = {0};
    bool ok = fp_store_name_parse(&arena, name, fp_store_now(), &parsed, error);
    spool.folder = ok ? fp_spool_of(&arena, &parsed) : NULL;
    if (spool.folder && fp_spool_waits(spool.folder)) {
        store = fp_store_open(name, FP_DB_CREATE, &problem);
        if (!store || !cli_store_take(store, &spool, &problem)) {
            cli_fail(&problem, "what waits in the spool is left out");
            fp_store_close(store);
            store = NULL;
        }
    }
    if (ok && !store) store = fp_store_open(name, FP_DB_READ, error);
    fp_arena_free(&arena);
    return store;
}

static void tell_answer(const char *name, const struct fp_store_answer *answer)
{
    if (answer->other_builds)
        cli_say("%s: the build that ran last; also has %s; build=ID shows another, build=all all",
                name, answer->others);
    if (answer->by_hour)
        cli_say("%s: %" PRIu64 " records, summed by hour; by=run gives each run", name,
                answer->records);
}

static int answer_of(const char *name, struct fp_error *error)
{
    struct fp_store_answer answer = {0};
    struct fp_store *store = cli_store_open(name, error);
    int fd = -1;
    if (store && fp_store_read(store, wanted, &answer, error)) {
        tell_answer(name, &answer);
        fd = fp_keep_bytes(answer.profile.bytes, answer.profile.len, error);
        fp_writer_free(&answer.profile);
    }
    fp_store_close(store);
    return fd;
}

/* What a name stands for: asked for once, also where the answer is an error. */
struct kept_answer {
    int fd;
    struct fp_error error;
};

static struct {
    struct fp_arena arena;
    struct fp_strtable names; /* 1 + index of the answer */
    FP_VEC(struct kept_answer) answers;
} kept; /* of the process */

void cli_store_ask_again(void)
{
    for (size_t i = 0; i < kept.answers.len; i++)
        if (kept.answers.at[i].fd >= 0) close(kept.answers.at[i].fd);
    fp_arena_free(&kept.arena);
    memset(&kept, 0, sizeof kept);
}

static bool open_name(struct fp_file *file, const char *name, struct fp_error *error)
{
    if (cli_is_live_name(name)) return cli_live_open(file, name, error);
    if (!kept.names.arena) fp_strtable_init(&kept.names, &kept.arena);
    uint64_t *index = fp_strtable_add(&kept.names, name);
    if (!*index) {
        struct kept_answer made = {0};
        made.fd = answer_of(name, &made.error);
        fp_vec_push(&kept.arena, &kept.answers, made);
        *index = kept.answers.len;
    }
    const struct kept_answer *answer = &kept.answers.at[*index - 1];
    if (answer->fd >= 0) return fp_file_of(file, answer->fd, name, error);
    if (!error->set) *error = answer->error;
    return false;
}

static bool is_name(const char *name)
{
    return fp_is_store_name(name) || cli_is_live_name(name);
}

void cli_store_names(void)
{
    static const struct fp_opener opener = {is_name, open_name};
    fp_set_opener(&opener);
}
