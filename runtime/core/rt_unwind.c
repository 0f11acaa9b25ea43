/* Walks stacks: a DWARF call-frame interpreter for x86-64 (DWARF 5, section 6.4; the
 * .eh_frame variant of the Linux Standard Base).
 *
 * Not handled: objects without .eh_frame_hdr or with another encoding of it; CFA programs that
 * remember more than MOST_REMEMBERED states. A walk ends there. */
#include "core/rt_unwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- registers ---- */

static const int greg_of[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};

void rt_unwind_from_signal(struct rt_frame *frame, const ucontext_t *context)
{
    *frame = (struct rt_frame){.interrupted = true};
    for (int i = 0; i < 16; i++) frame->regs[i] = (uint64_t)context->uc_mcontext.gregs[greg_of[i]];
    frame->regs[RT_RIP] = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

__attribute__((noinline)) void rt_unwind_here(struct rt_frame *frame)
{
    *frame = (struct rt_frame){0};
    __asm__ volatile("movq %%rbx, 24(%0)\n\tmovq %%rbp, 48(%0)\n\tmovq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\tmovq %%r13, 104(%0)\n\tmovq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\tleaq 0(%%rip), %%rax\n\tmovq %%rax, 128(%0)"
                     :
                     : "r"(frame->regs)
                     : "rax", "memory");
    if (rt_unwind_look(frame)) rt_unwind_step(frame);
}

#ifdef RT_IN_EXECUTABLE
enum { ALWAYS_CAREFUL = true }; /* code that was not compiled for us may have wrong tables */
#else
enum { ALWAYS_CAREFUL = false };
#endif

bool rt_read_word(const struct rt_frame *frame, uint64_t address, uint64_t *word)
{
    if (!frame->careful && !ALWAYS_CAREFUL) {
        memcpy(word, (const void *)address, sizeof *word);
        return true;
    }
    struct iovec local = {word, sizeof *word}, remote = {(void *)address, sizeof *word};
    return syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) == sizeof *word;
}

/* ---- reading tables ---- */

struct table_bytes {
    const unsigned char *at, *end;
};

static uint64_t take(struct table_bytes *b, size_t len)
{
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < len) {
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, len);
    b->at += len;
    return value;
}

static int64_t take_signed(struct table_bytes *b, size_t len)
{
    unsigned unused = 64 - 8 * (unsigned)len;
    return (int64_t)(take(b, len) << unused) >> unused;
}

static uint64_t take_uleb(struct table_bytes *b)
{
    uint64_t value = 0;
    for (unsigned shift = 0; b->at < b->end; shift += 7) {
        unsigned char byte = *b->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t take_sleb(struct table_bytes *b)
{
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0;
    while (b->at < b->end) {
        byte = *b->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) break;
    }
    if (shift < 64 && byte & 0x40) value |= UINT64_MAX << shift;
    return (int64_t)value;
}

/* An encoded pointer (DW_EH_PE_*); data is the base of "relative to data". */
static uint64_t take_encoded(struct table_bytes *b, unsigned char encoding, uint64_t data)
{
    uint64_t place = (uint64_t)b->at, value = 0;
    if (encoding == 0xff) return 0;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: value = take(b, 8); break;
    case 0x01: value = take_uleb(b); break;
    case 0x02: value = take(b, 2); break;
    case 0x03: value = take(b, 4); break;
    case 0x09: value = (uint64_t)take_sleb(b); break;
    case 0x0a: value = (uint64_t)take_signed(b, 2); break;
    case 0x0b: value = (uint64_t)take_signed(b, 4); break;
    default: return 0;
    }
    if (!value) return 0;
    if ((encoding & 0x70) == 0x10) value += place;
    if ((encoding & 0x70) == 0x30) value += data;
    if (encoding & 0x80) memcpy(&value, (const void *)value, sizeof value);
    return value;
}

/* ---- finding the entry of an address ---- */

struct fde_entry {
    struct table_bytes initial, program; /* instructions of CIE and FDE */
    uint64_t start, end;
    int64_t data_align;
    uint64_t code_align;
    unsigned return_register;
    bool signal_frame;
};

struct found_object {
    uint64_t address;
    const unsigned char *header; /* .eh_frame_hdr */
};

