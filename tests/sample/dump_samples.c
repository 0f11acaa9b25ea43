/* Prints the samples of a perf.data file, one per line, for perfscript.py and perffields.py:
 * event pid tid time ip period; with -b behind it whether ip is exact, and the branch records
 * (from/to/flags); with -r the registers as machine code numbers them, the flags, and the stack. */
#include "perf/perfdata.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_branches(const struct fp_perf_data *data, const struct fp_perf_sample *s)
{
    printf(" %s precise=%u", s->exact ? "exact" : "near", data->events.at[s->event].precise);
    for (uint32_t i = 0; i < s->nbranches; i++) {
        const struct fp_branch *branch = &data->branches.at[s->first_branch + i];
        printf(" %" PRIx64 "/%" PRIx64 "/%" PRIx64, branch->from, branch->to, branch->flags);
    }
}

static void print_registers(const struct fp_perf_sample *s)
{
    const struct fp_perf_registers *regs = s->registers;
    if (!regs) {
        printf(" none");
        return;
    }
    for (int k = 0; k < 16; k++)
        if (regs->known >> k & 1) printf(" %d=%" PRIx64, k, regs->gpr[k]);
    if (regs->flags_known) printf(" flags=%" PRIx64, regs->flags);
    printf(" stack=");
    for (uint32_t i = 0; i < regs->stack_len; i++) printf("%02x", regs->stack[i]);
}

int main(int argc, char **argv)
{
    struct fp_arena arena = {0};
    struct fp_perf_data data;
    struct fp_error error = {0};
    bool branches = argc == 3 && !strcmp(argv[1], "-b");
    bool registers = argc == 3 && !strcmp(argv[1], "-r");
    if (argc != 2 && !branches && !registers) return 2;
    if (!fp_perf_read(&arena, argv[argc - 1], &data, &error)) {
        fprintf(stderr, "%s: %s\n", error.file, error.what);
        return 1;
    }
    for (size_t i = 0; i < data.samples.len; i++) {
        const struct fp_perf_sample *s = &data.samples.at[i];
        printf("%s %u %u %" PRIu64 " %" PRIx64 " %" PRIu64, data.events.at[s->event].name, s->pid,
               s->tid, s->time, s->ip, s->period);
        if (branches) print_branches(&data, s);
        if (registers) print_registers(s);
        printf("\n");
    }
    fprintf(stderr,
            "pipe=%d compressed=%d cut=%d unknown=%" PRIu64 " damaged=%" PRIu64 " trace=%s\n",
            data.pipe, data.compressed, data.cut, data.unknown, data.damaged,
            data.trace ? data.trace : "none");
    fp_arena_free(&arena);
    return data.cut;
}
