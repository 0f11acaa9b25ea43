/* footpath-cc and footpath-c++: clang with the plugin in its compilations and the
 * runtime in its links. Takes every clang argument and the --fp- flags of
 * docs/footpath-cc.md; silent unless something is wrong.
 *
 * What it adds:
 *   to a compilation   -fpass-plugin=..., and line tables for the map where no
 *                      debug information is asked for (the plugin removes them
 *                      again: object files get none)
 *   to a final link    the runtime archive, a build-id, the object that sees new
 *                      threads (or --wrap, in static programs and in libraries),
 *                      and one with the pattern of --fp-out; then the map of the
 *                      result is packed, or moved to a file beside it, and a program
 *                      that samples its paths gets a second body
 * It adds nothing to -E, -M, -fsyntax-only, -r and the like.
 */
#include "base/buildlog.h"
#include "base/io.h"
#include "guide/makeguide.h"
#include "base/arena.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/names.h"
#include "base/vec.h"
#include "cc_body.h"
#include "cc_look.h"
#include "cc_map.h"
#include "cc_out.h"
#include "flags/flags.h"
#include "flags/plugins.h"
#include "footpath/abi.h"
#include "p3/division.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct invocation {
    struct fp_arena arena;
    bool cxx;
    struct cc_words clang_args; /* what the user said, without our flags */
    struct cc_words all_args;   /* the same with response files expanded: to look at */
    struct cc_words plugin;     /* NAME=VALUE lines for the plugin */
    struct fp_flags flags;
    char *here; /* folder of this program */
    struct cc_look look;
};

static void push(struct invocation *in, struct cc_words *words, const char *word)
{
    fp_vec_push(&in->arena, words, fp_arena_strdup(&in->arena, word));
}

static void die(const char *program, const char *what, const char *word, const char *fix)
{
    fprintf(stderr, "%s: %s%s%s%s\n", program, what, word, *fix ? "; " : "", fix);
    exit(2);
}

/* ---- our own flags ---- */

/* A file name is made absolute: the plugin may run in another folder. */
static char *absolute(struct invocation *in, const char *path)
{
    char full[PATH_MAX];
    return realpath(path, full) ? fp_arena_strdup(&in->arena, full)
                                : fp_arena_strdup(&in->arena, path);
}

static void must_read(const char *program, const char *path)
{
    if (access(path, R_OK) < 0) die(program, "cannot read ", path, strerror(errno));
}

/* Patterns with commas between, or the name of a file? No function of a source has a
 * slash or a point in its name. */
static bool are_patterns(const char *list)
{
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, "src:", 4) && strcspn(list, "/.,") < strcspn(list, ",")) return false;
    return true;
}

/* Runs footpath, which lies beside this program: the compiler links no database. */
static bool export_guide(struct invocation *in, const char *from, const char *guide)
{
    int status = -1;
    char *tool = fp_arena_printf(&in->arena, "%s/footpath", fp_own_folder(&in->arena));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl(tool, "footpath", "export", "--format", "guide", "-o", guide, from, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status == 0;
}

static uint64_t add_content(uint64_t key, const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, path, &error)) return key;
    key = fp_checksum(file.bytes, file.len, key);
    fp_file_close(&file);
    return key;
}

/* What a store holds now, as a guide in the folder for temporary files. Its name is that of its
 * content, so a store that has not changed makes one file, and ccache finds objects again. */
static char *guide_of_store(struct invocation *in, const char *program, const char *name)
{
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    char *made = fp_arena_printf(&in->arena, "%s/footpath-store-XXXXXX", folder);
    int fd = mkstemp(made);
    if (fd < 0) die(program, "cannot write ", made, strerror(errno));
    close(fd);
    bool ok = export_guide(in, name, made);
    char *guide = fp_arena_printf(&in->arena, "%s/footpath-%u-%016" PRIx64 ".guide", folder,
                                  (unsigned)getuid(), add_content(0, made));
    if (ok && rename(made, guide) == 0) return guide;
    unlink(made);
    die(program, "cannot use ", name, "footpath export --format guide says why");
    return NULL;
}

static bool is_store(const char *name)
{
    return !strncmp(name, "store:", 6) || !strncmp(name, "postgresql:", 11) ||
           !strncmp(name, "postgres:", 9);
}

