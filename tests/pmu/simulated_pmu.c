/* A simulated performance monitoring unit, as a plugin of qemu-user: a test tool.
 *
 *     qemu-x86_64 -plugin simulated-pmu.so,out=pmu.data PROGRAM ARGUMENTS
 *
 * It follows the program's instructions through a model of an out-of-order
 * processor and writes samples of several events as a perf.data file. Nothing
 * that it says is a measurement of a real processor; it exists because machines
 * without a PMU are where footpath is tested, and it shows the effects of paper
 * 003, section 3: skid, aggregation on long-latency instructions, shadow behind
 * them, groups of instructions that retire together.
 *
 * The model has the sizes of the paper's processor, a Core 2. Instructions are
 * dispatched in order, `WIDTH` per cycle, at most `WINDOW` ahead of the oldest one;
 * each completes when its registers are ready plus its latency; they retire in order,
 * `WIDTH` per cycle and none with a branch before it ("the serialization caused by
 * branches", section 3.3). Code goes through a cache, loads through a DTLB and two levels
 * of cache (their second levels are an eighth of the Core 2's, as the inputs are smaller
 * than SPEC's). A mispredicted branch stops dispatch until it completes.
 *
 * What is sampled (paper 003, sections 3 and 4.1):
 *   skid      A counter that overflows raises an interrupt. The address is that of the
 *             oldest instruction `SKID` cycles later: of a group that retires together
 *             the first, of a stall the instruction that stalls.
 *   PEBS      INST_RETIRED_PEBS has a fixed period. The address is that of the
 *             instruction behind the first to retire `ARMING` cycles or some more after the overflow;
 *             until then nothing is counted.
 *   masks     INST_RETIRED_0 counts cycles in which no instruction retires,
 *             INST_RETIRED_4 those in which four do.
 *   stalls    DTLB_MISS, L2_MISS and BR_MISP name the instruction that caused them
 *             (section 4.2). MISPREDICTED_PEBS is BR_MISP as a precise event, which names
 *             the instruction behind the branch: the one that stalls. LONG_STALL counts
 *             the cycles in which nothing retires because the oldest instruction waits for
 *             a page walk, for memory or for a branch that was mispredicted. No Core 2 has
 *             it; it shows what becomes of stalls that overlap, which the others count in full.
 *
 * With branches=1 samples of INST_RETIRED carry the last `RECORDS` branches that were
 * taken when the sampled instruction retired.
 *
 * For programs with one thread that are linked at fixed addresses (-no-pie);
 * code elsewhere runs through the model but is not sampled.
 *
 * The interface of qemu's plugins, as far as it is used, is declared below.
 */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- qemu's interface, version 1 ---- */

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
#define EXPORT __attribute__((visibility("default")))
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                                  void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*call)(unsigned, void *),
                                                 int flags, void *context);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                             void (*call)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *),
                                             int flags, int rw, void *context);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, void *),
                                           void *context);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
extern const char *qemu_plugin_path_to_binary(void);
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

/* ---- parameters ---- */

enum {
    WIDTH = 4,
    WINDOW = 96,
    SKID = 30,
    ARMING = 4,
    MISPREDICT = 15,
    L1_HIT = 3, L2_HIT = 14, MEMORY = 165, TLB_HIT2 = 2, TLB_WALK = 30,
    MOST_SAMPLES = 1 << 22,
    RECORDS = 32,
};

/* those up to L1I_MISS skid */
enum event {
    INST_RETIRED, CPU_CLK_UNHALTED, INST_RETIRED_0, INST_RETIRED_4, INST_RETIRED_PEBS,
    L1I_MISS, DTLB_MISS, L2_MISS, BR_MISP, MISPREDICTED_PEBS, LONG_STALL, NEVENTS
};
static const char *const event_names[NEVENTS] = {
    "INST_RETIRED", "CPU_CLK_UNHALTED", "INST_RETIRED_0", "INST_RETIRED_4", "INST_RETIRED_PEBS",
    "L1I_MISS", "DTLB_MISS", "L2_MISS", "BR_MISP", "MISPREDICTED_PEBS", "LONG_STALL"};

struct settings {
    const char *out;
    uint64_t period, rare_period, mask, random;
    bool branches;
} settings = {"pmu.data", 20011, 503, 0xfff, 88172645463325252u, false};

