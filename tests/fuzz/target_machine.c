/* Executables as samples need them: machine code, what it does, jump tables, DWARF. */
#include "fuzz.h"

#include "perf/forward.h"
#include "perf/infer.h"
#include "binary/edgeprofile.h"

enum { MOST_FUNCTIONS = 40, MOST_FRAMES = 64, MOST_STEPS = 50 };

/* What comes behind an instruction, as if all registers were known: numbers, code, stack. */
static void follow(struct fp_edge_profile *p, struct fp_arena *scratch, uint64_t address)
{
    struct fp_perf_registers registers = {.known = UINT16_MAX, .flags_known = true};
    struct fp_register_hit hit = {.address = address, .registers = &registers};
    uint64_t addresses[MOST_STEPS], stack[64];
    for (unsigned k = 0; k < 16; k++) registers.gpr[k] = k & 1 ? 0x7ffc0000 + 8 * k : k;
    registers.gpr[4] = 0x7ffc0000;
    for (unsigned k = 0; k < 64; k++) stack[k] = k & 1 ? address + k : 0x7ffc0000 + k;
    registers.stack = (const unsigned char *)stack;
    registers.stack_len = sizeof stack;
    fp_forward_trace(scratch, &p->machine, &hit, addresses, MOST_STEPS);
}

static void look_at(struct fp_edge_profile *p, struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    struct fp_frame frames[MOST_FRAMES];
    fp_machine_build(&p->machine, f);
    if (f->cfg) {
        uint64_t *edges = FP_NEW_ARRAY(&scratch, uint64_t, f->cfg->nedges);
        for (uint32_t i = 0; i < f->insns.len && i < 200; i++)
            fp_dwarf_lines_frames(p->lines, f->insns.at[i].address, frames, MOST_FRAMES);
        for (uint32_t i = 0; i < f->insns.len && i < 60; i += 7)
            follow(p, &scratch, f->insns.at[i].address);
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
