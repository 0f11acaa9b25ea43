/* See predictor.h. History is folded into the widths of indices and tags as it grows, as
 * in the papers: each folded word is the exclusive or of its slices of the history. */
#include "predictor.h"

#include <stdlib.h>

enum {
    TABLES = 12,       /* tagged tables for conditional branches */
    TARGET_TABLES = 8, /* tagged tables for targets: those of every history but the longest */
    BASE_BITS = 14,
    INDEX_BITS = 11,
    TARGET_BASE_BITS = 12,
    TARGET_INDEX_BITS = 10,
    TAG_BITS = 13,  /* this, one less and INDEX_BITS have no common factor: places repeat late */
    HISTORY = 1024, /* a power of two above the longest length */
    INDIRECT_BITS = 6,
    CALL_BITS = 2,
    RETURNS = 32,
    AGE_EVERY = 1 << 18, /* allocations after which useful bits fade */
};

/* geometric, from 4 to 640 */
static const uint16_t lengths[TABLES] = {4, 6, 10, 16, 25, 40, 64, 101, 160, 254, 403, 640};

struct entry {
    uint16_t tag;
    int8_t counter; /* -4..3; taken from 0 */
    uint8_t useful; /* 0..3 */
};

struct target_entry {
    uint64_t target;
    uint16_t tag;
    uint8_t confidence; /* 0..3 */
    uint8_t useful;     /* 0..1 */
};

struct folded {
    uint32_t word;
    uint8_t width, out; /* out: where the bit that leaves the history lies */
};

struct tage {
    int8_t base[1 << BASE_BITS]; /* -2..1 */
    struct entry tables[TABLES][1 << INDEX_BITS];
    uint64_t last_target[1 << TARGET_BASE_BITS];
    struct target_entry targets[TARGET_TABLES][1 << TARGET_INDEX_BITS];
    struct folded index[TABLES], tag[TABLES], tag2[TABLES];
    uint8_t history[HISTORY];
    uint32_t newest;
    int32_t alternate; /* 0 or above: new entries do worse than what they replace */
    uint32_t allocations, random;
    uint64_t returns[RETURNS];
    uint32_t top;
};

static void set_fold(struct folded *f, unsigned length, unsigned width)
{
    f->width = (uint8_t)width;
    f->out = (uint8_t)(length % width);
}

struct tage *tage_new(void)
{
    struct tage *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    for (int i = 0; i < TABLES; i++) {
        set_fold(&t->index[i], lengths[i], INDEX_BITS);
        set_fold(&t->tag[i], lengths[i], TAG_BITS);
        set_fold(&t->tag2[i], lengths[i], TAG_BITS - 1);
    }
    t->random = 1;
    return t;
}

void tage_free(struct tage *t)
{
    free(t);
}

/* One more bit; the one that is `length` old leaves. */
static void fold(struct folded *f, uint32_t in, uint32_t out)
{
    f->word = (f->word << 1) | in;
    f->word ^= out << f->out;
    f->word ^= f->word >> f->width;
    f->word &= (1u << f->width) - 1;
}

static void push_bit(struct tage *t, uint32_t bit)
{
    t->newest = (t->newest - 1) & (HISTORY - 1);
    t->history[t->newest] = (uint8_t)bit;
    for (int i = 0; i < TABLES; i++) {
        uint32_t out = t->history[(t->newest + lengths[i]) & (HISTORY - 1)];
        fold(&t->index[i], bit, out);
        fold(&t->tag[i], bit, out);
        fold(&t->tag2[i], bit, out);
    }
}

/* Addresses differ in their low bits; the multiplication spreads them over all. */
static uint32_t mix(uint64_t at)
{
    return (uint32_t)((at * 0x9e3779b97f4a7c15u) >> 32);
}

static void push_bits(struct tage *t, uint32_t bits, int count)
{
    for (int i = 0; i < count; i++) push_bit(t, bits >> i & 1);
}

static uint32_t place(const struct tage *t, int i, uint64_t at, unsigned bits)
{
    uint32_t where = mix(at);
    return (t->index[i].word ^ where ^ (where >> (i + 1))) & ((1u << bits) - 1);
}

static uint16_t tag_of(const struct tage *t, int i, uint64_t at)
{
    return (uint16_t)((mix(at) >> 16 ^ t->tag[i].word ^ t->tag2[i].word << 1) &
                      ((1u << TAG_BITS) - 1));
}

static uint32_t next_random(struct tage *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 17;
    t->random ^= t->random << 5;
    return t->random;
}

static void step(int8_t *counter, bool up, int least, int most)
{
    if (up && *counter < most) ++*counter;
    if (!up && *counter > least) --*counter;
}

/* What the tables say of one conditional branch. */
struct opinion {
    struct entry *entries[TABLES];
    uint16_t tags[TABLES];
    int provider, other; /* the two longest histories with an entry; -1: the base */
    bool provided, otherwise, prediction;
};

static bool taken_by(const struct opinion *o, int table, bool base)
{
    return table < 0 ? base : o->entries[table]->counter >= 0;
}

static bool is_new(const struct entry *e)
{
    return e->useful == 0 && (e->counter == 0 || e->counter == -1);
}

