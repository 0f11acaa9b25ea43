/* Writing the profile: gathering what was counted, and appending it to the file
 * in a way that a kill at any moment leaves what was there before whole
 * (footpath/profile_abi.h). */
#include "footpath/profile_abi.h"
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / sizeof(uint64_t) };

/* ---- which pages were ever written to ---- */

enum { AHEAD = 64 };

/* /proc/self/pagemap has 64 bits per page: bit 63 in memory, bit 62 in swap. Where
 * it cannot be read every page counts as touched. */
struct pagemap {
    int fd;
    uint64_t first, count; /* pages of which this is: */
    uint64_t entries[AHEAD];
};

static void open_pagemap(struct pagemap *map)
{
    map->fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    map->first = map->count = 0;
}

static void close_pagemap(struct pagemap *map)
{
    if (map->fd >= 0) close(map->fd);
}

static bool touched(struct pagemap *map, const char *place)
{
    uint64_t page = (uintptr_t)place / PAGE;
    if (map->fd < 0) return true;
    if (page - map->first >= map->count) {
        ssize_t got = pread(map->fd, map->entries, sizeof map->entries, (off_t)(page * sizeof(uint64_t)));
        map->first = page;
        map->count = got > 0 ? (uint64_t)got / sizeof(uint64_t) : 0;
    }
    return !map->count || map->entries[page - map->first] >> 62;
}

/* Bit i: the i-th page from here on. */
static uint64_t touched_pages(struct pagemap *map, const char *from, uint64_t count)
{
    uint64_t pages = 0;
    for (uint64_t i = 0; i < count; i++) pages |= (uint64_t)touched(map, from + i * PAGE) << i;
    return pages;
}

/* ---- copies of a place: the first thread's, then the others' ---- */

static uint32_t ncopies(void)
{
    return rt_this.process ? 1 + __atomic_load_n(&rt_this.process->nregions, __ATOMIC_ACQUIRE) : 1;
}

static char *copy_of(char *place, uint32_t i)
{
    return i ? place + rt_this.process->regions[i - 1].bias : place;
}

/* ---- counters ---- */

struct counters {
    const struct rt_range *range;
    struct rt_buffer *out;
    uint64_t last;  /* index of the last one put */
    uint64_t count; /* how many */
};

static void put_counter(struct counters *c, uint64_t index, uint64_t value)
{
    rt_put_uint(c->out, index - c->last);
    rt_put_uint(c->out, value);
    c->last = index;
    c->count++;
}

static uint64_t word_at(const uint64_t *words, size_t w)
{
    return __atomic_load_n(&words[w], __ATOMIC_RELAXED);
}

/* Most counters are 0: they are passed in groups. */
enum { GROUP = 16 };

static bool is_zero(const uint64_t *w)
{
    return !(w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7] | w[8] | w[9] | w[10] | w[11] | w[12] |
             w[13] | w[14] | w[15]);
}

/* Pairs of distance and value for every counter that is not 0. words: of the page. */
static void put_words(struct counters *c, const char *page, const uint64_t *words)
{
    const struct rt_range *range = c->range;
    size_t from = page < range->start ? (size_t)(range->start - page) / sizeof *words : 0;
    size_t to = range->end - page < PAGE ? (size_t)(range->end - page) / sizeof *words : WORDS;
    uint64_t first = (uint64_t)((page - range->start) / (ptrdiff_t)sizeof *words);
    for (size_t w = from; w < to;) {
        while (to - w >= GROUP && is_zero(words + w)) w += GROUP;
        for (size_t end = to - w < GROUP ? to : w + GROUP; w < end; w++) {
            uint64_t value = word_at(words, w);
            if (value) put_counter(c, first + w, value);
        }
    }
}

/* Of a page that several copies have: bit `bit` of their masks. */
static void put_sums(struct counters *c, char *page, const uint64_t *masks, uint32_t copies, unsigned bit)
{
    uint64_t sums[WORDS] = {0};
    for (uint32_t i = 0; i < copies; i++) {
        const uint64_t *words = (const uint64_t *)copy_of(page, i);
        for (size_t w = 0; w < WORDS && masks[i] >> bit & 1; w++) sums[w] += word_at(words, w);
    }
    put_words(c, page, sums);
}

