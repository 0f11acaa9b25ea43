/* The table of flags, and setting fields by it. */
#include "flags/flags.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct fp_flags, field), sizeof(((struct fp_flags *)0)->field)
#define DRIVER FP_FLAG_FOR_DRIVER
#define PLUGIN FP_FLAG_FOR_PLUGIN

/* In the order of --fp-help; those for experiments last. */
const struct fp_flag fp_flag_table[] = {
    /* clang-format off */
    {"mode", FP_FLAG_WORD, PLUGIN, "path edge edge-min check pep none", FIELD(mode),
     "what to count (path)"},
    {"pep", FP_FLAG_WORD, PLUGIN, "body trap flag", FIELD(pep),
     "with pep: how samples of paths are taken, in a second body of the\n"
     "code, which is made after the link; by traps; by testing a flag (body)"},
    {"exits", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(exits),
     "exact counts where a function never returns"},
    {"threads", FP_FLAG_WORD, PLUGIN, "local shared atomic", FIELD(threads),
     "how threads count (local: exact)"},
    {"at", FP_FLAG_WORD, PLUGIN, "late early pgo", FIELD(early),
     "after optimisation, before inlining, or where clang's own profiles\n"
     "count, for export --format llvm-profdata (late)"},
    {"inline", FP_FLAG_WORD, PLUGIN, "none small", FIELD(inline_small),
     "with early: inline small functions before counting (none)"},
    {"metric", FP_FLAG_WORD, PLUGIN, "count cycles inclusive-cycles", FIELD(cycles),
     "add 1 per path, or also the cycles it took: its own, or with those\n"
     "of the functions that it called (count)"},
    {"cost", FP_FLAG_WORD, PLUGIN, "ir machine", FIELD(machine_costs),
     "what a block costs: instructions of LLVM's IR, or an estimate of the\n"
     "machine instructions that they become (ir)"},
    {"calls", FP_FLAG_WORD, PLUGIN, "count inclusive", FIELD(calls),
     "count calls, or also measure what each of them cost with all that\n"
     "was called on the way (count)"},
    {"allow", FP_FLAG_LIST, PLUGIN, "LIST", FIELD(allow),
     "functions and files to instrument: a file, or patterns"},
    {"deny", FP_FLAG_LIST, PLUGIN, "LIST", FIELD(deny),
     "functions and files to leave out"},
    {"values", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(values),
     "with early: count targets of indirect calls and sizes of copies;\n"
     "with pep: targets alone, where samples are taken"},
    {"cuts", FP_FLAG_WORD, PLUGIN, "fit few paper loops", FIELD(cuts),
     "where paths end besides back edges: at cold edges, so that counters\n"
     "fit an array; nowhere; nowhere, and at every back edge, as in the\n"
     "paper; as fit, and where hot loops are entered (fit)"},
    {"copies", FP_FLAG_WORD, PLUGIN, "yes no all", FIELD(copies),
     "copy hot blocks, in which counting then takes fewer instructions;\n"
     "all: cold ones, too, for tests (yes)"},
    {"guide", FP_FLAG_PROFILE, PLUGIN, "FILE", FIELD(guide),
     "weights from an earlier profile: cheaper counting"},
    {"division", FP_FLAG_FILE, PLUGIN, "FILE", FIELD(division),
     "with --fp-copy: a division (footpath divide, footpath p3)"},
    {"plan", FP_FLAG_FILE, PLUGIN, "FILE", FIELD(division),
     "the old name of --fp-division"},
    {"copy", FP_FLAG_NUMBER, PLUGIN, "I", FIELD(copy),
     "which copy of the division to count for, from 0"},
    {"hits", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(hits),
     "also count executed operations"},
    {"labels", FP_FLAG_WORD, PLUGIN, "weighted plain", FIELD(plain_labels),
     "where operations go: by estimates, or all edges alike (weighted)"},
    {"callees", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(callees),
     "list calls in the map, for footpath divide"},
    {"query", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(query),
     "the program may ask for its own paths while it runs\n"
     "(footpath_query_hottest and others of footpath/runtime.h)"},
    {"base", FP_FLAG_TEXT, PLUGIN, "FOLDER", FIELD(base),
     "source files below it are the same in another folder"},
    {"map", FP_FLAG_WORD, DRIVER, "packed plain separate", FIELD(map),
     "the map in the program, compressed or not, or in PROGRAM.fpmap\n"
     "beside it (packed)"},
    {"use", FP_FLAG_PROFILE, PLUGIN, "FILE", FIELD(use),
     "do not count: optimise by a profile (of --fp-at=early)"},
    {"paths", FP_FLAG_WORD, PLUGIN, "yes no more", FIELD(paths),
     "with --fp-use: by paths; by their edges alone; by paths, with copies\n"
     "for processors that predict by little history, too (yes)"},
    {"by", FP_FLAG_WORD, DRIVER, "sum mean worst", FIELD(by),
     "how several runs in a profile are taken together (sum)"},
    {"remarks", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(remarks),
     "with --fp-use: say what is done and why"},
    {"out", FP_FLAG_TEXT, DRIVER, "PATTERN", FIELD(out),
     "at link: where profiles go (footpath.prof); FOOTPATH_OUT overrides it"},
    {"live", FP_FLAG_SWITCH, DRIVER, NULL, FIELD(live),
     "at link: counters lie in a file beside the profile, so that what was\n"
     "counted outlives a kill; FOOTPATH_LIVE overrides it"},
    {"dump", FP_FLAG_LIST, PLUGIN, "LIST", FIELD(dump),
     "print graph, path numbers, plan and counters of these functions\n"
     "while compiling, on stderr"},
    {"llvm", FP_FLAG_TEXT, DRIVER, "N", FIELD(llvm),
     "which clang; the plugin for N must have been built"},
    {"help", FP_FLAG_SWITCH, DRIVER, NULL, FIELD(help),
     "this text"},
    {"array-paths", FP_FLAG_NUMBER, PLUGIN, "N", FIELD(array_paths),
     "experiment: functions with more paths count in a sparse array or hash table (4096)"},
    {"weights", FP_FLAG_WORD, PLUGIN, "llvm static", FIELD(static_weights),
     "experiment: whose estimates of branches (llvm)"},
    {"loop-entries", FP_FLAG_REAL, PLUGIN, "N", FIELD(loop_entries),
     "experiment: with a guide, end paths where a loop is entered that\n"
     "goes round N times as often (4)"},
    {"eager-copies", FP_FLAG_SWITCH, PLUGIN, NULL, FIELD(eager_copies),
     "experiment: with --fp-use, copy wherever a branch depends on another"},
    {"strip-lines", FP_FLAG_SWITCH, FP_FLAG_INTERNAL, NULL, FIELD(strip_lines),
     "take the line tables out again"},
    {"strip-names", FP_FLAG_SWITCH, FP_FLAG_INTERNAL, NULL, FIELD(strip_names),
     "take the names of blocks and values out again"},
    /* clang-format on */
};
const size_t fp_nflags = sizeof fp_flag_table / sizeof *fp_flag_table;
static_assert(sizeof fp_flag_table / sizeof *fp_flag_table <= 64, "fp_flags.given has a bit each");

