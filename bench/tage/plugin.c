/* Counts the branches that a program mispredicts, as a plugin of qemu's user mode:
 *
 *     qemu-x86_64 -plugin libtage.so,out=FILE PROGRAM ARGUMENT...
 *
 * qemu translates a program by blocks that end where the flow may change, and tells which
 * blocks are executed. The last instruction of a block says what kind of branch it is, and the
 * next block where it went. Each thread has a predictor of its own (predictor.h). At exit
 * FILE.PID gets one line of JSON: executed and mispredicted branches by kind.
 *
 * Only x86-64, and only user mode. A branch whose next block is neither of its ways (a signal
 * came between) is left out. Debian has no header of qemu's plugin interface, so what is
 * used of version 1 is declared here (qemu 5.2 and later; docs/devel/tcg-plugins.rst).
 */
#include "predictor.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
enum { CB_NO_REGS = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned, void *),
                                          int flags, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*cb)(plugin_id, void *), void *data);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

/* A translated block: where it begins, and the branch at its end. */
struct block {
    uint64_t begin, branch, behind, target; /* target: of direct ones */
    enum tage_kind kind;                    /* TAGE_KINDS: no branch */
    bool call;
};

enum { MOST_THREADS = 256 };
struct thread {
    struct tage *predictor;
    const struct block *last;
    uint64_t executed[TAGE_KINDS], wrong[TAGE_KINDS];
};
static struct thread threads[MOST_THREADS];
static const char *out = "tage";
static ZydisDecoder decoder;

static enum tage_kind kind_of(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
    switch (i->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return TAGE_CONDITIONAL;
    case ZYDIS_CATEGORY_RET: return TAGE_RETURN;
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? TAGE_DIRECT : TAGE_INDIRECT;
    default: return TAGE_KINDS;
    }
}

static void read_end(struct block *b, const struct qemu_plugin_insn *insn)
{
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    b->branch = qemu_plugin_insn_vaddr(insn);
    b->behind = b->branch + qemu_plugin_insn_size(insn);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, qemu_plugin_insn_data(insn),
                                             qemu_plugin_insn_size(insn), &i, operands)))
        return;
    b->kind = kind_of(&i, operands);
    b->call = i.meta.category == ZYDIS_CATEGORY_CALL;
    if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        ZydisCalcAbsoluteAddress(&i, &operands[0], b->branch, &b->target);
}

/* The branch at the end of `b` went to `to`. */
static void count(struct thread *t, const struct block *b, uint64_t to)
{
    bool direct = b->kind == TAGE_CONDITIONAL || b->kind == TAGE_DIRECT;
    if (direct && to != b->target && (b->kind == TAGE_DIRECT || to != b->behind)) return;
    struct tage_branch branch = {.kind = b->kind,
                                 .taken = b->kind != TAGE_CONDITIONAL || to != b->behind,
                                 .at = b->branch,
                                 .target = to,
                                 .behind = b->call ? b->behind : 0};
    t->executed[b->kind]++;
    t->wrong[b->kind] += tage_branch(t->predictor, &branch);
}

static void executed(unsigned cpu, void *data)
{
    const struct block *b = data;
    if (cpu >= MOST_THREADS) return;
    struct thread *t = &threads[cpu];
    if (!t->predictor) t->predictor = tage_new();
    if (!t->predictor) abort();
    if (t->last && t->last->kind != TAGE_KINDS) count(t, t->last, b->begin);
    t->last = b;
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    struct block *b = calloc(1, sizeof *b);
    size_t n = qemu_plugin_tb_n_insns(tb);
    if (!b || !n) abort();
    b->begin = qemu_plugin_tb_vaddr(tb);
    b->kind = TAGE_KINDS;
    read_end(b, qemu_plugin_tb_get_insn(tb, n - 1));
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, CB_NO_REGS, b);
}

static void finish(plugin_id id, void *data)
{
    static const char *const names[TAGE_KINDS] = {"conditional", "direct", "indirect", "return"};
    (void)id;
    (void)data;
    char name[4096];
    snprintf(name, sizeof name, "%s.%ld", out, (long)getpid());
    FILE *f = fopen(name, "w");
    if (!f) return;
    for (int k = 0; k < TAGE_KINDS; k++) {
        uint64_t all = 0, wrong = 0;
        for (int i = 0; i < MOST_THREADS; i++) {
            all += threads[i].executed[k];
            wrong += threads[i].wrong[k];
        }
        fprintf(f, "%s\"%s\": [%llu, %llu]", k ? ", " : "{", names[k], (unsigned long long)all,
                (unsigned long long)wrong);
    }
    fputs("}\n", f);
    fclose(f);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0) out = strdup(argv[i] + 4);
    if (!out ||
        !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
