/* MPI, where this footpath was built with it: a module that is loaded when asked
 * for, so that the tools need no MPI otherwise. */
#ifndef FP_TOOL_CLI_MPI_H
#define FP_TOOL_CLI_MPI_H

#include "base/error.h"

/* What the module (mpi_module.c) exports under the name below. */
struct cli_mpi {
    int rank, size;
    bool (*begin)(struct cli_mpi *mpi);
    bool (*send)(int to, const void *bytes, size_t len);
    unsigned char *(*receive)(int from, size_t *len); /* malloc'ed; NULL on failure */
    void (*end)(void);
    void (*give_up)(int status); /* ends all ranks */
};
#define CLI_MPI_SYMBOL "footpath_mpi"

/* Loads and begins. */
struct cli_mpi *cli_mpi_begin(struct fp_error *error);

#endif
