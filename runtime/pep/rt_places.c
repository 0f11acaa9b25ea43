/* The places of this module where samples are taken, and the traps there.
 *
 * A large program has tens of thousands of places, and a tick needs few of them. So a tick
 * puts traps where calls begin, and into the functions that are active: the one that the
 * thread is in, and those that a word on its stack could be a return address of. A function
 * that is called later gets its traps when the trap at its beginning is hit. A function has
 * traps at all its places or only where calls begin. So once the beginning of a call was
 * seen, no path end of the call is missed. Functions whose code lies in one another (inlined
 * after the plugin had seen them) form a group and get their traps together.
 *
 * Only the stores into code are atomic: a thread that arms has the lock and blocks all
 * signals.
 *
 * A function with an instruction that cannot be copied (rt_slot.c) at one of its places is not
 * sampled.
 *
 * Not handled: stacks deeper than 64 KB. A function whose frame lies further out gets its
 * traps at a tick that finds it further in.
 */
#include "pep/rt_places.h"

#include "core/rt_order.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

RT_SECTION_BOUNDS(struct fp_site, sites, FP_SITE_SECTION);

enum { PAGE = 4096, MOST_STACK = 64 << 10, TAIL = 64 << 10, LINE_BITS = 7 };

/* Bytes of code that become traps, by distance from the first place. */
struct site_bytes {
    uint32_t *at;
    unsigned char *original;
    size_t count;
};

enum { UNARMED, ARMED, ALWAYS, NEVER };

struct group {
    uint32_t place, byte; /* its first; it ends where the next one begins */
    unsigned char armed;
    bool ready;
};

static struct {
    struct rt_place *places; /* by address */
    size_t count;
    uint64_t base;
    uint32_t *lines;          /* the first place of each 128 bytes of code, or behind them */
    struct site_bytes all;    /* without repetition */
    struct site_bytes starts; /* those that are traps from the tick on */
    struct group *groups;
    uint32_t ngroups;
    uint32_t *armed_groups, narmed;
    unsigned char *slots;
    unsigned char trap; /* the byte of a trap */
    uint64_t *stack;    /* a copy to look at */
    uint32_t armed;
    bool made; /* all of the above */
    bool failed;
} table;

