/* Samples by a second body of the code (docs/pep.md).
 *
 * footpath-cc has made a copy of each function with sites, the second body, in which every site
 * reports itself to the runtime. All calls and pointers of the program lead to the first body,
 * which is as the compiler made it. At a tick the thread goes on in the second body: nothing but
 * the program counter changes, because both have the same registers and the same frames. A thread
 * that a tick finds in other code, in libc for example, gets another return address in the
 * innermost frame that has a second body.
 *
 * In the second body direct calls lead to the second body of the callee, calls and jumps through
 * pointers look for one (rt_body_resolve), and so do returns to frames that were active before the
 * tick. When the thread has its samples, the next site leads back to the first body. Code of the
 * second body may be executed at any time, so return addresses and jmp_bufs may point there.
 *
 * Not handled: functions that other code than ours calls back (the order of qsort) are seen only
 * in calls that are active at a tick. Code that compares or prints return addresses sees those of
 * the second body.
 */
#include "core/rt_unwind.h"
#include "rt.h"

#include <ucontext.h>

extern const struct fp_body_record rt_body_record FP_HIDDEN; /* rt_bodycalls.c */

/* The record, read so that the compiler does not take it for a constant. */
static const struct fp_body_record *record(void)
{
    const struct fp_body_record *r = &rt_body_record;
    __asm__("" : "+r"(r));
    return r;
}

static uint64_t at(int64_t distance)
{
    return (uint64_t)record() + (uint64_t)distance;
}

static const struct fp_body_step *steps(void)
{
    return (const struct fp_body_step *)at(record()->steps);
}

/* ---- from one body to the other ---- */

/* The last step that begins at or before the address, or NULL. */
static const struct fp_body_step *step_at(uint64_t address)
{
    const struct fp_body_step *all = steps();
    uint64_t distance = address - at(record()->origin);
    size_t low = 0, high = record()->nsteps;
    if (!high || distance < all[0].first || distance > all[high - 1].first) return NULL;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].first <= distance)
            low = middle;
        else
            high = middle;
    }
    return &all[low];
}

static uint64_t second_body(uint64_t address)
{
    const struct fp_body_step *step = step_at(address);
    if (!step || !step->second) return 0;
    uint64_t origin = at(record()->origin), further = address - (origin + step->first);
    return origin + step->second + further - (further ? 0 : step->before);
}

static bool is_second_body(uint64_t address)
{
    return address - at(record()->code) < record()->code_size;
}

/* Steps rise in both bodies, but for those without a second body. What reports the sites of an
 * address belongs to the address. */
uint64_t rt_body_first(uint64_t address)
{
    const struct fp_body_step *all = steps(), *found = NULL;
    uint64_t origin = at(record()->origin), distance = address - origin;
    if (!is_second_body(address)) return address;
    for (size_t low = 0, high = record()->nsteps; low < high;) {
        size_t middle = low + (high - low) / 2, k = middle;
        while (k > low && !all[k].second) k--;
        if (all[k].second && all[k].second - all[k].before <= distance)
            found = &all[k], low = middle + 1;
        else if (all[k].second)
            high = k;
        else
            low = middle + 1;
    }
    if (!found) return address;
    return origin + found->first + (distance < found->second ? 0 : distance - found->second);
}

/* The module with a second body that an address is in, or NULL. Such a module stays: this thread
 * executes its code, or will. */
static const struct rt_module *module_of(const struct rt_process *process, uint64_t address)
{
    for (uint32_t i = 0; i < process->pep.has_bodies; i++) {
        const struct rt_body_span *span = &process->pep.bodies[i];
        uint64_t size = __atomic_load_n(&span->size, __ATOMIC_ACQUIRE);
        if (address - span->start < size) return span->module;
    }
    return NULL;
}

/* In whichever module; 0: there is none. */
static uint64_t find_second(const struct rt_process *process, uint64_t address)
{
    const struct rt_module *module = module_of(process, address);
    return module ? module->second_body(address) : 0;
}

static bool is_in_second(const struct rt_process *process, uint64_t address)
{
    const struct rt_module *module = module_of(process, address);
    return module && module->is_second_body(address);
}

