/* Samples by a second body of the code (docs/pep.md).
 *
 * footpath-cc has made a copy of each function with sites, the second body, in which every site
 * reports itself to the runtime. All calls and pointers of the program lead to the first body,
 * which is as the compiler made it but for additions to running registers. At a tick the thread
 * goes on in the second body: nothing but the program counter changes, because both have the same
 * registers and the same frames. A thread that a tick finds in other code, in libc for example,
 * gets another return address in the innermost frame that has a second body.
 *
 * In the second body direct calls lead to the second body of the callee, calls and jumps through
 * pointers look for one (rt_body_resolve), and so do returns to frames that were active before the
 * tick. When the thread has its samples, the next site leads back to the first body. Code of the
 * second body may be executed at any time, so return addresses and jmp_bufs may point there.
 *
 * Not handled: functions that other code than ours calls back are seen only in calls that are
 * active at a tick, unless the plugin has found them to be such and has them test a flag
 * (docs/pep.md). Code that compares or prints return addresses sees those of
 * the second body.
 */
#include "core/rt_unwind.h"
#include "pep/rt_seen.h"

#include <cpuid.h>
#include <ucontext.h>

/* rt_bodycalls.c */
extern const struct fp_body_record rt_body_record FP_HIDDEN;
extern unsigned char rt_body_plain_flags FP_HIDDEN; /* does the processor have sahf? */

/* The record, read so that the compiler does not take it for a constant. */
static const struct fp_body_record *record(void)
{
    const struct fp_body_record *r = &rt_body_record;
    __asm__("" : "+r"(r));
    return r;
}

/* What sites want of it, as addresses; 0 before rt_body_offer, and then nobody is in the second
 * body. */
static struct {
    uint64_t origin, places, places_size;
    uint64_t start, size; /* of both bodies and what lies between */
} own;

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
    own.origin = at(record()->origin);
    own.places = at(record()->places);
    own.places_size = record()->nplaces * sizeof(struct fp_body_place);
    own.start = start;
    own.size = end - start;
    unsigned eax, ebx, ecx = 0, edx;
    rt_body_plain_flags = __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && ecx & bit_LAHF_LM;
    rt_this.second_body = second_body;
    rt_this.is_second_body = is_second_body;
    all[i].start = start;
    all[i].module = &rt_this;
    __atomic_store_n(&all[i].size, end - start, __ATOMIC_RELEASE);
    if (i >= process->pep.has_bodies) process->pep.has_bodies = i + 1;
}

void rt_body_withdraw(struct rt_process *process)
{
    own.size = 0;
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
    uint64_t place;
};
/* From the saved stack pointer up to the red zone. */
enum { BELOW = sizeof(struct body_frame) - offsetof(struct body_frame, flags) };

/* A site costs what its instructions are: calls and structs in memory were a quarter of them. */
#define INLINE inline __attribute__((always_inline))

/* Where the thread is, and whose state it is. */
struct site_passing {
    struct rt_pep_local *self;
    const struct body_frame *frame;
    uint64_t first; /* the place in the first body */
};

static const struct fp_body_place *place_behind(const struct fp_body_place *place)
{
    return place->more ? place + 1 : NULL;
}

static INLINE struct rt_seen meaning(const struct fp_body_place *place)
{
    return (struct rt_seen){.counters = at(place->counters),
                            .value = (uint64_t)place->value,
                            .next = (uint64_t)place->next,
                            .flags = place->flags,
                            .function = place->function,
                            .has_register = place->reg >= 0};
}

static bool has_flag(const struct fp_body_place *place, unsigned flag)
{
    return place->flags & flag;
}

/* Behind the other ways of the branch. */
static const struct fp_body_place *place_behind_ways(const struct fp_body_place *place)
{
    return place_behind(place + place->alike);
}

