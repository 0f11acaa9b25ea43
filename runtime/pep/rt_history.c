/* Keeps what came before samples: see rt_history.h, and docs/pep.md.
 *
 * The samples of a tick are consecutive path ends of a thread. So the path that ended last in
 * the same call of a function is known, and is the one before. A call is known by its frame:
 * the cfa, from the unwind tables at the place of the path end. Places are few, so a cache has
 * what the tables say. The return address lies right below the cfa.
 *
 * Reading the tables calls libc, which uses floating-point registers. Code that calls the
 * runtime, instrumented or in the second body, does not expect that. So there a place that is new
 * is only noted; the handler of the next tick looks it up, and until then its path ends have no
 * history. A path end in the second body is looked up as one in the first.
 *
 * Each thread has a table of its own, which only this thread writes to: no locks, no
 * allocation but one mapping. It has three levels. A key that finds its places in a level
 * taken goes to the next; one that finds no place at all is dropped, and that is counted.
 *
 * Not handled: frames whose cfa is not rsp or rbp and an offset (they have no history); a
 * handler that samples while it interrupts this code (its samples have none).
 */
#include "pep/rt_history.h"

#include "core/rt_unwind.h"
#include "footpath/profile_abi.h"

enum { MOST_ACTIVE = 32, CACHED_BITS = 10, LEVELS = 3, PLACES = 8 };
static const uint32_t level_size[LEVELS] = {1 << 10, 1 << 12, 1 << 14};

struct active_call {
    uint64_t cfa, counters;
    uint64_t path, lap; /* that ended last in it */
    bool has_path, has_lap;
};

enum way_state { WAY_WANTED, WAY_KNOWN, WAY_NOT_KNOWN };

struct cached_way {
    uint64_t pc; /* 0: empty */
    struct rt_way way;
    enum way_state state;
};

/* A pair, or a caller. The key is all but the count. */
struct history_entry {
    uint64_t kind;     /* of enum fp_history_kind, and RT_TAKEN: 0 is an empty entry */
    uint64_t counters; /* address */
    uint64_t id;
    uint64_t other; /* the path before; or the return address */
    uint64_t code;  /* of a caller: where the code of the frame begins */
    uint64_t count;
};

enum { RT_TAKEN = 1 << 8 };

struct rt_history {
    uint32_t busy, forgotten;
    uint32_t nactive; /* calls that were seen since the tick, the innermost last */
    uint64_t dropped;
    uint32_t used[LEVELS]; /* some entry of the level is taken */
    struct active_call active[MOST_ACTIVE];
    uint32_t wanted; /* places that are to be looked up */
    struct cached_way cache[1 << CACHED_BITS];
    struct history_entry entries[(1 << 10) + (1 << 12) + (1 << 14)];
};

/* ---- the table ---- */

static uint64_t hash_of(const struct history_entry *key)
{
    uint64_t h = key->kind ^ key->counters;
    h = (h ^ key->id) * FP_HASH_FACTOR;
    h = ((h ^ h >> 29) ^ key->other) * FP_HASH_FACTOR;
    h = ((h ^ h >> 32) ^ key->code) * FP_HASH_FACTOR;
    return h ^ h >> 31;
}

static bool is_key(const struct history_entry *entry, const struct history_entry *key)
{
    return entry->kind == key->kind && entry->counters == key->counters && entry->id == key->id &&
           entry->other == key->other && entry->code == key->code;
}

/* Others read while this thread writes: an entry counts when its count is not 0. */
static bool count_at(struct history_entry *entry, const struct history_entry *key)
{
    if (!entry->kind) {
        *entry = *key;
        entry->count = 0;
    } else if (!is_key(entry, key)) {
        return false;
    }
    __atomic_store_n(&entry->count, entry->count + 1, __ATOMIC_RELEASE);
    return true;
}

static void count(struct rt_history *h, struct history_entry key)
{
    key.kind |= RT_TAKEN;
    uint64_t hash = hash_of(&key);
    struct history_entry *level = h->entries;
    for (int i = 0; i < LEVELS; level += level_size[i++])
        for (uint32_t k = 0; k < PLACES; k++)
            if (count_at(&level[(hash + k) & (level_size[i] - 1)], &key)) {
                __atomic_store_n(&h->used[i], 1, __ATOMIC_RELEASE);
                return;
            }
    __atomic_store_n(&h->dropped, h->dropped + 1, __ATOMIC_RELAXED);
}

/* ---- calls ---- */

static void look_up(struct cached_way *cached)
{
    bool known = rt_unwind_way(cached->pc, &cached->way) && cached->way.simple;
    cached->state = known ? WAY_KNOWN : WAY_NOT_KNOWN;
}

