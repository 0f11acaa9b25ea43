/* Copying the source for a build: see copies.h. The work folder may lie inside the source, as
 * with `--source .`; it is left out of the copy. */
#include "p3/copies.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Is `path` the folder, or below it? Both are full names. */
static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    if (!strcmp(folder, "/")) return true;
    return !strncmp(path, folder, len) && (path[len] == '/' || !path[len]);
}

static bool run_cp(struct fp_copies *p, char **names, size_t n, const char *to,
                   struct fp_error *error)
{
    FP_VEC(char *) words = {0};
    static char *const first[] = {(char *)"cp", (char *)"-a", (char *)"--"};
    if (!n) return true;
    for (size_t i = 0; i < 3; i++) fp_vec_push(&p->arena, &words, first[i]);
    for (size_t i = 0; i < n; i++) fp_vec_push(&p->arena, &words, names[i]);
    fp_vec_push(&p->arena, &words, (char *)to);
    fp_vec_push(&p->arena, &words, NULL);
    if (fp_run_words(words.at) == 0) return true;
    return fp_fail(error, p->source, "cannot be copied to %s", to);
}

/* All that is in `from`, but for the work folder, which is below it. */
static bool copy_around(struct fp_copies *p, const char *from, const char *to, const char *work,
                        struct fp_error *error)
{
    FP_VEC(char *) names = {0};
    char *holds_work = NULL;
    DIR *folder = opendir(from);
    if (!folder) return fp_fail(error, from, "%s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char *name = fp_arena_printf(&p->arena, "%s/%s", from, entry->d_name);
        if (is_below(work, name))
            holds_work = name;
        else
            fp_vec_push(&p->arena, &names, name);
    }
    closedir(folder);
    if (!run_cp(p, names.at, names.len, to, error)) return false;
    if (!holds_work || !strcmp(holds_work, work)) return true;
    char *inner = fp_arena_printf(&p->arena, "%s%s", to, strrchr(holds_work, '/'));
    if (mkdir(inner, 0777) < 0) return fp_fail(error, inner, "%s", strerror(errno));
    return copy_around(p, holds_work, inner, work, error);
}

bool fp_copy_source(struct fp_copies *p, const char *to, struct fp_error *error)
{
    char source[PATH_MAX], work[PATH_MAX];
    if (!realpath(p->source, source)) return fp_fail(error, p->source, "%s", strerror(errno));
    if (!realpath(p->work, work)) return fp_fail(error, p->work, "%s", strerror(errno));
    if (!strcmp(source, work))
        return fp_fail(error, p->work, "is the source too; choose another folder by --work");
    if (is_below(work, source)) return copy_around(p, source, to, work, error);
    char *all = fp_arena_printf(&p->arena, "%s/.", source);
    return run_cp(p, &all, 1, to, error);
}