/* The plugin reads guides; of a profile one is made, and kept beside it. */
static char *find_guide(struct invocation *in, const char *program, const char *path)
{
    if (is_store(path)) return guide_of_store(in, program, path);
    struct fp_error error = {0};
    char message[1024];
    enum fp_guide_by by = (enum fp_guide_by)in->flags.by;
    const char *guide = fp_guide_cached(&in->arena, absolute(in, path), by, &error);
    if (guide) return fp_arena_strdup(&in->arena, guide);
    must_read(program, path); /* not before: live files may be all that there is of a profile */
    fp_error_text(&error, message, sizeof message);
    die(program, message, "",
        "make a guide where the program is, by footpath export --format guide");
    return NULL;
}

static void tell_plugin(struct invocation *in, const char *name, const char *value)
{
    push(in, &in->plugin, fp_arena_printf(&in->arena, "%s=%s", name, value));
}

static void add_guides(struct invocation *in, const char *program)
{
    const struct fp_flags *flags = &in->flags;
    if (flags->guide) tell_plugin(in, "guide", find_guide(in, program, flags->guide));
    if (flags->use) tell_plugin(in, "use", find_guide(in, program, flags->use));
}

static void refuse_value(struct invocation *in, const char *program, const struct fp_flag *flag,
                         const char *word, const char *value)
{
    if (flag->form == FP_FLAG_WORD)
        die(program, "unknown value in ", word,
            fp_arena_printf(&in->arena, "known: %s", flag->value));
    die(program, fp_arena_printf(&in->arena, "--fp-%s needs a number, not ", flag->name), value,
        "see footpath-cc --fp-help");
}

/* The value as the plugin can use it: files by their full names. */
static const char *resolve(struct invocation *in, const char *program, const struct fp_flag *flag,
                           const char *value)
{
    bool patterns = flag->form == FP_FLAG_LIST && access(value, F_OK) < 0 && are_patterns(value);
    if ((flag->form != FP_FLAG_LIST && flag->form != FP_FLAG_FILE) || patterns)
        return fp_arena_strdup(&in->arena, value);
    must_read(program, value);
    return absolute(in, value);
}

static void take_flag(struct invocation *in, const char *program, const char *word)
{
    const char *name = word + strlen("--fp-"), *equals = strchr(name, '=');
    const struct fp_flag *flag = fp_flag_find(name, strcspn(name, "="));
    bool is_switch = flag && flag->form == FP_FLAG_SWITCH;
    if (!flag || flag->taker == FP_FLAG_INTERNAL || (is_switch && equals))
        die(program, "unknown flag ", word, "see footpath-cc --fp-help");
    if (!is_switch && (!equals || !equals[1]))
        die(program, word, " needs a value", "write FLAG=VALUE");
    const char *value = is_switch ? "1" : resolve(in, program, flag, equals + 1);
    if (!fp_flag_set(flag, &in->flags, value)) refuse_value(in, program, flag, word, value);
    if (flag->taker == FP_FLAG_FOR_PLUGIN && flag->form != FP_FLAG_PROFILE)
        tell_plugin(in, flag->name, value);
}

/* The plugin could only leave the program uncounted, which nobody would notice. */
static void read_division(struct invocation *in, const char *program)
{
    struct fp_error error = {0};
    struct fp_division division;
    char message[1024];
    must_read(program, in->flags.division);
    if (!fp_division_read(&in->arena, in->flags.division, &division, &error)) {
        fp_error_text(&error, message, sizeof message);
        die(program, message, "", "make the division again, by footpath divide");
    }
    if (in->flags.copy >= division.ncopies)
        die(program, in->flags.division,
            fp_arena_printf(&in->arena, " has copies 0 to %u, not %u", division.ncopies - 1,
                            in->flags.copy),
            "give one of these to --fp-copy");
}

/* The word by which a flag of words has the value. */
static const char *word_of(struct invocation *in, const char *name, size_t value)
{
    size_t len;
    const char *word = fp_flag_word(fp_flag_find(name, strlen(name)), value, &len);
    return fp_arena_printf(&in->arena, "%.*s", (int)len, word);
}

/* A division and the number of a copy go together, and only with exact path counts. */
static void check_division(struct invocation *in, const char *program)
{
    const struct fp_flags *flags = &in->flags;
    bool copy = fp_flag_given(flags, "copy");
    if (!flags->division && !copy) return;
    if (!flags->division || !copy)
        die(program, flags->division ? "--fp-division" : "--fp-copy", " without the other",
            "give --fp-division=FILE and --fp-copy=I");
    if (flags->mode != FP_MODE_PATH && flags->mode != FP_MODE_NONE)
        die(program, "--fp-division does not go with --fp-mode=", word_of(in, "mode", flags->mode),
            "use --fp-mode=path");
    if (flags->cycles)
        die(program, "--fp-division does not go with --fp-metric=", "cycles", "leave it out");
    read_division(in, program);
}

