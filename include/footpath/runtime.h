/* Control of the profile from inside the program.
 *
 * The functions are weak: a program that calls them can also be built without
 * footpath, where they are null:
 *
 *     if (footpath_dump) footpath_dump();
 *
 * All act on every instrumented executable and library of the process. They may be
 * called from any thread, but not from signal handlers.
 *
 * A program may also ask for its own paths, and adapt to them: see the queries below.
 */
#ifndef FOOTPATH_RUNTIME_H
#define FOOTPATH_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOOTPATH_WEAK __attribute__((weak))

/* Writes the profile as it is now; the run goes on, and its next profile replaces
 * this one. 0, or -1 if it could not be written. */
int footpath_dump(void) FOOTPATH_WEAK;

/* Forgets what was counted. */
void footpath_reset(void) FOOTPATH_WEAK;

/* Between the two nothing is counted, in any thread. */
void footpath_pause(void) FOOTPATH_WEAK;
void footpath_resume(void) FOOTPATH_WEAK;

/* As FOOTPATH_OUT: a name, with patterns. */
void footpath_set_output(const char *pattern) FOOTPATH_WEAK;

/* ---- queries ---- */

/* What a function did since a mark. Where the function was compiled with --fp-query:
 *
 *     static struct footpath_query_path kept[256];
 *     struct footpath_query_mark mark;
 *     struct footpath_query_path hottest;
 *     uint64_t total;
 *
 *     if (footpath_query_mark) footpath_query_mark(&mark, (void *)parse, kept, 256);
 *     ...
 *     if (footpath_query_hottest && footpath_query_hottest(&mark, &hottest, 1, &total) > 0)
 *         printf("path %llu: %llu of %llu\n", ...);
 *
 * Counts are those of all threads. In exact counting, those of the calling thread are right to the
 * last path that has ended; what other threads count during the query may be in it or not. A loop
 * that the function is in counts some of its rounds when it is left. In sampled paths
 * (--fp-mode=pep), counts are estimates, and come at the ends of bursts of samples. Paths of
 * frames that never return (longjmp, exceptions, threads that end) are not in the answers.
 *
 * Neither is memory allocated nor a count changed. What a program keeps between queries is its own:
 * a mark and the paths it points to. */

/* A path. The id is that of footpath show --json, of this build;
 * `footpath show --function NAME --path ID` tells what it is. A program that needs the id of a path
 * makes the function take it, and asks which one that was. */
struct footpath_query_path {
    uint64_t id, count;
};

/* Made by footpath_query_mark; or by FOOTPATH_QUERY_FROM_START: since the start, or the last
 * footpath_reset or fork. The fields are not for use. */
struct footpath_query_mark {
    const void *function;
    const struct footpath_query_path *paths;
    size_t npaths;
    uint64_t clearings;
};

#define FOOTPATH_QUERY_FROM_START(function) {(const void *)(function), 0, 0, 0}

/* Marks the present. function: its address. memory: the caller's, of `room` paths, to be kept as
 * long as the mark is used. Returns how many paths and laps the function has taken so far, which is
 * the room that is needed: where it is more than `room`, there is no mark, and queries with it
 * return -1. So does this call where nothing is known of the function: it was compiled without
 * --fp-query, or the address is not that of its start. */
long footpath_query_mark(struct footpath_query_mark *mark, const void *function,
                         struct footpath_query_path *memory, size_t room) FOOTPATH_WEAK;

/* The hottest paths since the mark, by falling count, at most `room`. Returns how many different
 * ones were taken since, which may be more; or -1. total, if not null: the sum of all counts. Laps
 * (rounds of a loop with one way round, through which paths go) are not among them. */
long footpath_query_hottest(const struct footpath_query_mark *since,
                            struct footpath_query_path *hottest, size_t room,
                            uint64_t *total) FOOTPATH_WEAK;

/* How often a path was taken since the mark, and all paths together. Either may be null. 0, or -1
 * where nothing is known. The id may also be that of a lap; laps are not in the total. */
int footpath_query_count(const struct footpath_query_mark *since, uint64_t id, uint64_t *count,
                         uint64_t *total) FOOTPATH_WEAK;

/* What part of the function's paths since the mark was this one, from 0 to 1; 0 where none was
 * taken, -1 where nothing is known. */
static __inline__ double footpath_query_share(const struct footpath_query_mark *since, uint64_t id)
{
    uint64_t count = 0, total = 0;
    if (!footpath_query_count || footpath_query_count(since, id, &count, &total)) return -1;
    return total ? (double)count / (double)total : 0;
}

#undef FOOTPATH_WEAK

#ifdef __cplusplus
}
#endif

#endif
