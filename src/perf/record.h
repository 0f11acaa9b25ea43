/* Recording perf samples of a program by perf_event_open, into a file that fp_perf_read and
 * perf itself can read.
 *
 * Every event is opened per CPU and inherited by what the program starts; all events of a CPU
 * share one buffer. Periods are randomised as in paper 003, sections 3.1 and 5: period +
 * (random & mask). The kernel cannot do that, so the recorder changes the period whenever it
 * reads the buffers. With a mask that is at every 16th sample, because waking at each would
 * cost more than the samples. Without a mask the recorder wakes when a buffer is a quarter
 * full.
 *
 * Samples have the program's general registers and the top of its stack, by which infer follows
 * them (forward.h), unless told otherwise.
 *
 * What was asked for is recorded, or nothing: an event, a precise form or branch records that the
 * machine does not have are an error.
 */
#ifndef FP_PERF_RECORD_H
#define FP_PERF_RECORD_H

#include "base/error.h"

#include <sys/types.h>

struct fp_record_options {
    const char **events; /* names, as fp_record_event_known takes them */
    size_t nevents;  /* 0: instructions, or cpu-clock where the machine has no counter for them */
    uint64_t period; /* 0: a default per kind of event */
    uint64_t random; /* mask, or 0 */
    uint64_t seed;
    bool branches;     /* ask for branch records */
    bool no_registers; /* leave out the registers and the top of the stack (forward.h) */
    const char *output;
    char **argv; /* the program; ends with NULL */
};

struct fp_record_result {
    uint64_t samples, lost, bytes;
    int status;                               /* of the program, as waitpid gives it */
    double program_seconds, recorder_seconds; /* CPU time */
    char used[512];                           /* events and periods, in words */
    bool no_registers;                        /* the kernel cannot record registers of some event */
    bool fell_back; /* no event was asked for, and instructions are not there */
};

bool fp_record(const struct fp_record_options *options, struct fp_record_result *result,
               struct fp_error *error);

/* Is the name one that the kernel or libpfm4 knows? Behind a colon may be u (user code, which is
 * all that is sampled) and up to three p, as perf writes them: how precise addresses must be. */
bool fp_record_event_known(const char *name);

#endif