static uint64_t next_random(void)
{
    uint64_t *r = &settings.random;
    *r ^= *r << 13, *r ^= *r >> 7, *r ^= *r << 17;
    return *r;
}

/* ---- instructions ---- */

enum { BRANCHES = 1, JUMPS_INDIRECT = 2, ENDS_GROUP = 4 };

struct insn {
    uint64_t address;
    uint64_t reads, writes; /* registers, one bit each */
    uint8_t length, latency, flags;
};

struct block {
    size_t count;
    struct insn insns[];
};

/* 16 general registers, 32 vector registers, flags, everything else */
static int register_bit(ZydisRegister reg)
{
    ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    ZydisRegisterClass class = ZydisRegisterGetClass(wide);
    int id = ZydisRegisterGetId(wide);
    if (class == ZYDIS_REGCLASS_GPR64) return id & 15;
    if (class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM)
        return 16 + (id & 31);
    if (class == ZYDIS_REGCLASS_FLAGS) return 48;
    if (class == ZYDIS_REGCLASS_IP) return -1;
    return 49;
}

static void note(uint64_t *set, ZydisRegister reg)
{
    int bit = reg == ZYDIS_REGISTER_NONE ? -1 : register_bit(reg);
    if (bit >= 0) *set |= (uint64_t)1 << bit;
}

static uint8_t latency_of(const ZydisDecodedInstruction *i)
{
    switch ((int)i->mnemonic) {
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV: return 25;
    case ZYDIS_MNEMONIC_DIVSD:
    case ZYDIS_MNEMONIC_DIVSS:
    case ZYDIS_MNEMONIC_SQRTSD: return 15;
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL: return 3;
    default: break;
    }
    return i->meta.category == ZYDIS_CATEGORY_SSE || i->meta.category == ZYDIS_CATEGORY_AVX ? 3 : 1;
}

