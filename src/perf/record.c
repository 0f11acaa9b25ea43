/* Recording: see record.h. The file is laid out as
 *
 *     header, ids of each event, attributes, records, table of features, names
 */
#include "perf/record.h"

#include "base/plain.h"
#include "base/varint.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef FOOTPATH_PFM
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#endif

enum {
    BUFFER_PAGES = 128,
    SAMPLES_PER_PERIOD = 16, /* with random periods: a new one is set when the recorder wakes */
    MOST_EVENTS = 16,
    HEADER_SIZE = 104,
    FEATURE_EVENT_DESC = 12,
    CLOCK_PERIOD = 250000,   /* ns */
    DEFAULT_PERIOD = 202001, /* the paper's */
    STACK_BYTES = 512,       /* of each sample, from the stack pointer on */
};

/* ax to sp, flags, and r8 to r15, as the kernel numbers registers of x86. */
static const uint64_t GENERAL_REGISTERS = 0xff02ff;

struct buffer {
    struct perf_event_mmap_page *page;
    int cpu;
    int fds[MOST_EVENTS];
};

struct recording {
    const struct fp_record_options *options;
    struct fp_record_result *result;
    struct fp_error *error;
    struct fp_arena arena;
    struct perf_event_attr attrs[MOST_EVENTS];
    const char *names[MOST_EVENTS];
    size_t nevents;
    struct buffer *buffers;
    size_t nbuffers;
    FP_VEC(uint64_t) ids[MOST_EVENTS];
    int file;
    uint64_t data_start, data_size;
    size_t page_size;
    pid_t child;
    int go;  /* the child waits for a byte here */
    int end; /* a descriptor of the child, or -1 on an old kernel */
    uint64_t random;
};

/* ---- events ---- */

