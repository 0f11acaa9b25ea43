/* The two compilers' forms of a profile by source position: docs/formats/
 * sample-profiles.md. Clang reads text, gcc reads a gcov-like file that is named
 * after AutoFDO. */
#include "report/sourceprofile.h"

#include "base/checked.h"
#include "base/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- clang ---- */

static void indent(struct fp_writer *out, unsigned depth)
{
    while (depth--) fp_write_u8(out, ' ');
}

static void say(struct fp_writer *out, const char *text)
{
    fp_write_bytes(out, text, strlen(text));
}

static void say_position(struct fp_writer *out, unsigned depth, uint32_t line,
                         uint32_t discriminator)
{
    char text[64];
    indent(out, depth);
    if (discriminator)
        snprintf(text, sizeof text, "%u.%u: ", line, discriminator);
    else
        snprintf(text, sizeof text, "%u: ", line);
    say(out, text);
}

static void say_node(struct fp_writer *out, const struct fp_source_node *node, unsigned depth)
{
    char text[64];
    for (size_t i = 0; i < node->counts.len; i++) {
        const struct fp_source_count *one = &node->counts.at[i];
        say_position(out, depth, one->line, one->discriminator);
        snprintf(text, sizeof text, "%" PRIu64 "\n", one->count);
        say(out, text);
    }
    for (size_t i = 0; i < node->inlined.len; i++) {
        const struct fp_source_node *n = node->inlined.at[i];
        say_position(out, depth, n->line, n->discriminator);
        fp_say_plain(out, n->name, strlen(n->name));
        snprintf(text, sizeof text, ":%" PRIu64 "\n", n->total);
        say(out, text);
        say_node(out, n, depth + 1);
    }
}

void fp_write_llvm_sample(struct fp_writer *out, const struct fp_source_profile *profile)
{
    char text[64];
    for (size_t i = 0; i < profile->functions.len; i++) {
        const struct fp_source_node *f = profile->functions.at[i];
        if (!f->total) continue;
        fp_say_plain(out, f->name, strlen(f->name));
        snprintf(text, sizeof text, ":%" PRIu64 ":%" PRIu64 "\n", f->total, f->entries);
        say(out, text);
        say_node(out, f, 1);
    }
}

/* ---- gcc ---- */

enum {
    AFDO_MAGIC = 0x67636461,
    AFDO_VERSION = 2,
    AFDO_NAMES = 0xaa000000,
    AFDO_FUNCTIONS = 0xac000000,
    AFDO_MODULES = 0xae000000,
    AFDO_WORKING_SET = 0xaf000000,
};

struct names {
    struct fp_arena arena;
    struct fp_strtable index; /* 1 + number */
    FP_VEC(const char *) all;
};

static uint32_t name_number(struct names *names, const char *name)
{
    uint64_t *known = fp_strtable_add(&names->index, name);
    if (!*known) {
        fp_vec_push(&names->arena, &names->all, name);
        *known = names->all.len;
    }
    return (uint32_t)*known - 1;
}

/* gcc takes lines that are missing, or have no count, for code that never ran. Where
 * such a block is an arm in a loop that it vectorises, gcc 12 divides by that count.
 * So every line up to the last one has a count, of at least a millionth of the
 * largest: gcc's own bound for what is hot is a ten-thousandth of it.
 */
enum { RARE_SHIFT = 20, LARGEST_SHIFT = 26, BEFORE_DECLARATION = 0x8000 };

struct line_counting {
    struct names *names;
    unsigned up; /* counts are shifted, so that shares of them do not become 0 */
    uint64_t least;
};

static uint64_t largest_count(const struct fp_source_node *node)
{
    uint64_t most = node->entries;
    for (size_t i = 0; i < node->counts.len; i++)
        if (node->counts.at[i].count > most) most = node->counts.at[i].count;
    for (size_t i = 0; i < node->inlined.len; i++) {
        uint64_t inner = largest_count(node->inlined.at[i]);
        if (inner > most) most = inner;
    }
    return most;
}

static void find_scale(struct line_counting *c, const struct fp_source_profile *profile)
{
    uint64_t most = 1;
    for (size_t i = 0; i < profile->functions.len; i++) {
        uint64_t one = largest_count(profile->functions.at[i]);
        if (one > most) most = one;
    }
    for (c->up = 0; most >> LARGEST_SHIFT == 0; most <<= 1) c->up++;
    c->least = most >> RARE_SHIFT;
}

static uint64_t scaled(const struct line_counting *c, uint64_t count)
{
    return count << c->up > c->least ? count << c->up : c->least;
}

/* How often the code of a call that was inlined starts, as far as its first line says. */
static uint64_t first_count(const struct fp_source_node *node)
{
    if (node->counts.len) return node->counts.at[0].count;
    return node->inlined.len ? first_count(node->inlined.at[0]) : 0;
}

/* Per line 1 + its count (at most the largest number), or 0 where there is none; the number
 * of lines. */
