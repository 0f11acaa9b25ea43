/* Whole files in, whole files out. Readers open a file and parse its bytes; writers hand over
 * all of it. */
#ifndef FP_BASE_IO_H
#define FP_BASE_IO_H

#include "base/arena.h"
#include "base/error.h"

struct fp_file {
    const unsigned char *bytes;
    size_t len;
    bool mapped;
};

/* A regular file is mapped, anything else ("-" is standard input) is read. */
bool fp_file_open(struct fp_file *file, const char *path, struct fp_error *error);
void fp_file_close(struct fp_file *file);

/* A descriptor of a regular file, or -1 with an error. For files that another file names:
 * reading a pipe would block, and opening a device may have an effect. */
int fp_open_regular(const char *path, struct fp_error *error);

/* Written beside the target and renamed onto it, so that a reader sees the old
 * file or the new one and a crash leaves the old one. "-" is standard output. */
bool fp_file_write(const char *path, const void *bytes, size_t len, struct fp_error *error);

/* Creates path and the folders above it. */
bool fp_make_folder(const char *path, struct fp_error *error);

/* The folder of the running program; the files that it needs lie beside it. */
char *fp_own_folder(struct fp_arena *arena);

#endif
