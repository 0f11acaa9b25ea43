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

/* Names that stand for no file, such as "store:PATH": what opens them. A program sets it once, at
 * its start; without one every name is a file's. */
struct fp_opener {
    bool (*claims)(const char *name);
    bool (*open)(struct fp_file *file, const char *name, struct fp_error *error);
};
void fp_set_opener(const struct fp_opener *opener);
/* Is there no file of that name to look at, but fp_file_open gives its bytes? */
bool fp_is_elsewhere(const char *name);
/* Bytes in a file without a name, for an opener: mapped as often as needed. -1 with an error. */
int fp_keep_bytes(const void *bytes, size_t len, struct fp_error *error);
bool fp_file_of(struct fp_file *file, int fd, const char *name, struct fp_error *error);

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