static int find_header(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct found_object *found = context;
    const unsigned char *header = NULL;
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && found->address - start < p->p_memsz) inside = true;
        if (p->p_type == PT_GNU_EH_FRAME) header = (const unsigned char *)start;
    }
    if (inside) found->header = header;
    return inside;
}

/* glibc since 2.35 has a function that takes no lock. Otherwise the loader's list is used. */
extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));

static const unsigned char *header_of(uint64_t address)
{
    if (_dl_find_object) {
        struct dl_find_object found;
        return _dl_find_object((void *)address, &found) == 0 ? found.dlfo_eh_frame : NULL;
    }
    struct found_object found = {.address = address};
    dl_iterate_phdr(find_header, &found);
    return found.header;
}

/* Searches the sorted table in the header: pairs of start and entry, relative to it. */
static const unsigned char *search_table(const unsigned char *header, uint64_t address)
{
    struct table_bytes b = {header + 4, header + 64};
    if (header[0] != 1 || header[3] != 0x3b) return NULL;
    take_encoded(&b, header[1], (uint64_t)header);
    uint64_t count = take_encoded(&b, header[2], (uint64_t)header);
    const int32_t *table = (const int32_t *)b.at;
    int64_t target = (int64_t)(address - (uint64_t)header);
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (table[2 * middle] <= target)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? header + table[2 * (low - 1) + 1] : NULL;
}

static struct table_bytes record_at(const unsigned char *at)
{
    uint32_t len;
    memcpy(&len, at, sizeof len);
    return (struct table_bytes){at + 4, at + 4 + (len == UINT32_MAX ? 0 : len)};
}

static bool read_cie(const unsigned char *at, struct fde_entry *e, unsigned char *encoding,
                     bool *augmented)
{
    struct table_bytes b = record_at(at);
    if (take(&b, 4) != 0) return false;
    unsigned char version = (unsigned char)take(&b, 1);
    const char *augmentation = (const char *)b.at;
    b.at += strlen(augmentation) + 1;
    e->code_align = take_uleb(&b);
    e->data_align = take_sleb(&b);
    e->return_register = (unsigned)(version == 1 ? take(&b, 1) : take_uleb(&b));
    *encoding = 0;
    *augmented = augmentation[0] == 'z';
    if (*augmented) {
        uint64_t len = take_uleb(&b);
        const unsigned char *after = b.at + len;
        for (const char *c = augmentation + 1; *c; c++) {
            if (*c == 'R') *encoding = (unsigned char)take(&b, 1);
            if (*c == 'L') take(&b, 1);
            if (*c == 'P') {
                unsigned char how = (unsigned char)take(&b, 1);
                take_encoded(&b, how & 0x7f, 0);
            }
            if (*c == 'S') e->signal_frame = true;
        }
        b.at = after;
    }
    e->initial = b;
    return b.at <= b.end;
}

static bool find_entry(uint64_t address, struct fde_entry *e)
{
    *e = (struct fde_entry){0};
    const unsigned char *header = header_of(address);
    const unsigned char *at = header ? search_table(header, address) : NULL;
    if (!at) return false;
    struct table_bytes b = record_at(at);
    unsigned char encoding;
    bool augmented;
    const unsigned char *place = b.at;
    uint32_t distance = (uint32_t)take(&b, 4);
    if (!distance || !read_cie(place - distance, e, &encoding, &augmented)) return false;
    e->start = take_encoded(&b, encoding, 0);
    e->end = e->start + take_encoded(&b, encoding & 0x0f, 0);
    if (augmented) {
        uint64_t len = take_uleb(&b);
        b.at += len;
    }
    e->program = b;
    return address >= e->start && address < e->end;
}

/* ---- rules ---- */

enum rule { SAME, OFFSET, VALUE_OFFSET, REGISTER, EXPRESSION, VALUE_EXPRESSION, UNDEFINED };

enum { MOST_REMEMBERED = 4 };

struct interpreter {
    const struct fde_entry *entry;
    struct rt_rules now, initial, remembered[MOST_REMEMBERED];
    unsigned nremembered;
    uint64_t location, target;
};

static const unsigned char *take_block(struct table_bytes *b)
{
    const unsigned char *block = b->at;
    uint64_t len = take_uleb(b);
    b->at += len;
    return block;
}

static struct table_bytes block_at(const unsigned char *at)
{
    struct table_bytes b = {at, at + 10};
    uint64_t len = take_uleb(&b);
    return (struct table_bytes){b.at, b.at + len};
}

