/* Names of stores, as commands take them where they take a profile:
 *
 *     store:PATH?since=1d&host=web1                  SQLite, in one file
 *     postgresql://user@host/base?since=1d           PostgreSQL; the rest of the URL is libpq's
 *
 * What follows the question mark says which records are meant. docs/store.md has the list.
 */
#ifndef FP_STORE_STORENAME_H
#define FP_STORE_STORENAME_H

#include "base/arena.h"
#include "base/error.h"

/* How records of an answer are summed. */
enum fp_store_by {
    FP_BY_ANY,    /* by run, and by hour where there are too many of them */
    FP_BY_RUN,    /* what was added of one run in several pieces is one record */
    FP_BY_RECORD, /* each record as it lies in the store */
    FP_BY_HOUR,
    FP_BY_DAY,
    FP_BY_TIME, /* by record, and by hour where there are too many of them */
};

struct fp_store_name {
    bool postgresql;
    const char *place;                  /* path of the file, or URL without our parameters */
    const char *program, *build, *host; /* "" for any; build "all" */
    int64_t since_ns, until_ns;         /* when records ended: since <= end < until */
    enum fp_store_by by;
    const char *filter; /* as it was given, for messages; "" for none */
};

/* Does it begin with store:, postgresql: or postgres:? */
bool fp_is_store_name(const char *name);

/* now_ns: what "1d" is counted from. A name without store: is a path. */
bool fp_store_name_parse(struct fp_arena *arena, const char *text, int64_t now_ns,
                         struct fp_store_name *name, struct fp_error *error);

/* "90s", "15m", "12h", "1d", "2w" as nanoseconds; false: it is none. */
bool fp_parse_age(const char *text, int64_t *ns);
int64_t fp_store_now(void);
/* "2026-11-18 05:00", UTC. */
const char *fp_store_time(struct fp_arena *arena, int64_t ns);

#endif
