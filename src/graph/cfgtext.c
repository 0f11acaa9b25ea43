/* The text form of graphs: see cfgtext.h. */
#include "graph/cfgtext.h"

#include "base/table.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct fp_arena *arena;
    struct fp_error *error;
    unsigned line;
    struct fp_strtable blocks; /* name -> index + 1 */
    FP_VEC(char *) names;
    FP_VEC(uint8_t) flags;
    FP_VEC(bool) defined;
    FP_VEC(struct fp_edge) edges;
    FP_VEC(double) weights;
    bool weighted;
};

static bool parse_fail(struct parser *p, const char *what, const char *word)
{
    return fp_fail(p->error, NULL, "line %u: %s '%s'", p->line, what, word);
}

static uint32_t block_index(struct parser *p, const char *name)
{
    uint64_t *index = fp_strtable_add(&p->blocks, name);
    if (!*index) {
        fp_vec_push(p->arena, &p->names, fp_arena_strdup(p->arena, name));
        fp_vec_push(p->arena, &p->flags, 0);
        fp_vec_push(p->arena, &p->defined, false);
        *index = p->names.len;
    }
    return (uint32_t)(*index - 1);
}

static bool parse_flag(struct parser *p, const char *word, uint8_t *flags, bool *is_switch)
{
    static const struct {
        const char *name;
        uint8_t flag;
    } known[] = {
        {"pad", FP_BLOCK_PAD},     {"hub", FP_BLOCK_HUB},   {"leaves", FP_BLOCK_LEAVES},
        {"calls", FP_BLOCK_CALLS}, {"cold", FP_BLOCK_COLD}, {"stores", FP_BLOCK_STORES},
    };
    if (!strcmp(word, "switch")) return *is_switch = true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(word, known[i].name)) {
            *flags |= known[i].flag;
            return true;
        }
    return parse_fail(p, "unknown block flag", word);
}

/* NAME, then one of ! * ~ for the kind, then @WEIGHT. */
static bool parse_target(struct parser *p, uint32_t src, char *word, enum fp_edge_kind kind)
{
    double weight = 1;
    char *at = strchr(word, '@');
    if (at) {
        char *end;
        weight = strtod(at + 1, &end);
        if (end == at + 1 || *end || !(weight >= 0)) return parse_fail(p, "bad weight in", word);
        *at = 0;
        p->weighted = true;
    }
    size_t len = strlen(word);
    static const char marks[] = "!*~";
    static const enum fp_edge_kind kinds[] = {FP_EDGE_UNWIND, FP_EDGE_INDIRECT, FP_EDGE_TWICE};
    const char *mark = len ? strchr(marks, word[len - 1]) : NULL;
    if (mark && *mark) {
        kind = kinds[mark - marks];
        word[--len] = 0;
    }
    if (!len) return parse_fail(p, "expected a block name, got", word);
    struct fp_edge edge = {src, block_index(p, word), kind};
    fp_vec_push(p->arena, &p->edges, edge);
    fp_vec_push(p->arena, &p->weights, weight);
    return true;
}

static bool parse_line(struct parser *p, char *line)
{
    char *comment = strchr(line, '#');
    if (comment) *comment = 0;
    if (!line[strspn(line, " \t\r")]) return true;
    char *colon = strchr(line, ':');
    if (!colon) return parse_fail(p, "expected 'NAME: TARGET...', got", line);
    *colon = 0;
    char *targets = colon + 1, *save = NULL;
    char *word = strtok_r(line, " \t\r", &save);
    if (!word) return parse_fail(p, "expected a block name before ':', got", "");
    uint32_t block = block_index(p, word);
    if (p->defined.at[block]) return parse_fail(p, "second line for block", word);
    p->defined.at[block] = true;
    bool is_switch = false;
    while ((word = strtok_r(NULL, " \t\r", &save)))
        if (!parse_flag(p, word, &p->flags.at[block], &is_switch)) return false;
    enum fp_edge_kind kind = is_switch ? FP_EDGE_SWITCH : FP_EDGE_NORMAL;
    for (word = strtok_r(targets, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save))
        if (!parse_target(p, block, word, kind)) return false;
    return true;
}

