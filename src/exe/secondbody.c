/* A second body of the code of a linked file: see secondbody.h. The list of steps is at the end.
 *
 * The new segment:
 *
 *     code | exception tables | .eh_frame | .eh_frame_hdr of the whole file | steps | places
 *
 * Functions lie in the order of the first body, so that the steps (footpath/abi.h) rise in both.
 */
#include "exe/secondbody.h"

#include "exe/additions.h"
#include "exe/bodycode.h"
#include "exe/bodyfile.h"
#include "exe/debugframe.h"
#include "exe/newframes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { CODE_ALIGN = 16, TABLE_ALIGN = 8, PLACE_ALIGN = 64 };

struct second {
    struct fp_arena *arena;
    struct fp_second_body *made;
    struct fp_body_file file;
    struct fp_object object;
    struct fp_frames frames;
    struct fp_body_entries entries;
    uint64_t record;        /* address of the runtime's */
    uint64_t sites_address; /* of the section of sites */
    const struct fp_site *sites;
    struct fp_body_site *order; /* all sites, by address */
    size_t nsites;
    struct fp_body_code *functions; /* by address */
    size_t nfunctions;
    struct fp_new_frames tables;
    FP_VEC(struct fp_body_step) steps;
    FP_VEC(struct fp_body_place) places;
};

/* ---- what is there ---- */

static const void *section_bytes(struct second *s, const char *name, uint64_t *address,
                                 uint64_t *size)
{
    const Elf64_Shdr *section = fp_elfview_section(&s->file.view, name);
    if (!section || section->sh_type == SHT_NOBITS || !section->sh_size) return NULL;
    *address = section->sh_addr;
    *size = section->sh_size;
    return s->file.view.bytes + section->sh_offset;
}

static bool find_record(struct second *s)
{
    uint64_t size;
    const void *bytes = section_bytes(s, FP_BODY_SECTION, &s->record, &size);
    struct fp_body_record record;
    if (!bytes || size != sizeof record) return false;
    memcpy(&record, bytes, sizeof record);
    for (int i = 0; i < FP_BODY_NENTRIES; i++)
        s->entries.at[i] = s->record + (uint64_t)record.entries[i];
    return record.version == 0;
}

static int by_address(const void *a, const void *b)
{
    const struct fp_body_site *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool find_sites(struct second *s)
{
    uint64_t size;
    const void *bytes = section_bytes(s, FP_SITE_SECTION, &s->sites_address, &size);
    if (!bytes || size % sizeof *s->sites) return false;
    s->nsites = size / sizeof *s->sites;
    struct fp_site *sites = FP_NEW_ARRAY(s->arena, struct fp_site, s->nsites);
    memcpy(sites, bytes, size);
    s->sites = sites;
    s->order = FP_NEW_ARRAY(s->arena, struct fp_body_site, s->nsites);
    for (size_t i = 0; i < s->nsites; i++)
        s->order[i] = (struct fp_body_site){
            s->sites_address + i * sizeof *sites + (uint64_t)(int64_t)sites[i].address, (uint32_t)i,
            sites[i].block, sites[i].flags & FP_SITE_BEHIND};
    qsort(s->order, s->nsites, sizeof *s->order, by_address);
    return true;
}

/* ---- places ---- */

static uint64_t origin(const struct second *s)
{
    return s->file.view.base;
}

/* A register by the name that assembly gives it, up to the end of the text or another sign. */
static int8_t register_named(const char *text, size_t len)
{
    static const struct {
        char name[5];
        int8_t reg;
    } names[] = {{"%rsp", REG_RSP}, {"%rax", REG_RAX}, {"%rbx", REG_RBX}, {"%rcx", REG_RCX},
                 {"%rdx", REG_RDX}, {"%rsi", REG_RSI}, {"%rdi", REG_RDI}, {"%rbp", REG_RBP},
                 {"%r8", REG_R8},   {"%r9", REG_R9},   {"%r10", REG_R10}, {"%r11", REG_R11},
                 {"%r12", REG_R12}, {"%r13", REG_R13}, {"%r14", REG_R14}, {"%r15", REG_R15}};
    size_t size = 0;
    while (size < len && text[size] && text[size] != ')') size++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == size && !memcmp(names[i].name, text, size))
            return names[i].reg;
    return -1;
}

/* 24(%rsp). False where a word is named that is not understood. */
static bool read_word(const char *text, struct fp_body_place *place)
{
    size_t len = strnlen(text, sizeof((struct fp_site *)0)->word);
    bool negative = *text == '-';
    size_t i = negative;
    int32_t offset = 0;
    for (; i < len && i < 10 && text[i] >= '0' && text[i] <= '9'; i++)
        offset = offset * 10 + text[i] - '0';
    place->frame_offset = negative ? -offset : offset;
    place->frame_reg = i < len && text[i] == '(' ? register_named(text + i + 1, len - i - 1) : -1;
    return !len || place->frame_reg >= 0;
}

