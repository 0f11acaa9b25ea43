/* Options, messages, loading: see cli.h. */
#include "cli.h"

#include "base/io.h"
#include "base/names.h"
#include "base/plain.h"
#include "binary/object.h"
#include "cli_combined.h"
#include "cli_store.h"
#include "cli_suggest.h"
#include "combined/combinedview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a message names may come from a file: plain before a terminal sees it. */
static void say_plainly(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) return;
    fp_make_plain(text);
    fputs(text, stderr);
    free(text);
}

void cli_print_plain(const char *text)
{
    struct fp_arena scratch = {0};
    fputs(fp_plain(&scratch, text), stdout);
    fp_arena_free(&scratch);
}

void cli_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("footpath: ", stderr);
    say_plainly(format, args);
    fputc('\n', stderr);
    va_end(args);
}

int cli_fail(const struct fp_error *error, const char *what_to_do)
{
    char text[1024];
    fp_error_text(error, text, sizeof text);
    cli_say("%s%s%s", text, what_to_do ? "; " : "", what_to_do ? what_to_do : "");
    return EXIT_FAILED;
}

void cli_print_help(const struct cli_command *command)
{
    printf("usage: footpath %s [OPTION...] %s\n%s.\n", command->name, command->arguments,
           command->summary);
    if (command->text) printf("\n%s\n", command->text);
    printf("\n");
    for (const struct cli_option *o = command->options; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-22s %s\n", left, o->help);
    }
    printf("  %-22s %s\n", "--help", "this text");
    printf("  %-22s %s\n", "--version", "the version of footpath");
}

void cli_print_version(void)
{
    printf("footpath %s\n", FOOTPATH_VERSION);
}

_Noreturn void cli_usage(const struct cli_command *command, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "footpath %s: ", command->name);
    va_start(args, format);
    say_plainly(format, args);
    va_end(args);
    fprintf(stderr, "; see footpath %s --help\n", command->name);
    exit(EXIT_USAGE);
}

static const struct cli_option *find_option(const struct cli_command *command, const char *name,
                                            size_t len)
{
    for (const struct cli_option *o = command->options; o->name; o++)
        if (strlen(o->name) == len && !strncmp(o->name, name, len)) return o;
    return NULL;
}

static void fill(const struct cli_command *command, const struct cli_option *o, char *value)
{
    if (o->flag) *o->flag = true;
    if (o->text) *o->text = o->as_text ? o->as_text : value;
    if (o->percent && !cli_real(value, 0, 100, o->percent))
        cli_usage(command, "%s needs a percentage from 0 to 100, got '%s'", o->name, value);
    if (o->chosen) *o->chosen = o->choice;
    if (o->number) *o->number = cli_number(command, o->name, value);
    if (o->profiles) cli_add_profile(o->profiles, value);
    if (o->source_root) fp_vec_push(&o->source_root->arena, &o->source_root->roots, value);
    if (o->source_map && !fp_sources_map(o->source_map, value))
        cli_usage(command, "--map needs OLD=NEW, got '%s'", value);
    if (o->take) o->take(command, value);
}

static void take_word(const struct cli_command *command, char *word)
{
    if (command->take_word)
        command->take_word(command, word);
    else if (command->words)
        cli_add_profile(command->words, word);
    else
        cli_usage(command, "unexpected %s", word);
}

static void unknown_option(const struct cli_command *command, const char *word)
{
    struct fp_arena arena = {0}; /* the process ends here */
    char *name = fp_arena_strndup(&arena, word, strcspn(word, "="));
    struct cli_nearest nearest = {.wanted = name};
    for (const struct cli_option *o = command->options; o->name; o++)
        cli_consider(&nearest, o->name);
    cli_usage(command, "unknown option %s%s", name, cli_suggestion(&arena, &nearest));
}

/* One of the words that the option knows. */
static void check_value(const struct cli_command *command, const struct cli_option *o,
                        const char *value)
{
    struct fp_arena arena = {0};
    char *words = fp_arena_strdup(&arena, o->words), *save;
    struct cli_nearest nearest = {.wanted = value};
    for (char *one = strtok_r(words, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
        cli_consider(&nearest, one);
        if (strcmp(one, value)) continue;
        fp_arena_free(&arena);
        return;
    }
    cli_usage(command, "%s: unknown '%s'; known: %s%s", o->name, value, o->words,
              cli_suggestion(&arena, &nearest));
}

/* "--top=5" or "--top 5". Gives how many words that was. */
static int take_option(const struct cli_command *command, int argc, char **argv)
{
    char *word = argv[0], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    const struct cli_option *o =
        find_option(command, word, equals ? (size_t)(equals - word) : strlen(word));
    if (!o) unknown_option(command, word);
    if (!o->value && equals) cli_usage(command, "%s takes no value", o->name);
    if (o->value && !equals && argc < 2) cli_usage(command, "%s needs a value", o->name);
    char *value = !o->value ? NULL : equals ? equals + 1 : argv[1];
    if (o->words) check_value(command, o, value);
    fill(command, o, value);
    return o->value && !equals ? 2 : 1;
}

int cli_parse(const struct cli_command *command, int argc, char **argv)
{
    bool only_words = false; /* behind -- */
    for (int at = 0; at < argc;) {
        char *word = argv[at];
        bool is_word = only_words || word[0] != '-' || !word[1];
        if (is_word && command->starts_program) return at;
        if (is_word) {
            take_word(command, word);
            at++;
        } else if (!strcmp(word, "--")) {
            only_words = true;
            at++;
        } else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            cli_print_help(command);
            exit(EXIT_OK);
        } else if (!strcmp(word, "--version")) {
            cli_print_version();
            exit(EXIT_OK);
        } else {
            at += take_option(command, argc - at, argv + at);
        }
    }
    return argc;
}

