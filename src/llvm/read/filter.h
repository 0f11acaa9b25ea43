/* Which functions to instrument, and which to print: the lists of --fp-allow, --fp-deny
 * and --fp-dump.
 *
 * A line of a list is a pattern as of a shell (* ? [...]):
 *
 *     fun:inflate*        a function, by its name in the source or in the object
 *     src:*third_party*   everything defined in a file, by its full name
 *     main                the same as fun:main
 *
 * What follows # is a comment. A function on the deny list is left out whatever the
 * allow list says. docs/footpath-cc.md tells users.
 */
#ifndef FP_LLVM_FILTER_H
#define FP_LLVM_FILTER_H

#include "base/arena.h"
#include "base/error.h"
#include "count/function.h"
#include "flags/flags.h"

struct fp_filter {
    struct fp_filter_list {
        bool given;
        char **functions, **files;
        size_t nfunctions, nfiles;
    } allow, deny, dump;
};

/* The lists of the flags. */
bool fp_filter_read(struct fp_arena *arena, const struct fp_flags *flags, struct fp_filter *filter,
                    struct fp_error *error);

/* Why the function is left out, or NULL. */
const char *fp_filter_reason(const struct fp_filter *filter, const struct fp_function *function);

/* Is it on the list of --fp-dump? */
bool fp_filter_dumps(const struct fp_filter *filter, const struct fp_function *function);

#endif