/* Up to 64 pages. Mostly only one copy of a page was touched. */
static void put_pages(struct counters *c, char *first, const uint64_t *masks, uint32_t copies)
{
    uint64_t any = 0, several = 0;
    for (uint32_t i = 0; i < copies; i++) {
        several |= any & masks[i];
        any |= masks[i];
    }
    for (; any; any &= any - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(any);
        char *page = first + (size_t)bit * PAGE;
        uint32_t i = 0;
        while (!(masks[i] >> bit & 1)) i++;
        if (several >> bit & 1)
            put_sums(c, page, masks, copies, bit);
        else
            put_words(c, page, (const uint64_t *)copy_of(page, i));
    }
}

static void put_counters(struct rt_buffer *out, struct pagemap *map)
{
    struct rt_buffer pairs = {0}, masks = {0};
    struct counters c = {.range = &rt_this.ranges[RT_COUNTERS], .out = &pairs};
    uint32_t copies = ncopies();
    char *page = (char *)((uintptr_t)c.range->start & ~(uintptr_t)(PAGE - 1));
    while (page < c.range->end && !masks.failed) {
        uint64_t left = (uint64_t)(c.range->end - page + PAGE - 1) / PAGE;
        uint64_t count = left < AHEAD ? left : AHEAD;
        masks.len = 0;
        for (uint32_t i = 0; i < copies; i++)
            rt_put_u64(&masks, touched_pages(map, copy_of(page, i), count));
        if (!masks.failed) put_pages(&c, page, (const uint64_t *)masks.bytes, copies);
        page += count * PAGE;
    }
    rt_put_uint(out, c.count);
    rt_put_bytes(out, pairs.bytes, pairs.len);
    out->failed |= pairs.failed | masks.failed;
    rt_buffer_free(&pairs);
    rt_buffer_free(&masks);
}

/* ---- hash tables ---- */

struct tables {
    struct rt_buffer *out;
    uint64_t table, count;
};

static void put_entry(uint64_t key, uint64_t count, void *context)
{
    struct tables *t = context;
    rt_put_uint(t->out, t->table);
    rt_put_uint(t->out, key - 1);
    rt_put_uint(t->out, count);
    t->count++;
}

typedef void table_call(struct pagemap *map, struct fp_hash_table *table, uint64_t number, void *context);

/* Calls with every copy of a table, and its number. */
static void each_table(struct pagemap *map, table_call *call, void *context)
{
    const struct rt_range *range = &rt_this.ranges[RT_TABLES];
    uint64_t count = (uint64_t)(range->end - range->start) / FP_HASH_TABLE_SIZE;
    for (uint32_t i = 0; i < ncopies(); i++)
        for (uint64_t n = 0; n < count; n++)
            call(map, (struct fp_hash_table *)copy_of(range->start + n * FP_HASH_TABLE_SIZE, i), n, context);
}

/* The end of the page, or of the range. */
static char *page_end(const char *at, char *end)
{
    char *next = (char *)(((uintptr_t)at + PAGE) & ~(uintptr_t)(PAGE - 1));
    return next < end ? next : end;
}

static void put_direct(struct pagemap *map, struct fp_hash_table *table, struct tables *t)
{
    char *end = (char *)(table->direct + FP_HASH_DIRECT);
    for (char *at = (char *)table->direct, *next; at < end; at = next) {
        next = page_end(at, end);
        if (!touched(map, at)) continue;
        for (uint64_t *word = (uint64_t *)at, *stop = (uint64_t *)next; word < stop;) {
            while (stop - word >= GROUP && is_zero(word)) word += GROUP;
            for (uint64_t *last = stop - word < GROUP ? stop : word + GROUP; word < last; word++)
                if (*word) put_entry((uint64_t)(word - table->direct) + 1, *word, t);
        }
    }
}

/* The head of a table says what of it is used. */
static void put_table(struct pagemap *map, struct fp_hash_table *table, uint64_t number, void *context)
{
    struct tables *t = context;
    t->table = number;
    if (touched(map, (const char *)&table->used)) rt_hash_each(table, put_entry, t);
    put_direct(map, table, t);
}

/* Triples of table, path and count; a path of several threads is there several
 * times, and the reader adds up. */
static void put_tables(struct rt_buffer *out, struct pagemap *map)
{
    struct rt_buffer entries = {0};
    struct tables t = {.out = &entries};
    each_table(map, put_table, &t);
    rt_put_uint(out, t.count);
    rt_put_bytes(out, entries.bytes, entries.len);
    out->failed |= entries.failed;
    rt_buffer_free(&entries);
}

