/* Takes samples by traps where paths end, without an added instruction in the program.
 *
 * The plugin has noted where paths end and which register holds the path (struct fp_site).
 * While a thread wants samples, the first byte of the instruction there is `hlt`, which only the
 * kernel may execute: the thread gets SIGSEGV. The handler reads the register from the context and
 * goes on in a copy of the instruction (rt_slot.c). When no thread wants samples, the code is as
 * the compiler made it.
 *
 * Why not int3: its SIGTRAP leaves the thread behind the trap, in the middle of an instruction. A
 * debugger that attaches takes that signal for its own and does not pass it on. A thread that
 * loses the signal of a `hlt` executes the `hlt` again. And SIGTRAP stays the program's. Valgrind
 * does not know `hlt`, so under Valgrind a trap is int3. (An instruction that does not exist would
 * do as well, but costs a virtual machine three times as much.)
 *
 * Code is writable only while there are traps. Storing one byte is atomic: a thread executes
 * the old instruction or the trap. Threads that want no samples hit traps too and pass them
 * in the same way. If that happens too often (perhaps the thread that wanted samples
 * sleeps), all traps are taken away.
 *
 * Not handled: a trap in a thread that blocks the signal would kill the program. rt_mask.c
 * keeps the program from blocking it, except by bare system calls. A handler of the program that
 * interrupts a copy sees the address of the copy; SIGSEGV is given with the right address.
 */
#include "core/rt_call.h"
#include "pep/rt_places.h"
#include "pep/rt_seen.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

int rt_trap_signal(void)
{
    return rt_under_valgrind() ? SIGTRAP : SIGSEGV;
}

unsigned char rt_trap_byte(void)
{
    enum { INT3 = 0xcc, HLT = 0xf4 };
    return rt_under_valgrind() ? INT3 : HLT;
}

