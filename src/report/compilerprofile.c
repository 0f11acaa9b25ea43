/* The two compilers' forms of a profile by source position: docs/formats/
 * sample-profiles.md. Clang reads text, gcc reads a gcov-like file that is named
 * after AutoFDO. */
#include "report/sourceprofile.h"

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

static void say_position(struct fp_writer *out, unsigned depth, uint32_t line, uint32_t discriminator)
{
    char text[64];
    indent(out, depth);
    if (discriminator) snprintf(text, sizeof text, "%u.%u: ", line, discriminator);
    else snprintf(text, sizeof text, "%u: ", line);
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
        say(out, n->name);
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
        say(out, f->name);
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
    struct fp_strmap index; /* 1 + number */
    FP_VEC(const char *) all;
};

static uint32_t name_number(struct names *names, const char *name)
{
    uint64_t *known = fp_strmap_add(&names->index, name);
    if (!*known) {
        fp_vec_push(&names->arena, &names->all, name);
        *known = names->all.len;
    }
    return (uint32_t)*known - 1;
}

/* A call's site has no discriminator here: gcc 12 looks for it without. */
static void write_node(struct fp_writer *out, struct names *names, const struct fp_source_node *node)
{
    fp_write_u32(out, name_number(names, node->name));
    fp_write_u32(out, (uint32_t)node->counts.len);
    fp_write_u32(out, (uint32_t)node->inlined.len);
    for (size_t i = 0; i < node->counts.len; i++) {
        const struct fp_source_count *one = &node->counts.at[i];
        fp_write_u32(out, one->line << 16 | (one->discriminator & 0xffff));
        fp_write_u32(out, 0); /* targets of indirect calls */
        fp_write_u64(out, one->count);
    }
    for (size_t i = 0; i < node->inlined.len; i++) {
        fp_write_u32(out, node->inlined.at[i]->line << 16);
        write_node(out, names, node->inlined.at[i]);
    }
}

static void write_section(struct fp_writer *out, uint32_t tag, uint32_t count, const struct fp_writer *body)
{
    fp_write_u32(out, tag);
    fp_write_u32(out, (uint32_t)(body->len / 4 + 1));
    fp_write_u32(out, count);
    fp_write_bytes(out, body->bytes, body->len);
}

void fp_write_gcc_afdo(struct fp_writer *out, const struct fp_source_profile *profile)
{
    struct names names = {0};
    struct fp_writer functions = {0}, texts = {0};
    uint32_t count = 0;
    fp_strmap_init(&names.index, &names.arena);
    name_number(&names, ""); /* number 0 stands for no name */
    for (size_t i = 0; i < profile->functions.len; i++) {
        if (!profile->functions.at[i]->total) continue;
        fp_write_u64(&functions, profile->functions.at[i]->entries);
        write_node(&functions, &names, profile->functions.at[i]);
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
