/* footpath p3 in three files: options and the order of things (cmd_p3.c), building
 * (cmd_p3_build.c), running (cmd_p3_run.c).
 *
 * The work folder:  division          which copy counts what
 *                   reference/build   the ordinary build, which is divided
 *                   copy-I/build      copy I
 *                   copy-I/run        its working directory
 *                   copy-I/profile    what it counted
 *                   copy-I/{log,stdout,stderr,status,run.sh}
 */
#ifndef FP_TOOL_P3_H
#define FP_TOOL_P3_H

#include "commands.h"

#include "p3/division.h"

struct p3 {
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
enum { P3_REFERENCE = -1 };
char *p3_folder(struct p3 *p, int copy);
char *p3_file(struct p3 *p, int copy, const char *name);

/* Shell words, quoted. */
char *p3_quote(struct fp_arena *arena, const char *word);

/* Runs words, waits; its exit status, or -1 where it could not be run. */
int p3_system(char *const *words);

bool p3_build(struct p3 *p, int copy);

/* Runs all copies at once (and the reference, to check); false, having said what,
 * where one could not be run or did something else than copy 0. */
bool p3_run(struct p3 *p, int *status);

#endif