static void take_environment(struct invocation *in, const char *program)
{
    const char *text = getenv("FOOTPATH_CC_FLAGS");
    struct cc_words words = {0};
    cc_split(&in->arena, &words, text ? text : "");
    for (size_t i = 0; i < words.len; i++) {
        char *word = words.at[i];
        if (strncmp(word, "--fp-", 5))
            die(program, "FOOTPATH_CC_FLAGS: not a --fp- flag: ", word, "");
        take_flag(in, program, word);
    }
}

/* Our flags may also stand in a response file; then clang gets its words instead of it. */
static void take_word(struct invocation *in, const char *program, const char *word)
{
    struct cc_words inside = {0};
    bool ours = false;
    cc_expand(&in->arena, &inside, word);
    for (size_t i = 0; i < inside.len; i++) ours |= cc_starts(inside.at[i], "--fp-");
    for (size_t i = 0; i < inside.len; i++) {
        if (cc_starts(inside.at[i], "--fp-")) {
            take_flag(in, program, inside.at[i]);
            continue;
        }
        push(in, &in->all_args, inside.at[i]);
        if (ours) push(in, &in->clang_args, inside.at[i]);
    }
    if (!ours) push(in, &in->clang_args, word);
}

/* ---- the command ---- */

static char *part(struct invocation *in, const char *name)
{
    return fp_arena_printf(&in->arena, "%s/../lib/footpath/%s", in->here, name);
}

/* "clang-19" to "clang++-19". */
static char *as_cxx(struct fp_arena *arena, const char *clang)
{
    const char *name = fp_base_name(clang);
    if (strstr(name, "++")) return fp_arena_strdup(arena, clang);
    const char *found = strstr(name, "clang"),
               *rest = found ? found + strlen("clang") : clang + strlen(clang);
    return fp_arena_printf(arena, "%.*s++%s", (int)(rest - clang), clang, rest);
}

