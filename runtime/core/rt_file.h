/* Shared by the files that write profiles: rt_open.c, rt_window.c, rt_file.c,
 * rt_aside.c, rt_map.c. */
#ifndef FP_RT_FILE_H
#define FP_RT_FILE_H

#include "footpath/profile_abi.h"
#include "rt.h"

#include <sys/stat.h>

enum { RT_LONGEST_NAME = 4400 };
_Static_assert(2 * RT_LONGEST_PATH + RT_LONGEST_NAME <= RT_NEAR_NAMES, "all names");

/* ---- opening: rt_open.c ---- */

/* Opens for reading and writing, and makes the file if there is none. `name` becomes the
 * name that links lead to. -1: *problem says why, or is NULL and errno does. */
int rt_open_followed(struct rt_text *name, bool *created, const char **problem) FP_HIDDEN;
/* Makes a new file. Fails where one of that name exists. */
int rt_create(const char *name, int how) FP_HIDDEN;
/* Why an open file is not written to, or NULL. */
const char *rt_why_not(const char *name, const struct stat *info) FP_HIDDEN;
bool rt_is_null(const struct stat *info) FP_HIDDEN; /* /dev/null */
/* `name` becomes the name that links lead to. Returns NULL, or why they are not followed. */
const char *rt_follow_links(struct rt_text *name) FP_HIDDEN;
/* As rt_create; also makes the folder of the file where that alone is missing. */
int rt_create_with_folder(const char *name, int how) FP_HIDDEN;
void rt_folder_of(struct rt_text *folder, const char *name) FP_HIDDEN;

/* ---- reading: rt_window.c ---- */

bool rt_read_at(int fd, void *bytes, size_t len, uint64_t at) FP_HIDDEN;

/* A piece of a file in memory. `at` and `len` are 0 at first; the rest need not be set. */
struct rt_window {
    uint64_t at;
    size_t len;
    unsigned char bytes[1024];
};

/* The bytes of a part of the file, valid until the next call. NULL: not in the file, or too
 * long. */
const void *rt_window_at(struct rt_window *window, int fd, uint64_t at, size_t len) FP_HIDDEN;
/* What is at `end` and behind is, or may be, no longer in the file. */
void rt_window_cut(struct rt_window *window, uint64_t end) FP_HIDDEN;

/* ---- one profile, open: rt_file.c ---- */

struct rt_file {
    char *path;          /* room of RT_LONGEST_NAME */
    struct rt_text name; /* in path */
    int fd;
    struct stat info;
    struct fp_profile_header header;
    struct rt_window *window; /* of the records */
    bool created;             /* by this process, just now */
    bool is_new;              /* it was empty, and has a header now */
    uint64_t program;         /* which build it must be of */
    const char *problem;      /* why it is not written to; NULL: errno says */
};

bool rt_write_at(int fd, const void *bytes, size_t len, off_t at) FP_HIDDEN;
uint32_t rt_commit_check(const struct fp_profile_commit *commit) FP_HIDDEN;
void rt_new_header(struct fp_profile_header *header, uint64_t program, uint64_t id) FP_HIDDEN;
/* Appends a record, header and all, behind the last whole one and commits. */
bool rt_append(struct rt_file *file, const void *record, size_t len) FP_HIDDEN;

/* The full name of this process's profile. In a store, of this module's file in the spool. */
void rt_profile_name(struct rt_text *name) FP_HIDDEN;

/* Where the last whole record ends. */
uint64_t rt_file_end(const struct rt_file *file) FP_HIDDEN;
/* A record is built as its header, then its payload. This fills in the header. */
void rt_finish_record(struct rt_buffer *record) FP_HIDDEN;

/* ---- the map of this module: rt_map.c ---- */

/* Appends the map unless the profile has it. Where that fails nothing is lost. */
void rt_put_map(struct rt_file *file) FP_HIDDEN;

/* ---- runs in files of their own: rt_aside.c ---- */

/* Writes a record into a file beside the profile, which another process has locked. key: of
 * run and module. On success `name` is the name of the file. */
bool rt_put_aside(const struct rt_file *profile, uint64_t key, const void *record, size_t len,
                  struct rt_text *name) FP_HIDDEN;
/* Writes a profile of one record under a new name. */
bool rt_write_new(const char *name, const struct fp_profile_header *header, const void *record,
                  size_t len) FP_HIDDEN;
/* Takes such files into the profile. needs: this process has locked the profile. */
void rt_take_in(struct rt_file *profile) FP_HIDDEN;
/* Removes the file of this run: the run is in the profile now. */
void rt_forget_aside(const struct rt_file *profile, uint64_t key) FP_HIDDEN;

#endif
