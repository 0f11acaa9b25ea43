/* The paths in flight of frames that never return.
 *
 * Code built with --fp-exits has marks by which a program counter tells the block,
 * and a stack slot that holds the path register (docs/exits.md). When frames die,
 * whoever notices walks the stack and gives each frame here. Counts are kept per
 * function, block and register value.
 */
#include "rt_unwind.h"

#include <string.h>
#include <sys/mman.h>

RT_SECTION_BOUNDS(struct fp_mark, marks, FP_MARK_SECTION);
RT_SECTION_BOUNDS(struct fp_slot_mark, slots, FP_SLOT_SECTION);

bool rt_has_marks(void)
{
    return &marks_start[0] != &marks_end[0];
}

/* ---- an index of the marks, made at the first need ---- */

struct key {
    uint64_t key; /* address of a mark, or function of a slot */
    const void *mark;
};

struct index {
    size_t nmarks, nslots;
    struct key keys[]; /* marks by address, then slots by function */
};

/* Marks at one address (the end of a block and the start of the next) are in the
 * section in the order in which they stand in the code. */
static bool before(const struct key *a, const struct key *b)
{
    return a->key != b->key ? a->key < b->key : a->mark < b->mark;
}

static void sift(struct key *keys, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(&keys[child], &keys[child + 1])) child++;
        if (!before(&keys[root], &keys[child])) return;
        struct key swap = keys[root];
        keys[root] = keys[child];
        keys[child] = swap;
    }
}

static void sort(struct key *keys, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift(keys, i, n);
    for (size_t i = n; i-- > 1;) {
        struct key swap = keys[0];
        keys[0] = keys[i];
        keys[i] = swap;
        sift(keys, 0, i);
    }
}

static struct index *make_index(void)
{
    size_t nmarks = (size_t)(marks_end - marks_start), nslots = (size_t)(slots_end - slots_start);
    size_t size = sizeof(struct index) + (nmarks + nslots) * sizeof(struct key);
    struct index *index = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (index == MAP_FAILED) return NULL;
    index->nmarks = nmarks;
    index->nslots = nslots;
    for (size_t i = 0; i < nmarks; i++)
        index->keys[i] = (struct key){(uint64_t)&marks_start[i].address + (uint64_t)marks_start[i].address,
                                      &marks_start[i]};
    for (size_t i = 0; i < nslots; i++)
        index->keys[nmarks + i] = (struct key){slots_start[i].function, &slots_start[i]};
    sort(index->keys, nmarks);
    sort(index->keys + nmarks, nslots);
    return index;
}

