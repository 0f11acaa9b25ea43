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
 *                      result is packed, or moved to a file beside it
 * It adds nothing to -E, -M, -fsyntax-only, -r and the like.
 */
#include "base/io.h"
#include "guide/makeguide.h"
#include "base/arena.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/names.h"
#include "base/vec.h"
#include "cc_look.h"
#include "cc_map.h"
#include "cc_out.h"
#include "llvm/plugin_env.h"
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
    char *mode, *llvm, *threads, *plan, *copy, *metric, *use, *guide, *by, *out;
    enum cc_map map;
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

struct flag {
    const char *name;    /* after --fp- */
    const char *plugin;  /* name towards the plugin, or NULL */
    const char *choices; /* separated by spaces, or NULL for any text */
};

static const struct flag flags[] = {
    {"mode", "mode", "path edge edge-min check pep none"},
    {"pep", "pep", "trap flag"},
    {"threads", "threads", "local shared atomic"},
    {"at", "at", "late early"},
    {"inline", "inline", "none small"},
    {"metric", "metric", "count cycles"},
    {"guide", NULL, NULL},
    {"use", NULL, NULL},
    {"paths", "paths", "yes no"},
    {"by", NULL, "sum mean worst"},
    {"allow", "allow", NULL},
    {"deny", "deny", NULL},
    {"array-paths", "array-paths", NULL},
    {"loop-entries", "loop-entries", NULL},
    {"cuts", "cuts", "loops fit few"},
    {"weights", "weights", "llvm static"},
    {"plan", "plan", NULL},
    {"copy", "copy", NULL},
    {"labels", "labels", "weighted plain"},
    {"base", "base", NULL},
    {"map", NULL, "packed plain separate"},
    {"llvm", NULL, NULL},
    {"out", NULL, NULL},
};

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = choices; (at = strstr(at, value)); at++)
        if (len && (at == choices || at[-1] == ' ') && (at[len] == 0 || at[len] == ' '))
            return true;
    return false;
}

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

/* The plugin reads guides; of a profile one is made, and kept beside it. */
static char *find_guide(struct invocation *in, const char *program, const char *path)
{
    struct fp_error error = {0};
    char message[1024];
    enum fp_guide_by by = FP_GUIDE_BY_SUM;
    if (in->by && !strcmp(in->by, "mean")) by = FP_GUIDE_BY_MEAN;
    if (in->by && !strcmp(in->by, "worst")) by = FP_GUIDE_BY_WORST;
    must_read(program, path);
    const char *guide = fp_guide_cached(&in->arena, absolute(in, path), by, &error);
    if (guide) return fp_arena_strdup(&in->arena, guide);
    fp_error_text(&error, message, sizeof message);
    die(program, message, "",
        "make a guide where the program is, by footpath export --format guide");
    return NULL;
}

static void add_guides(struct invocation *in, const char *program)
{
    if (in->guide)
        push(in, &in->plugin,
             fp_arena_printf(&in->arena, "guide=%s", find_guide(in, program, in->guide)));
    if (in->use)
        push(in, &in->plugin,
             fp_arena_printf(&in->arena, "use=%s", find_guide(in, program, in->use)));
}

static enum cc_map map_of(const char *value)
{
    if (!strcmp(value, "separate")) return CC_MAP_SEPARATE;
    return strcmp(value, "plain") ? CC_MAP_PACKED : CC_MAP_PLAIN;
}