/* A place takes the first of its slots that is free, or else the first one. */
static struct cached_way *way_at(struct rt_history *h, uint64_t pc, bool may_look)
{
    uint64_t hash = (pc * FP_HASH_FACTOR) >> (64 - CACHED_BITS);
    struct cached_way *slot = NULL;
    for (uint32_t k = 0; k < PLACES; k++) {
        struct cached_way *cached = &h->cache[(hash + k) & ((1 << CACHED_BITS) - 1)];
        if (cached->pc == pc) return cached;
        if (!cached->pc) {
            slot = cached;
            break;
        }
    }
    if (!slot) slot = &h->cache[hash];
    slot->pc = pc;
    slot->state = WAY_WANTED;
    if (may_look)
        look_up(slot);
    else
        h->wanted++;
    return slot;
}

/* Moves a call to the place of another. A loop of plain assignments would become a call of libc's
 * memmove, which uses floating-point registers. */
static void move_call(struct active_call *to, const struct active_call *from)
{
    *to = *from;
    __asm__ volatile("" ::: "memory");
}

/* The call with this frame, made if need be. Deeper ones have ended. Functions that were inlined
 * into one another are in one frame. */
static struct active_call *call_at(struct rt_history *h, uint64_t cfa, uint64_t counters)
{
    while (h->nactive && h->active[h->nactive - 1].cfa < cfa) h->nactive--;
    for (uint32_t i = h->nactive; i-- && h->active[i].cfa == cfa;)
        if (h->active[i].counters == counters) return &h->active[i];
    if (h->nactive == MOST_ACTIVE) {
        for (uint32_t i = 1; i < MOST_ACTIVE; i++) move_call(&h->active[i - 1], &h->active[i]);
        h->nactive--;
    }
    struct active_call *call = &h->active[h->nactive++];
    *call = (struct active_call){.cfa = cfa, .counters = counters};
    return call;
}

static void end_call(struct rt_history *h, struct active_call *call)
{
    for (; call + 1 < h->active + h->nactive; call++) move_call(call, call + 1);
    h->nactive--;
}

/* What came before a sample, and the caller. */
static void count_both(struct rt_history *h, const struct rt_ending *end,
                       const struct active_call *call, uint64_t cfa, uint64_t code)
{
    struct history_entry key = {
        .kind = end->hashed ? FP_HISTORY_HASHED : 0, .counters = end->counters, .id = end->id};
    bool known = end->lap ? call->has_lap : call->has_path;
    if (known) {
        key.other = end->lap ? call->lap : call->path;
        count(h, key);
    }
    key.kind |= FP_HISTORY_CALLER;
    key.other = *(const uint64_t *)(cfa - sizeof(uint64_t));
    key.code = code;
    count(h, key);
}

/* A lap ends within a path, so each has its own kind before it. Where paths are counted in a hash
 * table, laps have an array: a call of its own, as it were. */
static void note(struct rt_history *h, const struct rt_ending *end, bool counted)
{
    const struct cached_way *at = way_at(h, end->pc, end->in_handler);
    if (at->state != WAY_KNOWN) {
        h->nactive = 0; /* whose path this is is not known */
        return;
    }
    uint64_t cfa = (at->way.cfa_by_rbp ? end->bp : end->sp) + (uint64_t)(int64_t)at->way.cfa;
    struct active_call *call = call_at(h, cfa, end->counters);
    if (counted) count_both(h, end, call, cfa, at->way.function_start);
    if (end->lap)
        call->lap = end->id, call->has_lap = true;
    else
        call->path = end->id, call->has_path = true, call->has_lap = false;
    if (end->last) end_call(h, call);
}

void rt_history_ending(struct rt_history **link, const struct rt_ending *end, bool counted)
{
    struct rt_history *h = rt_settings.history ? __atomic_load_n(link, __ATOMIC_ACQUIRE) : NULL;
    if (!h && rt_settings.history) h = rt_map_once((void **)link, sizeof *h);
    if (!h || h->busy) return;
    h->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (h->forgotten) h->forgotten = h->nactive = 0;
    note(h, end, counted);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    h->busy = 0;
}

bool rt_history_way(uint64_t pc, struct rt_way *way)
{
    return pc >= rt_identity->low && pc < rt_identity->high && rt_unwind_way(pc, way);
}

/* The thread may have left the module of the place, and another thread may be unloading it. Such a
 * module offers no way any more. needs: rt_traps_hold. */
static void look_up_elsewhere(const struct rt_process *process, struct cached_way *cached)
{
    bool known = false;
    for (size_t i = 0; !known && i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        known = module && module->way_at && module->way_at(cached->pc, &cached->way);
    }
    cached->state = known && cached->way.simple ? WAY_KNOWN : WAY_NOT_KNOWN;
}

void rt_history_tick(struct rt_history *h, bool may_look)
{
    rt_history_forget(h);
    if (!may_look || !h || !h->wanted || h->busy) return;
    h->wanted = 0;
    rt_traps_hold(rt_this.process);
    for (uint32_t i = 0; i < 1 << CACHED_BITS; i++)
        if (h->cache[i].pc && h->cache[i].state == WAY_WANTED)
            look_up_elsewhere(rt_this.process, &h->cache[i]);
    rt_traps_release(rt_this.process);
}

