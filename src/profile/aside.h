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

/* Moves the runs beside a profile into it. The caller holds the profile's lock, on fd. */
bool fp_profile_take_in(int fd, const char *path, struct fp_error *error);

/* Is `name` the file of a run beside the profile `of`? */
bool fp_is_aside(const char *name, const char *of);

/* Takes files of single runs out of a list of inputs that has their profile too, as the
 * pattern NAME* gives it: they are read with the profile. */
void fp_drop_aside(const char **names, size_t *count);

#endif
