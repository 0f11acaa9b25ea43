/* Reading of gcc's dump: see gccdump.h. */
#include "gcov/gccdump.h"

#include "graph/cfg.h"

#include <ctype.h>
#include <stdlib.h>

/* A way of a switch, by the label it leads to. */
struct label_way {
    uint32_t block;
    const char *label;
    double share;
};

struct label_place {
    const char *label;
    uint32_t block;
};

struct dump_reader {
    struct fp_arena *arena;
    struct fp_gcc_notes *notes;
    struct fp_strtable names;         /* 1 + number of the function */
    struct fp_gcc_function *function; /* whose body is read, or NULL */
    uint32_t block;                   /* or FP_NONE */
    const char *file;                 /* of the last place */
    FP_VEC(struct label_way) ways;
    FP_VEC(struct label_place) labels;
};

static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/* ";; Function NAME (LINKAGE NAME, funcdef_no=": the first body of each is that of the notes. */
static void begin_function(struct dump_reader *r, const char *line)
{
    const char *end = strstr(line, ", funcdef_no="), *start = end;
    r->function = NULL;
    r->block = FP_NONE;
    r->ways.len = r->labels.len = 0;
    if (!end) return;
    while (start > line && start[-1] != '(') start--;
    const uint64_t *known =
        fp_strtable_find(&r->names, fp_arena_strndup(r->arena, start, (size_t)(end - start)));
    if (!known) return;
    struct fp_gcc_function *f = &r->notes->functions.at[*known - 1];
    if (f->places.len || f->shares) return;
    r->function = f;
    f->shares = FP_NEW_ARRAY(r->arena, double, f->arcs.len);
    for (size_t i = 0; i < f->arcs.len; i++) f->shares[i] = -1;
}

static void set_share(struct fp_gcc_function *f, uint32_t src, uint32_t dst, double share)
{
    for (size_t i = 0; i < f->arcs.len; i++) {
        if (f->arcs.at[i].src != src || f->arcs.at[i].dst != dst) continue;
        f->shares[i] = f->shares[i] < 0 ? share : f->shares[i] + share;
        return;
    }
}

/* "[34.00%]" behind a way, as a share; negative where there is none. */
static double share_at(const char *text)
{
    const char *open = strchr(text, '[');
    char *end;
    if (!open) return -1;
    double percent = strtod(open + 1, &end);
    return end > open + 1 && *end == '%' ? percent / 100 : -1;
}

static void read_goto(struct dump_reader *r, const char *text)
{
    char *end;
    uint32_t to = (uint32_t)strtoul(text + strlen("goto <bb "), &end, 10);
    double share = share_at(end);
    if (share >= 0) set_share(r->function, r->block, to, share);
}

/* "<default: <L5> [25.00%], case 1: <L6> [75.00%]>" */
static void read_switch(struct dump_reader *r, const char *text)
{
    for (const char *at = text; (at = strstr(at, ": <L"));) {
        const char *label = at + 3, *end = strchr(label, '>');
        if (!end) return;
        struct label_way way = {r->block, fp_arena_strndup(r->arena, label, (size_t)(end - label)),
                                share_at(end)};
        fp_vec_push(r->arena, &r->ways, way);
        at = end;
    }
}

static void end_function(struct dump_reader *r)
{
    for (size_t i = 0; i < r->ways.len; i++)
        for (size_t k = 0; k < r->labels.len && r->ways.at[i].share >= 0; k++)
            if (!strcmp(r->ways.at[i].label, r->labels.at[k].label))
                set_share(r->function, r->ways.at[i].block, r->labels.at[k].block,
                          r->ways.at[i].share);
    r->function = NULL;
}

