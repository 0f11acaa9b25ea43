/* Finding the plugin of one LLVM: see plugins.h. */
#include "flags/plugins.h"

#include "base/io.h"

#include <unistd.h>

enum { MOST_VERSION = 99 };

static char *plugin_path(struct fp_arena *arena, const char *llvm)
{
    return fp_arena_printf(arena, "%s/../lib/footpath/footpath-llvm-%s.so", fp_own_folder(arena),
                           llvm);
}

int fp_plugin_after(int version)
{
    struct fp_arena arena = {0};
    int found = 0;
    for (version++; version <= MOST_VERSION && !found; version++)
        if (access(plugin_path(&arena, fp_arena_printf(&arena, "%d", version)), R_OK) == 0)
            found = version;
    fp_arena_free(&arena);
    return found;
}

char *fp_plugin_find(struct fp_arena *arena, const char *llvm, const char *choose,
                     struct fp_error *error)
{
    char *path = plugin_path(arena, llvm), *others = fp_arena_strdup(arena, "");
    if (access(path, R_OK) == 0) return path;
    for (int other = fp_plugin_after(0); other; other = fp_plugin_after(other))
        others = fp_arena_printf(arena, "%s%s%d", others, *others ? ", " : "", other);
    if (*others)
        others = fp_arena_printf(arena, ", or choose by %s one that is here: %s", choose, others);
    fp_fail(error, path, "no plugin for LLVM %s; install footpath-llvm-%s, build with LLVM=%s%s",
            llvm, llvm, llvm, others);
    return NULL;
}