static void lock(struct rt_process *process)
{
    while (__atomic_exchange_n(&process->pep.trap_lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(struct rt_process *process)
{
    __atomic_store_n(&process->pep.trap_lock, 0, __ATOMIC_RELEASE);
}

void rt_traps_hold(struct rt_process *process)
{
    lock(process);
}

void rt_traps_release(struct rt_process *process)
{
    unlock(process);
}

/* ---- a trap ---- */

static struct rt_seen seen_at(const struct rt_place *place, uint64_t reg, uint64_t frame)
{
    const struct fp_site *site = place->site;
    return (struct rt_seen){.counters = (uint64_t)&site->counters + (uint64_t)site->counters,
                            .value = (uint64_t)site->value,
                            .next = (uint64_t)site->next,
                            .flags = site->flags,
                            .function = site->function,
                            .has_register = place->reg >= 0,
                            .reg = reg,
                            .frame = frame};
}

static void sample(struct rt_pep_local *self, const struct rt_place *place, uint64_t reg,
                   uint64_t frame)
{
    struct rt_seen seen = seen_at(place, reg, frame);
    rt_seen_end(self, &seen);
}

static const struct rt_place *next_of(const struct rt_place *place)
{
    return place->more ? place + 1 : NULL;
}

static bool is_branch(const struct rt_place *place)
{
    return place->site->flags & FP_SITE_BRANCH;
}

/* This thread's last site was in front of a branch, and the branch went to this block: the
 * path of that way has ended. */
static void arrive(struct rt_pep_local *self, const struct fp_site *here)
{
    const struct rt_place *from = self->branch ? rt_places_at(self->branch) : NULL;
    for (uint32_t i = 0; from && i < self->branch_nth; i++) from = next_of(from);
    for (; from && is_branch(from); from = next_of(from))
        if (from->site->block == here->block && from->site->function == here->function)
            sample(self, from, self->branch_register, self->branch_frame);
}

/* A new frame's word may lie on a stack page that is not mapped yet. We run on the signal
 * stack, so touching the page would fault instead of growing the stack. An unmapped word
 * reads as 0. */
static uint64_t read_word(struct rt_pep_local *self, uint64_t address)
{
    enum { PAGE = 4096 };
    uint64_t word = 0, page = address & ~(uint64_t)(PAGE - 1);
    if (address >= self->readable && address < self->readable_end)
        return *(const uint64_t *)address;
    struct iovec local = {&word, sizeof word}, remote = {(void *)address, sizeof word};
    if (syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) != sizeof word)
        return errno == EFAULT ? 0 : *(const uint64_t *)address;
    bool below = page + PAGE == self->readable;
    if (!below && page != self->readable_end) self->readable = page;
    if (below)
        self->readable = page;
    else
        self->readable_end = page + PAGE;
    return word;
}

static void pass(struct rt_pep_local *self, const struct rt_place *place, const greg_t *regs)
{
    uint64_t reg = place->reg >= 0 ? (uint64_t)regs[place->reg] : 0;
    uint64_t frame =
        place->frame_reg >= 0 ? (uint64_t)(regs[place->frame_reg] + place->frame_offset) : 0;
    if (frame) reg += read_word(self, frame);
    if (is_branch(place)) {
        if (frame || place->reg >= 0) self->branch_register = reg;
        if (frame) self->branch_frame = frame;
    } else if (place->site->flags & FP_SITE_START) {
        struct rt_seen seen = seen_at(place, reg, frame);
        rt_seen_start(self, &seen);
    } else if (!(place->site->flags & FP_SITE_ARRIVAL)) {
        sample(self, place, reg, frame);
    }
}

/* Does the function of this place have all its traps? If not, a call begins in it: a thread
 * that wants samples puts them in. Other threads must not note the beginning, since they
 * may miss the end. */
static bool look_at_function(const struct rt_pep_local *self, const struct rt_place *place)
{
    if (rt_place_is_armed(place)) return true;
    if (!self->samples_left) return false;
    lock(rt_this.process);
    rt_place_arm(place);
    unlock(rt_this.process);
    return rt_place_is_armed(place);
}

/* Sites up to a branch, and those in front of the branch. Arrivals come first: they end paths of
 * earlier sites. Gives the place that follows. */
static const struct rt_place *hit_stretch(struct rt_pep_local *self, const struct rt_place *first,
                                          uint32_t *nth, const greg_t *regs)
{
    const struct rt_place *branch = first, *p;
    for (; branch && !is_branch(branch); branch = next_of(branch), ++*nth)
        if (branch->site->flags & FP_SITE_ARRIVAL) arrive(self, branch->site);
    self->branch = branch ? branch->address : 0;
    self->branch_nth = *nth;
    for (p = first; p != branch; p = next_of(p)) pass(self, p, regs);
    for (; p && is_branch(p); p = next_of(p), ++*nth) pass(self, p, regs);
    return p;
}

/* In the order of the code, as in the second body: rt_body.c. needs: rt_trap_place. */
void rt_trap_hit(struct rt_pep_local *self, uint64_t address, ucontext_t *context)
{
    const struct rt_place *place = rt_places_at(address);
    bool seen = look_at_function(self, place);
    enum { RED_ZONE = 128, ROOM_TO_LOOK_UP = 4096 };
    bool room = rt_sample_has_room(context, (uint64_t)__builtin_frame_address(0), ROOM_TO_LOOK_UP);
    self->stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP] - RED_ZONE;
    self->here = (struct rt_ending){.in_handler = room,
                                    .pc = address,
                                    .sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP],
                                    .bp = (uint64_t)context->uc_mcontext.gregs[REG_RBP]};
    uint32_t nth = 0;
    if (!seen) self->branch = 0;
    for (const struct rt_place *p = seen ? place : NULL; p;)
        p = hit_stretch(self, p, &nth, context->uc_mcontext.gregs);
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uint64_t)place->slot;
}

/* ---- all modules ---- */

static void set_all(struct rt_process *process, bool on)
{
    for (size_t i = 0; i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module && module->set_traps) module->set_traps(on);
    }
    process->pep.trap_epoch += !on;
}

static void arm_active(struct rt_process *process, const greg_t *regs)
{
    for (size_t i = 0; i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module && module->arm_active)
            module->arm_active((uint64_t)regs[REG_RIP], (uint64_t)regs[REG_RSP]);
    }
}

/* An epoch ends when all traps are taken away. A wish for samples holds in its epoch only. */
static void want_now(struct rt_process *process, struct rt_pep_local *self,
                     const ucontext_t *context)
{
    if (!self->wants_traps || self->trap_epoch != process->pep.trap_epoch) {
        self->wants_traps = 1;
        self->trap_epoch = process->pep.trap_epoch;
        process->pep.trap_hits = process->pep.others_hits = 0;
        if (process->pep.traps_wanted++ == 0) set_all(process, true);
    }
    arm_active(process, context->uc_mcontext.gregs);
}

bool rt_traps_are_in(const struct rt_process *process, const struct rt_pep_local *self)
{
    return self->wants_traps && self->trap_epoch == process->pep.trap_epoch;
}

void rt_traps_want(struct rt_process *process, struct rt_pep_local *self, const ucontext_t *context)
{
    lock(process);
    if (!process->pep.forking && process->pep.sampling) want_now(process, self, context);
    unlock(process);
}