/* "[FILE:LINE:COLUMN] " or "[FILE:LINE:COLUMN discrim N] "; NULL: there is none. */
static const char *read_place(struct dump_reader *r, const char *text, struct fp_gcc_place *place)
{
    const char *end = *text == '[' ? strstr(text, "] ") : NULL, *at = end;
    if (!end) return NULL;
    const char *discriminator = strstr(text, " discrim ");
    if (discriminator && discriminator < end) at = discriminator;
    for (const char *digit = at; digit > text && isdigit((unsigned char)digit[-1]);) at = --digit;
    if (at[-1] != ':') return NULL;
    place->column = (uint32_t)strtoul(at, NULL, 10);
    for (at--; at > text && isdigit((unsigned char)at[-1]);) at--;
    if (at[-1] != ':') return NULL;
    place->line = (uint32_t)strtoul(at, NULL, 10);
    size_t len = (size_t)(at - text) - 2;
    if (!r->file || strlen(r->file) != len || strncmp(r->file, text + 1, len) != 0)
        r->file = fp_arena_strndup(r->arena, text + 1, len);
    place->file = r->file;
    place->block = r->block;
    return end + 2;
}

/* "NAME (..." or "VALUE = NAME (...": a call, where a function of the notes has the name. */
static void read_call(struct dump_reader *r, const char *text)
{
    const char *equals = strstr(text, " = "), *name = equals ? equals + 3 : text;
    const char *end = strstr(name, " (");
    if (!end || end == name) return;
    struct fp_arena scratch = {0};
    const uint64_t *known =
        fp_strtable_find(&r->names, fp_arena_strndup(&scratch, name, (size_t)(end - name)));
    if (known) {
        struct fp_gcc_call call = {r->block, r->notes->functions.at[*known - 1].name};
        fp_vec_push(r->arena, &r->function->calls, call);
    }
    fp_arena_free(&scratch);
}

static void read_statement(struct dump_reader *r, const char *text)
{
    struct fp_gcc_place place = {0};
    const char *rest = read_place(r, text, &place), *at = rest ? rest : text;
    if (*at == '#') return; /* of the debugger, or a value by the way that led here */
    if (!strncmp(at, "<L", 2) && strstr(at, ">:")) {
        size_t len = (size_t)(strchr(at, '>') - at);
        struct label_place label = {fp_arena_strndup(r->arena, at, len), r->block};
        fp_vec_push(r->arena, &r->labels, label);
        return;
    }
    place.decides = !strncmp(at, "if (", 4) || !strncmp(at, "switch (", 8);
    if (!strncmp(at, "goto <bb ", 9)) read_goto(r, at);
    if (!strncmp(at, "switch (", 8)) read_switch(r, at);
    read_call(r, at);
    if (rest && place.line) fp_vec_push(r->arena, &r->function->places, place);
}

static void read_line(struct dump_reader *r, const char *line)
{
    const char *text = skip_spaces(line);
    if (!strncmp(line, ";; Function ", 12)) {
        begin_function(r, line);
    } else if (!r->function) {
        return;
    } else if (*line == '}') {
        end_function(r);
    } else if (!strncmp(text, "<bb ", 4)) {
        r->block = (uint32_t)strtoul(text + 4, NULL, 10);
        if (r->block >= r->function->nblocks) r->block = FP_NONE;
    } else if (r->block != FP_NONE) {
        read_statement(r, text);
    }
}

void fp_gcc_dump_read(struct fp_arena *arena, const char *text, size_t len,
                      struct fp_gcc_notes *notes)
{
    struct fp_arena scratch = {0};
    struct dump_reader r = {.arena = arena, .notes = notes, .block = FP_NONE};
    fp_strtable_init(&r.names, &scratch);
    for (size_t i = 0; i < notes->functions.len; i++)
        *fp_strtable_add(&r.names, notes->functions.at[i].name) = i + 1;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t size = end ? (size_t)(end - text) - at : len - at;
        struct fp_arena one = {0};
        read_line(&r, fp_arena_strndup(&one, text + at, size));
        fp_arena_free(&one);
        at += size + 1;
    }
    fp_arena_free(&scratch);
}
