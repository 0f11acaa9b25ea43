/* Recording perf samples of a program by perf_event_open, into a file that fp_perf_read and
 * perf itself can read.
 *
 * Every event is opened per CPU and inherited by what the program starts; all events of a CPU
 * share one buffer. Periods are randomised as in paper 003, sections 3.1 and 5: period +
 * (random & mask). The kernel cannot do that, so the recorder changes the period whenever it
 * reads the buffers. With a mask that is at every 16th sample, because waking at each would
 * cost more than the samples. Without a mask the recorder wakes when a buffer is a quarter
 * full.
 */
#ifndef FP_PERF_RECORD_H
#define FP_PERF_RECORD_H

#include "base/error.h"

#include <sys/types.h>

struct fp_record_options {
    const char **events; /* names; see fp_record_event */
    size_t nevents;
    uint64_t period; /* 0: a default per kind of event */
    uint64_t random; /* mask, or 0 */
    uint64_t seed;
    bool branches; /* ask for branch records */
    const char *output;
    char **argv; /* the program; ends with NULL */
};

struct fp_record_result {
    uint64_t samples, lost, bytes;
    int status;                               /* of the program, as waitpid gives it */
    double program_seconds, recorder_seconds; /* CPU time */
    char fallback[128];                       /* the event that this machine does not have, or "" */
    char used[64];                            /* what was used in its place */
    bool have_branches;
};

bool fp_record(const struct fp_record_options *options, struct fp_record_result *result,
               struct fp_error *error);

/* Is the name one that the kernel or libpfm4 knows? */
bool fp_record_event_known(const char *name);

#endif