/* With all signals blocked: a tick in this thread would wait for its own lock for ever. Signal 32
 * too, by which libc cancels threads. */
static uint64_t lock_alone(struct rt_process *process)
{
    uint64_t all = UINT64_MAX, before = 0;
    rt_call(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&all, (uintptr_t)&before, sizeof all);
    lock(process);
    return before;
}

static void unlock_alone(struct rt_process *process, uint64_t before)
{
    unlock(process);
    rt_call(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&before, 0, sizeof before);
}

void rt_traps_enough(struct rt_process *process, struct rt_pep_local *self)
{
    if (!self->wants_traps) return;
    uint64_t before = lock_alone(process);
    if (self->trap_epoch == process->pep.trap_epoch && --process->pep.traps_wanted == 0)
        set_all(process, false);
    self->wants_traps = 0;
    unlock_alone(process, before);
}

static void take_away(struct rt_process *process, uint32_t more_forking)
{
    uint64_t before = lock_alone(process);
    process->pep.forking += more_forking;
    if (process->pep.traps_wanted) set_all(process, false);
    process->pep.traps_wanted = 0;
    unlock_alone(process, before);
}

void rt_traps_none(struct rt_process *process)
{
    take_away(process, 0);
}

/* fork copies memory page by page while other threads go on. If one of them put traps in or
 * took them out meanwhile, the child could have traps that its table does not know, and hit
 * one of them for ever. The lock is not held during the fork: fork waits for locks of libc,
 * and a thread that has one may wait for our lock in a tick. */
void rt_traps_before_fork(struct rt_process *process)
{
    take_away(process, 1);
}

void rt_traps_after_fork(struct rt_process *process)
{
    take_away(process, UINT32_MAX); /* -1 */
}

/* Drops the calls of an earlier epoch: what happened while there were no traps is not known. */
static void forget_other_epochs(const struct rt_process *process, struct rt_pep_local *self)
{
    uint32_t now = __atomic_load_n(&process->pep.trap_epoch, __ATOMIC_RELAXED);
    if (self->calls_epoch == now) return;
    self->calls_epoch = now;
    self->ncalls = 0;
    rt_history_forget(self->history);
    self->branch = 0;
}

/* Too many hits: takes the traps away until the next tick. A thread that wanted more samples then
 * counts those that it has got for the time of the tick.
 *
 * Threads that want none may hit as many traps as a tick has samples. So sampling costs many
 * threads at most twice what it costs one, also where the thread that wants samples sleeps. The
 * other limit is for a program whose functions begin often and whose paths seldom end. */
static void note_hit(struct rt_process *process, const struct rt_pep_local *self)
{
    enum { PER_PATH = 8, BESIDES = 4096 };
    uint32_t stride = rt_settings.full_stride ? rt_settings.stride : 1;
    uint32_t most = BESIDES + PER_PATH * rt_settings.samples * stride;
    uint32_t hits = __atomic_add_fetch(&process->pep.trap_hits, 1, __ATOMIC_RELAXED);
    uint32_t others =
        __atomic_add_fetch(&process->pep.others_hits, !self->samples_left, __ATOMIC_RELAXED);
    bool enough = hits > most || others > rt_settings.samples;
    if (enough && process->pep.sampling) rt_traps_none(process);
}

/* A signal that came while a trap was handled would find the thread in a copy of an instruction:
 * nobody could unwind the stack from there. So a thread with such a signal hits the trap again,
 * behind the signal. */
static bool another_signal_waits(const ucontext_t *context)
{
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    return rt_signals_pending() & ~mask;
}

/* Several modules may be asked: addresses tell them apart. */
bool rt_traps_handle(struct rt_process *process, struct rt_pep_local *self, siginfo_t *info,
                     ucontext_t *context)
{
    bool behind = info->si_signo == SIGTRAP;
    uint64_t address = (uint64_t)context->uc_mcontext.gregs[REG_RIP] - behind;
    bool trapped = info->si_code == SI_KERNEL || (behind && info->si_code == TRAP_BRKPT);
    forget_other_epochs(process, self);
    for (size_t i = 0; trapped && i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (!module || !module->trap_place || !module->trap_place(address)) continue;
        /* no call of the kernel where the program has confined itself meanwhile */
        if (!behind && process->pep.sampling && another_signal_waits(context)) return true;
        module->trap_hit(self, address, context);
        note_hit(process, self);
        return true;
    }
    return false;
}

uint64_t rt_traps_moved_from(struct rt_process *process, uint64_t address)
{
    uint64_t from = 0;
    for (size_t i = 0; !from && i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module && module->moved_from) from = module->moved_from(address);
    }
    return from;
}
