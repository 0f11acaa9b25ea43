/* Executables as rewriting needs them: frames, LSDAs, recovered cfgs, what moving leaves behind,
 * liveness. */
#include "fuzz.h"

#include "binary/liveness.h"
#include "binary/moving.h"
#include "binary/recovered.h"

#include <assert.h>

enum { MOST_FUNCTIONS = 60, MOST_INSNS = 20000 };

static void look_at(const struct fp_machine *m, const struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    struct fp_moving moving;
    struct fp_liveness live;
    fp_moving_check(&scratch, m, f, &moving);
    if (f->cfg && f->insns.len < MOST_INSNS) {
        struct fp_error error = {0};
        uint32_t all = 0;
        fp_liveness_make(&live, m, f);
        for (uint32_t b = 0; b < f->cfg->nblocks; b++)
            all |= fp_liveness_unused(&live, &b, 1) & fp_liveness_at_block(&live, b);
        /* a free register is dead; a graph that is not refused keeps the rules */
        assert(!all && (f->refused || fp_cfg_check(f->cfg, &error)));
        fp_liveness_free(&live);
    }
    fp_arena_free(&scratch);
}

static void recover(struct fp_arena *arena, struct fp_object *object)
{
    struct fp_machine machine;
    struct fp_frames frames;
    struct fp_error error = {0};
    struct fp_frame_row *rows;
    size_t count;
    fp_machine_init(&machine, arena, object);
    if (!fp_frames_read(arena, object, &frames, &error)) return;
    for (size_t i = 0; i < frames.fdes.len && i < MOST_FUNCTIONS; i++)
        fp_frames_rows(arena, &frames, &frames.fdes.at[i], &rows, &count);
    if (!fp_machine_recover(&machine, &frames, &error)) return;
    for (size_t i = 0; i < machine.nfunctions && i < MOST_FUNCTIONS; i++)
        look_at(&machine, &machine.functions[i]);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_object object;
    struct fp_error error = {0};
    if (fp_object_open(&arena, fuzz_file(bytes, len), &object, &error)) {
        recover(&arena, &object);
        fp_object_close(&object);
    }
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* nothing in an executable has a checksum */
}
