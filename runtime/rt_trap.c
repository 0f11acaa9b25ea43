/* Traps where paths end: how samples are taken without an instruction in the program.
 *
 * The plugin has noted where paths end and in which register the path is (fp_site).
 * While a thread wants samples, the first byte of the instruction there is int3. The
 * handler reads the register from the context and goes on with a copy of the instruction
 * (rt_slot.c). Where there is none it puts the byte back and lets the processor execute
 * that one instruction (trace flag); the trap that follows puts int3 in again. When no
 * thread wants samples, the code is as the compiler made it.
 *
 * Code is writable only meanwhile. Storing one byte is atomic: a thread executes the
 * old instruction or the trap. Threads that want no samples may run into traps too;
 * they pass them the same way. If that happens too often (the one that wanted samples
 * sleeps, perhaps), the traps are taken away.
 *
 * A trap in a thread that blocks SIGTRAP would be its end, so nobody may block it: see
 * rt_mask.c.
 */
#include "rt.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

extern struct fp_site sites_start[] __asm__("__start_" FP_SITE_SECTION) __attribute__((weak)) FP_HIDDEN;
extern struct fp_site sites_end[] __asm__("__stop_" FP_SITE_SECTION) __attribute__((weak)) FP_HIDDEN;

enum { INT3 = 0xcc, TRACE_FLAG = 0x100, PAGE = 4096 };

/* ---- the places of this module, by address ---- */

struct trap {
    uint64_t address;
    const struct fp_site *site;
    int16_t reg; /* index among gregs, or -1 */
    int16_t frame_reg; /* with it and the offset, where a running register lies; or -1 */
    int32_t frame_offset;
    unsigned char original;
    unsigned char *slot; /* or NULL */
};

static struct {
    struct trap *traps;
    size_t count;
    uint32_t armed;
    bool failed;
} table;

static int16_t register_named(const char *place)
{
    static const struct { char name[5]; int16_t reg; } names[] = {
        {"%rsp", REG_RSP},
        {"%rax", REG_RAX}, {"%rbx", REG_RBX}, {"%rcx", REG_RCX}, {"%rdx", REG_RDX},
        {"%rsi", REG_RSI}, {"%rdi", REG_RDI}, {"%rbp", REG_RBP}, {"%r8", REG_R8},
        {"%r9", REG_R9},   {"%r10", REG_R10}, {"%r11", REG_R11}, {"%r12", REG_R12},
        {"%r13", REG_R13}, {"%r14", REG_R14}, {"%r15", REG_R15}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(names[i].name, place, 4)) return names[i].reg;
    return -1;
}

/* 24(%rsp) */
static void read_frame(struct trap *trap, const char *place)
{
    bool negative = *place == '-';
    size_t i = negative;
    int32_t offset = 0;
    for (; i < 11 && place[i] >= '0' && place[i] <= '9'; i++) offset = offset * 10 + place[i] - '0';
    trap->frame_offset = negative ? -offset : offset;
    trap->frame_reg = place[i] == '(' ? register_named(place + i + 1) : -1;
}

/* Several at one address are in the section in the order in which they happen. */
static bool before(const struct trap *a, const struct trap *b)
{
    return a->address != b->address ? a->address < b->address : a->site < b->site;
}

static void sift(struct trap *traps, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(&traps[child], &traps[child + 1])) child++;
        if (!before(&traps[root], &traps[child])) return;
        struct trap swap = traps[root];
        traps[root] = traps[child];
        traps[child] = swap;
    }
}

static void sort(struct trap *traps, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift(traps, i, n);
    for (size_t i = n; i-- > 1;) {
        struct trap swap = traps[0];
        traps[0] = traps[i];
        traps[i] = swap;
        sift(traps, 0, i);
    }
}

/* Near the code: jumps reach 2 GB. */
static unsigned char *map_slots(uint64_t first, uint64_t last, size_t size)
{
    enum { GAP = 16 << 20 };
    const uint64_t reach = ((uint64_t)1 << 31) - PAGE;
    for (int low = 0; low < 2; low++) {
        void *hint = !low && first > size + 2 * GAP ? (void *)((first - size - GAP) & ~(uint64_t)(PAGE - 1)) : NULL;
        unsigned char *slots = mmap(hint, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | (low ? MAP_32BIT : 0), -1, 0);
        if (slots == MAP_FAILED) continue;
        uint64_t start = (uint64_t)slots < first ? (uint64_t)slots : first;
        uint64_t end = (uint64_t)slots + size > last ? (uint64_t)slots + size : last;
        if (end - start < reach) return slots;
        munmap(slots, size);
    }
    return NULL;
}

