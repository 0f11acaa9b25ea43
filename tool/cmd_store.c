/* footpath store: profiles of many processes and hosts over time, in a database. */
#include "commands.h"

#include "base/io.h"
#include "base/names.h"
#include "base/plain.h"
#include "cli_progress.h"
#include "cli_store.h"
#include "profile/aside.h"
#include "store/spool.h"

#include <inttypes.h>
#include <string.h>

static struct {
    const char *action, *store;
    struct cli_profiles words;
    bool json, all;
    struct fp_store_ages ages;
    uint64_t at_once;
} given = {.ages = {INT64_MAX, INT64_MAX, INT64_MAX}, .at_once = 1000};

static int64_t age_of(const struct cli_command *command, const char *option, const char *value)
{
    int64_t age;
    if (!fp_parse_age(value, &age))
        cli_usage(command, "%s needs an age such as 12h, 7d or 2w, got '%s'", option, value);
    return age;
}

static void take_runs(const struct cli_command *command, char *value)
{
    given.ages.runs = age_of(command, "--runs", value);
}

static void take_hours(const struct cli_command *command, char *value)
{
    given.ages.hours = age_of(command, "--hours", value);
}

static void take_delete(const struct cli_command *command, char *value)
{
    given.ages.gone = age_of(command, "--delete", value);
}

static void take_word(const struct cli_command *command, char *word)
{
    (void)command;
    if (!given.action)
        given.action = word;
    else
        cli_add_profile(&given.words, word);
}

static const struct cli_option options[] = {
    {"--store", "STORE", "which store ($FOOTPATH_STORE, or footpath.store)", .text = &given.store},
    {"--runs", "AGE", "retain: records older than this are summed by hour", .take = take_runs},
    {"--hours", "AGE", "retain: hours older than this are summed by day", .take = take_hours},
    {"--delete", "AGE", "retain: what is older than this is deleted", .take = take_delete},
    {"--all", NULL, "rm: everything, where the store is named without a filter",
     .flag = &given.all},
    {"--at-once", "N", "add: files that are committed together (1000)", .number = &given.at_once},
    {"--json", NULL, "list: as JSON", .flag = &given.json},
    {0},
};

/* The store of actions that take no files: their argument, or --store. */
static const char *store_of(struct cli_command *command)
{
    if (given.words.names.len > 1)
        cli_usage(command, "%s: one store, got %s too", given.action, given.words.names.at[1]);
    if (given.words.names.len && given.store)
        cli_usage(command, "the store is named twice: %s and --store", given.words.names.at[0]);
    return given.words.names.len ? given.words.names.at[0]
           : given.store         ? given.store
                                 : cli_store_default();
}

/* ---- add ---- */

static bool add_one(struct fp_store *store, const char *path, struct fp_store_added *added,
                    struct fp_error *error)
{
    struct fp_file file;
    if (!fp_profile_open(&file, path, error)) return false;
    bool ok = fp_store_can_add(path, file.bytes, file.len, error) &&
              fp_store_add(store, path, file.bytes, file.len, added, error);
    fp_file_close(&file);
    return ok;
}

/* Files from `from` on, as one transaction. */
static bool add_some(struct fp_store *store, size_t from, size_t to, struct fp_store_added *added,
                     struct fp_error *error)
{
    if (!fp_store_begin(store, error)) return false;
    for (size_t i = from; i < to; i++)
        if (!add_one(store, given.words.names.at[i], added, error)) {
            fp_store_rollback(store);
            return false;
        }
    return fp_store_commit(store, error);
}

static void tell_added(const struct fp_store_added *added)
{
    printf("added %s record%s", cli_count(added->records), added->records == 1 ? "" : "s");
    if (added->known) printf("; %s known already", cli_count(added->known));
    printf("\n");
    if (added->no_map)
        cli_say("no map of %" PRIu64 " module%s: neither in the profile (FOOTPATH_MAP=1 puts it "
                "there) nor in the program's file; such records are shown where the program is",
                added->no_map, added->no_map == 1 ? "" : "s");
}

static int add(struct cli_command *command)
{
    struct fp_error error = {0};
    struct fp_store_added added = {0};
    size_t n = given.words.names.len, done = 0;
    if (!n) cli_usage(command, "add: no profile given");
    if (!given.at_once) cli_usage(command, "--at-once is at least 1");
    fp_drop_aside(&given.words.arena, given.words.names.at, &n);
    struct fp_store *store =
        fp_store_open(given.store ? given.store : cli_store_default(), FP_DB_CREATE, &error);
    bool ok = store != NULL;
    while (ok && done < n) {
        struct fp_store_added some = {0};
        size_t to = n - done < given.at_once ? n : done + given.at_once;
        ok = add_some(store, done, to, &some, &error);
        if (!ok) break;
        added.records += some.records, added.known += some.known, added.no_map += some.no_map;
        done = to;
        cli_progress("adding", done, n);
    }
    fp_store_close(store);
    if (ok || done) tell_added(&added);
    if (ok) return EXIT_OK;
    return cli_fail(&error, done ? "the files before it were added" : "nothing was added");
}

/* ---- list ---- */