static bool builtin_event(const char *name, struct perf_event_attr *attr)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config;
    } known[] = {
        {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
        {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
        {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
        {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
        {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
        {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            attr->type = known[i].type;
            attr->config = known[i].config;
            return true;
        }
    return false;
}

/* By libpfm4: names as in the manuals of the processors. */
static bool library_event(const char *name, struct perf_event_attr *attr)
{
#ifdef FOOTPATH_PFM
    pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof arg};
    if (pfm_initialize() != PFM_SUCCESS) return false;
    return pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) == PFM_SUCCESS;
#else
    (void)name, (void)attr;
    return false;
#endif
}

static bool plain_event(const char *name, struct perf_event_attr *attr)
{
    char *end;
    if (builtin_event(name, attr)) return true;
    if (name[0] == 'r' && (attr->config = strtoull(name + 1, &end, 16), end != name + 1 && !*end)) {
        attr->type = PERF_TYPE_RAW;
        return true;
    }
    return library_event(name, attr);
}

/* What perf calls modifiers, behind the last colon: u, and up to three p for how precise the
 * address of a sample must be. Returns the number of p, or -1 where NAME has no modifiers. */
static int count_precise(const char *name, size_t *len)
{
    const char *colon = strrchr(name, ':');
    int precise = 0;
    *len = strlen(name);
    if (!colon || !colon[1] || strspn(colon + 1, "up") != strlen(colon + 1)) return -1;
    for (const char *at = colon + 1; *at; at++) precise += *at == 'p';
    if (precise > 3) return -1;
    *len = (size_t)(colon - name);
    return precise;
}

/* A clock of the kernel has no precise form. */
static bool find_event(const char *name, struct perf_event_attr *attr)
{
    char plain[128];
    size_t len;
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    int precise = count_precise(name, &len);
    if (precise < 0) return plain_event(name, attr);
    if (len >= sizeof plain) return false;
    memcpy(plain, name, len);
    plain[len] = 0;
    if (!plain_event(plain, attr)) return false;
    attr->precise_ip = (unsigned)precise & 3;
    return !precise || attr->type != PERF_TYPE_SOFTWARE;
}

bool fp_record_event_known(const char *name)
{
    struct perf_event_attr attr;
    return find_event(name, &attr);
}

static bool is_clock(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

/* The first event also reports changes of the address space. */
static void complete_attr(struct recording *r, size_t i)
{
    struct perf_event_attr *attr = &r->attrs[i];
    uint64_t normal = is_clock(attr) ? CLOCK_PERIOD : DEFAULT_PERIOD;
    attr->size = sizeof *attr;
    attr->sample_period = r->options->period ? r->options->period : normal;
    attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                        PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
    if (r->options->branches) {
        attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
    }
    if (!r->options->no_registers) {
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr->sample_regs_user = GENERAL_REGISTERS;
        attr->sample_stack_user = STACK_BYTES;
    }
    attr->disabled = attr->inherit = attr->enable_on_exec = 1;
    attr->exclude_kernel = attr->exclude_hv = 1;
    attr->sample_id_all = 1;
    /* wakeups are rare: each takes the processor from the program */
    attr->watermark = !r->options->random;
    if (r->options->random)
        attr->wakeup_events = SAMPLES_PER_PERIOD;
    else
        attr->wakeup_watermark = (uint32_t)(BUFFER_PAGES / 4 * r->page_size);
    if (i) return;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
}

static int open_one(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Can this machine sample the event, as it was asked for? */
static bool can_open(struct recording *r, size_t i)
{
    int fd = open_one(&r->attrs[i], r->child, -1);
    if (fd < 0) return false;
    close(fd);
    return true;
}

/* Registers were not asked for: where the kernel cannot give them, it goes without. */
static bool can_open_without_registers(struct recording *r, size_t i)
{
    struct perf_event_attr *attr = &r->attrs[i], asked = *attr;
    if (!(attr->sample_type & PERF_SAMPLE_REGS_USER)) return false;
    attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
    attr->sample_regs_user = attr->sample_stack_user = 0;
    if (can_open(r, i)) return r->result->no_registers = true;
    *attr = asked;
    return false;
}

static bool missing(int code)
{
    return code == ENOENT || code == EOPNOTSUPP || code == ENODEV || code == EINVAL;
}

/* What is it that the machine cannot do: the event at all, its precise form, or branch records? */
static bool cannot_open(struct recording *r, size_t i, int code)
{
    const char *name = r->names[i];
    struct perf_event_attr *attr = &r->attrs[i];
    if (!missing(code))
        return fp_fail(r->error, "perf_event_open",
                       "%s: %s; see /proc/sys/kernel/perf_event_paranoid", name, strerror(code));
    if (attr->branch_sample_type) {
        attr->branch_sample_type = 0;
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
        if (can_open(r, i))
            return fp_fail(r->error, name, "this machine has no branch records; leave out -b");
    }
    if (attr->precise_ip) {
        attr->precise_ip = 0;
        if (can_open(r, i))
            return fp_fail(r->error, name,
                           "this machine has no precise form of the event; leave out the p");
    }
    return fp_fail(r->error, name,
                   "this machine has no counter for the event (no PMU, or not shown to this "
                   "system); -e cpu-clock works everywhere");
}

/* Only where nobody has asked for an event. A period that was asked for is kept, in ns then. */
static bool fall_back(struct recording *r)
{
    r->nevents = 1;
    r->names[0] = "cpu-clock";
    r->result->fell_back = true;
    find_event("cpu-clock", &r->attrs[0]);
    complete_attr(r, 0);
    if (can_open(r, 0)) return true;
    int code = errno;
    return can_open_without_registers(r, 0) || cannot_open(r, 0, code);
}

static bool choose_events(struct recording *r)
{
    const struct fp_record_options *o = r->options;
    const char *normal = "instructions";
    const char **events = o->nevents ? o->events : &normal;
    size_t nevents = o->nevents ? o->nevents : 1;
    for (size_t i = 0; i < nevents && i < MOST_EVENTS; i++) {
        if (!find_event(events[i], &r->attrs[i]))
            return fp_fail(r->error, events[i], "is no event that the kernel or libpfm4 knows");
        r->names[i] = events[i];
        r->nevents = i + 1;
        complete_attr(r, i);
        if (can_open(r, i)) continue;
        int code = errno;
        if (missing(code) && can_open_without_registers(r, i)) continue;
        if (!o->nevents && missing(code) && !o->branches) return fall_back(r);
        return cannot_open(r, i, code);
    }
    return true;
}

/* "cpu-clock every 250,000 ns", for each event. */
static void tell_events(struct recording *r)
{
    struct fp_record_result *result = r->result;
    size_t at = 0;
    for (size_t i = 0; i < r->nevents && at < sizeof result->used; i++) {
        int n = snprintf(result->used + at, sizeof result->used - at, "%s%s every %llu%s",
                         i ? ", " : "", r->names[i], (unsigned long long)r->attrs[i].sample_period,
                         is_clock(&r->attrs[i]) ? " ns" : "");
        at += n > 0 ? (size_t)n : 0;
    }
}

/* ---- buffers ---- */

static bool open_buffer(struct recording *r, struct buffer *b)
{
    for (size_t i = 0; i < r->nevents; i++) {
        uint64_t id;
        b->fds[i] = open_one(&r->attrs[i], r->child, b->cpu);
        if (b->fds[i] < 0)
            return fp_fail(r->error, "perf_event_open", "%s on CPU %d: %s", r->names[i], b->cpu,
                           strerror(errno));
        if (ioctl(b->fds[i], PERF_EVENT_IOC_ID, &id) < 0)
            return fp_fail(r->error, "perf_event_open", "no id: %s", strerror(errno));
        fp_vec_push(&r->arena, &r->ids[i], id);
        if (i && ioctl(b->fds[i], PERF_EVENT_IOC_SET_OUTPUT, b->fds[0]) < 0)
            return fp_fail(r->error, "perf_event_open", "cannot share a buffer: %s",
                           strerror(errno));
        if (i) continue;
        b->page = mmap(NULL, (BUFFER_PAGES + 1) * r->page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                       b->fds[0], 0);
        if (b->page == MAP_FAILED)
            return fp_fail(r->error, "perf_event_open", "no buffer: %s", strerror(errno));
    }
    return true;
}

static bool open_buffers(struct recording *r)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    r->buffers = FP_NEW_ARRAY(&r->arena, struct buffer, (size_t)cpus);
    for (long cpu = 0; cpu < cpus; cpu++) {
        r->buffers[r->nbuffers].cpu = (int)cpu;
        if (!open_buffer(r, &r->buffers[r->nbuffers])) return false;
        r->nbuffers++;
    }
    return true;
}

static bool write_all(struct recording *r, const void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t done = write(r->file, (const char *)bytes + at, len - at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0)
            return fp_fail(r->error, r->options->output, "cannot write: %s", strerror(errno));
        at += (size_t)done;
    }
    return true;
}

static void count_records(struct recording *r, const unsigned char *bytes, size_t len)
{
    struct perf_event_header header;
    for (size_t at = 0; at + sizeof header <= len; at += header.size) {
        memcpy(&header, bytes + at, sizeof header);
        if (header.size < sizeof header) return;
        if (header.type == PERF_RECORD_SAMPLE) r->result->samples++;
        if (header.type == PERF_RECORD_LOST && at + 24 <= len) {
            uint64_t lost;
            memcpy(&lost, bytes + at + 16, sizeof lost);
            r->result->lost += lost;
        }
    }
}

/* Copies a record out of the ring, which may wrap inside it. */
static bool drain(struct recording *r, struct buffer *b)
{
    uint64_t size = BUFFER_PAGES * r->page_size;
    uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE),
             tail = b->page->data_tail;
    size_t len = (size_t)(head - tail);
    if (!len) return true;
    const unsigned char *ring = (unsigned char *)b->page + r->page_size;
    unsigned char *copy = malloc(len);
    if (!copy) abort();
    size_t at = (size_t)(tail % size), first = len < size - at ? len : (size_t)(size - at);
    memcpy(copy, ring + at, first);
    memcpy(copy + first, ring, len - first);
    __atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
    count_records(r, copy, len);
    bool ok = write_all(r, copy, len);
    r->data_size += len;
    free(copy);
    return ok;
}

/* ---- randomised periods ---- */

static uint64_t next_random(struct recording *r)
{
    r->random ^= r->random << 13, r->random ^= r->random >> 7, r->random ^= r->random << 17;
    return r->random;
}

static void change_periods(struct recording *r)
{
    for (size_t k = 0; k < r->nbuffers; k++)
        for (size_t i = 0; i < r->nevents; i++) {
            uint64_t period = r->attrs[i].sample_period + (next_random(r) & r->options->random);
            ioctl(r->buffers[k].fds[i], PERF_EVENT_IOC_PERIOD, &period);
        }
}

/* ---- the program ---- */

static bool start_program(struct recording *r)
{
    int go[2];
    if (pipe2(go, O_CLOEXEC) < 0)
        return fp_fail(r->error, r->options->argv[0], "no pipe: %s", strerror(errno));
    r->child = fork();
    if (r->child < 0)
        return fp_fail(r->error, r->options->argv[0], "cannot fork: %s", strerror(errno));
    if (r->child == 0) {
        char byte;
        close(go[1]);
        if (read(go[0], &byte, 1) != 1) _exit(127); /* the recorder gave up */
        execvp(r->options->argv[0], r->options->argv);
        int why = errno;
        struct fp_arena arena = {0};
        fprintf(stderr, "footpath: %s: %s\n", fp_plain(&arena, r->options->argv[0]), strerror(why));
        _exit(127);
    }
    close(go[0]);
    r->go = go[1];
    return true;
}

static bool drain_all(struct recording *r)
{
    bool ok = true;
    for (size_t k = 0; k < r->nbuffers; k++) ok &= drain(r, &r->buffers[k]);
    return ok;
}

/* The last descriptor is the program itself: it becomes readable when the program ends. */
static struct pollfd *fds_to_watch(struct recording *r)
{
    struct pollfd *fds = FP_NEW_ARRAY(&r->arena, struct pollfd, r->nbuffers + 1);
    for (size_t k = 0; k < r->nbuffers; k++)
        fds[k] = (struct pollfd){.fd = r->buffers[k].fds[0], .events = POLLIN};
    r->end = (int)syscall(SYS_pidfd_open, r->child, 0);
    fds[r->nbuffers] = (struct pollfd){.fd = r->end, .events = POLLIN};
    return fds;
}

static bool follow(struct recording *r)
{
    struct pollfd *fds = fds_to_watch(r);
    struct rusage usage;
    for (;;) {
        pid_t done = wait4(r->child, &r->result->status, WNOHANG, &usage);
        if (done == r->child) break;
        /* the buffers of a program that ended hang up at once; then only its end is waited for */
        poll(fds, r->nbuffers + 1, r->end >= 0 ? -1 : 100);
        for (size_t k = 0; k < r->nbuffers; k++)
            if (fds[k].revents & (POLLHUP | POLLERR)) fds[k].fd = -1;
        if (!drain_all(r)) return false;
        if (r->options->random) change_periods(r);
    }
    r->result->program_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    return drain_all(r);
}

/* ---- the file ---- */

static void put_string(struct fp_writer *w, const char *text)
{
    uint32_t len = ((uint32_t)strlen(text) + 64) & ~63u; /* padded, as perf does */
    fp_write_u32(w, len);
    fp_write_bytes(w, text, strlen(text));
    for (size_t i = strlen(text); i < len; i++) fp_write_u8(w, 0);
}

/* Header, ids and attributes; sizes are filled in at the end. */
static void make_head(struct recording *r, struct fp_writer *w)
{
    uint64_t entry = sizeof(struct perf_event_attr) + 16, ids_at[MOST_EVENTS], at = HEADER_SIZE;
    for (size_t i = 0; i < r->nevents; i++) ids_at[i] = at, at += r->ids[i].len * 8;
    fp_write_bytes(w, "PERFILE2", 8);
    fp_write_u64(w, HEADER_SIZE);
    fp_write_u64(w, entry);
    fp_write_u64(w, at);
    fp_write_u64(w, entry * r->nevents);
    r->data_start = at + entry * r->nevents;
    fp_write_u64(w, r->data_start);
    fp_write_u64(w, r->data_size);
    fp_write_u64(w, 0), fp_write_u64(w, 0); /* no event types */
    for (unsigned word = 0; word < 4; word++) fp_write_u64(w, word ? 0 : 1u << FEATURE_EVENT_DESC);
    for (size_t i = 0; i < r->nevents; i++)
        for (size_t k = 0; k < r->ids[i].len; k++) fp_write_u64(w, r->ids[i].at[k]);
    for (size_t i = 0; i < r->nevents; i++) {
        fp_write_bytes(w, &r->attrs[i], sizeof r->attrs[i]);
        fp_write_u64(w, ids_at[i]);
        fp_write_u64(w, r->ids[i].len * 8);
    }
}

static bool write_names(struct recording *r)
{
    struct fp_writer names = {0}, table = {0};
    fp_write_u32(&names, (uint32_t)r->nevents);
    fp_write_u32(&names, sizeof(struct perf_event_attr));
    for (size_t i = 0; i < r->nevents; i++) {
        fp_write_bytes(&names, &r->attrs[i], sizeof r->attrs[i]);
        fp_write_u32(&names, (uint32_t)r->ids[i].len);
        put_string(&names, r->names[i]);
        for (size_t k = 0; k < r->ids[i].len; k++) fp_write_u64(&names, r->ids[i].at[k]);
    }
    fp_write_u64(&table, r->data_start + r->data_size + 16);
    fp_write_u64(&table, names.len);
    bool ok = write_all(r, table.bytes, table.len) && write_all(r, names.bytes, names.len);
    fp_writer_free(&names);
    fp_writer_free(&table);
    return ok;
}

static bool write_head(struct recording *r)
{
    struct fp_writer head = {0};
    make_head(r, &head);
    bool ok = lseek(r->file, 0, SEEK_SET) == 0 && write_all(r, head.bytes, head.len);
    fp_writer_free(&head);
    return ok;
}

static bool open_file(struct recording *r)
{
    r->file = open(r->options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (r->file < 0)
        return fp_fail(r->error, r->options->output, "cannot create: %s", strerror(errno));
    return write_head(r);
}

static void release(struct recording *r)
{
    if (r->go > 0) close(r->go);
    if (r->end > 0) close(r->end);
    for (size_t k = 0; k < r->nbuffers; k++)
        for (size_t i = 0; i < r->nevents; i++)
            if (r->buffers[k].fds[i] > 0) close(r->buffers[k].fds[i]);
    if (r->file > 0) close(r->file);
    fp_arena_free(&r->arena);
}

bool fp_record(const struct fp_record_options *options, struct fp_record_result *result,
               struct fp_error *error)
{
    struct recording r = {.options = options,
                          .result = result,
                          .error = error,
                          .random = options->seed ? options->seed : 88172645463325252u,
                          .page_size = (size_t)sysconf(_SC_PAGESIZE)};
    struct rusage self;
    *result = (struct fp_record_result){0};
    bool ok = start_program(&r) && choose_events(&r) && open_buffers(&r) && open_file(&r);
    if (ok) tell_events(&r);
    if (ok) {
        if (r.options->random) change_periods(&r);
        ok = write(r.go, "", 1) == 1;
        ok = follow(&r) && ok && write_names(&r) && write_head(&r);
    }
    if (!ok && r.child > 0) kill(r.child, SIGKILL), waitpid(r.child, NULL, 0);
    getrusage(RUSAGE_SELF, &self);
    result->recorder_seconds = (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) +
                               (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec) / 1e6;
    result->bytes = r.data_start + r.data_size;
    release(&r);
    return ok;
}
