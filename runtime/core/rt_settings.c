/* Settings from the environment and the link, read once at the start. The name of the
 * profile is expanded when the profile is written, since a child of fork has another pid.
 *
 * Not handled: variables that the program changes later. */
#include "core/rt_call.h"
#include "core/rt_file.h"
#include "rt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

struct rt_settings rt_settings;

#pragma weak pthread_getcpuclockid

extern char **environ;
static char **environment; /* as the program got it */

void rt_settings_environment(char **given)
{
    environment = given;
}

static char **variables(void)
{
    return environment ? environment : environ;
}

static const char *const known[] = {
    "FOOTPATH_OUT",     "FOOTPATH_LOG",          "FOOTPATH_SAMPLES",  "FOOTPATH_STRIDE",
    "FOOTPATH_TICK_MS", "FOOTPATH_DUMP_SIGNAL",  "FOOTPATH_CC_FLAGS", "FOOTPATH_PLUGIN",
    "FOOTPATH_CLANG",   "FOOTPATH_DUMP_SECONDS", "FOOTPATH_SAMPLING", "FOOTPATH_SECCOMP",
    "FOOTPATH_MAP",     "FOOTPATH_BUILD_LOG",    "FOOTPATH_SOURCE",   "FOOTPATH_STORE",
    "FOOTPATH_HISTORY", "FOOTPATH_LIVE",
};

static bool is_known(const char *variable, size_t len)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == len && !strncmp(variable, known[i], len)) return true;
    return false;
}

/* About how many letters two names differ in: enough to find a typing mistake. */
static size_t distance(const char *a, size_t len, const char *b)
{
    size_t head = 0, tail = 0, blen = strlen(b), shorter = len < blen ? len : blen;
    while (head < shorter && a[head] == b[head]) head++;
    while (tail < shorter - head && a[len - 1 - tail] == b[blen - 1 - tail]) tail++;
    return (len > blen ? len : blen) - head - tail;
}

static void check_variable(const char *variable)
{
    if (strncmp(variable, "FOOTPATH", 8)) return;
    size_t len = strcspn(variable, "=");
    if (is_known(variable, len)) return;
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t far = distance(variable, len, known[i]);
        if (far < best) {
            best = far;
            nearest = known[i];
        }
    }
    char name[64];
    struct rt_text text = {name, 0, sizeof name};
    for (size_t i = 0; i < len; i++) rt_text_add_char(&text, variable[i]);
    if (nearest) rt_warn("unknown variable ", name, "; did you mean ", nearest, "?", NULL);
}

/* Does the program have other rights than the user who started it (set-user-id, set-group-id,
 * file capabilities)? Then the user's environment must not count. This asks for the ids at
 * the start of the program, from the kernel: a program may change its ids later. */
static bool is_privileged(void)
{
    return getauxval(AT_SECURE) || getauxval(AT_UID) != getauxval(AT_EUID) ||
           getauxval(AT_GID) != getauxval(AT_EGID);
}

