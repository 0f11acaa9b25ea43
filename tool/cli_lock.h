/* An output that is also an input: nobody may write to it meanwhile. */
#ifndef FP_TOOL_CLI_LOCK_H
#define FP_TOOL_CLI_LOCK_H

#include "base/error.h"

struct cli_in_place {
    size_t index; /* of the input that is the output, or SIZE_MAX */
    int lock;     /* held until cli_in_place_end, or -1 */
    uint64_t id;  /* for the file that takes its place */
};

size_t cli_find_in_place(const char *output, const char *const *inputs, size_t count);
/* Locks, and puts the runs that lie beside the file into it. */
bool cli_in_place_begin(struct cli_in_place *in_place, const char *output,
                        const char *const *inputs, size_t count, struct fp_error *error);
void cli_in_place_end(struct cli_in_place *in_place);

#endif
