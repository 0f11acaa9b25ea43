/* Runs that have not ended: see unfinished.h. */
#include "profile/unfinished.h"

#include "footpath/profile_abi.h"

static void forget(struct fp_unfinished *w, const struct fp_run *run)
{
    for (size_t i = 0; i < w->runs.len; i++)
        if (w->runs.at[i].id == run->id && fp_same_module(&w->runs.at[i].module, &run->module)) {
            w->runs.at[i] = w->runs.at[--w->runs.len];
            return;
        }
}

/* Copies the run by encoding and decoding it, so that nothing points into the file. */
void fp_unfinished_keep(struct fp_unfinished *w, const struct fp_run *run)
{
    struct fp_writer bytes = {0};
    struct fp_error error = {0};
    struct fp_run copy;
    fp_run_encode(&bytes, run);
    unsigned char *kept = fp_arena_alloc(&w->arena, bytes.len);
    memcpy(kept, bytes.bytes, bytes.len);
    struct fp_reader reader = {.bytes = kept, .len = bytes.len, .error = &error};
    if (fp_run_decode(&w->arena, &reader, &copy)) fp_vec_push(&w->arena, &w->runs, copy);
    fp_writer_free(&bytes);
}

bool fp_unfinished_take(struct fp_unfinished *w, const struct fp_run *run)
{
    if (w->runs.len) forget(w, run);
    if (!(run->flags & FP_RUN_UNFINISHED)) return true;
    fp_unfinished_keep(w, run);
    return false;
}
