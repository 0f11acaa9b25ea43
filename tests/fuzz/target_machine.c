/* Executables as samples need them: machine code, jump tables, DWARF. */
#include "fuzz.h"

#include "perf/infer.h"
#include "binary/edgeprofile.h"

enum { MOST_FUNCTIONS = 40, MOST_FRAMES = 64 };

static void look_at(struct fp_edge_profile *p, struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    struct fp_frame frames[MOST_FRAMES];
    fp_machine_build(&p->machine, f);
    if (f->cfg) {
        uint64_t *edges = FP_NEW_ARRAY(&scratch, uint64_t, f->cfg->nedges);
        for (uint32_t i = 0; i < f->insns.len && i < 200; i++)
            fp_dwarf_lines_frames(p->lines, f->insns.at[i].address, frames, MOST_FRAMES);
        fp_edge_profile_add(p, f, 1, edges);
    }
    fp_arena_free(&scratch);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_object object;
    struct fp_error error = {0};
    if (fp_object_open(&arena, fuzz_file(bytes, len), &object, &error)) {
        struct fp_edge_profile p;
        fp_edge_profile_init(&p, &arena, &object);
        for (size_t i = 0; i < p.machine.nfunctions && i < MOST_FUNCTIONS; i++)
            look_at(&p, &p.machine.functions[i]);
        fp_edge_profile_free(&p);
        fp_object_close(&object);
    }
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* nothing in an executable has a checksum */
}