static void take_flag(struct invocation *in, const char *program, const char *word)
{
    const char *name = word + strlen("--fp-"), *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    static const char *const switches[] = {"exits",  "hits",    "callees",
                                           "values", "remarks", "eager-copies"};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (!strcmp(name, switches[i])) {
            push(in, &in->plugin, fp_arena_printf(&in->arena, "%s=1", name));
            return;
        }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const struct flag *flag = &flags[i];
        if (strlen(flag->name) != len || strncmp(flag->name, name, len)) continue;
        if (!equals || !equals[1]) die(program, word, " needs a value", "write FLAG=VALUE");
        char *value = fp_arena_strdup(&in->arena, equals + 1);
        if (flag->choices && !is_choice(flag->choices, value))
            die(program, "unknown value in ", word,
                fp_arena_printf(&in->arena, "known: %s", flag->choices));
        if (!strcmp(flag->name, "mode")) in->mode = value;
        if (!strcmp(flag->name, "llvm")) in->llvm = value;
        if (!strcmp(flag->name, "threads")) in->threads = value;
        if (!strcmp(flag->name, "plan")) in->plan = value;
        if (!strcmp(flag->name, "copy")) in->copy = value;
        if (!strcmp(flag->name, "metric")) in->metric = value;
        if (!strcmp(flag->name, "use")) in->use = value;
        if (!strcmp(flag->name, "guide")) in->guide = value;
        if (!strcmp(flag->name, "by")) in->by = value;
        if (!strcmp(flag->name, "out")) in->out = value;
        if (!strcmp(flag->name, "map")) in->map = map_of(value);
        static const char *const files[] = {"allow", "deny", "plan", NULL};
        bool patterns =
            strcmp(flag->name, "plan") && access(value, F_OK) < 0 && are_patterns(value);
        if (cc_in_list(flag->name, files) && !patterns) {
            must_read(program, value);
            value = absolute(in, value);
        }
        if (flag->plugin)
            push(in, &in->plugin, fp_arena_printf(&in->arena, "%s=%s", flag->plugin, value));
        return;
    }
    die(program, "unknown flag ", word, "see footpath-cc --fp-help");
}

/* The plugin could only leave the program uncounted, which nobody would notice. */
static void read_plan(struct invocation *in, const char *program)
{
    struct fp_error error = {0};
    struct fp_division division;
    char message[1024];
    must_read(program, in->plan);
    if (!fp_division_read(&in->arena, in->plan, &division, &error)) {
        fp_error_text(&error, message, sizeof message);
        die(program, message, "", "make the plan again, by footpath plan");
    }
    if (strtoul(in->copy, NULL, 10) >= division.ncopies)
        die(program, in->plan,
            fp_arena_printf(&in->arena, " has copies 0 to %u, not %s", division.ncopies - 1,
                            in->copy),
            "give one of these to --fp-copy");
}

/* A plan divides paths, and every copy must know which it is. */
static void check_plan(struct invocation *in, const char *program)
{
    if (!in->plan && !in->copy) return;
    if (!in->plan || !in->copy)
        die(program, in->plan ? "--fp-plan" : "--fp-copy", " without the other",
            "give --fp-plan=FILE and --fp-copy=I");
    if (!*in->copy || strspn(in->copy, "0123456789") != strlen(in->copy))
        die(program, "--fp-copy needs a number, not ", in->copy, "copies count from 0");
    if (strcmp(in->mode, "path") && strcmp(in->mode, "none"))
        die(program, "--fp-plan does not go with --fp-mode=", in->mode, "use --fp-mode=path");
    if (in->metric && strcmp(in->metric, "count"))
        die(program, "--fp-plan does not go with --fp-metric=", in->metric, "leave it out");
    read_plan(in, program);
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
    if (version && version != atoi(in->llvm))
        die(program, clang,
            fp_arena_printf(&in->arena, " is of LLVM %d, the plugin of LLVM %s", version, in->llvm),
            fp_arena_printf(&in->arena, "choose the plugin by --fp-llvm=%d", version));
}

