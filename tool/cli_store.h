/* Stores where a profile is named: store:PATH?since=1d or postgresql://... */
#ifndef FP_TOOL_CLI_STORE_H
#define FP_TOOL_CLI_STORE_H

#include "cli.h"

/* From here on such names are opened as files are. */
void cli_store_names(void);
/* What was asked before is forgotten: for a command that looks several times. */
void cli_store_ask_again(void);
/* Whose runs, as --program says; NULL: of the build that ran last. */
void cli_store_wanted(const char *program);

/* Where the profile is a store: asks for its records one by one, unless the name says how.
 * false: it is a file. */
bool cli_store_by_time(struct cli_profiles *profiles, size_t index);

/* The store that a command works on, where no argument names it: FOOTPATH_STORE, or
 * footpath.store. */
const char *cli_store_default(void);

/* Takes in the spool of a store that is open for writing; says what is bad. */
struct fp_store;
struct fp_spool;
bool cli_store_take(struct fp_store *store, struct fp_spool *spool, struct fp_error *error);

/* Opens a store for reading. What programs have left in its spool belongs to it and is taken in
 * first; that makes the store, if there is none yet. */
struct fp_store *cli_store_open(const char *name, struct fp_error *error);

#endif