static bool add_place(struct second *s, const struct fp_body_site *site, bool more)
{
    const struct fp_site *what = &s->sites[site->index];
    uint64_t at = s->sites_address + site->index * sizeof *what;
    struct fp_body_place place = {
        .first = (uint32_t)(site->address - origin(s)),
        .flags = what->flags,
        .value = what->value,
        .next = what->next,
        .counters = (int64_t)(at + offsetof(struct fp_site, counters) +
                              (uint64_t)(int64_t)what->counters - s->record),
        .block = what->block,
        .function = what->function,
        .more = more,
    };
    bool ok = read_word(what->word, &place);
    place.reg = register_named(what->place, sizeof what->place);
    fp_vec_push(s->arena, &s->places, place);
    return ok && (place.reg >= 0 || !what->place[0]);
}

/* Two sites in front of one branch, for two of its ways: they read the same registers. */
static bool is_alike(const struct second *s, const struct fp_body_site *x,
                     const struct fp_body_site *y)
{
    const struct fp_site *a = &s->sites[x->index], *b = &s->sites[y->index];
    return x->address == y->address && x->behind == y->behind && a->function == b->function &&
           a->flags & b->flags & FP_SITE_BRANCH && !memcmp(a->place, b->place, sizeof a->place) &&
           !memcmp(a->word, b->word, sizeof a->word);
}

