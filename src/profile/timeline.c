/* A profile by time: see timeline.h. The counts of single runs are not kept in memory, so the files
 * are read again. */
#include "profile/timeline.h"

#include "profile/aside.h"
#include "profile/unfinished.h"

#define SECOND 1000000000ull

/* The shortest step of round length with which at most `most` of them are enough. */
static uint64_t round_step(uint64_t span_ns, size_t most)
{
    static const uint32_t steps[] = {1,    5,     15,    60,    300,   900,
                                     3600, 10800, 21600, 43200, 86400, 604800};
    uint64_t step = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        step = steps[i] * SECOND;
        if (span_ns / step + 2 <= most) return step;
    }
    while (span_ns / step + 2 > most) step *= 2;
    return step;
}

/* When the first and the last run ended. */
static bool find_span(const struct fp_profile *whole, uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX, *last = 0;
    for (size_t i = 0; i < whole->runs.len; i++) {
        uint64_t end = whole->runs.at[i].end_ns;
        if (end < *first) *first = end;
        if (end > *last) *last = end;
    }
    return *first < *last;
}

struct lining {
    const struct fp_profile *whole;
    struct fp_timeline *line;
    struct fp_unfinished unfinished;
};

static const struct fp_module *module_of(const struct fp_profile *whole, const struct fp_run *run)
{
    for (size_t i = 0; i < whole->modules.len; i++)
        if (fp_same_module(&whole->modules.at[i]->id, &run->module)) return whole->modules.at[i];
    return NULL;
}

static void add_to_part(struct lining *l, const struct fp_run *run)
{
    struct fp_timeline *line = l->line;
    if (!module_of(l->whole, run) || run->end_ns < line->begin_ns) return; /* another build's */
    uint64_t at = (run->end_ns - line->begin_ns) / line->step_ns;
    if (at < line->n) fp_profile_add_run(line->parts[at], run);
}

static bool take_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct lining *l = context;
    (void)arena;
    if (fp_unfinished_take(&l->unfinished, run)) add_to_part(l, run);
    return true;
}

static bool read_again(struct lining *l, const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    bool cut;
    const struct fp_profile_visitor visitor = {.run = take_run, .context = l};
    if (!fp_profile_open(&file, path, &error)) return false;
    bool ok = fp_profile_visit(file.bytes, file.len, path, &visitor, &cut, &error);
    fp_file_close(&file);
    for (size_t i = 0; i < l->unfinished.runs.len; i++) add_to_part(l, &l->unfinished.runs.at[i]);
    fp_arena_free(&l->unfinished.arena);
    l->unfinished = (struct fp_unfinished){0};
    return ok;
}

static void share_maps(const struct fp_profile *whole, struct fp_profile *part)
{
    for (size_t i = 0; i < part->modules.len; i++) {
        struct fp_module *module = part->modules.at[i];
        const struct fp_module *known = module_of(whole, &module->about);
        if (!known) continue;
        module->program = known->program;
        module->have_program = known->have_program;
    }
}

void fp_timeline_free(struct fp_timeline *line)
{
    for (size_t i = 0; i < line->n; i++) fp_profile_free(line->parts[i]);
    line->n = 0;
}

void fp_timeline_make(struct fp_arena *arena, const struct fp_profile *whole, size_t most,
                      struct fp_timeline *line)
{
    struct lining l = {.whole = whole, .line = line};
    uint64_t first, last;
    *line = (struct fp_timeline){0};
    if (!find_span(whole, &first, &last)) return;
    line->step_ns = round_step(last - first, most);
    line->begin_ns = first / line->step_ns * line->step_ns;
    line->n = (size_t)((last - line->begin_ns) / line->step_ns + 1);
    line->parts = FP_NEW_ARRAY(arena, struct fp_profile *, line->n);
    for (size_t i = 0; i < line->n; i++) {
        line->parts[i] = fp_profile_new();
        line->parts[i]->brief = true;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < whole->files.len; i++) ok = read_again(&l, whole->files.at[i]);
    for (size_t i = 0; i < line->n; i++) share_maps(whole, line->parts[i]);
    if (!ok) fp_timeline_free(line);
}
