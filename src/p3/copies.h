/* K copies of a program that are built, run at the same time and made into one profile:
 * `footpath p3` (paper 004). copysource.c copies the source, copybuild.c builds,
 * copyrun.c runs.
 *
 * The work folder:  division          which copy counts what
 *                   reference/build   the ordinary build, which is divided
 *                   copy-I/build      copy I
 *                   copy-I/run        its working directory
 *                   copy-I/profile    what it counted
 *                   copy-I/{log,inputs,stdout,stderr,status,run.sh}
 */
#ifndef FP_P3_COPIES_H
#define FP_P3_COPIES_H

#include "p3/divide.h"

struct fp_copies {
    struct fp_arena arena;
    uint32_t ncopies;
    const char *work;     /* absolute */
    const char *here;     /* the current folder */
    const char *build;    /* shell command */
    const char *source;   /* folder to copy before building, or NULL */
    const char *launcher; /* words in front of each run, or NULL */
    FP_VEC(const char *) private_files;
    bool same_folder; /* all copies run in the current folder */
    bool hits;        /* count executed operations */
    bool check;       /* run the reference too, and compare */
    bool any_output;  /* do not compare what copies write */
    char **argv;      /* program, below a build folder, and its arguments */
    int argc;
};

/* One of the builds: copy I, or the reference. */
enum { FP_REFERENCE = -1 };
char *fp_copy_folder(struct fp_copies *p, int copy);
char *fp_copy_file(struct fp_copies *p, int copy, const char *name);

/* Runs words, waits; the exit status, or -1 where they could not be run. */
int fp_run_words(char *const *words);

/* Copies p->source into the folder `to`, without the work folder. */
bool fp_copy_source(struct fp_copies *p, const char *to, struct fp_error *error);

bool fp_copy_build(struct fp_copies *p, int copy, struct fp_error *error);

/* Divides the reference, which is built, among the copies. */
bool fp_copies_divide(struct fp_copies *p, const struct fp_divide_options *how,
                      struct fp_error *error);

/* Runs all copies at once, and the reference where it is to be checked. What they read is
 * our standard input. */
bool fp_copies_run(struct fp_copies *p, struct fp_error *error);

/* Did all end as copy 0 did, whose exit status it gives, and write what copy 0 wrote? */
bool fp_copies_compare(struct fp_copies *p, int *status, struct fp_error *error);

/* Collates the profiles of the copies, in their order, into one of the reference. */
bool fp_copies_collate(struct fp_copies *p, struct fp_profile *const *copies, const char *output,
                       struct fp_error *error);

#endif