/* The first one of `place` and those alike whose block is not below, or what follows them. */
static const struct fp_body_place *way_to(const struct fp_body_place *place, uint32_t block)
{
    const struct fp_body_place *end = place + place->alike + 1;
    while (place < end) {
        const struct fp_body_place *middle = place + (end - place) / 2;
        if (middle->block < block)
            place = middle + 1;
        else
            end = middle;
    }
    return place;
}

/* A path ends. The tables of the first body hold in the second one too; the rest of `here` is the
 * site's to say. */
static INLINE void end_path(const struct site_passing *p, const struct rt_seen *seen)
{
    struct rt_ending *here = &p->self->here;
    here->in_handler = false;
    here->pc = p->first;
    here->sp = (uint64_t)p->frame->regs[REG_RSP];
    here->bp = (uint64_t)p->frame->regs[REG_RBP];
    rt_seen_end(p->self, seen);
}

/* The last site was in front of a branch, and the branch went to this block: the path of that way
 * has ended. A branch of another module is not ours to look at: no branch leads out of its
 * module. */
static INLINE void arrive(const struct site_passing *p, const struct fp_body_place *here)
{
    struct rt_pep_local *self = p->self;
    const struct fp_body_place *from = (const struct fp_body_place *)self->branch_place;
    if (self->branch_place - own.places >= own.places_size) return;
    for (; from && has_flag(from, FP_SITE_BRANCH); from = place_behind_ways(from)) {
        if (from->function != here->function) continue;
        const struct fp_body_place *end = from + from->alike + 1;
        const struct fp_body_place *way = from->alike ? way_to(from, here->block) : from;
        for (; way < end && way->block == here->block; way++) {
            struct rt_seen seen = meaning(way);
            seen.reg = self->branch_register, seen.frame = self->branch_frame;
            end_path(p, &seen);
        }
    }
}

/* In front of a branch the registers are kept for the way that is taken. */
static INLINE void pass(const struct site_passing *p, const struct fp_body_place *place)
{
    const greg_t *regs = p->frame->regs;
    unsigned flags = place->flags;
    if (flags & FP_SITE_VALUE) {
        if (place->reg >= 0)
            rt_target_seen(p->self, at(place->counters), (uint64_t)place->value,
                           (uint64_t)regs[place->reg]);
        return;
    }
    if (flags & FP_SITE_ARRIVAL && !(flags & (FP_SITE_BRANCH | FP_SITE_START))) return;
    uint64_t reg = place->reg >= 0 ? (uint64_t)regs[place->reg] : 0, word = 0;
    if (place->frame_reg >= 0) word = (uint64_t)(regs[place->frame_reg] + place->frame_offset);
    if (word) reg += *(const uint64_t *)word;
    if (flags & FP_SITE_BRANCH) {
        if (word || place->reg >= 0) p->self->branch_register = reg;
        if (word) p->self->branch_frame = word;
        return;
    }
    struct rt_seen seen = meaning(place);
    seen.reg = reg, seen.frame = word;
    if (flags & FP_SITE_START)
        rt_seen_start(p->self, &seen);
    else
        end_path(p, &seen);
}

/* Some places of one address: those up to `end`, which is NULL where there are no others. */
struct places_passed {
    const struct fp_body_place *first, *end;
};

enum { SOME_PLACES = FP_BODY_FIRST_PLACES | FP_BODY_OTHER_PLACES };

/* What the second body calls for: all places of an address, or those of one way to it. */
static struct places_passed places_of(uint64_t number, const struct fp_body_place *first)
{
    struct places_passed p = {.first = first};
    const struct fp_body_place *others = first;
    if (!(number & SOME_PLACES)) return p;
    while (others && has_flag(others, FP_SITE_BEHIND)) others = place_behind(others);
    if (number & FP_BODY_FIRST_PLACES) p.end = others;
    if (number & FP_BODY_OTHER_PLACES) p.first = others;
    return p;
}