/* The first number of what `clang -dumpversion` says, or 0. */
static int major_version(const char *clang)
{
    int ends[2], version = 0;
    if (pipe(ends) < 0) return 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(clang, clang, "-dumpversion", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *said = fdopen(ends[0], "r");
    if (!said || fscanf(said, "%d", &version) != 1) version = 0;
    if (said) fclose(said);
    if (child > 0) waitpid(child, NULL, 0);
    return version;
}

/* A plugin in another clang than its own is refused by the loader at best. A clang
 * that was found by its version is the right one. */
static void check_version(struct invocation *in, const char *program, const char *clang)
{
    const char *given = getenv("FOOTPATH_CLANG");
    int version = given && *given ? major_version(clang) : 0;
    if (version && version != atoi(in->flags.llvm))
        die(program, clang,
            fp_arena_printf(&in->arena, " is of LLVM %d, the plugin of LLVM %s", version,
                            in->flags.llvm),
            fp_arena_printf(&in->arena, "choose the plugin by --fp-llvm=%d", version));
}

/* clang-N in PATH, or where Debian keeps it; FOOTPATH_CLANG overrides. */
static char *find_clang(struct invocation *in, const char *program)
{
    const char *given = getenv("FOOTPATH_CLANG"), *end = in->cxx ? "clang++" : "clang";
    if (given && *given)
        return in->cxx ? as_cxx(&in->arena, given) : fp_arena_strdup(&in->arena, given);
    char *debian = fp_arena_printf(&in->arena, "/usr/lib/llvm-%s/bin/%s", in->flags.llvm, end);
    if (access(debian, X_OK) == 0) return debian;
    char *name = fp_arena_printf(&in->arena, "%s-%s", end, in->flags.llvm), *save = NULL;
    char *path = fp_arena_strdup(&in->arena, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    for (char *folder = strtok_r(path, ":", &save); folder; folder = strtok_r(NULL, ":", &save)) {
        char *full = fp_arena_printf(&in->arena, "%s/%s", folder, name);
        if (access(full, X_OK) == 0) return full;
    }
    die(program, name, " was not found",
        fp_arena_printf(&in->arena, "install clang-%s, or choose another by --fp-llvm=N",
                        in->flags.llvm));
    return NULL;
}

/* Where footpath/runtime.h lies. */
static void add_include(struct invocation *in, struct cc_words *command)
{
    push(in, command, "--start-no-unused-arguments"); /* bitcode and the like include nothing */
    push(in, command, "-idirafter");
    push(in, command, fp_arena_printf(&in->arena, "%s/../include", in->here));
    push(in, command, "--end-no-unused-arguments");
}

/* What the object depends on and clang's own arguments do not show: the plugin, what is
 * set for it, and the files that are named there. */
static uint64_t key_of_inputs(const struct invocation *in, const char *plugin)
{
    struct stat about = {0};
    stat(plugin, &about); /* as ccache knows compilers: by size and time */
    int64_t version[] = {about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
    uint64_t key = fp_checksum(version, sizeof version, 0);
    for (size_t i = 0; i < in->plugin.len; i++) {
        const char *line = in->plugin.at[i], *value = strchr(line, '=');
        key = fp_checksum(line, strlen(line) + 1, key);
        if (value && value[1] == '/') key = add_content(key, value + 1);
    }
    return key;
}

static char *find_plugin(struct invocation *in, const char *program)
{
    struct fp_error error = {0};
    char message[1024], *plugin = fp_plugin_find(&in->arena, in->flags.llvm, "--fp-llvm", &error);
    if (plugin) return plugin;
    fp_error_text(&error, message, sizeof message);
    die(program, message, "", "");
    return NULL;
}

static void add_compilation(struct invocation *in, struct cc_words *command, const char *plugin)
{
    push(in, command, "--start-no-unused-arguments");
    push(in, command, fp_arena_printf(&in->arena, "-fpass-plugin=%s", plugin));
    /* for ccache between us and clang; clang keeps arguments of plugins that it has not loaded */
    push(in, command,
         fp_arena_printf(&in->arena, "-fplugin-arg-footpath-key%016" PRIx64,
                         key_of_inputs(in, plugin)));
    if (!in->look.debug) {
        push(in, command, "-gline-tables-only");
        push(in, command, "-gcolumn-info");
    }
    push(in, command, "-fno-discard-value-names"); /* names of blocks say what branches mean */
    if (in->flags.early == FP_POINT_PGO && in->flags.mode != FP_MODE_NONE) {
        /* the plugin does its work in the place of clang's instrumentation */
        push(in, command, "-Xclang");
        push(in, command, "-fprofile-instrument=llvm");
        push(in, command, "-U__LLVM_INSTR_PROFILE_GENERATE");
    }
    push(in, command, "--end-no-unused-arguments");
}

/* -g0 would take away the line tables that the map is made from; the plugin takes them
 * out of the object. */
static void add_user_words(struct invocation *in, struct cc_words *command, bool need_lines)
{
    for (size_t i = 0; i < in->clang_args.len; i++) {
        const char *word = in->clang_args.at[i];
        if (need_lines && (!strcmp(word, "-g0") || !strcmp(word, "-ggdb0"))) continue;
        push(in, command, word);
    }
}

/* How new threads are seen, and our handlers of signals are not: in a dynamic executable by
 * an object that stands in for the whole process; else only the calls in this link. A
 * library leaves signals to its program. */
static void add_stand_ins(struct invocation *in, struct cc_words *command)
{
    bool local = in->flags.threads == FP_THREADS_LOCAL || in->flags.mode == FP_MODE_PEP ||
                 in->flags.calls == FP_CALLS_INCLUSIVE;
    static const char *const exported[] = {
        "pthread_create", "thrd_create",    "sigaction",    "signal",          "bsd_signal",
        "sysv_signal",    "__sysv_signal",  "siginterrupt", "pthread_sigmask", "sigprocmask",
        "sigsuspend",     "ppoll",          "pselect",      "epoll_pwait",     "prctl",
        "syscall",        FP_CHARGED_SYMBOL};
    const struct cc_look *look = &in->look;
    if (!local) push(in, command, "-Wl,--undefined=__footpath_threads_share"); /* rt_share.c */
    if (look->is_static || look->shared || look->own_libraries) {
        if (local) push(in, command, "-Wl,--wrap=pthread_create,--wrap=thrd_create");
        /* libstdc++.a comes behind us, libgcc.a has such a function too, and lld would let the
         * program call nothing */
        if (local && look->is_static && !look->own_libraries)
            push(in, command, "-Wl,--undefined=__wrap_pthread_create");
        if (look->is_static && !look->own_libraries && !look->shared)
            push(in, command, "-Wl,--wrap=sigaction,--wrap=signal,--wrap=__sysv_signal");
        return;
    }
    push(in, command, part(in, "footpath-interpose.o"));
    for (size_t i = 0; i < sizeof exported / sizeof *exported; i++)
        push(in, command,
             fp_arena_printf(&in->arena, "-Wl,--export-dynamic-symbol=%s", exported[i]));
}

static void add_output(struct invocation *in, struct cc_words *command, const char *program)
{
    if (in->flags.live && in->flags.mode != FP_MODE_NONE)
        push(in, command, "-Wl,--undefined=__footpath_live_from_start"); /* rt_livelink.c */
    for (const char *at = in->flags.out; at && (at = strchr(at, '%')); at += at[1] ? 2 : 1)
        if (!at[1] || !strchr("phbt%", at[1]))
            die(program, "--fp-out: ", fp_arena_printf(&in->arena, "%.2s stands for nothing", at),
                "there are %p, %h, %b, %t, and %% for a per cent sign");
    if (!in->flags.out || in->flags.mode == FP_MODE_NONE) return;
    char *object = cc_out_object(&in->arena, in->flags.out);
    if (!object) die(program, "no file in memory for --fp-out", ": ", strerror(errno));
    push(in, command, object);
}

static bool has_word(const struct invocation *in, const char *wanted)
{
    for (size_t i = 0; i < in->all_args.len; i++)
        if (!strcmp(in->all_args.at[i], wanted)) return true;
    return false;
}

/* gold puts the note of footpath-room.o among others, and with a gap that readers of notes do not
 * expect. */
static bool wants_second_body(const struct invocation *in)
{
    return in->flags.mode == FP_MODE_PEP && in->flags.pep == FP_PEP_BODY &&
           !has_word(in, "-fuse-ld=gold");
}

static void add_link(struct invocation *in, struct cc_words *command, const char *program)
{
    push(in, command, "--start-no-unused-arguments");
    push(in, command, "-x");
    push(in, command, "none");
    add_stand_ins(in, command);
    /* runtime/exits/rt_quick.c */
    if (in->look.is_static && !in->look.shared && !in->look.own_libraries &&
        in->flags.mode != FP_MODE_NONE)
        push(in, command, "-Wl,--undefined=__footpath_static_quick");
    if (!in->look.has_build_id) push(in, command, "-Wl,--build-id=sha1");
    add_output(in, command, program);
    if (wants_second_body(in)) push(in, command, part(in, "footpath-room.o"));
    push(in, command, part(in, "libfootpath-rt.a"));
    push(in, command, "--end-no-unused-arguments");
}

static void set_plugin_variable(struct invocation *in)
{
    size_t room = 1;
    for (size_t i = 0; i < in->plugin.len; i++) room += strlen(in->plugin.at[i]) + 1;
    char *text = fp_arena_alloc(&in->arena, room), *at = text;
    for (size_t i = 0; i < in->plugin.len; i++)
        at += snprintf(at, room - (size_t)(at - text), "%s\n", in->plugin.at[i]);
    setenv(FP_PLUGIN_VARIABLE, text, 1);
}

/* For footpath pgo and p3, which must know what a build compiled. */
static void note_inputs(const struct invocation *in)
{
    const struct cc_look *look = &in->look;
    const char *log = getenv(FP_BUILD_LOG_VARIABLE);
    if (!log || !*log) return;
    fp_build_log_add(log, look->sources.at, look->compiles ? look->sources.len : 0, look->linked.at,
                     look->links ? look->linked.len : 0);
}

/* What is done with the result of a link. */
static bool finish_link(struct invocation *in, const char *program, struct fp_error *error)
{
    if (!cc_place_map(in->look.output, in->flags.map, error)) return false;
    return !wants_second_body(in) ||
           cc_add_second_body(in->look.output, has_word(in, "-v") ? program : NULL, error);
}

/* A compilation becomes clang. A link is waited for. */
static int run_clang(struct invocation *in, const char *program, const struct cc_words *command,
                     bool links)
{
    struct fp_error error = {0};
    char message[1024];
    int status = 0;
    bool wait = links && (in->flags.map != FP_MAP_PLAIN || wants_second_body(in));
    pid_t child = wait ? fork() : 0;
    if (child <= 0) {
        execvp(command->at[0], command->at);
        die(program, "cannot run ", command->at[0], strerror(errno));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (finish_link(in, program, &error)) return 0;
    fp_error_text(&error, message, sizeof message);
    fprintf(stderr, "%s: %s\n", program, message);
    return 1;
}

/* "--fp-mode=path|edge" or "--fp-guide=FILE" or "--fp-exits". */
static char *spell(struct fp_arena *arena, const struct fp_flag *flag)
{
    const char *value = flag->value ? flag->value : "";
    char *text = fp_arena_printf(arena, "--fp-%s%s%s", flag->name, *value ? "=" : "", value);
    for (char *at = text; *at; at++)
        if (*at == ' ') *at = '|';
    return text;
}

static void print_flag(struct fp_arena *arena, const struct fp_flag *flag)
{
    enum { WIDTH = 27 };
    const char *left = spell(arena, flag), *help = flag->help;
    printf("  %-*s", WIDTH, left);
    if (strlen(left) >= WIDTH) printf("\n  %*s", WIDTH, "");
    for (size_t len; *help; help += len + (help[len] == '\n')) {
        len = strcspn(help, "\n");
        printf("%.*s\n", (int)len, help);
        if (help[len]) printf("  %*s", WIDTH, "");
    }
}

static void print_help(struct fp_arena *arena, const char *program)
{
    printf("usage: %s [--fp-FLAG...] CLANG-ARGUMENTS...\n"
           "Compiles with clang and makes the program count its paths.\n\n",
           program);
    for (size_t i = 0; i < fp_nflags; i++)
        if (fp_flag_table[i].taker != FP_FLAG_INTERNAL) print_flag(arena, &fp_flag_table[i]);
    printf("\nFOOTPATH_CC_FLAGS holds the same flags. The default of --fp-llvm is %s. The program\n"
           "writes footpath.prof, or what FOOTPATH_OUT or --fp-out names; look at it with\n"
           "footpath show.\n",
           FOOTPATH_DEFAULT_LLVM);
}

/* clang's own text would hide that there are flags of ours. */
static bool asks_for_help(const struct cc_words *words)
{
    for (size_t i = 0; i < words->len; i++)
        if (!strcmp(words->at[i], "--help") || !strcmp(words->at[i], "-help")) return true;
    return false;
}

int main(int argc, char **argv)
{
    const char *program = fp_base_name(argv[0]);
    struct invocation in = {.flags = FP_FLAGS_DEFAULT};
    in.flags.llvm = FOOTPATH_DEFAULT_LLVM;
    in.cxx = strstr(program, "++") || strstr(program, "cxx");
    in.here = fp_own_folder(&in.arena);
    take_environment(&in, program);
    for (int i = 1; i < argc && !in.flags.help; i++) take_word(&in, program, argv[i]);
    if (in.flags.help) {
        print_help(&in.arena, program);
        fp_arena_free(&in.arena);
        return 0;
    }
    if (asks_for_help(&in.all_args)) {
        print_help(&in.arena, program);
        printf("\nThe flags of clang follow.\n\n");
        fflush(stdout);
    }
    /* a build that uses a profile counts only if it is told to */
    if (!fp_flag_given(&in.flags, "mode"))
        in.flags.mode = in.flags.use ? FP_MODE_NONE : FP_MODE_PATH;
    check_division(&in, program);
    add_guides(&in, program);
    in.look = cc_look_at(&in.arena, &in.all_args);
    bool none = in.flags.mode == FP_MODE_NONE;
    bool counts = (!none || in.flags.use) && in.look.compiles;
    tell_plugin(&in, "mode", word_of(&in, "mode", in.flags.mode));
    if (!in.look.debug) tell_plugin(&in, "strip-lines", "1");
    tell_plugin(&in, "strip-names", "1");

    if (counts && in.look.foreign)
        fprintf(stderr, "%s: %s: only x86-64 Linux is instrumented; compiled without counters\n",
                program, in.look.foreign);
    counts &= !in.look.foreign;

    struct cc_words command = {0};
    /* before clang, which the package of the plugin brings along */
    char *plugin = counts ? find_plugin(&in, program) : NULL;
    char *clang = find_clang(&in, program);
    push(&in, &command, clang);
    if (in.look.has_source) add_include(&in, &command);
    if (counts) check_version(&in, program, clang);
    if (counts) add_compilation(&in, &command, plugin);
    add_user_words(&in, &command, counts && !in.look.debug);
    bool links = in.look.links && !in.look.foreign && !(none && in.flags.use);
    if (links) add_link(&in, &command, program);
    fp_vec_push(&in.arena, &command, NULL);
    set_plugin_variable(&in);
    note_inputs(&in);
    int status = run_clang(&in, program, &command, links);
    fp_arena_free(&in.arena);
    return status;
}