uint64_t cli_number(const struct cli_command *command, const char *option, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (errno || *end || end == value || *value == '-')
        cli_usage(command, "%s needs a number, got '%s'", option, value);
    return number;
}

bool cli_real(const char *value, double least, double most, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && !*end && *number >= least && *number <= most;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void cli_progress(const char *what, size_t done, size_t all)
{
    static double first, last;
    static bool shown;
    if (!isatty(fileno(stderr))) return;
    double now = seconds_now();
    if (first <= 0) first = now;
    if (done == all) {
        if (shown) fputs("\r\033[K", stderr);
        first = 0, shown = false;
        return;
    }
    if (now - first < 2 || now - last < 0.1) return;
    last = now, shown = true;
    fprintf(stderr, "\r%s: %zu of %zu\033[K", what, done, all);
}

/* ---- profiles ---- */

void cli_add_profile(struct cli_profiles *profiles, const char *name)
{
    fp_vec_push(&profiles->arena, &profiles->names, name);
}

void cli_default_profile(struct cli_profiles *profiles)
{
    if (!profiles->names.len) cli_add_profile(profiles, "footpath.prof");
}

/* What was noted: files first, then how many were skipped, then modules. `about_map` is
 * what to do where a module has no map. */
static void tell_warnings(const struct footpath_warning *warnings, size_t count, size_t skipped,
                          size_t files, const char *about_map)
{
    size_t i = 0;
    for (; i < count && warnings[i].kind <= FOOTPATH_WARNING_SKIPPED; i++)
        cli_say("%s", warnings[i].message);
    if (skipped) cli_say("skipped %zu of %zu profiles", skipped, files);
    for (; i < count; i++) {
        enum footpath_warning_kind kind = warnings[i].kind;
        cli_say("%s%s", warnings[i].message,
                kind == FOOTPATH_WARNING_NO_PROGRAM ? about_map
                : kind == FOOTPATH_WARNING_ALSO     ? "; --program NAME shows another, or all"
                                                    : "");
    }
}

static void tell_failure(enum footpath_result result, const char *error, size_t files)
{
    if (error && result != FOOTPATH_NO_PROGRAM)
        cli_say("%s%s", error,
                result == FOOTPATH_BAD_BINARY ? "; --binary names the program that ran"
                : result == FOOTPATH_BAD_PROFILE && files > 1 ? "; --skip-bad goes on without it"
                                                              : "");
}

#define NAME_PROGRAM "; name the program that ran by --binary FILE"

void cli_tell_load(const struct fp_load *load)
{
    bool failed = load->result == FOOTPATH_BAD_PROFILE;
    tell_warnings(load->warnings.at, load->warnings.len, failed ? 0 : load->skipped, load->read,
                  NAME_PROGRAM);
    tell_failure(load->result, load->error, load->read);
}

/* Of a combined profile one missing module is told, the first. */
static size_t told_of_combined(const struct footpath_warning *warnings, size_t count)
{
    size_t told = 0;
    while (told < count && warnings[told].kind != FOOTPATH_WARNING_NO_PROGRAM) told++;
    return told < count ? told + 1 : count;
}

static struct fp_load load_of(const struct cli_profiles *profiles)
{
    bool all = profiles->program && !strcmp(profiles->program, "all");
    cli_store_wanted(profiles->program);
    return (struct fp_load){.names = profiles->names.at,
                            .nnames = profiles->names.len,
                            .binary = profiles->binary,
                            .program = all ? NULL : profiles->program,
                            .each_program = profiles->each_program,
                            .all_builds = all || profiles->all_builds,
                            .strict = !profiles->skip_bad};
}

struct footpath *cli_open(const struct cli_profiles *profiles, const char *function, bool edges)
{
    struct fp_arena arena = {0};
    struct fp_load load = load_of(profiles);
    const char **names = FP_NEW_ARRAY(&arena, const char *, load.nnames + 1);
    for (size_t i = 0; i < load.nnames; i++) names[i] = load.names[i];
    struct footpath *fp = footpath_open(&(struct footpath_options){.profiles = names,
                                                                   .binary = load.binary,
                                                                   .program = load.program,
                                                                   .all_programs = load.all_builds,
                                                                   .function = function,
                                                                   .strict = load.strict,
                                                                   .edges = edges});
    fp_arena_free(&arena);
    struct footpath_summary summary;
    size_t count;
    const struct footpath_warning *warnings = footpath_warnings(fp, &count);
    enum footpath_result result = footpath_status(fp);
    footpath_summarize(fp, &summary);
    if (summary.combined) count = told_of_combined(warnings, count);
    tell_warnings(warnings, count, result == FOOTPATH_BAD_PROFILE ? 0 : summary.files_skipped,
                  summary.files,
                  summary.combined ? "; until then events have no source lines" : NAME_PROGRAM);
    tell_failure(result, footpath_error(fp), summary.files);
    if (result == FOOTPATH_OPENED) return fp;
    footpath_close(fp);
    return NULL;
}

struct fp_profile *cli_read(struct cli_profiles *profiles)
{
    struct fp_load load = load_of(profiles);
    struct fp_profile *profile = fp_load_runs(&load);
    cli_tell_load(&load);
    fp_load_free(&load);
    return profile;
}

bool cli_check_binary(const char *binary)
{
    struct fp_load load = {.binary = binary};
    bool ok = fp_load_check_binary(&load);
    cli_tell_load(&load);
    fp_load_free(&load);
    return ok;
}

bool cli_check_sampled(const char *binary)
{
    struct fp_arena arena = {0};
    struct fp_object object;
    struct fp_error error = {0};
    bool ok = !binary || fp_object_open(&arena, binary, &object, &error);
    if (!ok) cli_fail(&error, "--binary names the program that was sampled");
    if (ok && binary) fp_object_close(&object);
    fp_arena_free(&arena);
    return ok;
}

static bool is_plain_text(const struct fp_file *file)
{
    for (size_t i = 0; i < file->len; i++)
        if ((file->bytes[i] < ' ' && !strchr("\t\n\r", file->bytes[i])) || !file->bytes[i] ||
            file->bytes[i] >= 127)
            return false;
    return true;
}

bool cli_check_bitcode(const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    struct stat info;
    if (!strcmp(path, "-") || (stat(path, &info) == 0 && S_ISFIFO(info.st_mode)))
        return true; /* can be read once */
    if (!fp_file_open(&file, path, &error)) {
        cli_fail(&error, NULL);
        return false;
    }
    bool raw = file.len >= 4 && !memcmp(file.bytes, "BC\xc0\xde", 4);
    bool wrapped = file.len >= 4 && !memcmp(file.bytes, "\xde\xc0\x17\x0b", 4);
    bool ok = raw || wrapped || is_plain_text(&file);
    if (!ok) cli_say("%s: expected LLVM bitcode; make it by clang -emit-llvm -c", path);
    fp_file_close(&file);
    return ok;
}

struct fp_profile *cli_load(struct cli_profiles *profiles)
{
    if (profiles->names.len && fp_is_combined(profiles->names.at[0])) {
        if (!cli_check_binary(profiles->binary)) return NULL;
        struct fp_combined_view *view = cli_load_view(profiles);
        return view ? view->profile : NULL;
    }
    struct fp_load load = load_of(profiles);
    struct fp_profile *profile = fp_load_profile(&load);
    cli_tell_load(&load);
    fp_load_free(&load);
    return profile;
}

struct fp_profile *cli_load_one(const char *name)
{
    struct cli_profiles inputs = {0};
    cli_add_profile(&inputs, name);
    struct fp_profile *profile = cli_load(&inputs);
    fp_arena_free(&inputs.arena);
    return profile;
}

static struct fp_error stream_error; /* why the first piece that failed was not written */
static bool stream_failed;

static void drain_to_output(struct fp_writer *writer)
{
    if (!stream_failed)
        stream_failed = !fp_file_write("-", writer->bytes, writer->len, &stream_error);
    writer->len = 0;
}

struct fp_writer cli_stream(void)
{
    return (struct fp_writer){.drain = drain_to_output};
}

int cli_output(const char *path, struct fp_writer *writer)
{
    struct fp_error error = {0};
    bool ok;
    if (writer->drain) {
        writer->drain(writer);
        ok = !stream_failed;
        error = stream_error;
    } else {
        ok = fp_file_write(path ? path : "-", writer->bytes, writer->len, &error);
    }
    fp_writer_free(writer);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

bool cli_colours(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (no && *no) return false;
    return isatty(fileno(to)) && terminal && strcmp(terminal, "dumb");
}

size_t cli_width(FILE *to)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    if (columns && atoi(columns) > 0) return (size_t)atoi(columns);
    if (isatty(fileno(to)) && !ioctl(fileno(to), TIOCGWINSZ, &size) && size.ws_col)
        return size.ws_col;
    return 100;
}

const char *cli_count(uint64_t value)
{
    static char rooms[8][32];
    static unsigned next;
    char *out = rooms[next++ % 8];
    fp_group_digits(value, out);
    return out;
}

const char *cli_percent(double part, double whole)
{
    static char rooms[4][16];
    static unsigned next;
    char *out = rooms[next++ % 4];
    snprintf(out, sizeof rooms[0], "%.1f%%", whole > 0 ? 100 * part / whole : 0.0);
    return out;
}
