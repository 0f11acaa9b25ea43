/* Does what follows from registers and the stack (perf/forward.h) really happen?
 *
 *     check-forward [-g GAP] [-w MICROSECONDS] [-n SAMPLES] [-s SEED] [-a MISMATCHES] PROGRAM...
 *
 * Runs the program step by step. Some 1 to 2 * GAP steps after a sample is the next one: the
 * registers and the top of the stack, as perf records them. What fp_forward_trace says will run is
 * compared with what the program runs. With -w the program runs freely that long before each
 * sample, as a real one does.
 *
 * Prints each mismatch, and a line of totals. Fails where there are more than -a says, or where
 * nothing was predicted. */
#include "binary/edgeprofile.h"
#include "perf/forward.h"
#include "random.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 512, PREDICTED = 300, SHOWN = 20, LONGEST_CALL = 5000 };

struct checking {
    struct fp_arena arena;
    struct fp_object object;
    struct fp_edge_profile profile;
    pid_t pid;
    uint64_t bias, seed;
    struct user_regs_struct regs;
    unsigned long gap, wait, most, allowed; /* options */
    unsigned long steps, samples, predicted, decided, left, mismatches;
    bool ended;
};

/* ---- the program ---- */

static int failed(const char *what)
{
    perror(what);
    exit(2);
}

/* Both on one processor: waking another one takes longer than a step. */
static void stay_here(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void start(struct checking *c, char **argv)
{
    stay_here();
    c->pid = fork();
    if (c->pid < 0) failed("fork");
    if (c->pid) return;
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing < 0 || dup2(nothing, 1) < 0) failed("/dev/null");
    personality(ADDR_NO_RANDOMIZE); /* the same run again, where that is allowed */
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) failed("ptrace");
    execv(argv[0], argv);
    failed(argv[0]);
}

/* Waits for a stop and gives its signal. */
static int await(struct checking *c)
{
    int status;
    if (waitpid(c->pid, &status, 0) < 0) failed("waitpid");
    c->ended = !WIFSTOPPED(status);
    if (c->ended) return 0;
    if (ptrace(PTRACE_GETREGS, c->pid, NULL, &c->regs) < 0) failed("registers");
    return WSTOPSIG(status);
}

/* One instruction, or one round of a repeated one. Other signals than ours are the program's. */
static void step(struct checking *c)
{
    int signal = 0;
    do {
        if (ptrace(PTRACE_SINGLESTEP, c->pid, NULL, (void *)(intptr_t)signal) < 0) failed("step");
        signal = await(c);
    } while (!c->ended && signal != SIGTRAP);
    c->steps++;
}

static void run_freely(struct checking *c)
{
    if (ptrace(PTRACE_CONT, c->pid, NULL, NULL) < 0) failed("continue");
    usleep((useconds_t)(c->wait / 2 + random_below(&c->seed, (uint32_t)c->wait)));
    kill(c->pid, SIGSTOP);
    for (int signal = await(c); !c->ended && signal != SIGSTOP; signal = await(c))
        if (ptrace(PTRACE_CONT, c->pid, NULL, (void *)(intptr_t)signal) < 0) failed("continue");
}

/* Where the kernel says that execution starts, less where it is linked. */
static uint64_t load_bias(const struct checking *c)
{
    char path[64];
    uint64_t entry[2] = {0};
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)c->pid);
    FILE *file = fopen(path, "rb");
    while (file && entry[0] != AT_ENTRY)
        if (fread(entry, sizeof entry, 1, file) != 1) failed(path);
    if (!file) failed(path);
    fclose(file);
    return entry[1] - c->object.entry;
}

/* What comes before is the dynamic linker's. */
static void run_to_entry(struct checking *c)
{
    void *entry = (void *)(uintptr_t)(c->object.entry + c->bias);
    long code = ptrace(PTRACE_PEEKTEXT, c->pid, entry, NULL);
    ptrace(PTRACE_POKETEXT, c->pid, entry, (void *)((code & ~0xffL) | 0xcc));
    ptrace(PTRACE_CONT, c->pid, NULL, NULL);
    if (await(c) != SIGTRAP || c->regs.rip != (uintptr_t)entry + 1) failed("entry");
    ptrace(PTRACE_POKETEXT, c->pid, entry, (void *)code);
    c->regs.rip--;
    if (ptrace(PTRACE_SETREGS, c->pid, NULL, &c->regs) < 0) failed("entry");
}

/* ---- a sample ---- */

static void take_registers(const struct user_regs_struct *from, struct fp_perf_registers *to)
{
    const unsigned long long all[16] = {
        from->rax, from->rcx, from->rdx, from->rbx, from->rsp, from->rbp, from->rsi, from->rdi,
        from->r8,  from->r9,  from->r10, from->r11, from->r12, from->r13, from->r14, from->r15};
    for (int k = 0; k < 16; k++) to->gpr[k] = all[k];
    to->known = UINT16_MAX;
    to->flags = from->eflags;
    to->flags_known = true;
}

