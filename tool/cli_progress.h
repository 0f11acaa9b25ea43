/* A line on a terminal that tells how far long work is: "combining 312 of 1000".
 * Nothing where standard error is no terminal, and nothing in the first moments. */
#ifndef FP_TOOL_CLI_PROGRESS_H
#define FP_TOOL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_progress {
    const char *what;
    size_t total;
    bool on, shown;
    uint64_t next_ns; /* when to show it again */
};

void cli_progress_begin(struct cli_progress *progress, const char *what, size_t total);
void cli_progress_at(struct cli_progress *progress, size_t done);
/* The same as a callback, where the total comes with the work. context: a struct cli_progress */
void cli_progress_of(void *context, size_t done, size_t total);
/* Takes the line away; also before anything else is printed. */
void cli_progress_clear(struct cli_progress *progress);

#endif