static uint32_t lines_of(struct fp_arena *arena, const struct fp_source_node *node,
                         uint64_t **lines)
{
    uint32_t len = 0;
    for (size_t i = 0; i < node->counts.len; i++)
        if (node->counts.at[i].line < BEFORE_DECLARATION) len = node->counts.at[i].line + 1;
    for (size_t i = 0; i < node->inlined.len; i++) {
        uint32_t line = node->inlined.at[i]->line;
        if (line < BEFORE_DECLARATION && line >= len) len = line + 1;
    }
    *lines = FP_NEW_ARRAY(arena, uint64_t, (size_t)len + 1);
    for (size_t i = 0; i < node->counts.len; i++) {
        const struct fp_source_count *one = &node->counts.at[i];
        if (one->line < len && (*lines)[one->line] <= one->count)
            (*lines)[one->line] = fp_add_saturated(one->count, 1);
    }
    for (size_t i = 0; i < node->inlined.len; i++) {
        uint32_t line = node->inlined.at[i]->line;
        uint64_t count = first_count(node->inlined.at[i]);
        if (line < len && (*lines)[line] <= count) (*lines)[line] = fp_add_saturated(count, 1);
    }
    return len;
}

/* What was merged into other code ran at most as often as the lines around it. */
static void fill_gaps(uint64_t *lines, uint32_t len)
{
    uint64_t before = 1;
    for (uint32_t line = 0, next = 0; line < len; line++) {
        if (lines[line]) {
            before = lines[line];
            continue;
        }
        for (next = next > line ? next : line; !lines[next];)
            next++; /* the last line has a count */
        lines[line] = before < lines[next] ? before : lines[next];
    }
}

static void write_position(struct fp_writer *out, const struct line_counting *c, uint32_t position,
                           uint64_t count)
{
    fp_write_u32(out, position);
    fp_write_u32(out, 0); /* targets of indirect calls */
    fp_write_u64(out, scaled(c, count));
}

static uint32_t write_positions(struct fp_writer *out, const struct line_counting *c,
                                const struct fp_source_node *node)
{
    struct fp_arena scratch = {0};
    uint64_t *lines;
    uint32_t written = (uint32_t)node->counts.len, len = lines_of(&scratch, node, &lines), last = 0;
    bool *has = FP_NEW_ARRAY(&scratch, bool, (size_t)len + 1);
    fill_gaps(lines, len);
    for (size_t i = 0; i < node->counts.len; i++) {
        const struct fp_source_count *one = &node->counts.at[i];
        write_position(out, c, one->line << 16 | (one->discriminator & 0xffff), one->count);
        if (one->line < len) has[one->line] = true;
    }
    for (; last < len; last++) {
        if (has[last]) continue;
        write_position(out, c, last << 16, lines[last] - 1);
        written++;
    }
    fp_arena_free(&scratch);
    return written;
}

/* A call's site has no discriminator here: gcc 12 looks for it without. */
static void write_node(struct fp_writer *out, const struct line_counting *c,
                       const struct fp_source_node *node)
{
    struct fp_writer positions = {0};
    uint32_t count = write_positions(&positions, c, node);
    fp_write_u32(out, name_number(c->names, node->name));
    fp_write_u32(out, count);
    fp_write_u32(out, (uint32_t)node->inlined.len);
    fp_write_bytes(out, positions.bytes, positions.len);
    fp_writer_free(&positions);
    for (size_t i = 0; i < node->inlined.len; i++) {
        fp_write_u32(out, node->inlined.at[i]->line << 16);
        write_node(out, c, node->inlined.at[i]);
    }
}

static void write_section(struct fp_writer *out, uint32_t tag, uint32_t count,
                          const struct fp_writer *body)
{
    fp_write_u32(out, tag);
    fp_write_u32(out, (uint32_t)(body->len / 4 + 1));
    fp_write_u32(out, count);
    fp_write_bytes(out, body->bytes, body->len);
}

void fp_write_gcc_afdo(struct fp_writer *out, const struct fp_source_profile *profile)
{
    struct names names = {0};
    struct line_counting c = {.names = &names};
    struct fp_writer functions = {0}, texts = {0};
    uint32_t count = 0;
    fp_strtable_init(&names.index, &names.arena);
    name_number(&names, ""); /* number 0 stands for no name */
    find_scale(&c, profile);
    for (size_t i = 0; i < profile->functions.len; i++) {
        if (!profile->functions.at[i]->total) continue;
        fp_write_u64(&functions, scaled(&c, profile->functions.at[i]->entries));
        write_node(&functions, &c, profile->functions.at[i]);
        count++;
    }
    for (size_t i = 0; i < names.all.len; i++) {
        size_t len = strlen(names.all.at[i]) + 1;
        fp_write_u32(&texts, (uint32_t)len);
        fp_write_bytes(&texts, names.all.at[i], len);
    }
    fp_write_u32(out, AFDO_MAGIC);
    fp_write_u32(out, AFDO_VERSION);
    fp_write_u32(out, 0);
    write_section(out, AFDO_NAMES, (uint32_t)names.all.len, &texts);
    write_section(out, AFDO_FUNCTIONS, count, &functions);
    struct fp_writer none = {0};
    write_section(out, AFDO_MODULES, 0, &none);
    write_section(out, AFDO_WORKING_SET, 0, &none);
    fp_writer_free(&functions);
    fp_writer_free(&texts);
    fp_arena_free(&names.arena);
}