/* Edges move when they are sorted by source; their weights move with them. */
static double *sorted_weights(struct parser *p, const struct fp_cfg *cfg)
{
    double *sorted = FP_NEW_ARRAY(p->arena, double, cfg->nedges);
    uint32_t *next = FP_NEW_ARRAY(p->arena, uint32_t, (size_t)cfg->nblocks + 1);
    memcpy(next, cfg->first_out, cfg->nblocks * sizeof *next);
    for (size_t i = 0; i < p->edges.len; i++) sorted[next[p->edges.at[i].src]++] = p->weights.at[i];
    return sorted;
}

bool fp_cfg_parse(struct fp_arena *arena, const char *text, struct fp_named_cfg *out,
                  struct fp_error *error)
{
    struct parser p = {.arena = arena, .error = error};
    fp_strtable_init(&p.blocks, arena);
    while (*text) {
        size_t len = strcspn(text, "\n");
        p.line++;
        if (!parse_line(&p, fp_arena_strndup(arena, text, len))) return false;
        text += len + (text[len] == '\n');
    }
    for (size_t b = 0; b < p.names.len; b++)
        if (!p.defined.at[b]) return fp_fail(error, NULL, "no line for block '%s'", p.names.at[b]);
    *out = (struct fp_named_cfg){.names = p.names.at, .weighted = p.weighted};
    out->cfg =
        fp_cfg_new(arena, (uint32_t)p.names.len, p.edges.at, (uint32_t)p.edges.len, p.flags.at);
    if (!fp_cfg_check(out->cfg, error)) return false;
    out->weights = sorted_weights(&p, out->cfg);
    return true;
}

static void print_name(struct fp_writer *writer, char *const *names, uint32_t block)
{
    char text[16];
    if (!names) snprintf(text, sizeof text, "%u", block);
    const char *name = names ? names[block] : text;
    fp_write_bytes(writer, name, strlen(name));
}

static void print_text(struct fp_writer *writer, const char *text)
{
    fp_write_bytes(writer, text, strlen(text));
}

static void print_edge(struct fp_writer *writer, const struct fp_cfg *cfg, uint32_t e,
                       char *const *names, const double *weights)
{
    print_text(writer, " ");
    print_name(writer, names, cfg->edges[e].dst);
    switch (cfg->edges[e].kind) {
    case FP_EDGE_NORMAL:
    case FP_EDGE_SWITCH: break;
    case FP_EDGE_UNWIND: print_text(writer, "!"); break;
    case FP_EDGE_INDIRECT: print_text(writer, "*"); break;
    case FP_EDGE_TWICE: print_text(writer, "~"); break;
    }
    if (weights) {
        char text[40];
        snprintf(text, sizeof text, "@%.6g", weights[e]);
        print_text(writer, text);
    }
}

void fp_cfg_print(struct fp_writer *writer, const struct fp_cfg *cfg, char *const *names,
                  const double *weights)
{
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        print_name(writer, names, b);
        if (cfg->flags[b] & FP_BLOCK_PAD) print_text(writer, " pad");
        if (cfg->flags[b] & FP_BLOCK_HUB) print_text(writer, " hub");
        if (cfg->flags[b] & FP_BLOCK_LEAVES) print_text(writer, " leaves");
        if (cfg->flags[b] & FP_BLOCK_CALLS) print_text(writer, " calls");
        if (cfg->flags[b] & FP_BLOCK_STORES) print_text(writer, " stores");
        if (cfg->flags[b] & FP_BLOCK_COLD) print_text(writer, " cold");
        uint32_t first = cfg->first_out[b];
        if (fp_cfg_out_degree(cfg, b) && cfg->edges[first].kind == FP_EDGE_SWITCH)
            print_text(writer, " switch");
        print_text(writer, ":");
        for (uint32_t e = first; e < cfg->first_out[b + 1]; e++)
            print_edge(writer, cfg, e, names, weights);
        print_text(writer, "\n");
    }
}

uint32_t fp_cfg_block_named(const struct fp_named_cfg *graph, const char *name)
{
    for (uint32_t b = 0; b < graph->cfg->nblocks; b++)
        if (!strcmp(graph->names[b], name)) return b;
    return FP_NONE;
}
