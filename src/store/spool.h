/* The spool of a store: a folder into which programs with FOOTPATH_OUT=store:PATH put their
 * profiles, a file per process and module. The runtime may link no database; `footpath collect`,
 * and every command that reads the store, takes the files in.
 *
 *     struct fp_spool spool = {.folder = "PATH.spool", .tell = say, .context = NULL};
 *     fp_spool_take(&spool, store, &error);
 */
#ifndef FP_STORE_SPOOL_H
#define FP_STORE_SPOOL_H

#include "store/store.h"

struct fp_spool {
    const char *folder;
    /* Told about each file that cannot be added. Such a file is renamed to NAME.bad. */
    void (*tell)(const struct fp_error *error, void *context);
    void *context;
    /* filled */
    struct fp_store_added added;
    uint64_t files; /* taken in and removed */
    uint64_t busy;  /* locked by their programs: come again */
    uint64_t bad;
};

/* The spool of a store in a file. */
const char *fp_spool_of(struct fp_arena *arena, const struct fp_store_name *name);
/* Is there something to take in? A folder that is missing has nothing. */
bool fp_spool_waits(const char *folder);
/* Takes in all that is there. A file goes away after what it held was committed. */
bool fp_spool_take(struct fp_spool *spool, struct fp_store *store, struct fp_error *error);

#endif