static void clear_words(struct pagemap *map, char *at, char *end)
{
    for (char *next; at < end; at = next) {
        next = page_end(at, end);
        if (touched(map, at)) memset(at, 0, (size_t)(next - at));
    }
}

static void clear_table(struct pagemap *map, struct fp_hash_table *table, uint64_t number, void *context)
{
    (void)number;
    (void)context;
    if (touched(map, (const char *)&table->used)) rt_hash_clear(table);
    clear_words(map, (char *)table->direct, (char *)(table->direct + FP_HASH_DIRECT));
}

void rt_clear_counters(void)
{
    struct pagemap map;
    const struct rt_range *range = &rt_this.ranges[RT_COUNTERS];
    open_pagemap(&map);
    for (uint32_t i = 0; i < ncopies(); i++)
        clear_words(&map, copy_of(range->start, i), copy_of(range->end, i));
    each_table(&map, clear_table, NULL);
    close_pagemap(&map);
}

/* ---- the record ---- */

static void put_arguments(struct rt_buffer *out)
{
    enum { MOST = 1 << 16 };
    char *text = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 && text != MAP_FAILED ? read(fd, text, MOST - 1) : 0;
    uint64_t count = 0;
    if (len < 0) len = 0;
    for (ssize_t i = 0; i < len; i++) count += text[i] == 0 || i + 1 == len;
    rt_put_uint(out, count);
    for (ssize_t i = 0; i < len; i += (ssize_t)strlen(text + i) + 1) rt_put_string(out, text + i);
    if (fd >= 0) close(fd);
    if (text != MAP_FAILED) munmap(text, MOST);
}

static uint64_t link_address(const struct rt_identity *id, const char *place)
{
    return place ? (uint64_t)((uintptr_t)place - id->load_bias) : 0;
}