static void *room(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- places, by address ---- */

static int16_t register_named(const char *place)
{
    static const struct {
        char name[5];
        int16_t reg;
    } names[] = {{"%rsp", REG_RSP}, {"%rax", REG_RAX}, {"%rbx", REG_RBX}, {"%rcx", REG_RCX},
                 {"%rdx", REG_RDX}, {"%rsi", REG_RSI}, {"%rdi", REG_RDI}, {"%rbp", REG_RBP},
                 {"%r8", REG_R8},   {"%r9", REG_R9},   {"%r10", REG_R10}, {"%r11", REG_R11},
                 {"%r12", REG_R12}, {"%r13", REG_R13}, {"%r14", REG_R14}, {"%r15", REG_R15}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(names[i].name, place, 4)) return names[i].reg;
    return -1;
}

/* 24(%rsp) */
static void read_frame(struct rt_place *place, const char *text)
{
    bool negative = *text == '-';
    size_t i = negative;
    int32_t offset = 0;
    for (; i < 11 && text[i] >= '0' && text[i] <= '9'; i++) offset = offset * 10 + text[i] - '0';
    place->frame_offset = negative ? -offset : offset;
    place->frame_reg = text[i] == '(' ? register_named(text + i + 1) : -1;
}

/* Several sites at one address lie in the section in the order in which they happen. */
static bool before(const void *first, const void *second)
{
    const struct rt_place *a = first, *b = second;
    return a->address != b->address ? a->address < b->address : a->site < b->site;
}

static uint64_t last_address(void)
{
    return table.places[table.count - 1].address;
}

static bool find_places(void)
{
    size_t n = (size_t)(sites_end - sites_start);
    struct rt_place *places = room(n * sizeof *places);
    bool sorted = true; /* linkers leave them in the order of the code */
    if (!places) return false;
    n = 0;
    for (const struct fp_site *site = sites_start; site < sites_end; site++) {
        if (site->flags & FP_SITE_VALUE) continue; /* targets are not worth a signal each */
        size_t i = n++;
        uint64_t address = (uint64_t)&site->address + (uint64_t)site->address;
        places[i].address = address;
        places[i].site = site;
        places[i].original = *(const unsigned char *)address;
        sorted &= !i || before(&places[i - 1], &places[i]);
    }
    if (!n) return false;
    if (!sorted) rt_sort(places, n, sizeof *places, before);
    for (size_t i = 1; i < n; i++) places[i - 1].more = places[i - 1].address == places[i].address;
    table.places = places;
    table.count = n;
    table.base = places[0].address;
    return last_address() - table.base < UINT32_MAX;
}

static bool find_lines(void)
{
    size_t i = 0, n = ((last_address() - table.base) >> LINE_BITS) + 1;
    table.lines = room((n + 1) * sizeof *table.lines);
    for (size_t line = 0; table.lines && line <= n; line++) {
        while (i < table.count && (table.places[i].address - table.base) >> LINE_BITS < line) i++;
        table.lines[line] = (uint32_t)i;
    }
    return table.lines;
}

const struct rt_place *rt_places_at(uint64_t address)
{
    uint64_t line = (address - table.base) >> LINE_BITS;
    if (!table.made || address < table.base || address > last_address()) return NULL;
    const struct rt_place *place = &table.places[table.lines[line]];
    while (place->address < address) place++;
    return place->address == address ? place : NULL;
}

/* ---- groups ---- */

struct function {
    uint32_t id;
    uint32_t last; /* place, + 1 */
    bool starts;
};

struct functions {
    struct function *at;
    size_t size; /* a power of two */
};

static struct function *function_of(const struct functions *all, const struct rt_place *place)
{
    uint32_t id = place->site->function;
    size_t i = (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (all->size - 1);
    while (all->at[i].last && all->at[i].id != id) i = (i + 1) & (all->size - 1);
    all->at[i].id = id;
    return &all->at[i];
}

static bool continues(size_t i)
{
    const struct rt_place *place = &table.places[i];
    return i && (place[-1].more || place[-1].site->function == place->site->function);
}

static bool make_functions(struct functions *all)
{
    size_t runs = 1;
    for (size_t i = 1; i < table.count; i++)
        runs += table.places[i].site->function != table.places[i - 1].site->function;
    all->size = 16;
    while (all->size < 2 * runs) all->size *= 2;
    all->at = room(all->size * sizeof *all->at);
    table.groups = room((runs + 1) * sizeof *table.groups);
    table.armed_groups = room(runs * sizeof *table.armed_groups);
    return all->at && table.groups && table.armed_groups;
}

/* The function of a place: mostly the function of the place before, `last`. */
static struct function *next_function(const struct functions *all, struct function *last,
                                      const struct rt_place *place)
{
    return last && last->id == place->site->function ? last : function_of(all, place);
}

/* A function whose places come again joins all groups that began meanwhile to its own. */
static void make_groups(const struct functions *all)
{
    struct function *function = NULL;
    for (size_t i = 0; i < table.count; i++) {
        function = next_function(all, function, &table.places[i]);
        if (!continues(i)) table.groups[table.ngroups++] = (struct group){.place = (uint32_t)i};
        while (function->last && table.groups[table.ngroups - 1].place >= function->last)
            table.ngroups--;
        function->last = (uint32_t)i + 1;
        function->starts |= (table.places[i].site->flags & FP_SITE_START) != 0;
    }
    for (uint32_t g = 0; g < table.ngroups; g++) {
        size_t end = g + 1 < table.ngroups ? table.groups[g + 1].place : table.count;
        for (size_t i = table.groups[g].place; i < end; i++) table.places[i].group = g;
    }
}

static bool make_bytes(struct site_bytes *bytes)
{
    bytes->at = room(table.count * sizeof *bytes->at);
    bytes->original = room(table.count);
    return bytes->at && bytes->original;
}

static void add_byte(struct site_bytes *bytes, const struct rt_place *place)
{
    uint32_t at = (uint32_t)(place->address - table.base);
    if (bytes->count && bytes->at[bytes->count - 1] == at) return;
    bytes->at[bytes->count] = at;
    bytes->original[bytes->count++] = place->original;
}

/* Maps the slots near the code: a jump reaches 2 GB. */
static unsigned char *map_slots(uint64_t first, uint64_t last, size_t size)
{
    enum { GAP = 16 << 20 };
    const uint64_t reach = ((uint64_t)1 << 31) - PAGE;
    for (int low = 0; low < 2; low++) {
        void *hint = !low && first > size + 2 * GAP
                         ? (void *)((first - size - GAP) & ~(uint64_t)(PAGE - 1))
                         : NULL;
        unsigned char *slots = mmap(hint, size, PROT_READ | PROT_EXEC,
                                    MAP_PRIVATE | MAP_ANONYMOUS | (low ? MAP_32BIT : 0), -1, 0);
        if (slots == MAP_FAILED) continue;
        uint64_t start = (uint64_t)slots < first ? (uint64_t)slots : first;
        uint64_t end = (uint64_t)slots + size > last ? (uint64_t)slots + size : last;
        if (end - start < reach) return slots;
        munmap(slots, size);
    }
    return NULL;
}

static bool protect(const void *from, const void *to, int protection)
{
    uint64_t start = (uint64_t)from & ~(uint64_t)(PAGE - 1);
    return mprotect((void *)start, (uint64_t)to - start, protection) == 0;
}

/* Sites that share an address share its trap, and the first of them has the copy. There may be a
 * trap already when the others are made ready. */
static bool has_copy(const struct rt_place *place)
{
    return place == table.places || !place[-1].more;
}

/* False: the instruction there cannot be copied. */
static bool make_ready(struct rt_place *place, bool slots)
{
    unsigned char *slot = table.slots + (size_t)(place - table.places) * RT_SLOT_SIZE;
    if (!place->ready) {
        place->reg = register_named(place->site->place);
        read_frame(place, place->site->word);
        if (slots && has_copy(place) && rt_slot_make((const unsigned char *)place->address, slot))
            place->slot = slot;
        place->ready = true;
    }
    return place->slot || !has_copy(place);
}

static bool make_start(size_t i, bool slots)
{
    while (!has_copy(&table.places[i])) i--;
    add_byte(&table.starts, &table.places[i]);
    return make_ready(&table.places[i], slots);
}

/* Finds the places where calls begin. In a function without such marks, all places. */
static void find_starts(const struct functions *all)
{
    struct function *function = NULL;
    unsigned char *end_of_slots = table.slots + table.count * RT_SLOT_SIZE;
    bool slots = protect(table.slots, end_of_slots, PROT_READ | PROT_WRITE);
    for (uint32_t g = 0; g < table.ngroups; g++) {
        struct group *group = &table.groups[g];
        size_t end = g + 1 < table.ngroups ? group[1].place : table.count, others = 0;
        size_t nstarts = table.starts.count;
        bool copied = true;
        group->byte = (uint32_t)table.all.count;
        for (size_t i = group->place; i < end; i++) {
            struct rt_place *place = &table.places[i];
            function = next_function(all, function, place);
            bool starts = place->site->flags & FP_SITE_START || !function->starts;
            others += !starts;
            add_byte(&table.all, place);
            if (starts) copied &= make_start(i, slots) && make_ready(place, slots);
        }
        if (!copied) table.starts.count = nstarts;
        group->armed = !copied ? NEVER : others ? UNARMED : ALWAYS;
    }
    table.groups[table.ngroups] =
        (struct group){(uint32_t)table.count, (uint32_t)table.all.count, ALWAYS, true};
    if (!slots || !protect(table.slots, end_of_slots, PROT_READ | PROT_EXEC)) table.failed = true;
}

static bool make_table(void)
{
    struct functions functions = {0};
    memset(&table, 0, sizeof table);
    bool ok = find_places() && find_lines() && make_functions(&functions) &&
              make_bytes(&table.all) && make_bytes(&table.starts) &&
              (table.stack = room(MOST_STACK));
    if (ok) {
        make_groups(&functions);
        table.trap = rt_trap_byte();
        table.slots = map_slots(table.base, last_address(), table.count * RT_SLOT_SIZE);
        ok = table.slots;
    }
    if (ok) find_starts(&functions);
    if (functions.at) munmap(functions.at, functions.size * sizeof *functions.at);
    table.made = ok && !table.failed;
    return table.made;
}

/* ---- traps ---- */

static void put_byte(uint64_t address, unsigned char byte)
{
    __atomic_store_n((unsigned char *)address, byte, __ATOMIC_RELEASE);
}

/* Four at a time, for speed: large programs have thousands of functions, and every tick puts
 * a trap where each begins. */
RT_INLINE void put_bytes(const struct site_bytes *bytes, size_t from, size_t to, bool trap)
{
    const uint32_t *at = bytes->at;
    uint64_t code = table.base;
    const unsigned char *original = bytes->original;
    for (; from + 4 <= to; from += 4)
        for (size_t i = from; i < from + 4; i++)
            put_byte(code + at[i], trap ? table.trap : original[i]);
    for (; from < to; from++) put_byte(code + at[from], trap ? table.trap : original[from]);
}

static void put_traps(const struct site_bytes *bytes, size_t from, size_t to)
{
    put_bytes(bytes, from, to, true);
}

static void put_back(const struct site_bytes *bytes, size_t from, size_t to)
{
    put_bytes(bytes, from, to, false);
}

static bool make_code(int protection)
{
    return protect((void *)table.base, (void *)(last_address() + 1), protection);
}

/* False: some instruction of the group cannot be copied. */
static bool make_group_ready(struct group *group)
{
    unsigned char *from = table.slots + (size_t)group->place * RT_SLOT_SIZE;
    unsigned char *to = table.slots + (size_t)group[1].place * RT_SLOT_SIZE;
    bool slots = protect(from, to, PROT_READ | PROT_WRITE | PROT_EXEC), copied = slots;
    for (size_t i = group->place; i < group[1].place; i++)
        copied &= make_ready(&table.places[i], slots);
    if (slots) protect(from, to, PROT_READ | PROT_EXEC);
    group->ready = true;
    return copied;
}

static void arm(uint32_t g)
{
    struct group *group = &table.groups[g];
    if (group->armed != UNARMED) return;
    if (!group->ready && !make_group_ready(group)) {
        __atomic_store_n(&group->armed, NEVER, __ATOMIC_RELEASE);
        return;
    }
    put_traps(&table.all, group->byte, group[1].byte);
    table.armed_groups[table.narmed++] = g;
    __atomic_store_n(&group->armed, ARMED, __ATOMIC_RELEASE);
}

static void disarm_all(void)
{
    while (table.narmed) {
        struct group *group = &table.groups[table.armed_groups[--table.narmed]];
        __atomic_store_n(&group->armed, UNARMED, __ATOMIC_RELEASE);
        put_back(&table.all, group->byte, group[1].byte);
    }
    put_back(&table.starts, 0, table.starts.count);
}

bool rt_trap_has_sites(void)
{
    return &sites_start[0] != &sites_end[0];
}

/* needs: the lock, and all signals blocked. */
void rt_trap_set(bool on)
{
    if (table.failed || (!on && !table.armed) || !rt_trap_has_sites()) return;
    if (on && ((!table.made && !make_table()) || !make_code(PROT_READ | PROT_WRITE | PROT_EXEC))) {
        table.failed = true;
        rt_warn("the code cannot be written to; paths are not sampled, build with --fp-pep=flag",
                NULL);
        return;
    }
    __atomic_store_n(&table.armed, on, __ATOMIC_RELEASE);
    if (on) {
        put_traps(&table.starts, 0, table.starts.count);
    } else {
        disarm_all();
        make_code(PROT_READ | PROT_EXEC);
    }
}

bool rt_place_is_armed(const struct rt_place *place)
{
    unsigned char armed = __atomic_load_n(&table.groups[place->group].armed, __ATOMIC_ACQUIRE);
    return armed == ARMED || armed == ALWAYS;
}

void rt_place_arm(const struct rt_place *place)
{
    if (table.armed) arm(place->group);
}

bool rt_trap_place(uint64_t address)
{
    const struct rt_place *place = rt_places_at(address);
    return place && place->slot && place->original != table.trap;
}

/* The copy of an instruction may have become several. A thread that is behind the first of them
 * is not found here. */
uint64_t rt_trap_moved_from(uint64_t address)
{
    uint64_t distance = address - (uint64_t)table.slots;
    if (!table.made || distance >= table.count * RT_SLOT_SIZE || distance % RT_SLOT_SIZE) return 0;
    return table.places[distance / RT_SLOT_SIZE].address;
}

/* ---- functions that are active ---- */

/* Arms the function of the nearest place at or before the address. needs: such a place. A
 * function that has not reached its first place has a trap there anyway. */
static void arm_function_at(uint64_t address)
{
    size_t i =
        address > last_address() ? table.count : table.lines[(address - table.base) >> LINE_BITS];
    while (i < table.count && table.places[i].address <= address) i++;
    arm(table.places[i - 1].group);
}

/* Arms the function at pc, and those that words on the stack could be return addresses of. */
void rt_trap_arm_active(uint64_t pc, uint64_t sp)
{
    if (!table.armed) return;
    uint64_t span = table.all.at[table.all.count - 1] + (uint64_t)TAIL;
    struct iovec local = {table.stack, MOST_STACK},
                 remote = {(void *)(sp & ~(uint64_t)7), MOST_STACK};
    long got = syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0);
    if (got < 0)
        for (uint32_t g = 0; g < table.ngroups; g++) arm(g);
    if (pc - table.base < span) arm_function_at(pc);
    for (const uint64_t *word = table.stack, *end = word + got / 8; word < end; word++)
        if (*word - table.base < span) arm_function_at(*word);
}