static void describe(struct insn *insn, const void *bytes, size_t len)
{
    static ZydisDecoder decoder;
    static bool ready;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    if (!ready) ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64), ready = true;
    insn->latency = 1;
    insn->length = (uint8_t)len;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &i, ops))) return;
    insn->latency = latency_of(&i);
    for (unsigned k = 0; k < i.operand_count; k++) {
        if (ops[k].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            note(&insn->reads, ops[k].mem.base);
            note(&insn->reads, ops[k].mem.index);
        }
        if (ops[k].type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
        /* the stack engine takes pushes and pops off the chain of rsp */
        if (ops[k].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && register_bit(ops[k].reg.value) == 4) continue;
        if (ops[k].actions & ZYDIS_OPERAND_ACTION_MASK_READ) note(&insn->reads, ops[k].reg.value);
        if (ops[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) note(&insn->writes, ops[k].reg.value);
    }
    if (i.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) insn->flags |= ENDS_GROUP;
    if (i.meta.category == ZYDIS_CATEGORY_COND_BR) insn->flags |= BRANCHES;
    if ((i.meta.category == ZYDIS_CATEGORY_UNCOND_BR || i.meta.category == ZYDIS_CATEGORY_CALL) &&
        !i.raw.imm[0].size)
        insn->flags |= JUMPS_INDIRECT;
}

/* ---- caches: sets of 8 ways, least recently used ---- */

enum { WAYS = 8 };
struct cache {
    unsigned shift, sets;
    uint64_t (*tags)[WAYS];
};

static struct cache l1 = {6, 64, NULL}, l1i = {6, 64, NULL}, l2 = {6, 1024, NULL};
static struct cache tlb = {12, 2, NULL}, tlb2 = {12, 4, NULL};

static bool cache_hit(struct cache *c, uint64_t address)
{
    uint64_t tag = (address >> c->shift) + 1, *set = c->tags[(tag - 1) % c->sets];
    unsigned way = 0;
    while (way < WAYS - 1 && set[way] != tag) way++;
    bool hit = set[way] == tag;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = tag;
    return hit;
}

/* ---- branch prediction: gshare, and the last target of indirect jumps ---- */

enum { PREDICTOR = 1 << 14 };
static uint8_t counters[PREDICTOR];
static uint64_t targets[4096], history;

static bool mispredicted(const struct insn *insn, uint64_t next)
{
    if (insn->flags & JUMPS_INDIRECT) {
        uint64_t *known = &targets[(insn->address ^ history << 4) % 4096];
        bool wrong = *known != next;
        *known = next;
        return wrong;
    }
    if (!(insn->flags & BRANCHES)) return false;
    bool taken = next != insn->address + insn->length;
    uint8_t *counter = &counters[(insn->address ^ insn->address >> 7 ^ history) % PREDICTOR];
    bool wrong = (*counter >= 2) != taken;
    if (taken && *counter < 3) ++*counter;
    if (!taken && *counter > 0) --*counter;
    history = (history << 1 | taken) & 0xfff;
    return wrong;
}

/* ---- branch records ---- */

struct record {
    uint64_t from, to, flags;
};
static struct record records[RECORDS]; /* a ring */
static uint64_t nrecords;

static void note_branch(const struct insn *insn, uint64_t next)
{
    bool repeats = next == insn->address; /* rep: no branch */
    if (!settings.branches || repeats || next == insn->address + insn->length) return;
    records[nrecords++ % RECORDS] = (struct record){insn->address, next, 0};
}

/* The newest first, as processors give them. */
static struct record *copy_records(size_t *count)
{
    *count = nrecords < RECORDS ? (size_t)nrecords : RECORDS;
    struct record *copy = malloc((*count + 1) * sizeof *copy);
    if (!copy) abort();
    for (size_t i = 0; i < *count; i++) copy[i] = records[(nrecords - 1 - i) % RECORDS];
    return copy;
}

/* ---- samples ---- */

struct sample {
    uint64_t address, time;
    struct record *records; /* or NULL */
    size_t nrecords;
    uint32_t period;
    uint8_t event;
};

static struct sample *samples;
static size_t nsamples, ndropped;
static uint64_t left[NEVENTS], periods[NEVENTS];
static struct { uint64_t due; uint32_t period; bool waiting; } pending[NEVENTS];
static uint64_t text_start, text_end;

static void add_sample(enum event event, uint64_t address, uint64_t time, uint64_t period)
{
    if (address < text_start || address >= text_end) return;
    if (nsamples == MOST_SAMPLES) {
        ndropped++;
        return;
    }
    struct sample *sample = &samples[nsamples++];
    *sample = (struct sample){.address = address, .time = time, .period = (uint32_t)period, .event = (uint8_t)event};
    if (settings.branches && event == INST_RETIRED) sample->records = copy_records(&sample->nrecords);
}

static bool is_frequent(enum event event)
{
    return event <= INST_RETIRED_PEBS || event == LONG_STALL;
}

static void new_period(enum event event)
{
    uint64_t base = is_frequent(event) ? settings.period : settings.rare_period;
    uint64_t mask = is_frequent(event) ? settings.mask : settings.mask >> 4;
    if (event == INST_RETIRED_PEBS) mask = 0;
    periods[event] = base + (next_random() & mask);
    left[event] = periods[event];
}

/* The interrupt comes later; another overflow before it is lost. */
static void overflow(enum event event, uint64_t time)
{
    uint64_t delay = event == INST_RETIRED_PEBS ? ARMING + next_random() % ARMING : SKID;
    if (!pending[event].waiting) {
        pending[event].due = time + delay;
        pending[event].period = (uint32_t)periods[event];
        pending[event].waiting = true;
    }
    new_period(event);
}

static void count_one(enum event event, uint64_t time)
{
    if (!--left[event]) overflow(event, time);
}

/* The processor sets this counter again when it has written the record. */
static void count_precise(uint64_t time)
{
    if (!pending[INST_RETIRED_PEBS].waiting) count_one(INST_RETIRED_PEBS, time);
}

/* Counts the cycles behind a time: the counter overflows in one of them. */
static void count_cycles(enum event event, uint64_t time, uint64_t cycles)
{
    while (cycles >= left[event]) {
        time += left[event];
        cycles -= left[event];
        overflow(event, time);
    }
    left[event] -= cycles;
}

static void count_stall(enum event event, uint64_t address, uint64_t time)
{
    if (--left[event]) return;
    add_sample(event, address, time, periods[event]);
    new_period(event);
}

/* ---- the pipeline ---- */

static uint64_t ready[64];           /* per register: when its value is there */
static uint64_t retired[WINDOW];     /* when the last instructions retired */
static uint64_t number, last_retire; /* of the instruction; when the one before retired */
static uint64_t dispatch, dispatched_now;
static bool behind_branch, waits_long; /* of the instruction that retires next */

static uint64_t load_latency(const struct insn *insn, uint64_t address, uint64_t time)
{
    uint64_t latency = L1_HIT;
    if (!cache_hit(&tlb, address)) {
        bool known = cache_hit(&tlb2, address);
        latency += known ? TLB_HIT2 : TLB_WALK;
        if (!known) count_stall(DTLB_MISS, insn->address, time), waits_long = true;
    }
    if (cache_hit(&l1, address)) return latency;
    if (cache_hit(&l2, address)) return latency + L2_HIT;
    count_stall(L2_MISS, insn->address, time);
    waits_long = true;
    return latency + MEMORY;
}

/* Code that is not in its cache is late. */
static void fetch(const struct insn *insn)
{
    static uint64_t line;
    if (insn->address >> l1i.shift == line) return;
    line = insn->address >> l1i.shift;
    if (cache_hit(&l1i, insn->address)) return;
    dispatch += cache_hit(&l2, insn->address) ? L2_HIT : MEMORY;
    dispatched_now = 0;
    count_one(L1I_MISS, dispatch);
}

static void dispatch_one(const struct insn *insn)
{
    uint64_t window = retired[number % WINDOW];
    if (dispatch < window) dispatch = window, dispatched_now = 0;
    fetch(insn);
    if (++dispatched_now > WIDTH) dispatch++, dispatched_now = 1;
}

static uint64_t completion(const struct insn *insn, const uint64_t *addresses, size_t naddresses)
{
    uint64_t start = dispatch, latency = insn->latency;
    for (uint64_t set = insn->reads; set; set &= set - 1) {
        uint64_t when = ready[__builtin_ctzll(set)];
        if (when > start) start = when;
    }
    for (size_t i = 0; i < naddresses; i++) {
        uint64_t load = load_latency(insn, addresses[i], last_retire);
        if (load + insn->latency > latency) latency = load + insn->latency;
    }
    return start + latency;
}

/* The oldest instruction at the time of an interrupt is the first to retire behind it. */
static void deliver(const struct insn *insn, uint64_t next, uint64_t retire)
{
    for (int e = 0; e <= L1I_MISS; e++) {
        if (!pending[e].waiting || retire <= pending[e].due) continue;
        add_sample((enum event)e, e == INST_RETIRED_PEBS ? next : insn->address, retire, pending[e].period);
        pending[e].waiting = false;
    }
}

static void count_long_stall(const struct insn *insn, uint64_t cycles, uint64_t time)
{
    for (; cycles >= left[LONG_STALL]; new_period(LONG_STALL)) {
        cycles -= left[LONG_STALL];
        add_sample(LONG_STALL, insn->address, time, periods[LONG_STALL]);
    }
    left[LONG_STALL] -= cycles;
}

static void count_retirement(const struct insn *insn, uint64_t next, uint64_t retire)
{
    static unsigned together;
    if (retire > last_retire) {
        count_cycles(CPU_CLK_UNHALTED, last_retire, retire - last_retire);
        count_cycles(INST_RETIRED_0, last_retire, retire - last_retire - 1);
        if (waits_long) count_long_stall(insn, retire - last_retire - 1, retire);
        together = 0;
    }
    waits_long = false;
    deliver(insn, next, retire);
    count_one(INST_RETIRED, retire);
    count_precise(retire);
    if (++together == WIDTH) count_one(INST_RETIRED_4, retire);
}

static void step(const struct insn *insn, const uint64_t *addresses, size_t naddresses, uint64_t next)
{
    dispatch_one(insn);
    uint64_t done = completion(insn, addresses, naddresses);
    for (uint64_t set = insn->writes; set; set &= set - 1) ready[__builtin_ctzll(set)] = done;
    uint64_t retire = done > last_retire ? done : last_retire;
    uint64_t group = retired[(number + WINDOW - WIDTH) % WINDOW] + 1;
    if (retire < group) retire = group;
    if (behind_branch && retire == last_retire) retire++;
    behind_branch = insn->flags & ENDS_GROUP;
    count_retirement(insn, next, retire);
    retired[number++ % WINDOW] = last_retire = retire;
    note_branch(insn, next);
    if (mispredicted(insn, next)) {
        count_stall(BR_MISP, insn->address, retire);
        count_stall(MISPREDICTED_PEBS, next, retire);
        waits_long = true;
        if (dispatch < done + MISPREDICT) dispatch = done + MISPREDICT, dispatched_now = 0;
    }
}

/* ---- the program's code ---- */

struct text {
    char *path;
    uint64_t address, offset, size;
};
static struct text text;

static void find_text(const char *path)
{
    int fd = open(path, O_RDONLY);
    Elf64_Ehdr header;
    if (fd < 0 || read(fd, &header, sizeof header) != sizeof header) return;
    for (int i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header.e_phoff + (uint64_t)i * header.e_phentsize);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment) continue;
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
        text = (struct text){realpath(path, NULL), segment.p_vaddr, segment.p_offset, segment.p_filesz};
        text_start = text.address, text_end = text.address + text.size;
    }
    close(fd);
}