const char *rt_variable(const char *name)
{
    size_t len = strlen(name);
    if (rt_settings.privileged || !variables()) return NULL;
    for (char **at = variables(); *at; at++)
        if (!strncmp(*at, name, len) && (*at)[len] == '=') return *at + len + 1;
    return NULL;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The id of the process, by libc's thread id where that is the same: the kernel encodes it in the
 * number of the thread's clock, and libc knows it without a system call. */
static pid_t process_id(void)
{
    clockid_t clock;
    if (rt_has_one_thread() && pthread_getcpuclockid &&
        pthread_getcpuclockid(pthread_self(), &clock) == 0 && ~(clock >> 3) > 0)
        return (pid_t) ~(clock >> 3);
    return rt_getpid();
}

void rt_settings_new_run(void)
{
    rt_settings.pid = process_id();
    rt_settings.start_ns = now_ns();
    uint64_t seed[3] = {rt_settings.start_ns, (uint64_t)rt_settings.pid, (uint64_t)&seed};
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    rt_settings.run_id = rt_checksum(seed, sizeof seed, (uint64_t)t.tv_nsec);
}

void rt_settings_share_run(void)
{
    struct rt_process *process = rt_this.process;
    if (!process) return;
    if (process->core.run_pid == rt_settings.pid) {
        rt_settings.run_id = process->core.run_id;
        rt_settings.start_ns = process->core.run_start_ns;
        return;
    }
    process->core.run_id = rt_settings.run_id;
    process->core.run_start_ns = rt_settings.start_ns;
    process->core.run_pid = rt_settings.pid;
}

/* ---- where the profile goes ---- */

/* footpath-cc --fp-out links another definition (tool/cc_out.c). Defined here too, because
 * gold does not give NULL for a hidden symbol that is not defined. Not const: the compiler
 * would take this definition for the only one. */
char __footpath_out[1] __attribute__((weak)) FP_HIDDEN = "";

void rt_settings_share_output(void)
{
    if (rt_this.process && __footpath_out[0] && rt_is_program())
        rt_this.process->core.program_out = __footpath_out;
}

RT_APART(char, rt_out, 4096);

void rt_settings_set_output(const char *pattern)
{
    struct rt_text out = {rt_out, 0, sizeof rt_out};
    rt_text_add(&out, pattern ? pattern : "");
    rt_settings.out = out.len ? rt_out : NULL;
}

/* Says which letter behind a per cent sign stands for nothing. */
static void check_pattern(const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '%')); at += at[1] ? 2 : 1) {
        char letter[2] = {at[1], 0};
        if (letter[0] && strchr("phbt%", letter[0])) continue;
        rt_warn("FOOTPATH_OUT=", pattern, ": %", letter,
                " stands for nothing; there are %p, %h, %b, %t, and %% for a per cent sign", NULL);
        return;
    }
}

static const char *output_pattern(void)
{
    if (rt_settings.out) return rt_settings.out;
    if (__footpath_out[0]) return __footpath_out;
    return rt_this.process && rt_this.process->core.program_out ? rt_this.process->core.program_out
                                                                : "footpath.prof";
}

static bool begins(const char *text, const char *head)
{
    return !strncmp(text, head, strlen(head));
}

bool rt_output_is_store(void)
{
    return begins(output_pattern(), "store:");
}

/* A privileged program writes only to a full path that the program itself gives: the user
 * chooses the folder in which it is started. */
static bool may_write(void)
{
    return !rt_settings.privileged || output_pattern()[0] == '/';
}

/* Old versions of autoconf run a.out. It is theirs where conftest.c lies beside it. */
static RT_SELDOM bool is_beside_conftest(const char *path)
{
    char name[RT_LONGEST_NAME];
    struct rt_text text = {name, 0, sizeof name};
    name[0] = 0;
    rt_folder_of(&text, path);
    rt_text_add(&text, "/conftest.c");
    return access(name, F_OK) == 0;
}

/* False for the small programs that configure, cmake, meson, scons and waf build and run to test
 * the compiler: their profiles would be in the way. */
bool rt_output_wanted(const struct rt_identity *program)
{
    static const char *const folders[] = {"/CMakeFiles/", "/meson-private/", "/.sconf_temp/",
                                          "/.conf_check_"};
    const char *path = program->path, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool probe = begins(name, "conftest") && (!name[8] || strchr("._", name[8]));
    probe |= begins(name, "cmTC_") || begins(name, "sanitycheckc");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        probe |= strstr(path, folders[i]) != NULL;
    if (!probe && !strcmp(name, "a.out")) probe = is_beside_conftest(path);
    return may_write() && !probe;
}

/* The variable as a number, which may have decimals, times `unit`; `otherwise` where it is
 * not set or not a number. */
static uint64_t number_of(const char *variable, uint64_t unit, uint64_t otherwise)
{
    const char *text = rt_variable(variable);
    if (!text || !*text) return otherwise;
    uint64_t value = 0, scale = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '.' && !scale) {
            scale = 1;
        } else if (*at >= '0' && *at <= '9' && value < UINT32_MAX && scale < 1000000) {
            value = value * 10 + (uint64_t)(*at - '0');
            scale *= 10;
        } else {
            rt_warn(variable, "=", text, " is not a number", NULL);
            return otherwise;
        }
    }
    return value * unit / (scale ? scale : 1);
}