/* A handler that interrupts this may make one as well; one is kept. */
static const struct index *get_index(void)
{
    static struct index *shared;
    struct index *index = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (index || !rt_has_marks()) return index;
    struct index *made = make_index();
    if (!made) return NULL;
    if (__atomic_compare_exchange_n(&shared, &index, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, sizeof *made + (made->nmarks + made->nslots) * sizeof(struct key));
    return index;
}

/* How many keys are not above `key`. */
static size_t rank(const struct key *keys, size_t n, uint64_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys[middle].key <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- where a frame is ---- */

struct place {
    const struct fp_mark *mark; /* the last one before, in the same function, or NULL */
    bool closed;                /* the next mark is the end of the same block */
};

static bool find_place(const struct rt_frame *frame, struct place *place)
{
    const struct index *index = get_index();
    uint64_t address = frame->regs[RT_RIP] - !frame->interrupted;
    size_t i = index ? rank(index->keys, index->nmarks, address) : 0;
    if (!i || index->keys[i - 1].key < frame->function_start) return false;
    place->mark = index->keys[i - 1].mark;
    const struct fp_mark *next = i < index->nmarks ? index->keys[i].mark : NULL;
    place->closed = next && next->function == place->mark->function &&
                    next->block == (place->mark->block | FP_MARK_END);
    return true;
}

bool rt_place_is_certain(const struct rt_frame *frame)
{
    struct place place;
    struct rt_frame looked = *frame;
    if (!rt_unwind_look(&looked) || !find_place(&looked, &place)) {
        /* before the first mark of a function of ours, or not ours at all */
        const struct index *index = get_index();
        if (!index || !rt_unwind_look(&looked)) return true;
        size_t i = rank(index->keys, index->nmarks, looked.regs[RT_RIP]);
        if (i == index->nmarks) return true;
        uint64_t next = index->keys[i].key;
        struct rt_frame there = {.regs = {[RT_RIP] = next}, .interrupted = true};
        return !rt_unwind_look(&there) || there.function_start != looked.function_start;
    }
    return !(place.mark->block & FP_MARK_END) && place.closed;
}

/* "-8(%rsp)": a number, then a register. */
static bool parse_slot(const char *text, int64_t *offset, unsigned *reg)
{
    static const struct { const char *name; unsigned reg; } names[] = {
        {"(%rsp)", RT_RSP}, {"(%rbp)", RT_RBP}, {"(%rbx)", RT_RBX}, {"(%r12)", 12},
        {"(%r13)", 13},     {"(%r14)", 14},     {"(%r15)", 15}};
    bool negative = *text == '-';
    text += negative;
    for (*offset = 0; *text >= '0' && *text <= '9'; text++) *offset = *offset * 10 + (*text - '0');
    if (negative) *offset = -*offset;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(text, names[i].name, 6)) {
            *reg = names[i].reg;
            return true;
        }
    return false;
}

/* The path register of a frame, or 0 where the function has none. The stack pointer
 * in the body of a function is a fixed distance from its cfa. */
static bool read_register(const struct rt_frame *frame, uint64_t function, uint64_t *value)
{
    const struct index *index = get_index();
    const struct key *slots = index->keys + index->nmarks;
    size_t i = rank(slots, index->nslots, function);
    int64_t offset, distance;
    unsigned reg;
    *value = 0;
    if (!i || slots[i - 1].key != function) return true;
    const struct fp_slot_mark *slot = slots[i - 1].mark;
    uint64_t at = (uint64_t)&slot->address + (uint64_t)slot->address;
    if (!parse_slot(slot->place, &offset, &reg)) return false;
    uint64_t base = frame->regs[reg];
    if (reg == RT_RSP && rt_unwind_cfa_offset(at, &distance)) base = frame->cfa - (uint64_t)distance;
    return rt_read_word(frame, base + (uint64_t)offset, value);
}

struct left {
    uint64_t function, block, reg;
};

/* needs: a frame that was looked at. */
static bool identify_frame(const struct rt_frame *frame, struct left *left)
{
    struct place place;
    if (!find_place(frame, &place) || place.mark->block & FP_MARK_END) return false;
    left->function = place.mark->function;
    left->block = place.mark->block;
    return read_register(frame, left->function, &left->reg);
}

/* ---- counts of what was left ---- */

enum { TABLE_SIZE = 1 << 14, PLACES = 64 };

struct left_count {
    uint32_t state; /* EMPTY, BUSY while the key is filled in, READY */
    struct left left;
    int64_t count;
};

enum { EMPTY, BUSY, READY };

struct left_table {
    struct left_table *more;
    struct left_count entries[TABLE_SIZE];
};

static struct left_table *left_tables;

static struct left_table *next_table(struct left_table **link)
{
    struct left_table *table = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    if (table) return table;
    struct left_table *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return NULL;
    rt_hide_from_helgrind(made, sizeof *made);
    if (__atomic_compare_exchange_n(link, &table, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, sizeof *made);
    return table;
}

static bool count_in_entry(struct left_count *entry, const struct left *left, int64_t weight)
{
    uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
    if (state == EMPTY && __atomic_compare_exchange_n(&entry->state, &state, BUSY, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        entry->left = *left;
        __atomic_store_n(&entry->state, READY, __ATOMIC_RELEASE);
        state = READY;
    }
    if (state != READY || memcmp(&entry->left, left, sizeof *left)) return false;
    __atomic_fetch_add(&entry->count, weight, __ATOMIC_RELAXED);
    return true;
}

/* An entry that somebody else is filling in is passed over: the same key may then be
 * there twice, and readers add up. */
static void count_left(const struct left *left, int64_t weight)
{
    uint64_t at = rt_checksum(left, sizeof *left, 0);
    struct left_table **link = &left_tables;
    for (struct left_table *table; (table = next_table(link)); link = &table->more)
        for (uint64_t i = 0; i < PLACES; i++)
            if (count_in_entry(&table->entries[(at + i) % TABLE_SIZE], left, weight)) return;
}

bool rt_frame_left(const struct rt_frame *frame, int64_t weight)
{
    struct left left;
    if (!rt_has_marks() || !identify_frame(frame, &left)) return false;
    count_left(&left, weight);
    return true;
}

void rt_frames_left(const struct rt_frame *start, uint64_t until, int64_t weight)
{
    struct rt_process *process = rt_this.process;
    struct rt_frame frame = *start;
    while (rt_unwind_look(&frame)) {
        for (size_t i = 0; process && i < RT_MOST_MODULES; i++) {
            struct rt_module *module = __atomic_load_n(&process->modules[i], __ATOMIC_ACQUIRE);
            if (module && module->frame_left(&frame, weight)) break;
        }
        if (frame.cfa > until || !rt_unwind_step(&frame)) return;
    }
}

/* ---- for the profile ---- */

static void put_left(struct rt_buffer *out, const struct left *left, int64_t count)
{
    rt_put_u64(out, left->function);
    rt_put_uint(out, left->block);
    rt_put_u64(out, left->reg);
    rt_put_int(out, count);
}

uint64_t rt_in_flight_now(struct rt_buffer *out, const struct rt_frame *start)
{
    uint64_t count = 0;
    struct rt_frame frame = *start;
    while (rt_has_marks() && rt_unwind_look(&frame)) {
        struct left left;
        if (identify_frame(&frame, &left)) {
            put_left(out, &left, 1);
            count++;
        }
        if (!rt_unwind_step(&frame)) break;
    }
    return count;
}

uint64_t rt_in_flight_left(struct rt_buffer *out)
{
    uint64_t count = 0;
    for (struct left_table *table = left_tables; table; table = table->more)
        for (size_t i = 0; i < TABLE_SIZE; i++) {
            const struct left_count *entry = &table->entries[i];
            if (entry->state != READY || !entry->count) continue;
            put_left(out, &entry->left, entry->count);
            count++;
        }
    return count;
}

void rt_in_flight_clear(void)
{
    for (struct left_table *table = left_tables; table; table = table->more)
        for (size_t i = 0; i < TABLE_SIZE; i++) table->entries[i].count = 0;
}
