/* Runs one by one: see splitruns.h. */
#include "profile/splitruns.h"

#include "profile/aside.h"
#include "profile/unfinished.h"

struct splitting {
    struct fp_arena *arena;
    const struct fp_module *whole;
    size_t most;
    struct fp_split *split;
    struct fp_unfinished unfinished;
};

static void add_alone(struct splitting *s, const struct fp_run *run)
{
    if (run->runs != 1 || s->split->runs.len == s->most) {
        s->split->complete = false;
        return;
    }
    struct fp_profile *alone = fp_profile_new();
    fp_profile_add_run(alone, run);
    alone->modules.at[0]->program = s->whole->program;
    alone->modules.at[0]->have_program = s->whole->have_program;
    fp_vec_push(s->arena, &s->split->runs, alone);
}

static bool split_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct splitting *s = context;
    if (!fp_same_module(&s->whole->id, &run->module)) return true; /* another build's */
    if (fp_unfinished_take(&s->unfinished, run)) add_alone(s, run);
    return true;
}

static bool split_file(struct splitting *s, const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    bool cut;
    const struct fp_profile_visitor visitor = {.run = split_run, .context = s};
    if (!fp_profile_open(&file, path, &error)) return false;
    bool ok = fp_profile_visit(file.bytes, file.len, path, &visitor, &cut, &error);
    fp_file_close(&file);
    for (size_t i = 0; i < s->unfinished.runs.len; i++) add_alone(s, &s->unfinished.runs.at[i]);
    fp_arena_free(&s->unfinished.arena);
    s->unfinished = (struct fp_unfinished){0};
    return ok;
}

void fp_profile_split(struct fp_arena *arena, const struct fp_profile *whole, size_t most,
                      struct fp_split *split)
{
    *split = (struct fp_split){.complete = whole->modules.len == 1 && whole->files.len};
    if (whole->modules.len != 1) return;
    struct splitting s = {
        .arena = arena, .whole = whole->modules.at[0], .most = most, .split = split};
    for (size_t i = 0; i < whole->files.len; i++)
        if (!split_file(&s, whole->files.at[i])) split->complete = false;
}

void fp_split_free(struct fp_split *split)
{
    for (size_t i = 0; i < split->runs.len; i++) fp_profile_free(split->runs.at[i]);
}