bool rt_body_is_here(void)
{
    return record()->version == FP_BODY_VERSION;
}

/* Modules begin and end one at a time: the loader has a lock. */
void rt_body_offer(struct rt_process *process)
{
    uint64_t start = at(record()->origin) + steps()[0].first;
    uint64_t end = at(record()->code) + record()->code_size;
    uint32_t i = 0;
    struct rt_body_span *all =
        rt_map_once((void **)&process->pep.bodies, RT_MOST_BODIES * sizeof *all);
    while (all && i < RT_MOST_BODIES && all[i].size) i++;
    if (!all || i == RT_MOST_BODIES) return; /* its paths are not sampled */
    rt_this.second_body = second_body;
    rt_this.is_second_body = is_second_body;
    all[i].start = start;
    all[i].module = &rt_this;
    __atomic_store_n(&all[i].size, end - start, __ATOMIC_RELEASE);
    if (i >= process->pep.has_bodies) process->pep.has_bodies = i + 1;
}

void rt_body_withdraw(struct rt_process *process)
{
    for (uint32_t i = 0; i < process->pep.has_bodies; i++)
        if (process->pep.bodies[i].module == &rt_this)
            __atomic_store_n(&process->pep.bodies[i].size, 0, __ATOMIC_RELEASE);
}

/* ---- ticks ---- */

/* Walks to the innermost frame that has a second body, and lets control come back there. A frame
 * that is there already ends the walk, and so does a frame that was interrupted by a signal. */
static void change_return(struct rt_process *process, const ucontext_t *context)
{
    enum { MOST_FRAMES = 128 };
    struct rt_frame frame;
    rt_unwind_from_signal(&frame, context);
    frame.careful = true;
    for (int i = 0; i < MOST_FRAMES && rt_unwind_look(&frame); i++) {
        uint64_t *slot = (uint64_t *)(frame.cfa - sizeof *slot), word;
        bool interrupted = frame.rules.signal_frame;
        if (!rt_unwind_step(&frame) || interrupted || is_in_second(process, frame.regs[RT_RIP]))
            return;
        uint64_t second = find_second(process, frame.regs[RT_RIP]);
        if (!second) continue;
        if (rt_read_word(&frame, (uint64_t)slot, &word) && word == frame.regs[RT_RIP])
            __atomic_store_n(slot, second, __ATOMIC_RELAXED);
        return;
    }
}

void rt_body_enter(struct rt_process *process, ucontext_t *context)
{
    enum { ROOM_FOR_SITES = 4096, ROOM_TO_WALK = 6144 };
    greg_t *regs = context->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)regs[REG_RIP], here = (uint64_t)__builtin_frame_address(0);
    if (is_in_second(process, pc) ||
        !rt_sample_has_room(context, (uint64_t)regs[REG_RSP], ROOM_FOR_SITES))
        return;
    uint64_t second = find_second(process, pc);
    if (second)
        regs[REG_RIP] = (greg_t)second;
    else if (rt_sample_has_room(context, here, ROOM_TO_WALK) && !rt_is_confined())
        change_return(process, context);
}

/* A handler of the program may have interrupted the recording and have been left by longjmp. Then
 * the thread is further up on that stack. */
bool rt_body_is_recording(struct rt_pep_local *self, const ucontext_t *context)
{
    enum { STACK = 8 << 20 };
    uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    if (self->recording && sp > self->recording && sp - self->recording < STACK)
        self->recording = 0;
    return self->recording;
}

/* ---- sites ---- */

/* What rt_bodycalls.c has saved: the registers in the order of gregs. */
struct body_frame {
    greg_t regs[REG_RSP + 1];
    uint64_t flags;
    uint64_t back; /* where to go on */
    uint64_t step;
};
/* From the saved stack pointer up to the red zone. */
enum { BELOW = sizeof(struct body_frame) - offsetof(struct body_frame, flags) };

static const struct fp_site *site_of(const struct fp_body_place *place)
{
    return (const struct fp_site *)at(record()->sites) + place->site;
}

static const struct fp_body_place *place_of(uint64_t number)
{
    return (const struct fp_body_place *)at(record()->places) + number;
}