/* ---- following the program: a block is processed when the next one starts, when
 * its accesses and where it went are known ---- */

enum { MOST_ACCESSES = 1 << 16 };
static struct { const struct insn *insn; uint64_t address; } accesses[MOST_ACCESSES];
static size_t naccesses;
static const struct block *current;

static void finish_block(uint64_t next)
{
    size_t at = 0;
    for (size_t i = 0; current && i < current->count; i++) {
        const struct insn *insn = &current->insns[i];
        uint64_t addresses[8];
        size_t count_here = 0;
        while (at < naccesses && accesses[at].insn == insn) {
            if (count_here < 8) addresses[count_here++] = accesses[at].address;
            at++;
        }
        uint64_t follows = i + 1 < current->count ? current->insns[i + 1].address : next;
        step(insn, addresses, count_here, follows);
    }
    naccesses = 0;
}

static void on_block(unsigned cpu, void *context)
{
    const struct block *block = context;
    if (cpu) return;
    finish_block(block->count ? block->insns[0].address : 0);
    current = block;
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *context)
{
    if (cpu || naccesses == MOST_ACCESSES || qemu_plugin_mem_is_store(info)) return;
    accesses[naccesses].insn = context;
    accesses[naccesses++].address = address;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (!text.path) find_text(qemu_plugin_path_to_binary()); /* not known before code runs */
    size_t n = qemu_plugin_tb_n_insns(tb);
    struct block *block = calloc(1, sizeof *block + n * sizeof block->insns[0]);
    if (!block) abort();
    block->count = n;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        block->insns[i].address = qemu_plugin_insn_vaddr(insn);
        describe(&block->insns[i], qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGISTERS, READS_AND_WRITES, &block->insns[i]);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, block);
}