static void set_rule(struct interpreter *in, uint64_t reg, enum rule kind, int64_t value)
{
    if (reg >= RT_NREGS) return;
    in->now.kind[reg] = (unsigned char)kind;
    in->now.value[reg] = value;
}

static void restore_rule(struct interpreter *in, uint64_t reg)
{
    if (reg >= RT_NREGS) return;
    in->now.kind[reg] = in->initial.kind[reg];
    in->now.value[reg] = in->initial.value[reg];
}

static void set_cfa(struct interpreter *in, uint64_t reg, int64_t offset)
{
    in->now.cfa_register = (unsigned)reg;
    in->now.cfa_offset = offset;
    in->now.cfa_expression = NULL;
}

/* Runs an instruction whose operand is not in the opcode. False: the opcode is not known. */
static bool run_extended(struct interpreter *in, struct table_bytes *b, unsigned char opcode)
{
    int64_t align = in->entry->data_align;
    uint64_t reg;
    switch (opcode) {
    case 0x00: break;                                                     /* nop */
    case 0x02: in->location += take(b, 1) * in->entry->code_align; break; /* advance_loc1 */
    case 0x03: in->location += take(b, 2) * in->entry->code_align; break;
    case 0x04: in->location += take(b, 4) * in->entry->code_align; break;
    case 0x05: /* offset_extended */
        reg = take_uleb(b);
        set_rule(in, reg, OFFSET, (int64_t)take_uleb(b) * align);
        break;
    case 0x06: /* restore_extended */ restore_rule(in, take_uleb(b)); break;
    case 0x07: set_rule(in, take_uleb(b), UNDEFINED, 0); break;
    case 0x08: set_rule(in, take_uleb(b), SAME, 0); break;
    case 0x09: /* register */
        reg = take_uleb(b);
        set_rule(in, reg, REGISTER, (int64_t)take_uleb(b));
        break;
    case 0x0a: /* remember_state */
        if (in->nremembered == MOST_REMEMBERED) return false;
        in->remembered[in->nremembered++] = in->now;
        break;
    case 0x0b: /* restore_state */
        if (!in->nremembered) return false;
        in->now = in->remembered[--in->nremembered];
        break;
    case 0x0c: /* def_cfa */
        reg = take_uleb(b);
        set_cfa(in, reg, (int64_t)take_uleb(b));
        break;
    case 0x0d: set_cfa(in, take_uleb(b), in->now.cfa_offset); break;
    case 0x0e: set_cfa(in, in->now.cfa_register, (int64_t)take_uleb(b)); break;
    case 0x0f: in->now.cfa_expression = take_block(b); break;
    case 0x10:
        reg = take_uleb(b);
        set_rule(in, reg, EXPRESSION, (int64_t)take_block(b));
        break;
    case 0x11:
        reg = take_uleb(b);
        set_rule(in, reg, OFFSET, take_sleb(b) * align);
        break;
    case 0x12:
        reg = take_uleb(b);
        set_cfa(in, reg, take_sleb(b) * align);
        break;
    case 0x13: set_cfa(in, in->now.cfa_register, take_sleb(b) * align); break;
    case 0x14:
        reg = take_uleb(b);
        set_rule(in, reg, VALUE_OFFSET, (int64_t)take_uleb(b) * align);
        break;
    case 0x16:
        reg = take_uleb(b);
        set_rule(in, reg, VALUE_EXPRESSION, (int64_t)take_block(b));
        break;
    case 0x2e: take_uleb(b); break; /* GNU_args_size */
    default: return false;
    }
    return true;
}

static bool run_program(struct interpreter *in, struct table_bytes b)
{
    while (b.at < b.end && in->location <= in->target) {
        unsigned char byte = *b.at++, low = byte & 0x3f;
        switch (byte >> 6) {
        case 1: in->location += low * in->entry->code_align; break;
        case 2: set_rule(in, low, OFFSET, (int64_t)take_uleb(&b) * in->entry->data_align); break;
        case 3: restore_rule(in, low); break;
        default:
            if (!run_extended(in, &b, low)) return false;
        }
    }
    return true;
}

static bool rules_at(const struct fde_entry *e, uint64_t address, struct rt_rules *rules)
{
    struct interpreter in = {.entry = e, .target = UINT64_MAX};
    if (!run_program(&in, e->initial)) return false;
    in.initial = in.now;
    in.location = e->start;
    in.target = address;
    if (!run_program(&in, e->program)) return false;
    *rules = in.now;
    return true;
}

