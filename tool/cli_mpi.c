/* Loading the MPI module: see cli_mpi.h. It lies beside the compiler plugins. */
#include "cli_mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4200 };

/* BIN/footpath -> BIN/../lib/footpath/footpath-mpi.so */
static bool module_path(char *path)
{
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0) return false;
    self[len] = 0;
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = 0;
    snprintf(path, ROOM, "%s/../lib/footpath/footpath-mpi.so", self);
    return true;
}

struct fp_ranks *cli_mpi_begin(struct fp_error *error)
{
    char path[ROOM];
    if (!module_path(path) || access(path, R_OK) < 0) {
        fp_fail(error, NULL,
                "--mpi: there is no footpath-mpi.so; install footpath-mpi, or libopenmpi-dev and "
                "build again");
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    struct fp_ranks *mpi = module ? dlsym(module, CLI_MPI_SYMBOL) : NULL;
    if (!mpi) {
        fp_fail(error, NULL, "--mpi: %s; is the MPI library installed?", dlerror());
        return NULL;
    }
    if (mpi->begin(mpi)) return mpi;
    fp_fail(error, NULL, "--mpi: MPI does not start; run this by mpirun");
    return NULL;
}
