/* MPI, where this footpath was built with it: a module that is loaded when asked
 * for, so that the tools need no MPI otherwise. */
#ifndef FP_TOOL_CLI_MPI_H
#define FP_TOOL_CLI_MPI_H

#include "base/error.h"
#include "combined/ranks.h"

/* The struct fp_ranks that the module (mpi_module.c) exports. */
#define CLI_MPI_SYMBOL "footpath_mpi"

/* Loads and begins. */
struct fp_ranks *cli_mpi_begin(struct fp_error *error);

#endif