/* ---- expressions ---- */

enum { STACK_SIZE = 32 };

struct evaluation {
    const struct rt_frame *frame;
    uint64_t stack[STACK_SIZE];
    unsigned depth;
};

static bool push(struct evaluation *v, uint64_t value)
{
    if (v->depth == STACK_SIZE) return false;
    v->stack[v->depth++] = value;
    return true;
}

static bool binary(struct evaluation *v, unsigned char op)
{
    if (v->depth < 2) return false;
    uint64_t b = v->stack[--v->depth], *a = &v->stack[v->depth - 1];
    switch (op) {
    case 0x1a: *a &= b; break;
    case 0x1c: *a -= b; break;
    case 0x1e: *a *= b; break;
    case 0x21: *a |= b; break;
    case 0x22: *a += b; break;
    case 0x24: *a = b < 64 ? *a << b : 0; break;
    case 0x25: *a = b < 64 ? *a >> b : 0; break;
    case 0x26: *a = (uint64_t)((int64_t)*a >> (b < 64 ? b : 63)); break;
    case 0x27: *a ^= b; break;
    case 0x29: *a = *a == b; break;
    case 0x2a: *a = (int64_t)*a >= (int64_t)b; break;
    case 0x2b: *a = (int64_t)*a > (int64_t)b; break;
    case 0x2c: *a = (int64_t)*a <= (int64_t)b; break;
    case 0x2d: *a = (int64_t)*a < (int64_t)b; break;
    case 0x2e: *a = *a != b; break;
    default: return false;
    }
    return true;
}

static bool evaluate_op(struct evaluation *v, struct table_bytes *b, unsigned char op)
{
    uint64_t reg, *top = v->depth ? &v->stack[v->depth - 1] : NULL;
    if (op >= 0x30 && op <= 0x4f) return push(v, op - 0x30u); /* lit */
    if (op >= 0x70 && op <= 0x8f) {                           /* breg */
        reg = op - 0x70u;
        int64_t offset = take_sleb(b);
        return reg < RT_NREGS && push(v, v->frame->regs[reg] + (uint64_t)offset);
    }
    switch (op) {
    case 0x06: return top && rt_read_word(v->frame, *top, top); /* deref */
    case 0x08: return push(v, take(b, 1));
    case 0x09: return push(v, (uint64_t)take_signed(b, 1));
    case 0x0a: return push(v, take(b, 2));
    case 0x0b: return push(v, (uint64_t)take_signed(b, 2));
    case 0x0c: return push(v, take(b, 4));
    case 0x0d: return push(v, (uint64_t)take_signed(b, 4));
    case 0x0e:
    case 0x0f: return push(v, take(b, 8));
    case 0x10: return push(v, take_uleb(b));
    case 0x11: return push(v, (uint64_t)take_sleb(b));
    case 0x12: return top && push(v, *top); /* dup */
    case 0x13: return v->depth && v->depth--;
    case 0x14: return v->depth > 1 && push(v, v->stack[v->depth - 2]); /* over */
    case 0x16:                                                         /* swap */
        if (v->depth < 2) return false;
        reg = *top;
        *top = top[-1];
        top[-1] = reg;
        return true;
    case 0x1f: return top && ((*top = 0 - *top), true);
    case 0x20: return top && ((*top = ~*top), true);
    case 0x23: return top && ((*top += take_uleb(b)), true); /* plus_uconst */
    case 0x96: return true;                                  /* nop */
    default: return binary(v, op);
    }
}

static bool evaluate(const struct rt_frame *frame, struct table_bytes b, const uint64_t *start,
                     uint64_t *result)
{
    struct evaluation v = {.frame = frame};
    if (start) push(&v, *start);
    while (b.at < b.end) {
        unsigned char op = *b.at++;
        if (op == 0x28 || op == 0x2f) { /* bra, skip */
            int64_t distance = take_signed(&b, 2);
            if (op == 0x28 && (!v.depth || !v.stack[--v.depth])) continue;
            b.at += distance;
        } else if (!evaluate_op(&v, &b, op)) {
            return false;
        }
    }
    if (!v.depth) return false;
    *result = v.stack[v.depth - 1];
    return true;
}