static void put_head(struct rt_buffer *out, enum rt_why why, const struct rt_identity *id,
                     const struct rt_identity *program)
{
    struct timespec now;
    struct utsname host;
    clock_gettime(CLOCK_REALTIME, &now);
    rt_put_uint(out, why == RT_MEANWHILE ? FP_RUN_UNFINISHED : why == RT_BY_SIGNAL ? FP_RUN_SIGNALLED : 0);
    rt_put_u64(out, rt_settings.run_id);
    rt_put_uint(out, 1); /* runs in this record */
    rt_put_uint(out, rt_settings.start_ns);
    rt_put_uint(out, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    rt_put_uint(out, (uint64_t)rt_settings.pid);
    rt_put_string(out, uname(&host) == 0 ? host.nodename : "");
    rt_put_string(out, program->path);
    rt_put_string(out, rt_settings.folder);
    put_arguments(out);
    rt_put_string(out, id->path);
    rt_put_uint(out, id->build_id_len);
    rt_put_bytes(out, id->build_id, id->build_id_len);
    for (int i = RT_COUNTERS; i <= RT_TABLES; i++) {
        const struct rt_range *range = &rt_this.ranges[i];
        rt_put_uint(out, link_address(id, range->start));
        rt_put_uint(out, (uint64_t)(range->end - range->start));
    }
}

/* What all threads counted, taken while they are held. */
struct gathering {
    struct rt_buffer *out;
    const struct rt_frame *frame;
    struct rt_buffer in_flight;
    uint64_t nin_flight;
};

static void gather_frames(const struct rt_frame *frame, void *context)
{
    struct gathering *g = context;
    g->nin_flight += rt_in_flight_now(&g->in_flight, frame);
}

static void gather(void *context)
{
    struct gathering *g = context;
    struct pagemap map;
    open_pagemap(&map);
    put_counters(g->out, &map);
    put_tables(g->out, &map);
    close_pagemap(&map);
    if (g->frame) gather_frames(g->frame, g);
    g->nin_flight += rt_in_flight_left(&g->in_flight);
    g->nin_flight += rt_in_flight_waiting(&g->in_flight);
    rt_put_uint(g->out, g->nin_flight);
    rt_put_bytes(g->out, g->in_flight.bytes, g->in_flight.len);
    g->out->failed |= g->in_flight.failed;
}

static void put_run(struct rt_buffer *out, enum rt_why why, const struct rt_frame *frame,
                    const struct rt_identity *id, const struct rt_identity *program)
{
    struct gathering g = {.out = out, .frame = frame};
    put_head(out, why, id, program);
    /* without marks there is nothing that threads would have to be asked for */
    if (rt_has_marks())
        rt_with_threads_stopped(gather_frames, gather, &g);
    else
        gather(&g);
    rt_buffer_free(&g.in_flight);
}

/* ---- the file ---- */

static bool write_at(int fd, const void *bytes, size_t len, off_t at)
{
    while (len) {
        ssize_t put = pwrite(fd, bytes, len, at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes = (const char *)bytes + put;
        at += put;
        len -= (size_t)put;
    }
    return true;
}

static uint32_t commit_check(const struct fp_profile_commit *commit)
{
    return (uint32_t)rt_checksum(commit, offsetof(struct fp_profile_commit, check), 0);
}

static bool is_valid(const struct fp_profile_commit *commit, off_t size)
{
    return commit->check == commit_check(commit) && commit->length <= (uint64_t)size &&
           commit->length >= sizeof(struct fp_profile_header);
}

/* Which build of which program a file belongs to. */
static uint64_t program_id(const struct rt_identity *program)
{
    return rt_checksum(program->build_id, program->build_id_len, 0);
}

enum opened { OPENED, OTHER_BUILD, FAILED };

/* Is the file that was locked still the one of that name? `footpath combine` puts a
 * new one in its place while it holds the lock, and people remove files. */
static bool still_named(int fd, const char *name)
{
    struct stat held, named;
    return fstat(fd, &held) < 0 ||
           (stat(name, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev);
}

static int open_and_lock(const char *name)
{
    for (int tries = 0;; tries++) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return fd;
        while (flock(fd, LOCK_EX) < 0)
            if (errno != EINTR) return fd; /* a file system without locks: go on without */
        if (still_named(fd, name) || tries == 1000) return fd; /* file numbers that never agree */
        close(fd);
    }
}

/* Opens and locks; reads or writes the header. */
static enum opened open_profile(const char *name, uint64_t program, struct fp_profile_header *header,
                                int *fd)
{
    *fd = open_and_lock(name);
    if (*fd < 0) return FAILED;
    struct stat info;
    if (fstat(*fd, &info) < 0) return FAILED;
    if (info.st_size == 0) {
        *header = (struct fp_profile_header){.version = FP_PROFILE_VERSION,
                                             .oldest_reader = FP_PROFILE_OLDEST_READER,
                                             .program = program};
        memcpy(header->magic, FP_PROFILE_MAGIC, sizeof header->magic);
        header->commits[0] = (struct fp_profile_commit){.length = sizeof *header, .sequence = 1};
        header->commits[0].check = commit_check(&header->commits[0]);
        return write_at(*fd, header, sizeof *header, 0) ? OPENED : FAILED;
    }
    if (pread(*fd, header, sizeof *header, 0) != sizeof *header ||
        memcmp(header->magic, FP_PROFILE_MAGIC, sizeof header->magic) ||
        header->oldest_reader > FP_PROFILE_VERSION || header->program != program)
        return OTHER_BUILD;
    bool any = is_valid(&header->commits[0], info.st_size) || is_valid(&header->commits[1], info.st_size);
    return any ? OPENED : OTHER_BUILD;
}

/* What this module wrote of a run that goes on: nobody needs it when there is a later
 * one. The file must not grow for ever, so from time to time the next goes where the
 * first of them was, if nobody has written behind them. */
static struct {
    uint64_t run_id;
    off_t start, end;
    unsigned count;
} mine;

enum { MOST_OF_MINE = 8 };

static bool commit_length(int fd, struct fp_profile_header *header, int *last, off_t length)
{
    struct fp_profile_commit commit = {
        .length = (uint64_t)length,
        .sequence = header->commits[*last].sequence + 1,
    };
    commit.check = commit_check(&commit);
    *last = !*last;
    header->commits[*last] = commit;
    off_t place = (off_t)offsetof(struct fp_profile_header, commits) + (off_t)sizeof commit * *last;
    return write_at(fd, &commit, sizeof commit, place);
}

static bool take_back_mine(int fd, struct fp_profile_header *header, int *last, off_t *end)
{
    bool behind = mine.run_id == rt_settings.run_id && mine.count && mine.end == *end;
    if (!behind) {
        mine.start = *end;
        mine.count = 0;
        mine.run_id = rt_settings.run_id;
    } else if (mine.count >= MOST_OF_MINE) {
        if (!commit_length(fd, header, last, mine.start)) return false;
        *end = mine.start;
        mine.count = 0;
    }
    return true;
}

/* Appends behind the last whole record, then commits. */
static bool append(int fd, struct fp_profile_header *header, const struct rt_buffer *payload)
{
    struct stat info;
    if (fstat(fd, &info) < 0) return false;
    bool first_valid = is_valid(&header->commits[0], info.st_size);
    bool second_valid = is_valid(&header->commits[1], info.st_size);
    int last = second_valid && (!first_valid || header->commits[1].sequence > header->commits[0].sequence);
    off_t end = (off_t)header->commits[last].length;
    if (!take_back_mine(fd, header, &last, &end)) return false;
    struct fp_record_header record = {
        .magic = FP_RECORD_MAGIC,
        .type = FP_RECORD_RUN,
        .length = payload->len,
        .checksum = rt_checksum(payload->bytes, payload->len, 0),
    };
    if (!write_at(fd, &record, sizeof record, end) ||
        !write_at(fd, payload->bytes, payload->len, end + (off_t)sizeof record))
        return false;
    mine.end = end + (off_t)sizeof record + (off_t)payload->len;
    mine.count++;
    return commit_length(fd, header, &last, mine.end);
}

/* Another build's profile stays as it is; ours goes beside it. */
static enum opened open_beside(struct rt_text *name, uint64_t program,
                               struct fp_profile_header *header, int *fd)
{
    enum opened opened = open_profile(name->at, program, header, fd);
    if (opened != OTHER_BUILD) return opened;
    close(*fd);
    char other[4200];
    struct rt_text before = {other, 0, sizeof other};
    rt_text_add(&before, name->at);
    rt_text_add_char(name, '.');
    rt_text_add_hex(name, program >> 32, 8);
    bool is_new = access(name->at, F_OK) < 0;
    opened = open_profile(name->at, program, header, fd);
    /* For people only: a program whose stderr somebody reads (Tcl's exec takes any
     * word there for a failure) must not say more than it did. */
    if (opened == OPENED && is_new && (rt_settings.log || isatty(STDERR_FILENO)))
        rt_warn(other, " is of another build; writing ", name->at, NULL);
    return opened;
}

/* One at a time. A signal that kills the program may find us writing: then it waits in
 * vain, and writes anyway. */
static void begin_writing(uint32_t *writing)
{
    enum { WAIT_MS = 1000 };
    for (int ms = 0; __atomic_exchange_n(writing, 1, __ATOMIC_ACQUIRE) && ms < WAIT_MS; ms++) {
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
}

bool rt_write_profile(enum rt_why why, const struct rt_frame *frame)
{
    static uint32_t writing;
    static struct rt_identity id, program;
    static char path[4400];
    struct rt_text name = {path, 0, sizeof path};
    struct rt_buffer payload = {0};
    struct fp_profile_header header;
    int fd = -1;
    if (rt_this.ranges[RT_COUNTERS].start == rt_this.ranges[RT_COUNTERS].end &&
        rt_this.ranges[RT_TABLES].start == rt_this.ranges[RT_TABLES].end)
        return true; /* nothing instrumented was linked */
    begin_writing(&writing);
    path[0] = 0;
    rt_identify(&id, &program);
    if (!rt_output_wanted(&program)) {
        __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
        return true;
    }
    rt_output_name(&name, &program);
    put_run(&payload, why, frame, &id, &program);
    enum opened opened = open_beside(&name, program_id(&program), &header, &fd);
    bool ok = opened == OPENED && !payload.failed && append(fd, &header, &payload);
    if (opened == OTHER_BUILD)
        rt_warn(path, " is not a profile of this build; nothing written", NULL);
    else if (!ok)
        rt_warn("cannot write ", path, ": ", payload.failed ? "out of memory" : strerror(errno),
                "; set FOOTPATH_OUT to a place that can be written", NULL);
    else if (rt_settings.log)
        rt_warn("wrote ", path, NULL);
    if (fd >= 0) close(fd);
    rt_buffer_free(&payload);
    __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
    return ok;
}