/* Without slots all is as it would be, but slower. */
static void make_slots(struct trap *traps, size_t n)
{
    size_t size = n * RT_SLOT_SIZE;
    unsigned char *slots = map_slots(traps[0].address, traps[n - 1].address, size), *slot = slots;
    for (size_t i = 0; slots && i < n; i++, slot += RT_SLOT_SIZE)
        if (rt_slot_make((const unsigned char *)traps[i].address, slot)) traps[i].slot = slot;
    if (!slots || mprotect(slots, size, PROT_READ | PROT_EXEC) == 0) return;
    for (size_t i = 0; i < n; i++) traps[i].slot = NULL;
}

static bool make_table(void)
{
    size_t n = (size_t)(sites_end - sites_start);
    struct trap *traps = mmap(NULL, n * sizeof *traps, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (traps == MAP_FAILED) return false;
    for (size_t i = 0; i < n; i++) {
        const struct fp_site *site = &sites_start[i];
        uint64_t address = (uint64_t)&site->address + (uint64_t)site->address;
        traps[i] = (struct trap){.address = address, .site = site, .reg = register_named(site->place),
                                 .original = *(const unsigned char *)address};
        read_frame(&traps[i], site->word);
    }
    sort(traps, n);
    make_slots(traps, n);
    table.traps = traps;
    table.count = n;
    return true;
}

static struct trap *first_at(uint64_t address)
{
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.traps[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < table.count && table.traps[low].address == address;
    return found ? &table.traps[low] : NULL;
}

/* ---- arming this module ---- */

static void put_byte(uint64_t address, unsigned char byte)
{
    __atomic_store_n((unsigned char *)address, byte, __ATOMIC_RELEASE);
}

static bool make_code(int protection)
{
    uint64_t start = table.traps[0].address & ~(uint64_t)(PAGE - 1);
    uint64_t end = table.traps[table.count - 1].address + 1;
    return mprotect((void *)start, end - start, protection) == 0;
}

bool rt_trap_has_sites(void)
{
    return &sites_start[0] != &sites_end[0];
}

/* Under the lock, with all signals blocked. */
void rt_trap_set(bool on)
{
    if (table.failed || (!on && !table.armed) || !rt_trap_has_sites()) return;
    if (on && ((!table.traps && !make_table()) || !make_code(PROT_READ | PROT_WRITE | PROT_EXEC))) {
        table.failed = true;
        rt_warn("the code cannot be written to; paths are not sampled, build with --fp-pep=flag", NULL);
        return;
    }
    __atomic_store_n(&table.armed, on, __ATOMIC_RELEASE);
    for (size_t i = 0; i < table.count; i++)
        put_byte(table.traps[i].address, on ? INT3 : table.traps[i].original);
    if (!on) make_code(PROT_READ | PROT_EXEC);
}

/* ---- a trap ---- */

/* Calls deeper than `frame` have ended, and so has another one that had its place. */
static struct rt_call *find_call(struct rt_local *self, uint64_t frame, uint32_t function)
{
    struct rt_call *top = self->calls + self->ncalls;
    while (top > self->calls && (top[-1].frame < frame ||
                                 (top[-1].frame == frame && top[-1].function != function)))
        top--;
    self->ncalls = (uint32_t)(top - self->calls);
    return top > self->calls && top[-1].frame == frame ? top - 1 : NULL;
}

/* Where there is no room the outermost is forgotten: its next path will not be known. */
static void begin_path(struct rt_local *self, struct rt_call *call, struct rt_call what)
{
    if (self->blind) return;
    if (!call && self->ncalls == RT_MOST_CALLS)
        memmove(self->calls, self->calls + 1, --self->ncalls * sizeof *self->calls);
    if (!call) call = &self->calls[self->ncalls++];
    *call = what;
}

static void sample(struct rt_local *self, const struct trap *trap, uint64_t reg, uint64_t frame)
{
    const struct fp_site *site = trap->site;
    uint64_t counters = (uint64_t)&site->counters + (uint64_t)site->counters;
    uint64_t id = (uint64_t)site->value + (trap->reg >= 0 ? reg : 0);
    bool known = true;
    if (site->flags & FP_SITE_RUNNING) {
        struct rt_call *call = find_call(self, frame, site->function);
        if (site->flags & FP_SITE_KNOWN)
            id = (uint64_t)site->value;
        else if ((known = call))
            id += reg - call->base;
        if (!(site->flags & FP_SITE_LEAVES))
            begin_path(self, call, (struct rt_call){frame, reg + (uint64_t)site->next, site->function});
        else if (call)
            self->ncalls--;
    }
    if (known) rt_sample_point(counters, id, site->flags & FP_SITE_HASHED);
}

static void enter(struct rt_local *self, const struct fp_site *site, uint64_t reg, uint64_t frame)
{
    struct rt_call *call = find_call(self, frame, site->function);
    begin_path(self, call, (struct rt_call){frame, reg + (uint64_t)site->next, site->function});
}

static bool is_at(const struct trap *trap, uint64_t address)
{
    return trap < table.traps + table.count && trap->address == address;
}

/* The branch in front of which this thread's last site was has come to this block. */
static void arrive(struct rt_local *self, const struct fp_site *here)
{
    const struct trap *from = self->branch ? first_at(self->branch) : NULL;
    for (; from && is_at(from, self->branch); from++)
        if (from->site->flags & FP_SITE_BRANCH && from->site->block == here->block &&
            from->site->function == here->function)
            sample(self, from, self->branch_register, self->branch_frame);
}

/* Arrivals first: they belong to what was before. */
bool rt_trap_hit(struct rt_local *self, uint64_t address, ucontext_t *context, bool *armed)
{
    struct trap *trap = table.count ? first_at(address) : NULL;
    if (!trap) return false;
    for (struct trap *t = trap; is_at(t, address); t++)
        if (t->site->flags & FP_SITE_ARRIVAL) arrive(self, t->site);
    self->branch = 0;
    const greg_t *regs = context->uc_mcontext.gregs;
    for (struct trap *t = trap; is_at(t, address); t++) {
        uint64_t reg = t->reg >= 0 ? (uint64_t)regs[t->reg] : 0;
        uint64_t frame = t->frame_reg >= 0 ? (uint64_t)(regs[t->frame_reg] + t->frame_offset) : 0;
        if (frame) reg = *(const uint64_t *)frame;
        if (t->site->flags & FP_SITE_BRANCH) {
            self->branch = address;
            if (frame || t->reg >= 0) self->branch_register = reg;
            if (frame) self->branch_frame = frame;
        } else if (t->site->flags & FP_SITE_START) {
            enter(self, t->site, reg, frame);
        } else if (!(t->site->flags & FP_SITE_ARRIVAL)) {
            sample(self, t, reg, frame);
        }
    }
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(trap->slot ? (uint64_t)trap->slot : address);
    *armed = !trap->slot && __atomic_load_n(&table.armed, __ATOMIC_ACQUIRE);
    if (*armed) {
        __atomic_add_fetch(&rt_this.process->windows_opened, 1, __ATOMIC_ACQ_REL);
        put_byte(address, trap->original);
    }
    return true;
}

void rt_trap_again(uint64_t address)
{
    if (first_at(address) && __atomic_load_n(&table.armed, __ATOMIC_ACQUIRE)) put_byte(address, INT3);
}

/* ---- all modules ---- */

static void lock(struct rt_process *process)
{
    while (__atomic_exchange_n(&process->trap_lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(struct rt_process *process)
{
    __atomic_store_n(&process->trap_lock, 0, __ATOMIC_RELEASE);
}

static void set_all(struct rt_process *process, bool on)
{
    for (size_t i = 0; i < RT_MOST_MODULES; i++) {
        struct rt_module *module = __atomic_load_n(&process->modules[i], __ATOMIC_ACQUIRE);
        if (module && module->set_traps) module->set_traps(on);
    }
    process->trap_epoch += !on;
}

/* An epoch ends when the traps go; who wanted samples in it does not any more. */
void rt_traps_want(struct rt_process *process, struct rt_local *self)
{
    lock(process);
    if (!self->wants_traps || self->trap_epoch != process->trap_epoch) {
        self->wants_traps = 1;
        self->trap_epoch = process->trap_epoch;
        process->trap_hits = 0;
        if (process->traps_wanted++ == 0) set_all(process, true);
    }
    unlock(process);
}

void rt_traps_enough(struct rt_process *process, struct rt_local *self)
{
    lock(process);
    if (self->wants_traps && self->trap_epoch == process->trap_epoch && --process->traps_wanted == 0)
        set_all(process, false);
    self->wants_traps = 0;
    unlock(process);
}

void rt_traps_none(struct rt_process *process)
{
    lock(process);
    if (process->traps_wanted) set_all(process, false);
    process->traps_wanted = 0;
    unlock(process);
}

static bool is_ours(struct rt_process *process, struct rt_local *self, uint64_t address,
                    ucontext_t *context, bool *armed)
{
    for (size_t i = 0; i < RT_MOST_MODULES; i++) {
        struct rt_module *module = __atomic_load_n(&process->modules[i], __ATOMIC_ACQUIRE);
        if (module && module->trap_hit && module->trap_hit(self, address, context, armed)) return true;
    }
    return false;
}

/* The one instruction has been executed: the trap goes in again. */
static void stepped(struct rt_process *process, struct rt_local *self)
{
    if (!self->nstepping) return;
    uint64_t address = self->stepping[--self->nstepping];
    __atomic_add_fetch(&process->windows_closed, 1, __ATOMIC_RELEASE);
    for (size_t i = 0; i < RT_MOST_MODULES; i++) {
        struct rt_module *module = __atomic_load_n(&process->modules[i], __ATOMIC_ACQUIRE);
        if (module && module->trap_again) module->trap_again(address);
    }
}

/* While a trap is away for one thread, another may miss it. Which calls it is in is then
 * not certain any more. */
static void look_for_windows(struct rt_process *process, struct rt_local *self)
{
    uint32_t closed = __atomic_load_n(&process->windows_closed, __ATOMIC_ACQUIRE);
    uint32_t opened = __atomic_load_n(&process->windows_opened, __ATOMIC_ACQUIRE);
    self->blind = opened - closed != self->nstepping;
    if (!self->blind && opened == self->windows) return;
    self->windows = opened;
    self->ncalls = 0;
    self->branch = 0;
}

/* A signal may come between a trap and the one instruction, and its handler run into
 * traps as well: they nest. Too deep (handlers were left by longjmp), all traps go until
 * samples are wanted again. */
static void step(struct rt_process *process, struct rt_local *self, uint64_t address, greg_t *regs)
{
    if (self->nstepping == RT_MOST_STEPPING) {
        rt_traps_none(process);
        __atomic_add_fetch(&process->windows_closed, self->nstepping + 1, __ATOMIC_RELEASE);
        self->nstepping = 0;
        return;
    }
    self->windows++;
    self->stepping[self->nstepping++] = address;
    regs[REG_EFL] |= TRACE_FLAG;
}

/* What samples take from one tick on, and some of threads that want none. */
static uint32_t most_hits(void)
{
    enum { PER_PATH = 8, BESIDES = 4096 };
    return BESIDES + PER_PATH * rt_settings.samples * (rt_settings.full_stride ? rt_settings.stride : 1);
}

/* Was this trap one of ours? Then it has been dealt with. */
bool rt_traps_handle(struct rt_process *process, struct rt_local *self, siginfo_t *info,
                     ucontext_t *context)
{
    greg_t *regs = context->uc_mcontext.gregs;
    bool armed = false;
    if (info->si_code > 0 && info->si_code != SI_KERNEL && regs[REG_EFL] & TRACE_FLAG) {
        regs[REG_EFL] &= ~TRACE_FLAG;
        stepped(process, self);
        return true;
    }
    uint64_t address = (uint64_t)regs[REG_RIP] - 1;
    look_for_windows(process, self);
    bool breakpoint = info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT; /* in a simulator */
    if (!breakpoint || !is_ours(process, self, address, context, &armed)) return false;
    if (armed) step(process, self, address, regs);
    if (__atomic_add_fetch(&process->trap_hits, 1, __ATOMIC_RELAXED) > most_hits())
        rt_traps_none(process);
    return true;
}