void rt_history_forget(struct rt_history *history)
{
    if (history) history->forgotten = 1; /* this may be a handler that interrupts the above */
}

/* ---- all threads ---- */

static bool is_within(const struct rt_range *range, uint64_t address)
{
    return address >= (uint64_t)range->start && address < (uint64_t)range->end;
}

static bool is_ours(const struct history_entry *entry)
{
    bool hashed = entry->kind & FP_HISTORY_HASHED;
    return entry->kind &&
           is_within(&rt_this.ranges[hashed ? RT_TABLES : RT_COUNTERS], entry->counters);
}

typedef void entry_call(struct history_entry *entry, void *context);

/* Pages of a level that nobody used are not touched. */
static void each_of(struct rt_history *h, entry_call *call, void *context)
{
    struct history_entry *level = h->entries;
    for (int i = 0; i < LEVELS; level += level_size[i++]) {
        if (!__atomic_load_n(&h->used[i], __ATOMIC_ACQUIRE)) continue;
        for (uint32_t k = 0; k < level_size[i]; k++)
            if (__atomic_load_n(&level[k].count, __ATOMIC_ACQUIRE) && is_ours(&level[k]))
                call(&level[k], context);
    }
}

/* One module of all tells what was dropped. */
static bool tells_dropped(void)
{
    return rt_this.process && rt_this.process->pep.sampler == &rt_local.pep;
}

/* Calls with every entry of this module that counts; gives how many were dropped, by all
 * modules. */
static uint64_t each_entry(entry_call *call, bool forget_dropped, void *context)
{
    struct rt_process *process = rt_this.process;
    uint64_t dropped = 0;
    if (!process || !process->pep.sampler) return 0;
    for (uint32_t i = 0; i <= process->threads.nregions; i++) {
        int64_t bias = i ? process->threads.regions[i - 1].bias : 0;
        const struct rt_pep_local *local =
            (const struct rt_pep_local *)((const char *)process->pep.sampler + bias);
        struct rt_history *h = __atomic_load_n(&local->history, __ATOMIC_ACQUIRE);
        if (!h) continue;
        dropped += __atomic_load_n(&h->dropped, __ATOMIC_RELAXED);
        if (forget_dropped) __atomic_store_n(&h->dropped, 0, __ATOMIC_RELAXED);
        each_of(h, call, context);
    }
    return dropped;
}

static void note_one(struct history_entry *entry, void *context)
{
    (void)entry;
    *(bool *)context = true;
}

bool rt_history_has(void)
{
    bool has = false;
    each_entry(note_one, false, &has);
    return has;
}

struct history_put {
    struct rt_buffer *out;
    uint64_t count;
};

/* An address in this module as linked, or 0: it is another module's. Calls in the second body come
 * from where they come from in the first. */
static uint64_t link_address(uint64_t address)
{
    if (rt_body_is_here()) address = rt_body_first(address);
    bool here = address >= rt_identity->low && address < rt_identity->high;
    return here ? address - rt_identity->load_bias : 0;
}

static void put_entry(struct history_entry *entry, void *context)
{
    struct history_put *put = context;
    bool caller = entry->kind & FP_HISTORY_CALLER, hashed = entry->kind & FP_HISTORY_HASHED;
    uint64_t first = (uint64_t)rt_this.ranges[hashed ? RT_TABLES : RT_COUNTERS].start;
    rt_put_uint(put->out, entry->kind & ~(uint64_t)RT_TAKEN);
    rt_put_uint(put->out, (entry->counters - first) /
                              (hashed ? (uint64_t)FP_HASH_TABLE_SIZE : sizeof(uint64_t)));
    rt_put_uint(put->out, entry->id);
    rt_put_uint(put->out, caller ? link_address(entry->other) : entry->other);
    if (caller) rt_put_uint(put->out, link_address(entry->code));
    rt_put_uint(put->out, __atomic_load_n(&entry->count, __ATOMIC_RELAXED));
    put->count++;
}

/* The same key comes once for each thread that has it; the reader adds up. */
void rt_history_put(struct rt_buffer *out)
{
    struct rt_buffer entries = {0};
    struct history_put put = {.out = &entries};
    uint64_t dropped = each_entry(put_entry, false, &put);
    rt_put_uint(out, tells_dropped() ? dropped : 0);
    rt_put_uint(out, put.count);
    rt_put_bytes(out, entries.bytes, entries.len);
    out->failed |= entries.failed;
    rt_buffer_free(&entries);
}

static void clear_entry(struct history_entry *entry, void *context)
{
    (void)context;
    __atomic_store_n(&entry->count, 0, __ATOMIC_RELAXED);
}

void rt_history_clear(void)
{
    each_entry(clear_entry, tells_dropped(), NULL);
}
