/* Loads the module that talks to PostgreSQL (postgresql.c). The module lies beside the compiler
 * plugins, as that of MPI does. */
#include "store/db.h"

#include "base/io.h"

#include <dlfcn.h>
#include <unistd.h>

const struct fp_db_driver *fp_postgresql_driver(struct fp_error *error)
{
    struct fp_arena arena = {0};
    const struct fp_db_driver *driver = NULL;
    char *path =
        fp_arena_printf(&arena, "%s/../lib/footpath/footpath-postgresql.so", fp_own_folder(&arena));
    void *module = access(path, R_OK) < 0 ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (access(path, R_OK) < 0)
        fp_fail(error, "PostgreSQL",
                "this footpath has no footpath-postgresql.so; install footpath-postgresql, or "
                "libpq-dev and build again");
    else if (!module || !(driver = dlsym(module, FP_POSTGRESQL_SYMBOL)))
        fp_fail(error, "PostgreSQL", "%s", dlerror());
    if (driver && driver->version != FP_DB_DRIVER_VERSION) {
        fp_fail(error, path, "is of another build than this footpath");
        driver = NULL;
    }
    fp_arena_free(&arena);
    return driver;
}
