/* What the subcommands share: options, messages, loading of profiles. */
#ifndef FP_TOOL_CLI_H
#define FP_TOOL_CLI_H

#include "profile/profile.h"
#include "report/json.h"
#include "source/source.h"

#include <stdio.h>

/* Exit codes: 0 ok, 1 failure, 2 usage, 3 a threshold not met. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_THRESHOLD = 3 };

struct cli_command;
struct cli_profiles;

/* An option, and what it fills: one of the pointers is set, or `take` is. */
struct cli_option {
    const char *name;  /* "--top" */
    const char *value; /* "N" if it takes one, else NULL */
    const char *help;
    bool *flag;        /* becomes true */
    const char **text; /* the value */
    uint64_t *number;
    double *percent;               /* from 0 to 100 */
    const char *as_text;           /* with `text` and without a value: becomes the text */
    unsigned *chosen, choice;      /* an enum, and the value that the option stands for */
    struct cli_profiles *profiles; /* the value is one more of them */
    struct fp_sources *source_root, *source_map; /* see CLI_SOURCE_OPTIONS */
    void (*take)(const struct cli_command *command, char *value);
    const char *words; /* all values that there are, with blanks between; or NULL */
};

struct cli_command {
    const char *name;
    const char *arguments;            /* "PROFILE..." */
    const char *summary;              /* one line */
    const char *text;                 /* for --help, may be NULL */
    const struct cli_option *options; /* ends with a NULL name */
    struct cli_profiles *words;       /* where arguments that are no options go; or take_word */
    void (*take_word)(const struct cli_command *command, char *value);
    bool starts_program; /* the first word is a program, all behind it are its arguments */
    int (*run)(struct cli_command *command, int argc, char **argv);
};

/* All of them, for help and completion. */
extern struct cli_command *const cli_commands[];
extern const size_t cli_ncommands;

/* Fills what the command's options and words point at. Usage errors and --help do not
 * return. Gives the index of the first word that is a program's, or argc. */
int cli_parse(const struct cli_command *command, int argc, char **argv);

_Noreturn void cli_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cli_print_help(const struct cli_command *command);
void cli_print_version(void);

/* "footpath: ..." on stderr. */
/* Text that comes from a file, on standard output. */
void cli_print_plain(const char *text);
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_fail(const struct fp_error *error, const char *what_to_do);

uint64_t cli_number(const struct cli_command *command, const char *option, const char *value);

/* A number with a fraction, from `least` to `most`; false: it is none. */
bool cli_real(const char *value, double least, double most, double *number);

/* Options that every command with profiles has. They fill a struct cli_profiles. */
#define CLI_PROFILE_OPTIONS(profiles_)                                                          \
    {"--binary", "FILE", "the program that ran, where it is not at its old place",              \
     .text = &(profiles_).binary},                                                              \
        {"--program", "NAME", "whose runs, where a file has several programs; all: everyone's", \
         .text = &(profiles_).program},                                                         \
    {                                                                                           \
        "--skip-bad", NULL, "leave out inputs that are missing or bad, instead of failing",     \
            .flag = &(profiles_).skip_bad                                                       \
    }

/* Options of commands that show source. They fill a struct fp_sources. */
#define CLI_SOURCE_OPTIONS(sources_)                                                 \
    {"--source-root", "DIR", "look for source files below DIR as well",              \
     .source_root = &(sources_)},                                                    \
    {                                                                                \
        "--map", "OLD=NEW", "source files whose name begins with OLD are below NEW", \
            .source_map = &(sources_)                                                \
    }

struct cli_profiles {
    const char *binary;
    const char *program; /* --program: whose runs; NULL: of the program that ran last */
    bool skip_bad;       /* else a bad input is a failure */
    bool each_program;   /* with NULL: of each program the build that ran last */
    bool all_builds;     /* of all programs and builds that the files have runs of */
    FP_VEC(const char *) names;
    struct fp_arena arena;
};

void cli_add_profile(struct cli_profiles *profiles, const char *name);
/* footpath.prof, where none was named. */
void cli_default_profile(struct cli_profiles *profiles);

/* Reads all of them into one profile and loads the maps; warns about files that
 * were skipped, cut short or have no map. NULL after saying what failed. */
struct fp_profile *cli_load(struct cli_profiles *profiles);
struct fp_profile *cli_load_one(const char *name);
/* The same for combined profiles, which cli_load takes as well: with distributions. */
struct fp_combined_view;
struct fp_combined_view *cli_load_view(struct cli_profiles *profiles);
/* The first without maps. */
struct fp_profile *cli_read(struct cli_profiles *profiles);

/* A writer to standard output that keeps little in memory. cli_output writes its end. */
struct fp_writer cli_stream(void);
/* Writes to a file or, with NULL or "-", to standard output. */
int cli_output(const char *path, struct fp_writer *writer);

/* Is the file that --binary names a program with a map? Says why not. NULL is fine. */
bool cli_check_binary(const char *binary);
/* The same of a program that was sampled, which needs no map. */
bool cli_check_sampled(const char *binary);
/* Is the file LLVM bitcode, or plain text? The error says why not: opt would print lines of it. */
bool cli_check_bitcode(const char *path);

/* Says what was noted while a profile was opened, and why it was not. */
struct fp_load;
void cli_tell_load(const struct fp_load *load);

/* The same profiles through libfootpath. NULL after saying what failed. */
struct footpath;
struct footpath *cli_open(const struct cli_profiles *profiles, const char *function, bool edges);

bool cli_colours(FILE *to);
/* The width of the terminal: COLUMNS, or what the terminal says; 100 where there is none. */
size_t cli_width(FILE *to);

/* On a terminal, once two seconds have passed since the first call: how far
 * something is. With done == all the line goes away. */
void cli_progress(const char *what, size_t done, size_t all);

/* A number with separators, in one of a few static rooms. */
const char *cli_count(uint64_t value);
const char *cli_percent(double part, double whole);

#endif
