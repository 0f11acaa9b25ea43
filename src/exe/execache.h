/* Programs that count, kept for the next run: `footpath run` rewrites a program that counts
 * nothing (exe.h), once per build of the program and of footpath. The copies lie in
 * XDG_CACHE_HOME/footpath, or ~/.cache/footpath. */
#ifndef FP_EXE_EXECACHE_H
#define FP_EXE_EXECACHE_H

#include "exe/exe.h"

/* The program that a shell would run, or NULL. */
const char *fp_exe_find(struct fp_arena *arena, const char *name);

/* Is the file an ELF file without footpath's runtime? */
bool fp_exe_counts_nothing(struct fp_arena *arena, const char *path);

/* The copy of `path` that counts, made if there is none. NULL with an error where it cannot be
 * rewritten. */
const char *fp_exe_cached(struct fp_arena *arena, const char *path,
                          const struct fp_exe_options *options, struct fp_error *error);

/* The folders of copies of the libraries that the program loads when it starts, with colons
 * between, for LD_LIBRARY_PATH. Libraries that cannot be rewritten, such as libc, are left out. */
const char *fp_exe_cached_libraries(struct fp_arena *arena, const char *program,
                                    const struct fp_exe_options *options);

#endif