static int by_block(const void *a, const void *b)
{
    const struct fp_body_site *x = a, *y = b;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The ways of a branch are put in order, so that the runtime finds the one that was taken: a switch
 * or a computed goto has hundreds. */
static bool find_places(struct second *s)
{
    bool ok = true;
    for (size_t i = 0, end; i < s->nsites; i = end) {
        for (end = i + 1; end < s->nsites; end++)
            if (!is_alike(s, &s->order[end - 1], &s->order[end])) break;
        qsort(&s->order[i], end - i, sizeof *s->order, by_block);
        bool more = end < s->nsites && s->order[end].address == s->order[i].address;
        for (size_t k = i; k < end; k++) {
            ok &= add_place(s, &s->order[k], k + 1 < end || more);
            size_t alike = end - k - 1;
            s->places.at[k].alike = (uint8_t)(alike < UINT8_MAX ? alike : UINT8_MAX);
        }
    }
    return ok;
}

/* ---- functions ---- */

static bool is_signal_frame(const struct second *s, const struct fp_fde *fde)
{
    return s->frames.cies.at[fde->cie].signal;
}

static const char *name_of(const struct second *s, uint64_t address)
{
    const struct fp_object_symbol *symbol = fp_object_function(&s->object, address);
    if (!symbol) return fp_arena_printf(s->arena, "fun.%llx", (unsigned long long)address);
    return symbol->name;
}

static void leave_out(struct second *s, uint64_t address, const char *why)
{
    s->made->left_out++;
    if (s->made->left_out_why) return;
    /* the file is closed when this is read */
    s->made->left_out_name = fp_arena_strdup(s->arena, name_of(s, address));
    s->made->left_out_why = why;
}

/* Why not is in left_out. */
static void make_function(struct second *s, struct fp_body_code *body, uint32_t fde)
{
    struct fp_new_frames trial = s->tables;
    fp_body_code_make(s->arena, &s->frames, fde, &s->entries, body);
    if (is_signal_frame(s, &s->frames.fdes.at[fde])) body->left_out = "is a signal's frame";
    if (!body->left_out) body->left_out = fp_new_frames_check(&s->tables, &body->m);
    if (body->left_out) return;
    trial.lsdas = (struct fp_new_table){0};
    body->left_out = fp_new_lsdas_add(&trial, &body->m, &body->code, 0, &body->lsda);
    fp_writer_free(&trial.lsdas.bytes);
}

/* Behind a call that does not return, at the end of a function: never executed. */
static bool is_behind(const struct second *s, uint64_t address)
{
    const struct fp_fde *before = fp_frames_find(&s->frames, address - 1);
    return before && before->start + before->size == address;
}

/* One for each FDE that has sites. */
static void make_functions(struct second *s)
{
    s->functions = FP_NEW_ARRAY(s->arena, struct fp_body_code, s->frames.fdes.len);
    for (size_t i = 0, end; i < s->nsites; i = end) {
        const struct fp_fde *fde = fp_frames_find(&s->frames, s->order[i].address);
        for (end = i + 1; end < s->nsites; end++)
            if (!fde || s->order[end].address - fde->start >= fde->size) break;
        if (!fde) {
            if (!is_behind(s, s->order[i].address))
                leave_out(s, s->order[i].address, "it has no unwind table");
            continue;
        }
        struct fp_body_code *body = &s->functions[s->nfunctions];
        *body = (struct fp_body_code){.sites = &s->order[i], .nsites = end - i};
        make_function(s, body, (uint32_t)(fde - s->frames.fdes.at));
        if (body->left_out)
            leave_out(s, fde->start, body->left_out);
        else
            s->nfunctions++;
    }
    s->made->functions = (uint32_t)s->nfunctions;
}

static void place_functions(struct second *s)
{
    uint64_t at = s->file.address;
    for (size_t i = 0; i < s->nfunctions; i++) {
        at = (at + CODE_ALIGN - 1) & ~(uint64_t)(CODE_ALIGN - 1);
        s->functions[i].start = at;
        at += s->functions[i].code.pieces.size;
    }
}

static uint64_t start_of(const struct fp_body_code *body)
{
    return body->m.ranges.at[0].address;
}

/* Where code is entered that was at an old address: in the second body, if it has one. */
static uint64_t code_at(const void *context, uint64_t old)
{
    const struct second *s = context;
    size_t low = 0, high = s->nfunctions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (start_of(&s->functions[middle]) <= old)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t found = low ? fp_body_code_at(&s->functions[low - 1], old) : 0;
    return found ? found : old;
}

/* ---- steps ---- */

static void add_step(struct second *s, struct fp_body_step step)
{
    size_t n = s->steps.len;
    bool again = n && s->steps.at[n - 1].first == step.first; /* two functions without a gap */
    if (again)
        s->steps.at[n - 1] = step;
    else
        fp_vec_push(s->arena, &s->steps, step);
}

/* Where a new step begins: at the function's start, at sites, and where the distance between the
 * two bodies is another one. The code of sites gets the number of their first place. */
static void add_steps(struct second *s, const struct fp_body_code *body, unsigned char *code)
{
    const struct fp_code_range *range = &body->m.ranges.at[0];
    const struct fp_piece *pieces = body->code.pieces.all.at;
    uint64_t distance = 0, base = origin(s);
    const struct fp_body_site *site = body->sites, *end = body->sites + body->nsites;
    for (uint32_t i = 0; i < body->m.insns.len; i++) {
        uint64_t first = body->m.insns.at[i].address;
        uint64_t second = body->start + pieces[body->own[i]].offset;
        bool has_site = body->own[i] != body->code.first_piece[i];
        if (i && !has_site && second - first == distance) continue;
        distance = second - first;
        struct fp_body_step step = {(uint32_t)(first - base), (uint32_t)(second - base), 0};
        while (has_site && site < end && site->address < first) site++;
        if (has_site)
            step.before = pieces[body->own[i]].offset - pieces[body->code.first_piece[i]].offset;
        add_step(s, step);
        if (has_site) fp_body_code_set_number(body, i, (uint32_t)(site - s->order), code);
    }
    add_step(s, (struct fp_body_step){(uint32_t)(range->address + range->size - base), 0, 0});
}

/* ---- writing ---- */

static bool write_code(struct second *s)
{
    uint64_t from = s->file.address;
    struct fp_writer *w = &s->file.bytes;
    for (size_t i = 0; i < s->nfunctions; i++) {
        struct fp_body_code *body = &s->functions[i];
        struct fp_piece_places places = {.start = body->start, .code_at = code_at, .context = s};
        while (fp_body_file_here(&s->file) < body->start) fp_write_u8(w, 0xcc);
        unsigned char *code = fp_arena_alloc(s->arena, body->code.pieces.size + 1);
        if (!fp_pieces_write(&body->code.pieces, &places, code)) return false;
        add_steps(s, body, code);
        fp_write_bytes(w, code, body->code.pieces.size);
        const char *name = fp_arena_printf(s->arena, "%s.second_body", name_of(s, start_of(body)));
        struct fp_body_symbol symbol = {name, body->start, body->code.pieces.size};
        fp_vec_push(s->arena, &s->file.symbols, symbol);
    }
    s->made->code = fp_body_file_here(&s->file) - from;
    fp_body_file_part(&s->file, FP_BODY_CODE_SECTION, from, true);
    return true;
}

static void write_tables(struct second *s)
{
    struct fp_new_frames *n = &s->tables;
    fp_body_file_align(&s->file, TABLE_ALIGN);
    uint64_t lsdas = n->lsdas.address = fp_body_file_here(&s->file);
    for (size_t i = 0; i < s->nfunctions; i++) {
        struct fp_body_code *body = &s->functions[i];
        fp_new_lsdas_add(n, &body->m, &body->code, body->start, &body->lsda);
    }
    fp_write_bytes(&s->file.bytes, n->lsdas.bytes.bytes, n->lsdas.bytes.len);
    fp_body_file_part(&s->file, ".gcc_except_table.footpath", lsdas, false);
    fp_body_file_align(&s->file, TABLE_ALIGN);
    uint64_t frames = n->table.address = fp_body_file_here(&s->file);
    for (size_t i = 0; i < s->nfunctions; i++) {
        struct fp_body_code *body = &s->functions[i];
        fp_new_frames_add(n, &body->m, &body->code, body->start, &body->lsda);
    }
    fp_new_frames_end(n);
    fp_write_bytes(&s->file.bytes, n->table.bytes.bytes, n->table.bytes.len);
    fp_body_file_part(&s->file, ".eh_frame.footpath", frames, false);
    fp_debug_frame_write(&n->table, &s->file.debug);
}

static void write_lookup(struct second *s)
{
    fp_body_file_align(&s->file, TABLE_ALIGN);
    uint64_t steps = fp_body_file_here(&s->file);
    fp_write_bytes(&s->file.bytes, (const void *)s->steps.at, s->steps.len * sizeof *s->steps.at);
    fp_body_file_align(&s->file, PLACE_ALIGN);
    uint64_t places = fp_body_file_here(&s->file);
    fp_write_bytes(&s->file.bytes, (const void *)s->places.at,
                   s->places.len * sizeof *s->places.at);
    fp_body_file_part(&s->file, ".footpath_steps", steps, false);
    struct fp_body_record *record = (void *)fp_elfview_at(&s->file.view, s->record, sizeof *record);
    record->version = FP_BODY_VERSION;
    record->nsteps = (uint32_t)s->steps.len;
    record->nplaces = (uint32_t)s->places.len;
    record->origin = (int64_t)(origin(s) - s->record);
    record->steps = (int64_t)(steps - s->record);
    record->places = (int64_t)(places - s->record);
    record->code = (int64_t)(s->file.address - s->record);
    record->code_size = s->made->code;
    record->functions = s->made->functions;
    record->left_out = s->made->left_out;
}

/* The functions of second bodies have their additions from the file as it was (`object`). */
static void remove_additions(struct second *s)
{
    struct fp_additions additions;
    fp_additions_find(s->arena, &s->file.view, &additions);
    for (size_t i = 0; i < s->nfunctions; i++)
        fp_additions_pass_over(&additions, &s->functions[i].m);
    fp_additions_remove(&additions);
}

/* ---- the list of steps ---- */

static const char *look(struct second *s, const char *path)
{
    struct fp_error error = {0};
    const char *why = fp_body_file_open(&s->file, s->arena, path);
    if (why) return why;
    if (!find_sites(s)) return "it has no sites of sampled paths";
    if (!find_record(s)) return "its runtime is of another version, or it has a second body";
    if (!fp_object_open(s->arena, path, &s->object, &error) ||
        !fp_frames_read(s->arena, &s->object, &s->frames, &error))
        return fp_arena_strdup(s->arena, error.what);
    s->tables = (struct fp_new_frames){
        .arena = s->arena, .old = &s->frames, .fixed = s->file.view.header.e_type == ET_EXEC};
    return find_places(s) ? NULL : "a site has its register in an unknown place";
}

static const char *make(struct second *s, const char *path)
{
    const char *why = look(s, path);
    if (why) return why;
    make_functions(s);
    if (!s->nfunctions) return "none of its functions can be copied";
    place_functions(s);
    if (!write_code(s)) return "it is too large: code and data are too far apart";
    write_tables(s);
    if (!fp_body_file_unwind(&s->file, s->tables.fdes.at, s->tables.fdes.len))
        return "its .eh_frame_hdr is of an unknown kind";
    write_lookup(s);
    remove_additions(s);
    s->made->all = s->file.bytes.len;
    return NULL;
}

bool fp_second_body_add(struct fp_arena *arena, const char *path, struct fp_second_body *made,
                        struct fp_error *error)
{
    struct second s = {.arena = arena, .made = made};
    *made = (struct fp_second_body){0};
    made->why_not = make(&s, path);
    if (s.object.elf) fp_object_close(&s.object);
    bool ok = made->why_not || fp_body_file_write(&s.file, error);
    fp_writer_free(&s.file.bytes);
    fp_writer_free(&s.file.debug);
    fp_writer_free(&s.tables.lsdas.bytes);
    fp_writer_free(&s.tables.table.bytes);
    return ok;
}