static const struct fp_body_place *place_behind(const struct fp_body_place *place)
{
    return place->more ? place + 1 : NULL;
}

static struct rt_seen seen_at(const struct fp_body_place *place, const greg_t *regs)
{
    struct rt_seen seen = {.site = site_of(place), .has_register = place->reg >= 0};
    if (place->reg >= 0) seen.reg = (uint64_t)regs[place->reg];
    if (place->frame_reg >= 0)
        seen.frame = (uint64_t)(regs[place->frame_reg] + place->frame_offset);
    if (seen.frame) seen.reg = *(const uint64_t *)seen.frame;
    return seen;
}

/* The last site was in front of a branch, and the branch went to this block: the path of that way
 * has ended. */
static void arrive(struct rt_pep_local *self, const struct fp_site *here)
{
    const struct fp_body_place *from = (const struct fp_body_place *)self->branch_place;
    for (; from; from = place_behind(from)) {
        const struct fp_site *site = site_of(from);
        struct rt_seen seen = {site, from->reg >= 0, self->branch_register, self->branch_frame};
        if (site->flags & FP_SITE_BRANCH && site->block == here->block &&
            site->function == here->function)
            rt_seen_end(self, &seen);
    }
}

static void pass(struct rt_pep_local *self, const struct fp_body_place *first,
                 const struct fp_body_place *place, const greg_t *regs)
{
    struct rt_seen seen = seen_at(place, regs);
    unsigned flags = seen.site->flags;
    if (flags & FP_SITE_BRANCH) {
        self->branch_place = (uint64_t)first;
        if (seen.frame || seen.has_register) self->branch_register = seen.reg;
        if (seen.frame) self->branch_frame = seen.frame;
    } else if (flags & FP_SITE_START) {
        rt_seen_start(self, &seen);
    } else if (!(flags & FP_SITE_ARRIVAL)) {
        rt_seen_end(self, &seen);
    }
}

/* Arrivals come first: they end paths of earlier sites. A branch of another module is not ours to
 * look at: no branch leads out of its module. */
static void record_sites(struct rt_pep_local *self, const struct fp_body_place *first,
                         const greg_t *regs)
{
    const struct fp_body_place *end = place_of(record()->nplaces), *p;
    if (self->branch_place - (uint64_t)place_of(0) >= (uint64_t)end - (uint64_t)place_of(0))
        self->branch_place = 0;
    for (p = first; p; p = place_behind(p))
        if (site_of(p)->flags & FP_SITE_ARRIVAL) arrive(self, site_of(p));
    self->branch_place = 0;
    for (p = first; p; p = place_behind(p)) pass(self, first, p, regs);
}

void rt_body_site(struct body_frame *frame) FP_HIDDEN;
/* Called by the second body at a site. */
void rt_body_site(struct body_frame *frame)
{
    const struct fp_body_step *step = &steps()[frame->step];
    struct rt_pep_local *self = rt_sample_state();
    if (self && self->samples_left && !self->recording) {
        frame->regs[REG_RSP] += BELOW + FP_BODY_RED_ZONE;
        self->recording = (uint64_t)frame;
        __asm__ volatile("" : : : "memory");
        self->stack = (uint64_t)frame->regs[REG_RSP] - FP_BODY_RED_ZONE;
        /* the tables of the first body hold here too */
        self->here = (struct rt_ending){.pc = at(record()->origin) + step->first,
                                        .sp = (uint64_t)frame->regs[REG_RSP],
                                        .bp = (uint64_t)frame->regs[REG_RBP]};
        record_sites(self, place_of(step->place), frame->regs);
        __asm__ volatile("" : : : "memory");
        self->recording = 0;
        if (self->samples_left) return;
    }
    frame->back = at(record()->origin) + step->first;
}

uint64_t rt_body_resolve(uint64_t address) FP_HIDDEN;
/* Called by the second body: where to go instead of an address. */
uint64_t rt_body_resolve(uint64_t address)
{
    const struct rt_pep_local *self = rt_sample_state();
    if (!self || !self->samples_left || self->recording) return address;
    uint64_t second = find_second(rt_this.process, address);
    return second ? second : address;
}