const struct fp_flag *fp_flag_find(const char *name, size_t len)
{
    for (const struct fp_flag *flag = fp_flag_table; flag < fp_flag_table + fp_nflags; flag++)
        if (strlen(flag->name) == len && !strncmp(flag->name, name, len)) return flag;
    return NULL;
}

const char *fp_flag_word(const struct fp_flag *flag, size_t which, size_t *len)
{
    const char *word = flag->value;
    for (; which && word; which--) {
        word = strchr(word, ' ');
        if (word) word++;
    }
    if (word) *len = strcspn(word, " ");
    return word;
}

static bool parse_word(const struct fp_flag *flag, const char *value, uint64_t *index)
{
    size_t len;
    const char *word;
    for (*index = 0; (word = fp_flag_word(flag, *index, &len)); (*index)++)
        if (strlen(value) == len && !strncmp(word, value, len)) return true;
    return false;
}

static bool parse_number(const struct fp_flag *flag, const char *value, uint64_t *number)
{
    if (!*value || strspn(value, "0123456789") != strlen(value)) return false;
    errno = 0;
    *number = strtoull(value, NULL, 10);
    return !errno && (flag->size == sizeof(uint64_t) || *number <= UINT32_MAX);
}

/* Fields of integers are bool, enum, unsigned, uint32_t or uint64_t. */
static bool put_integer(const struct fp_flag *flag, void *field, uint64_t value)
{
    switch (flag->size) {
    case sizeof(bool): *(bool *)field = value != 0; break;
    case sizeof(uint32_t): *(uint32_t *)field = (uint32_t)value; break;
    case sizeof(uint64_t): *(uint64_t *)field = value; break;
    default: assert(!"a flag's field has an integer's size");
    }
    return true;
}

static bool put_real(double *field, const char *value)
{
    char *end;
    *field = strtod(value, &end);
    return end != value && !*end;
}

static bool put(const struct fp_flag *flag, void *field, const char *value)
{
    uint64_t integer;
    switch (flag->form) {
    case FP_FLAG_SWITCH: return put_integer(flag, field, !strcmp(value, "1"));
    case FP_FLAG_WORD:
        return parse_word(flag, value, &integer) && put_integer(flag, field, integer);
    case FP_FLAG_NUMBER:
        return parse_number(flag, value, &integer) && put_integer(flag, field, integer);
    case FP_FLAG_REAL: return put_real(field, value);
    case FP_FLAG_TEXT:
    case FP_FLAG_FILE:
    case FP_FLAG_LIST:
    case FP_FLAG_PROFILE: *(const char **)field = value; return true;
    }
    return false;
}

bool fp_flag_set(const struct fp_flag *flag, struct fp_flags *flags, const char *value)
{
    if (!put(flag, (char *)flags + flag->offset, value)) return false;
    flags->given |= UINT64_C(1) << (flag - fp_flag_table);
    return true;
}

bool fp_flag_given(const struct fp_flags *flags, const char *name)
{
    const struct fp_flag *flag = fp_flag_find(name, strlen(name));
    return flags->given >> (flag - fp_flag_table) & 1;
}

bool fp_flags_read(struct fp_arena *arena, const char *text, struct fp_flags *flags,
                   struct fp_error *error)
{
    *flags = FP_FLAGS_DEFAULT;
    char *copy = fp_arena_strdup(arena, text ? text : ""), *save = NULL;
    for (char *word = strtok_r(copy, "\n", &save); word; word = strtok_r(NULL, "\n", &save)) {
        char *equals = strchr(word, '=');
        if (!equals) return fp_fail(error, FP_PLUGIN_VARIABLE, "expected NAME=VALUE, got %s", word);
        const struct fp_flag *flag = fp_flag_find(word, (size_t)(equals - word));
        *equals = 0;
        if (!flag) return fp_fail(error, FP_PLUGIN_VARIABLE, "%s is not known", word);
        if (!fp_flag_set(flag, flags, equals + 1))
            return fp_fail(error, FP_PLUGIN_VARIABLE, "%s=%s is not known", word, equals + 1);
    }
    return true;
}