static void read_sampling(void)
{
    const char *how = rt_variable("FOOTPATH_SAMPLING");
    rt_settings.samples = (uint32_t)number_of("FOOTPATH_SAMPLES", 1, 64);
    rt_settings.stride = (uint32_t)number_of("FOOTPATH_STRIDE", 1, 17);
    rt_settings.tick_ns = number_of("FOOTPATH_TICK_MS", 1000000, 10000000);
    rt_settings.dump_ns = number_of("FOOTPATH_DUMP_SECONDS", 1000000000, 0);
    if (!rt_settings.stride) rt_settings.stride = 1;
    rt_settings.history = number_of("FOOTPATH_HISTORY", 1, 1) != 0;
    rt_settings.full_stride = how && !strcmp(how, "full");
    rt_settings.simple_stride = how && !strcmp(how, "simple");
    if (how && *how && strcmp(how, "full") && strcmp(how, "simple"))
        rt_warn("FOOTPATH_SAMPLING=", how, " is neither simple nor full", NULL);
}

static void read_map_wish(void)
{
    const char *map = rt_variable("FOOTPATH_MAP");
    if (!map || !*map) return;
    if (!strcmp(map, "0") || !strcmp(map, "1"))
        rt_settings.map = *map;
    else
        rt_warn("FOOTPATH_MAP=", map, " is neither 0 nor 1", NULL);
}

/* libc finds the name of a folder that the kernel cannot tell, in its own way. */
static void find_folder(void)
{
    char *folder = rt_near_names;
    bool told = rt_getcwd(folder, RT_LONGEST_PATH) > 0 && folder[0] == '/';
    if (!told && !getcwd(folder, RT_LONGEST_PATH)) folder[0] = 0;
    rt_settings.folder = folder;
}

char *rt_settings_names_left(void)
{
    return rt_near_names + strlen(rt_settings.folder) + 1;
}

void rt_settings_read(void)
{
    rt_settings.privileged = is_privileged();
    rt_settings.user = rt_settings.privileged ? (uid_t)-1 : (uid_t)getauxval(AT_EUID);
    const char *name = rt_variable("FOOTPATH_OUT"), *log = rt_variable("FOOTPATH_LOG");
    rt_settings_set_output(name);
    if (name) check_pattern(name);
    find_folder();
    rt_settings.log = log && *log && strcmp(log, "0");
    read_map_wish();
    read_sampling();
    for (char **variable = variables(); !rt_settings.privileged && variable && *variable;
         variable++)
        check_variable(*variable);
    rt_settings_new_run();
}

bool rt_map_wanted(void)
{
    if (rt_settings.map) return rt_settings.map == '1';
    for (const char *at = output_pattern(); *at; at++) {
        if (*at != '%') continue;
        if (*++at == 'p' || *at == 't') return false; /* a file for each run */
        if (!*at) break;
    }
    return true;
}

static void add_time(struct rt_text *name)
{
    time_t now = (time_t)(rt_settings.start_ns / 1000000000u);
    struct tm t;
    gmtime_r(&now, &t);
    uint64_t fields[] = {(uint64_t)t.tm_year + 1900, (uint64_t)t.tm_mon + 1, (uint64_t)t.tm_mday,
                         (uint64_t)t.tm_hour,        (uint64_t)t.tm_min,     (uint64_t)t.tm_sec};
    for (size_t i = 0; i < 6; i++) {
        if (i == 3) rt_text_add_char(name, '-');
        if (fields[i] < 10) rt_text_add_char(name, '0');
        rt_text_add_number(name, fields[i]);
    }
}

static void add_host(struct rt_text *name)
{
    struct utsname host;
    rt_text_add(name, uname(&host) == 0 ? host.nodename : "host");
}

static void add_program(struct rt_text *name, const struct rt_identity *program)
{
    const char *slash = strrchr(program->path, '/');
    rt_text_add(name, slash ? slash + 1 : program->path);
}

void rt_output_name(struct rt_text *name, const struct rt_identity *program)
{
    const char *pattern = output_pattern();
    if (rt_output_is_store()) pattern += sizeof "store:" - 1;
    if (pattern[0] != '/' && rt_settings.folder[0]) {
        rt_text_add(name, rt_settings.folder);
        rt_text_add_char(name, '/');
    }
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            rt_text_add_char(name, *pattern);
            continue;
        }
        switch (*++pattern) {
        case 'p': rt_text_add_number(name, (uint64_t)rt_settings.pid); break;
        case 'h': add_host(name); break;
        case 'b': add_program(name, program); break;
        case 't': add_time(name); break;
        case 0: rt_text_add_char(name, '%'); return;
        case '%': rt_text_add_char(name, '%'); break;
        default: rt_text_add_char(name, '%'); rt_text_add_char(name, *pattern);
        }
    }
}