static size_t predict(struct checking *c, struct fp_arena *scratch, uint64_t *addresses)
{
    struct fp_perf_registers registers = {0};
    unsigned char stack[STACK];
    struct iovec here = {stack, STACK}, there = {(void *)(uintptr_t)c->regs.rsp, STACK};
    struct fp_register_hit hit = {
        .address = c->regs.rip - c->bias, .bias = c->bias, .registers = &registers};
    take_registers(&c->regs, &registers);
    ssize_t len = process_vm_readv(c->pid, &here, 1, &there, 1, 0);
    registers.stack = stack;
    registers.stack_len = len < 0 ? 0 : (uint32_t)len;
    return fp_forward_trace(scratch, &c->profile.machine, &hit, addresses, PREDICTED);
}

/* ---- prediction and reality ---- */

static const struct fp_insn *insn_at(const struct checking *c, uint64_t address, const char **name)
{
    const struct fp_machine_function *f = fp_machine_find(&c->profile.machine, address);
    uint32_t insn = f ? fp_machine_insn(f, address, true) : FP_NONE;
    if (name) *name = f ? f->symbol->name : "nowhere";
    return insn == FP_NONE ? NULL : &f->insns.at[insn];
}

static void print_mismatch(struct checking *c, const uint64_t *addresses, size_t at)
{
    const char *name;
    if (c->mismatches++ >= SHOWN) return;
    insn_at(c, addresses[at - 1], &name);
    printf("%s: %" PRIx64 " leads to %" PRIx64 ", not to %" PRIx64 ", %zu steps from the sample at "
           "%" PRIx64 "\n",
           name, addresses[at - 1], (uint64_t)c->regs.rip - c->bias, addresses[at], at,
           addresses[0]);
}

/* A call that is not followed. False where it does not return: exit, longjmp, an exception, or one
 * that takes too long. */
static bool step_over(struct checking *c, uint64_t behind, uint64_t sp)
{
    for (int k = 0; k < LONGEST_CALL && !c->ended && c->regs.rsp < sp; k++) step(c);
    return !c->ended && c->regs.rsp == sp && c->regs.rip - c->bias == behind;
}

static bool same_step(struct checking *c, const uint64_t *addresses, size_t at)
{
    const struct fp_insn *insn = insn_at(c, addresses[at - 1], NULL);
    uint64_t sp = c->regs.rsp, before = c->regs.rip;
    bool repeats = insn->flags & FP_INSN_REPEATS;
    do step(c);
    while (!c->ended && repeats && c->regs.rip == before);
    bool passed_over = insn->kind == FP_INSN_CALL && addresses[at] == insn->address + insn->length;
    if (c->ended || (passed_over && !step_over(c, addresses[at], sp))) {
        c->left++;
        return false;
    }
    if (c->regs.rip - c->bias != addresses[at]) {
        print_mismatch(c, addresses, at);
        return false;
    }
    c->predicted++;
    c->decided += insn->kind == FP_INSN_BRANCH || insn->kind == FP_INSN_JUMP_INDIRECT ||
                  insn->kind == FP_INSN_RETURN;
    return true;
}

static void check_sample(struct checking *c)
{
    struct fp_arena scratch = {0};
    uint64_t addresses[PREDICTED];
    size_t len = predict(c, &scratch, addresses);
    c->samples += len > 0;
    for (size_t at = 1; at < len; at++)
        if (!same_step(c, addresses, at)) break;
    fp_arena_free(&scratch);
}

static bool in_program(const struct checking *c)
{
    return fp_machine_find(&c->profile.machine, c->regs.rip - c->bias) != NULL;
}

static void check(struct checking *c)
{
    while (!c->ended && c->samples < c->most) {
        if (c->wait) run_freely(c);
        unsigned long gap = 1 + random_below(&c->seed, 2 * (uint32_t)c->gap);
        while (!c->ended && (gap-- > 1 || !in_program(c))) {
            step(c);
            gap += !gap;
        }
        if (!c->ended) check_sample(c);
    }
    if (!c->ended) kill(c->pid, SIGKILL);
}

/* ---- */

static char **options(struct checking *c, int argc, char **argv)
{
    int option;
    *c = (struct checking){.gap = 100, .most = 1000000000, .seed = 1};
    while ((option = getopt(argc, argv, "+g:w:n:s:a:")) > 0) {
        unsigned long value = strtoul(optarg ? optarg : "", NULL, 10);
        if (option == 'g') c->gap = value ? value : 1;
        if (option == 'w') c->wait = value;
        if (option == 'n') c->most = value;
        if (option == 's') c->seed = value;
        if (option == 'a') c->allowed = value;
        if (option == '?') return NULL;
    }
    return optind < argc ? argv + optind : NULL;
}

int main(int argc, char **argv)
{
    struct checking c;
    struct fp_error error = {0};
    char **program = options(&c, argc, argv);
    if (!program) return 2;
    if (!fp_object_open(&c.arena, program[0], &c.object, &error)) {
        fprintf(stderr, "check-forward: %s: %s\n", error.file, error.what);
        return 2;
    }
    fp_edge_profile_init(&c.profile, &c.arena, &c.object);
    start(&c, program);
    if (await(&c) != SIGTRAP) return 2;
    c.bias = load_bias(&c);
    run_to_entry(&c);
    check(&c);
    printf("steps %lu, samples %lu, predicted %lu, decided %lu, calls that did not return %lu, "
           "mismatches %lu\n",
           c.steps, c.samples, c.predicted, c.decided, c.left, c.mismatches);
    fp_edge_profile_free(&c.profile);
    fp_object_close(&c.object);
    fp_arena_free(&c.arena);
    return !c.decided || c.mismatches > c.allowed;
}