/* ---- the file ---- */

static void put(FILE *out, const void *bytes, size_t len)
{
    if (fwrite(bytes, 1, len, out) != len) perror(settings.out);
}

static void put_u64(FILE *out, uint64_t value)
{
    put(out, &value, sizeof value);
}

static void put_mapping(FILE *out)
{
    char name[4096] = {0};
    snprintf(name, sizeof name, "%s", text.path);
    size_t len = (strlen(name) + 8) & ~(size_t)7;
    struct {
        struct perf_event_header header;
        uint32_t pid, tid;
        uint64_t address, length, offset;
        uint32_t major, minor;
        uint64_t inode, generation;
        uint32_t protection, flags;
    } mapping = {{PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, (uint16_t)(sizeof mapping + len)}, 1, 1,
                 text.address & ~(uint64_t)4095, (text.size + 8191) & ~(uint64_t)4095,
                 text.offset & ~(uint64_t)4095, 0, 0, 0, 0, 5, 2};
    put(out, &mapping, sizeof mapping);
    put(out, name, len);
}

static void put_samples(FILE *out)
{
    for (size_t i = 0; i < nsamples; i++) {
        struct {
            struct perf_event_header header;
            uint64_t id, ip;
            uint32_t pid, tid;
            uint64_t time, period;
        } sample = {{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof sample}, samples[i].event + 1u,
                    samples[i].address, 1, 1, samples[i].time, samples[i].period};
        size_t more = samples[i].nrecords * sizeof(struct record);
        if (settings.branches) sample.header.size = (uint16_t)(sizeof sample + 8 + more);
        put(out, &sample, sizeof sample);
        if (!settings.branches) continue;
        put_u64(out, samples[i].nrecords);
        if (more) put(out, samples[i].records, more);
    }
}