/* clang-N in PATH, or where Debian keeps it; FOOTPATH_CLANG overrides. */
static char *find_clang(struct invocation *in, const char *program)
{
    const char *given = getenv("FOOTPATH_CLANG"), *end = in->cxx ? "clang++" : "clang";
    if (given && *given)
        return in->cxx ? as_cxx(&in->arena, given) : fp_arena_strdup(&in->arena, given);
    char *debian = fp_arena_printf(&in->arena, "/usr/lib/llvm-%s/bin/%s", in->llvm, end);
    if (access(debian, X_OK) == 0) return debian;
    char *name = fp_arena_printf(&in->arena, "%s-%s", end, in->llvm), *save = NULL;
    char *path = fp_arena_strdup(&in->arena, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    for (char *folder = strtok_r(path, ":", &save); folder; folder = strtok_r(NULL, ":", &save)) {
        char *full = fp_arena_printf(&in->arena, "%s/%s", folder, name);
        if (access(full, X_OK) == 0) return full;
    }
    die(program, name, " was not found",
        fp_arena_printf(&in->arena, "install clang-%s, or choose another by --fp-llvm=N",
                        in->llvm));
    return NULL;
}

/* footpath/runtime.h: beside the tools when installed, in the source tree else. */
static void add_include(struct invocation *in, struct cc_words *command)
{
    char *installed = fp_arena_printf(&in->arena, "%s/../include", in->here);
    char *header = fp_arena_printf(&in->arena, "%s/footpath/runtime.h", installed);
    push(in, command, "--start-no-unused-arguments"); /* bitcode and the like include nothing */
    push(in, command, "-idirafter");
    push(in, command, access(header, R_OK) == 0 ? installed : FOOTPATH_SOURCE "/include");
    push(in, command, "--end-no-unused-arguments");
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

static void add_compilation(struct invocation *in, struct cc_words *command, const char *program)
{
    char *plugin = part(in, fp_arena_printf(&in->arena, "footpath-llvm-%s.so", in->llvm));
    if (access(plugin, R_OK) < 0)
        die(program, "no plugin for LLVM ", in->llvm,
            fp_arena_printf(&in->arena, "expected %s; build footpath with LLVM=%s", plugin,
                            in->llvm));
    push(in, command, "--start-no-unused-arguments");
    push(in, command, fp_arena_printf(&in->arena, "-fpass-plugin=%s", plugin));
    /* for ccache between us and clang; clang keeps arguments of plugins that it has not loaded */
    push(in, command,
         fp_arena_printf(&in->arena, "-fplugin-arg-footpath-key%016" PRIx64,
                         key_of_inputs(in, plugin)));
    if (!in->look.debug) {
        push(in, command, "-gline-tables-only");
        push(in, command, "-gno-column-info"); /* nobody looks at them */
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
    bool local = !in->threads || !strcmp(in->threads, "local") || !strcmp(in->mode, "pep");
    static const char *const exported[] = {
        "pthread_create",  "thrd_create", "sigaction",     "signal",
        "bsd_signal",      "sysv_signal", "__sysv_signal", "siginterrupt",
        "pthread_sigmask", "sigprocmask", "sigsuspend",    "ppoll",
        "pselect",         "epoll_pwait", "prctl",         "syscall"};
    const struct cc_look *look = &in->look;
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
    if (!local) push(in, command, "-Wl,--defsym=__footpath_threads_share=1"); /* rt_threads.c */
    for (size_t i = 0; i < sizeof exported / sizeof *exported; i++)
        push(in, command,
             fp_arena_printf(&in->arena, "-Wl,--export-dynamic-symbol=%s", exported[i]));
}

static void add_output(struct invocation *in, struct cc_words *command, const char *program)
{
    if (!in->out || !strcmp(in->mode, "none")) return;
    char *object = cc_out_object(&in->arena, in->out);
    if (!object) die(program, "no file in memory for --fp-out", ": ", strerror(errno));
    push(in, command, object);
}

static void add_link(struct invocation *in, struct cc_words *command, const char *program)
{
    push(in, command, "--start-no-unused-arguments");
    push(in, command, "-x");
    push(in, command, "none");
    add_stand_ins(in, command);
    /* runtime/exits/rt_quick.c */
    if (in->look.is_static && !in->look.shared && !in->look.own_libraries &&
        strcmp(in->mode, "none"))
        push(in, command, "-Wl,--undefined=__footpath_static_quick");
    if (!in->look.has_build_id) push(in, command, "-Wl,--build-id=sha1");
    add_output(in, command, program);
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

/* A compilation becomes clang. A link is waited for: the map of its result is placed. */
static int run_clang(struct invocation *in, const char *program, const struct cc_words *command,
                     bool links)
{
    struct fp_error error = {0};
    char message[1024];
    int status = 0;
    pid_t child = links && in->map != CC_MAP_PLAIN ? fork() : 0;
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
    if (cc_place_map(in->look.output, in->map, &error)) return 0;
    fp_error_text(&error, message, sizeof message);
    fprintf(stderr, "%s: %s\n", program, message);
    return 1;
}

static void print_help(const char *program)
{
    printf(
        "usage: %s [--fp-FLAG...] CLANG-ARGUMENTS...\n"
        "Compiles with clang and makes the program count its paths.\n\n"
        "  --fp-mode=path|edge|edge-min|check|pep|none  what to count (path)\n"
        "  --fp-pep=trap|flag         with pep: how samples of paths are taken (trap)\n"
        "  --fp-exits                 exact counts where a function never returns\n"
        "  --fp-threads=local|atomic|shared          how threads count (local: exact)\n"
        "  --fp-at=late|early         after optimisation, or before inlining (late)\n"
        "  --fp-inline=none|small     with early: inline small functions before counting (none)\n"
        "  --fp-metric=count|cycles   add 1 per path, or also the cycles it took\n"
        "  --fp-allow=LIST --fp-deny=LIST            functions and files to instrument\n"
        "  --fp-values                with early: count targets of indirect calls and sizes of "
        "copies\n"
        "  --fp-cuts=loops|fit|few    end paths where hot loops are entered, and at cold edges so\n"
        "                             that counters fit arrays; the latter only; neither (loops)\n"
        "  --fp-guide=FILE            weights from an earlier profile: cheaper counting\n"
        "  --fp-plan=FILE --fp-copy=I copy I of a plan (footpath plan, footpath p3)\n"
        "  --fp-hits                  also count executed operations\n"
        "  --fp-labels=weighted|plain where they go: by estimates, or all edges alike\n"
        "  --fp-callees               list calls in the map, for footpath plan\n"
        "  --fp-base=FOLDER           source files below it are the same in another folder\n"
        "  --fp-map=packed|plain|separate            the map in the program, compressed or not, or "
        "in\n"
        "                             PROGRAM.fpmap beside it (packed)\n"
        "  --fp-use=FILE              do not count: optimise by a profile (of --fp-at=early)\n"
        "  --fp-paths=yes|no          with --fp-use: by paths, or by their edges alone (yes)\n"
        "  --fp-by=sum|mean|worst     how several runs in a profile are taken together (sum)\n"
        "  --fp-remarks               with --fp-use: say what is done and why\n"
        "  --fp-out=PATTERN           at link: where profiles go (footpath.prof); FOOTPATH_OUT "
        "overrides it\n"
        "  --fp-llvm=N                which clang (%s)\n\n"
        "FOOTPATH_CC_FLAGS holds the same flags. The program writes footpath.prof, or\n"
        "what FOOTPATH_OUT or --fp-out names; look at it with footpath show.\n",
        program, FOOTPATH_DEFAULT_LLVM);
}

int main(int argc, char **argv)
{
    const char *program = fp_base_name(argv[0]);
    struct invocation in = {.llvm = (char *)FOOTPATH_DEFAULT_LLVM};
    in.cxx = strstr(program, "++") || strstr(program, "cxx");
    in.here = fp_own_folder(&in.arena);
    take_environment(&in, program);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--fp-help")) return print_help(program), 0;
        take_word(&in, program, argv[i]);
    }
    /* a build that uses a profile counts only if it is told to */
    if (!in.mode) in.mode = (char *)(in.use ? "none" : "path");
    check_plan(&in, program);
    add_guides(&in, program);
    in.look = cc_look_at(&in.all_args);
    bool none = !strcmp(in.mode, "none");
    bool counts = (!none || in.use) && in.look.compiles;
    push(&in, &in.plugin, fp_arena_printf(&in.arena, "mode=%s", in.mode));
    if (!in.look.debug) push(&in, &in.plugin, "strip-lines=1");

    struct cc_words command = {0};
    char *clang = find_clang(&in, program);
    push(&in, &command, clang);
    if (in.look.has_source) add_include(&in, &command);
    if (counts && in.look.foreign)
        fprintf(stderr, "%s: %s: only x86-64 Linux is instrumented; compiled without counters\n",
                program, in.look.foreign);
    counts &= !in.look.foreign;
    if (counts) check_version(&in, program, clang);
    if (counts) add_compilation(&in, &command, program);
    add_user_words(&in, &command, counts && !in.look.debug);
    bool links = in.look.links && !in.look.foreign && !(none && in.use);
    if (links) add_link(&in, &command, program);
    fp_vec_push(&in.arena, &command, NULL);
    set_plugin_variable(&in);
    int status = run_clang(&in, program, &command, links);
    fp_arena_free(&in.arena);
    return status;
}