/* Sites up to a branch, and those in front of the branch. Arrivals come first: they end paths of
 * earlier sites. Gives the place that follows. */
static const struct fp_body_place *record_stretch(const struct site_passing *p,
                                                  struct places_passed all)
{
    const struct fp_body_place *branch = all.first, *q;
    while (branch != all.end && !has_flag(branch, FP_SITE_BRANCH)) branch = place_behind(branch);
    for (q = all.first; q != branch; q = place_behind(q))
        if (has_flag(q, FP_SITE_ARRIVAL)) arrive(p, q);
    p->self->branch_place = branch != all.end ? (uint64_t)branch : 0;
    for (q = all.first; q != branch; q = place_behind(q)) pass(p, q);
    for (; q != all.end && has_flag(q, FP_SITE_BRANCH); q = place_behind_ways(q)) pass(p, q);
    return q;
}

/* In the order of the code: where the compiler has found out which way a branch goes, the arrival
 * has the address of the branch that it follows. */
static __attribute__((noinline)) void record_sites(struct site_passing p, struct places_passed all)
{
    while (all.first != all.end) all.first = record_stretch(&p, all);
}

/* A site that has its address for itself, as most have: the same in fewer steps. */
static INLINE void record_site(const struct site_passing *p, const struct fp_body_place *place)
{
    if (has_flag(place, FP_SITE_ARRIVAL)) arrive(p, place);
    p->self->branch_place = has_flag(place, FP_SITE_BRANCH) ? (uint64_t)place : 0;
    pass(p, place);
}

void rt_body_site(struct body_frame *frame) FP_HIDDEN;
/* Called by the second body at a site. */
void rt_body_site(struct body_frame *frame)
{
    const struct fp_body_place *place =
        (const struct fp_body_place *)own.places + (frame->place & ~(uint64_t)SOME_PLACES);
    struct site_passing p = {rt_sample_state_here(), frame, own.origin + place->first};
    struct rt_pep_local *self = p.self;
    if (self && self->samples_left && !self->recording) {
        frame->regs[REG_RSP] += BELOW + FP_BODY_RED_ZONE;
        self->recording = (uint64_t)frame;
        __asm__ volatile("" : : : "memory");
        self->stack = (uint64_t)frame->regs[REG_RSP] - FP_BODY_RED_ZONE;
        if (place->more)
            record_sites(p, places_of(frame->place, place));
        else
            record_site(&p, place);
        __asm__ volatile("" : : : "memory");
        self->recording = 0;
        if (self->samples_left) return;
    }
    frame->back = p.first;
}

/* Where an address leads was looked up before, mostly: in these few entries. An entry is one word,
 * so that threads need no lock: the distance of the address from `origin`, and above it that of
 * its second body. 0: empty. */
enum { RESOLVED_BITS = 8 };
static uint64_t resolved[1 << RESOLVED_BITS];

static uint64_t resolve_here(uint64_t address)
{
    uint64_t distance = address - own.origin;
    uint64_t *entry =
        &resolved[(uint32_t)(distance * FP_HASH_FACTOR >> 32) >> (32 - RESOLVED_BITS)];
    uint64_t known = __atomic_load_n(entry, __ATOMIC_RELAXED);
    if ((uint32_t)known == distance && known) return own.origin + (known >> 32);
    uint64_t second = second_body(address);
    if (second) __atomic_store_n(entry, (second - own.origin) << 32 | distance, __ATOMIC_RELAXED);
    return second;
}

uint64_t rt_body_resolve(uint64_t address) FP_HIDDEN;
/* Called by the second body: where to go instead of an address. */
uint64_t rt_body_resolve(uint64_t address)
{
    const struct rt_pep_local *self = rt_sample_state_here();
    if (!self || !self->samples_left || self->recording) return address;
    uint64_t second = address - own.start < own.size ? resolve_here(address)
                                                     : find_second(rt_this.process, address);
    return second ? second : address;
}