static void fill_attr(struct perf_event_attr *attr, int event)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = PERF_TYPE_RAW;
    attr->config = (uint64_t)event + 1;
    attr->sample_period = is_frequent((enum event)event) ? settings.period : settings.rare_period;
    if (event == INST_RETIRED_PEBS || event == MISPREDICTED_PEBS) attr->precise_ip = 1;
    attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                        PERF_SAMPLE_PERIOD;
    if (!settings.branches) return;
    attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
    attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
}

static void put_head(FILE *out, uint64_t data_size)
{
    uint64_t entry = sizeof(struct perf_event_attr) + 16, attrs = 104 + NEVENTS * 8;
    uint64_t data = attrs + entry * NEVENTS;
    put(out, "PERFILE2", 8);
    uint64_t fields[] = {104, entry, attrs, entry * NEVENTS, data, data_size, 0, 0, 1u << 12, 0, 0, 0};
    put(out, fields, sizeof fields);
    for (uint64_t e = 0; e < NEVENTS; e++) put_u64(out, e + 1);
    for (int e = 0; e < NEVENTS; e++) {
        struct perf_event_attr attr;
        fill_attr(&attr, e);
        put(out, &attr, sizeof attr);
        put_u64(out, 104 + (uint64_t)e * 8);
        put_u64(out, 8);
    }
}

static void put_names(FILE *out, uint64_t at)
{
    uint32_t head[2] = {NEVENTS, sizeof(struct perf_event_attr)};
    put_u64(out, at + 16);
    put_u64(out, sizeof head + NEVENTS * (sizeof(struct perf_event_attr) + 8 + 32 + 8));
    put(out, head, sizeof head);
    for (int e = 0; e < NEVENTS; e++) {
        struct perf_event_attr attr;
        uint32_t lens[2] = {1, 32};
        char name[32] = {0};
        fill_attr(&attr, e);
        snprintf(name, sizeof name, "%s", event_names[e]);
        put(out, &attr, sizeof attr);
        put(out, lens, sizeof lens);
        put(out, name, sizeof name);
        put_u64(out, (uint64_t)e + 1);
    }
}

static void on_exit_of_program(qemu_plugin_id_t id, void *context)
{
    (void)id, (void)context;
    finish_block(0);
    FILE *out = fopen(settings.out, "wb");
    if (!out || !text.path) {
        perror(settings.out);
        return;
    }
    put_head(out, 0);
    long start = ftell(out);
    put_mapping(out);
    put_samples(out);
    long end = ftell(out);
    put_names(out, (uint64_t)end);
    rewind(out);
    put_head(out, (uint64_t)(end - start));
    fclose(out);
    if (ndropped) fprintf(stderr, "simulated-pmu: %zu samples did not fit\n", ndropped);
}

/* ---- start ---- */

static void make_cache(struct cache *c)
{
    c->tags = calloc(c->sets, sizeof *c->tags);
    if (!c->tags) abort();
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "out=", 4)) settings.out = strdup(argv[i] + 4);
        if (!strncmp(argv[i], "period=", 7)) settings.period = strtoull(argv[i] + 7, NULL, 0);
        if (!strncmp(argv[i], "rare=", 5)) settings.rare_period = strtoull(argv[i] + 5, NULL, 0);
        if (!strncmp(argv[i], "mask=", 5)) settings.mask = strtoull(argv[i] + 5, NULL, 0);
        if (!strncmp(argv[i], "branches=", 9)) settings.branches = argv[i][9] == '1';
        if (!strncmp(argv[i], "seed=", 5)) settings.random ^= strtoull(argv[i] + 5, NULL, 0) * 0x9e3779b97f4a7c15u;
    }
    make_cache(&l1), make_cache(&l1i), make_cache(&l2), make_cache(&tlb), make_cache(&tlb2);
    samples = malloc(MOST_SAMPLES * sizeof *samples);
    if (!samples) return 1;
    for (int e = 0; e < NEVENTS; e++) new_period((enum event)e);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