static void ask(struct tage *t, uint64_t at, struct opinion *o)
{
    bool base = t->base[mix(at) & ((1 << BASE_BITS) - 1)] >= 0;
    o->provider = o->other = -1;
    for (int i = 0; i < TABLES; i++) {
        o->entries[i] = &t->tables[i][place(t, i, at, INDEX_BITS)];
        o->tags[i] = tag_of(t, i, at);
        if (o->entries[i]->tag != o->tags[i]) continue;
        o->other = o->provider;
        o->provider = i;
    }
    o->provided = taken_by(o, o->provider, base);
    o->otherwise = taken_by(o, o->other, base);
    bool doubt = o->provider >= 0 && is_new(o->entries[o->provider]) && t->alternate >= 0;
    o->prediction = doubt ? o->otherwise : o->provided;
}

/* Useful bits fade, so that entries of code that no longer runs can be taken. */
static void fade(struct tage *t)
{
    if (++t->allocations % AGE_EVERY) return;
    for (int i = 0; i < TABLES; i++)
        for (int j = 0; j < 1 << INDEX_BITS; j++) t->tables[i][j].useful >>= 1;
}

/* A longer history gets an entry, if one of its tables has a useless one. */
static void allocate(struct tage *t, struct opinion *o, bool taken)
{
    int first = o->provider + 1 + (int)(next_random(t) % 2);
    if (first >= TABLES) first = o->provider + 1;
    fade(t);
    for (int i = first; i < TABLES; i++) {
        struct entry *e = o->entries[i];
        if (e->useful) continue;
        *e = (struct entry){.tag = o->tags[i], .counter = taken ? 0 : -1};
        return;
    }
    for (int i = first; i < TABLES; i++) o->entries[i]->useful--;
}

static void learn(struct tage *t, uint64_t at, struct opinion *o, bool taken)
{
    if (o->provider >= 0) {
        struct entry *e = o->entries[o->provider];
        if (is_new(e) && o->provided != o->otherwise) {
            bool worse = o->otherwise == taken;
            if (worse && t->alternate < 7) t->alternate++;
            if (!worse && t->alternate > -8) t->alternate--;
        }
        if (o->provided != o->otherwise) {
            if (o->provided == taken && e->useful < 3) e->useful++;
            if (o->provided != taken && e->useful > 0) e->useful--;
        }
        step(&e->counter, taken, -4, 3);
    } else {
        step(&t->base[mix(at) & ((1 << BASE_BITS) - 1)], taken, -2, 1);
    }
    if (o->prediction != taken && o->provider < TABLES - 1) allocate(t, o, taken);
}

static bool conditional(struct tage *t, const struct tage_branch *b)
{
    struct opinion o;
    ask(t, b->at, &o);
    learn(t, b->at, &o, b->taken);
    push_bit(t, b->taken);
    return o.prediction != b->taken;
}

static void allocate_target(struct tage *t, const struct tage_branch *b, int provider)
{
    int first = provider + 1 + (int)(next_random(t) % 2);
    for (int i = first; i < TARGET_TABLES; i++) {
        struct target_entry *e = &t->targets[i][place(t, i, b->at, TARGET_INDEX_BITS)];
        if (e->useful) {
            if (next_random(t) % 4 == 0) e->useful = 0;
            continue;
        }
        *e = (struct target_entry){.target = b->target, .tag = tag_of(t, i, b->at)};
        return;
    }
}

static void learn_target(struct target_entry *e, uint64_t target, uint64_t otherwise)
{
    if (e->target == target) {
        if (e->confidence < 3) e->confidence++;
        if (otherwise != target) e->useful = 1;
    } else if (e->confidence > 0) {
        e->confidence--;
    } else {
        e->target = target;
        e->useful = 0;
    }
}

static bool indirect(struct tage *t, const struct tage_branch *b)
{
    uint64_t *last = &t->last_target[mix(b->at) & ((1 << TARGET_BASE_BITS) - 1)];
    uint64_t otherwise = *last, provided = *last;
    struct target_entry *provider = NULL;
    int which = -1;
    for (int i = 0; i < TARGET_TABLES; i++) {
        struct target_entry *e = &t->targets[i][place(t, i, b->at, TARGET_INDEX_BITS)];
        if (e->tag != tag_of(t, i, b->at) || !e->target) continue;
        otherwise = provided;
        provided = e->target;
        provider = e;
        which = i;
    }
    /* a new entry has not been right yet */
    uint64_t prediction = provider && provider->confidence == 0 ? otherwise : provided;
    bool wrong = prediction != b->target;
    if (provider) learn_target(provider, b->target, otherwise);
    *last = b->target;
    if (wrong) allocate_target(t, b, which);
    push_bits(t, mix(b->target), INDIRECT_BITS);
    return wrong;
}

static bool returns(struct tage *t, uint64_t target)
{
    t->top = (t->top - 1) % RETURNS;
    return t->returns[t->top] != target;
}

bool tage_branch(struct tage *t, const struct tage_branch *b)
{
    bool wrong = false;
    switch (b->kind) {
    case TAGE_CONDITIONAL: wrong = conditional(t, b); break;
    case TAGE_INDIRECT: wrong = indirect(t, b); break;
    case TAGE_RETURN: wrong = returns(t, b->target); break;
    case TAGE_DIRECT:
        if (b->behind) push_bits(t, mix(b->at), CALL_BITS);
        break;
    case TAGE_KINDS: break;
    }
    if (b->behind) {
        t->returns[t->top] = b->behind;
        t->top = (t->top + 1) % RETURNS;
    }
    return wrong;
}
