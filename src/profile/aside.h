/* Runs in files of their own beside a profile (docs/formats/profile.md). A program that ends
 * while another process keeps the profile locked writes its run to NAME.KEY.run. Readers see
 * the profile as if these runs were in it:
 *
 *     fp_profile_open(&file, "footpath.prof", &error);       then as any file
 */
#ifndef FP_PROFILE_ASIDE_H
#define FP_PROFILE_ASIDE_H

#include "base/io.h"

/* As fp_file_open, with the runs beside the profile appended. */
bool fp_profile_open(struct fp_file *file, const char *path, struct fp_error *error);

/* What was found beside a profile. */
struct fp_beside {
    size_t runs;         /* that were taken in, one per module */
    size_t killed;       /* live files of processes that are gone */
    size_t running;      /* live files in which somebody counts: they stay */
    size_t unknown;      /* live files that stay because nobody can tell, or that cannot be read */
    bool damaged;        /* the profile is, or is none: nothing was taken in */
    uint64_t outside;    /* how often these processes found no room in their files */
    struct fp_error why; /* about one of the files that cannot be read */
};

/* Moves the runs beside a profile into it, and those in the live files of processes that are gone,
 * with the maps of their builds. The caller holds the profile's lock, on fd. A run is taken in
 * once, whoever is killed while it does so. beside may be NULL. */
bool fp_profile_take_in(int fd, const char *path, struct fp_beside *beside, struct fp_error *error);

/* The same for a profile that is not locked, and made if there is none yet. */
bool fp_profile_fold(const char *path, struct fp_beside *beside, struct fp_error *error);
/* Locks a profile: a descriptor, or -1 with errno. It is the file that has the name now. */
int fp_profile_lock(const char *path, bool create);

/* Is `name` the file of a run beside the profile `of`? */
bool fp_is_aside(const char *name, const char *of);

/* Takes files of single runs out of a list of inputs that has their profile too, as the
 * pattern NAME* gives it: they are read with the profile. A live file whose profile is not in the
 * list, because nobody has written it yet, becomes that profile. */
void fp_drop_aside(struct fp_arena *arena, const char **names, size_t *count);

#endif