static void list_as_json(const struct fp_store_list *list)
{
    struct fp_writer out = cli_stream();
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "bytes"), fp_json_uint(&j, list->size);
    fp_json_key(&j, "hosts"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < list->hosts.len; i++) fp_json_string(&j, list->hosts.at[i]);
    fp_json_end(&j, ']');
    fp_json_key(&j, "builds"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < list->builds.len; i++) {
        const struct fp_store_build *b = &list->builds.at[i];
        fp_json_begin(&j, '{');
        fp_json_key(&j, "program"), fp_json_string(&j, b->program);
        fp_json_key(&j, "build_id"), fp_json_string(&j, b->build);
        fp_json_key(&j, "runs"), fp_json_uint(&j, b->runs);
        fp_json_key(&j, "records"), fp_json_uint(&j, b->records);
        fp_json_key(&j, "hosts"), fp_json_uint(&j, b->hosts);
        fp_json_key(&j, "bytes"), fp_json_uint(&j, b->bytes);
        fp_json_key(&j, "begin_ns"), fp_json_int(&j, b->begin_ns);
        fp_json_key(&j, "end_ns"), fp_json_int(&j, b->end_ns);
        fp_json_key(&j, "map"), fp_json_bool(&j, b->has_map);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_say(&out, "\n");
    cli_output(NULL, &out);
}

static void list_as_text(struct fp_store *store, const struct fp_store_list *list)
{
    struct fp_arena *arena = &store->arena;
    uint64_t records = 0;
    printf("%-20s  %-12s  %9s  %9s  %5s  %-16s  %-16s  %9s\n", "program", "build", "runs",
           "records", "hosts", "from (UTC)", "to", "bytes");
    for (size_t i = 0; i < list->builds.len; i++) {
        const struct fp_store_build *b = &list->builds.at[i];
        printf("%-20s  %-12.12s  %9s  %9s  %5s  %-16s  %-16s  %9s%s\n",
               fp_plain(arena, fp_base_name(b->program)),
               b->build_id ? fp_plain(arena, b->build) : "(libraries)", cli_count(b->runs),
               cli_count(b->records), cli_count(b->hosts), fp_store_time(arena, b->begin_ns),
               fp_store_time(arena, b->end_ns), cli_count(b->bytes), b->has_map ? "" : "  no map");
        records += b->records;
    }
    printf("%s records of %zu builds, %zu hosts; %s bytes in all\n", cli_count(records),
           list->builds.len, list->hosts.len, cli_count(list->size));
}

static int list(struct cli_command *command)
{
    struct fp_error error = {0};
    struct fp_store_list found = {0};
    struct fp_store *store = cli_store_open(store_of(command), &error);
    bool ok = store && fp_store_list(store, true, &found, &error);
    if (ok && given.json)
        list_as_json(&found);
    else if (ok)
        list_as_text(store, &found);
    fp_store_close(store);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

/* ---- the others ---- */

static int check(struct cli_command *command)
{
    struct fp_error error = {0};
    struct fp_store_checked found = {0};
    struct fp_store *store = cli_store_open(store_of(command), &error);
    bool ok = store && fp_store_check(store, &found, &error);
    fp_store_close(store);
    if (!ok) return cli_fail(&error, NULL);
    printf("%s records of %s runs, %s maps: all can be read; counters sum to %s\n",
           cli_count(found.records), cli_count(found.runs), cli_count(found.maps),
           cli_count(found.counts));
    return EXIT_OK;
}

static int retain(struct cli_command *command)
{
    struct fp_error error = {0};
    struct fp_store_retained done = {0};
    const struct fp_store_ages *ages = &given.ages;
    if (ages->runs == INT64_MAX && ages->hours == INT64_MAX && ages->gone == INT64_MAX)
        cli_usage(command, "retain: say what to keep, by --runs AGE, --hours AGE or --delete AGE");
    struct fp_store *store = fp_store_open(store_of(command), FP_DB_WRITE, &error);
    bool ok = store && fp_store_retain(store, ages, fp_store_now(), &done, &error);
    fp_store_close(store);
    if (!ok) return cli_fail(&error, NULL);
    printf("summed %s records into %s; deleted %s\n", cli_count(done.before), cli_count(done.after),
           cli_count(done.deleted));
    return EXIT_OK;
}

static int rm(struct cli_command *command)
{
    struct fp_error error = {0};
    uint64_t deleted = 0;
    struct fp_store *store = fp_store_open(store_of(command), FP_DB_WRITE, &error);
    if (store && !*store->name.filter && !given.all)
        cli_usage(command, "rm: say what, as in 'store:%s?build=ID'; or --all",
                  store->name.postgresql ? "..." : store->name.place);
    bool ok = store && fp_store_remove(store, &deleted, &error);
    fp_store_close(store);
    if (!ok) return cli_fail(&error, NULL);
    printf("deleted %s records\n", cli_count(deleted));
    return EXIT_OK;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(struct cli_command *command);
    } actions[] = {{"add", add}, {"list", list}, {"retain", retain}, {"rm", rm}, {"check", check}};
    cli_parse(command, argc, argv);
    if (!given.action) cli_usage(command, "add, list, retain, rm or check is needed");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(given.action, actions[i].name)) {
            int status = actions[i].run(command);
            fp_arena_free(&given.words.arena);
            return status;
        }
    cli_usage(command, "unknown action %s; known: add, list, retain, rm, check", given.action);
}

struct cli_command command_store = {
    .name = "store",
    .arguments = "add FILE... | list|retain|rm|check [STORE]",
    .summary = "Keep profiles of many processes and hosts over time",
    .text = "  footpath store add profiles/*.prof\n"
            "  footpath show 'store:footpath.store?since=1d'\n"
            "  footpath store retain --runs 7d --hours 90d\n\n"
            "STORE is a file, store:FILE?FILTER or postgresql://...?FILTER; footpath-store(1) says "
            "more.",
    .options = options,
    .take_word = take_word,
    .run = run,
};
