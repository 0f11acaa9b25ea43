/* Processes that combine together, on one machine or several: rank 0 to size - 1. The tool
 * loads them from a module (tool/mpi_module.c), so that nothing else needs MPI. */
#ifndef FP_COMBINED_RANKS_H
#define FP_COMBINED_RANKS_H

#include <stdbool.h>
#include <stddef.h>

struct fp_ranks {
    int rank, size; /* of this process; of all */
    bool (*begin)(struct fp_ranks *ranks);
    bool (*send)(int to, const void *bytes, size_t len);
    unsigned char *(*receive)(int from, size_t *len); /* malloc'ed; NULL on failure */
    void (*end)(void);
    void (*give_up)(int status); /* ends all ranks */
};

#endif