/* ---- frames ---- */

/* The address to look up. A return address may lie past the function's end, so one less; the
 * address of an interrupted instruction does not. */
static uint64_t lookup_address(const struct rt_frame *frame)
{
    return frame->regs[RT_RIP] - !frame->interrupted;
}

static bool find_cfa(struct rt_frame *frame)
{
    const struct rt_rules *rules = &frame->rules;
    if (rules->cfa_expression)
        return evaluate(frame, block_at(rules->cfa_expression), NULL, &frame->cfa);
    if (rules->cfa_register >= RT_NREGS) return false;
    frame->cfa = frame->regs[rules->cfa_register] + (uint64_t)rules->cfa_offset;
    return true;
}

bool rt_unwind_look(struct rt_frame *frame)
{
    struct fde_entry e;
    if (frame->looked) return true;
    if (!find_entry(lookup_address(frame), &e) ||
        !rules_at(&e, lookup_address(frame), &frame->rules) || !find_cfa(frame))
        return false;
    frame->rules.return_register = e.return_register;
    frame->rules.signal_frame = e.signal_frame;
    frame->function_start = e.start;
    frame->looked = true;
    return true;
}

static bool restore_register(const struct rt_frame *frame, const struct rt_rules *rules,
                             unsigned reg, uint64_t *value)
{
    int64_t how = rules->value[reg];
    uint64_t address;
    switch ((enum rule)rules->kind[reg]) {
    case SAME: *value = frame->regs[reg]; return true;
    case OFFSET: return rt_read_word(frame, frame->cfa + (uint64_t)how, value);
    case VALUE_OFFSET: *value = frame->cfa + (uint64_t)how; return true;
    case REGISTER: *value = how < RT_NREGS ? frame->regs[how] : 0; return true;
    case EXPRESSION:
        return evaluate(frame, block_at((const unsigned char *)how), &frame->cfa, &address) &&
               rt_read_word(frame, address, value);
    case VALUE_EXPRESSION:
        return evaluate(frame, block_at((const unsigned char *)how), &frame->cfa, value);
    case UNDEFINED: *value = 0; return true;
    }
    return false;
}

bool rt_unwind_step(struct rt_frame *frame)
{
    const struct rt_rules *rules = &frame->rules;
    if (!rt_unwind_look(frame) || rules->return_register >= RT_NREGS) return false;
    struct rt_frame caller = {.careful = frame->careful};
    for (unsigned reg = 0; reg < RT_NREGS; reg++)
        if (!restore_register(frame, rules, reg, &caller.regs[reg])) return false;
    if (rules->kind[RT_RSP] == SAME) caller.regs[RT_RSP] = frame->cfa;
    if (rules->kind[rules->return_register] == UNDEFINED) return false; /* the outermost frame */
    caller.regs[RT_RIP] = caller.regs[rules->return_register];
    caller.interrupted = rules->signal_frame;
    if (!caller.regs[RT_RIP]) return false;
    *frame = caller;
    return true;
}

bool rt_unwind_cfa_offset(uint64_t address, int64_t *offset)
{
    struct fde_entry e;
    struct rt_rules rules;
    if (!find_entry(address, &e) || !rules_at(&e, address, &rules)) return false;
    if (rules.cfa_expression || rules.cfa_register != RT_RSP) return false;
    *offset = rules.cfa_offset;
    return true;
}

bool rt_unwind_way(uint64_t address, struct rt_way *way)
{
    struct fde_entry e;
    struct rt_rules rules;
    if (!find_entry(address, &e) || !rules_at(&e, address, &rules)) return false;
    bool by_rbp = rules.cfa_register == RT_RBP, rbp_kept = rules.kind[RT_RBP] == SAME;
    *way = (struct rt_way){
        .function_start = e.start, .cfa_by_rbp = by_rbp, .cfa = (int32_t)rules.cfa_offset};
    if (!rbp_kept) way->rbp = (int32_t)rules.value[RT_RBP];
    way->simple = !rules.cfa_expression && (by_rbp || rules.cfa_register == RT_RSP) &&
                  !e.signal_frame && rules.kind[RT_RSP] == SAME &&
                  (rbp_kept || rules.kind[RT_RBP] == OFFSET) && e.return_register == RT_RIP &&
                  rules.kind[RT_RIP] == OFFSET && rules.value[RT_RIP] == -8;
    return true;
}
