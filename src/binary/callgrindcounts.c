/* Reading callgrind's output: see callgrindcounts.h. */
#include "binary/callgrindcounts.h"

#include "base/io.h"
#include "base/names.h"
#include "binary/edgeprofile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

struct callgrind_parsing {
    struct fp_callgrind *out;
    struct fp_table names; /* (n) of ob= -> 1: is the object; 2: is another */
    const char *object;
    bool here;        /* in the object that was asked for */
    bool called_here; /* the callee is in it too */
    bool lines;       /* positions have a line behind the address */
    uint64_t address; /* last one */
    uint64_t line;
    bool skip; /* the next line is the cost of a call */
    uint64_t call_count, call_target;
    bool jump; /* the next line is the source of a jump */
    uint64_t jump_count, jump_target;
};

static bool number(const char **at, uint64_t *value)
{
    char *end;
    *value = strtoull(*at, &end, 0);
    if (end == *at) return false;
    *at = end;
    return true;
}

/* "+3", "-5", "*" are relative to the last position; anything else is absolute. */
static bool position(const char **at, uint64_t last, uint64_t *value)
{
    while (**at == ' ') ++*at;
    char sign = **at;
    if (sign == '*') return ++*at, *value = last, true;
    if (sign != '+' && sign != '-') return number(at, value);
    ++*at;
    uint64_t distance;
    if (!number(at, &distance)) return false;
    *value = sign == '+' ? last + distance : last - distance;
    return true;
}

static bool same_object(const struct callgrind_parsing *p, const char *name)
{
    return !strcmp(fp_base_name(name), fp_base_name(p->object));
}

/* "(3) /path", later "(3)". */
static bool names_object(struct callgrind_parsing *p, const char *text)
{
    uint64_t id = 0;
    const char *at = text + 1;
    if (*text != '(' || !number(&at, &id)) return same_object(p, text);
    uint64_t *known = fp_table_add(&p->names, id);
    const char *name = strchr(text, ' ');
    if (name && !*known) *known = same_object(p, name + 1) ? 1 : 2;
    return *known == 1;
}

static void take_jump(struct callgrind_parsing *p)
{
    struct fp_taken_jump jump = {p->address, p->jump_target, p->jump_count};
    if (p->here) fp_vec_push(p->out->arena, &p->out->jumps, jump);
}

static void take_cost(struct callgrind_parsing *p, const char *at)
{
    uint64_t cost = 0;
    while (*at == ' ') at++;
    if (p->here && number(&at, &cost)) *fp_table_add(&p->out->executed, p->address) += cost;
}

static bool cost_line(struct callgrind_parsing *p, const char *at)
{
    uint64_t address, line = p->line;
    if (!position(&at, p->address, &address)) return false;
    if (p->lines && !position(&at, p->line, &line)) return false;
    p->address = address;
    p->line = line;
    if (p->skip && p->here) *fp_table_add(&p->out->calls_from, address) += p->call_count;
    if (p->jump)
        take_jump(p);
    else if (p->skip && p->called_here)
        *fp_table_add(&p->out->called, p->call_target) += p->call_count;
    else if (!p->skip)
        take_cost(p, at);
    if (p->skip) p->called_here = p->here; /* cob= holds for one call */
    p->jump = p->skip = false;
    return true;
}

static bool calls_line(struct callgrind_parsing *p, const char *at)
{
    p->skip = true;
    return number(&at, &p->call_count) && position(&at, p->address, &p->call_target);
}

/* jump=COUNT TARGET, jcnd=TAKEN/EXECUTED TARGET */
static bool jump_line(struct callgrind_parsing *p, const char *at)
{
    uint64_t executed;
    p->jump = true;
    if (!number(&at, &p->jump_count)) return false;
    if (*at == '/') {
        at++;
        if (!number(&at, &executed)) return false;
    }
    return position(&at, p->address, &p->jump_target);
}

static bool starts(const char *line, const char *word, const char **rest)
{
    size_t len = strlen(word);
    if (strncmp(line, word, len)) return false;
    *rest = line + len;
    return true;
}

static bool parse_line(struct callgrind_parsing *p, const char *line)
{
    const char *rest;
    if (isdigit((unsigned char)*line) || *line == '+' || *line == '-' || *line == '*')
        return cost_line(p, line);
    if (starts(line, "positions:", &rest)) {
        p->lines = strstr(rest, "line") != NULL;
        return strstr(rest, "instr") != NULL;
    }
    if (starts(line, "ob=", &rest))
        p->here = p->called_here = names_object(p, rest);
    else if (starts(line, "cob=", &rest))
        p->called_here = names_object(p, rest);
    else if (starts(line, "fn=", &rest))
        p->called_here = p->here;
    else if (starts(line, "calls=", &rest))
        return calls_line(p, rest);
    else if (starts(line, "jump=", &rest) || starts(line, "jcnd=", &rest))
        return jump_line(p, rest);
    return true;
}

/* ---- the file ---- */

static int by_source(const void *a, const void *b)
{
    const struct fp_taken_jump *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static void index_jumps(struct fp_callgrind *c)
{
    if (c->jumps.len) qsort(c->jumps.at, c->jumps.len, sizeof *c->jumps.at, by_source);
    for (size_t i = c->jumps.len; i > 0; i--)
        *fp_table_add(&c->jumps_from, c->jumps.at[i - 1].from) = i;
}

bool fp_callgrind_read(struct fp_arena *arena, const char *path, const char *object,
                       struct fp_callgrind *out, struct fp_error *error)
{
    struct fp_file file;
    struct callgrind_parsing p = {.out = out, .object = object, .lines = true};
    *out = (struct fp_callgrind){.arena = arena};
    fp_table_init(&out->executed, arena);
    fp_table_init(&out->jumps_from, arena);
    fp_table_init(&out->called, arena);
    fp_table_init(&out->calls_from, arena);
    fp_table_init(&p.names, arena);
    if (!fp_file_open(&file, path, error)) return false;
    bool ok = true;
    for (size_t at = 0; ok && at < file.len;) {
        const unsigned char *end = memchr(file.bytes + at, '\n', file.len - at);
        size_t len = end ? (size_t)(end - file.bytes) - at : file.len - at;
        char line[4096];
        size_t kept = len < sizeof line ? len : sizeof line - 1;
        memcpy(line, file.bytes + at, kept);
        line[kept] = 0;
        if (!parse_line(&p, line))
            ok = fp_fail_at(error, path, at,
                            "expected callgrind's output with --dump-instr=yes, got '%.40s'", line);
        at += len + 1;
    }
    fp_file_close(&file);
    index_jumps(out);
    if (ok && !out->executed.len) return fp_fail(error, path, "holds no instruction of %s", object);
    return ok;
}

/* ---- counts ---- */

static uint64_t executed(const struct fp_callgrind *c, const struct fp_insn *insn)
{
    const uint64_t *count = fp_table_find(&c->executed, insn->address);
    return count ? *count : 0;
}

/* The count of the nearest instruction of the block that is not a `rep`. */
static uint64_t count_near(const struct fp_callgrind *c, const struct fp_machine_function *f,
                           uint32_t block, uint32_t index)
{
    uint32_t first = f->blocks[block].first_insn, end = first + f->blocks[block].ninsns;
    for (uint32_t i = index; i + 1 > first; i--)
        if (!(f->insns.at[i].flags & FP_INSN_REPEATS)) return executed(c, &f->insns.at[i]);
    for (uint32_t i = index; i < end; i++)
        if (!(f->insns.at[i].flags & FP_INSN_REPEATS)) return executed(c, &f->insns.at[i]);
    return executed(c, &f->insns.at[index]);
}

uint64_t fp_callgrind_block(const struct fp_callgrind *c, const struct fp_machine_function *f,
                            uint32_t block)
{
    if (!f->blocks[block].ninsns) return 0;
    return count_near(c, f, block, f->blocks[block].first_insn);
}

static uint64_t taken(const struct fp_callgrind *c, const struct fp_machine_function *f,
                      uint64_t from, uint32_t to_block)
{
    uint64_t sum = 0;
    const uint64_t *first = fp_table_find(&c->jumps_from, from);
    for (size_t i = first ? (size_t)*first - 1 : c->jumps.len;
         i < c->jumps.len && c->jumps.at[i].from == from; i++) {
        uint32_t insn = fp_machine_insn(f, c->jumps.at[i].to, true);
        uint32_t block = insn == FP_NONE ? f->tail : f->insns.at[insn].block;
        if (block == to_block) sum += c->jumps.at[i].count;
    }
    return sum;
}

/* A conditional jump to another function is a call to callgrind. */
static uint64_t tail_calls(const struct fp_callgrind *c, const struct fp_insn *branch)
{
    const uint64_t *count = fp_table_find(&c->calls_from, branch->address);
    return count ? *count : 0;
}

/* Control leaves a block by a jump, or falls through to the next one. */
static uint64_t edge_count(const struct fp_callgrind *c, const struct fp_machine_function *f,
                           uint32_t edge)
{
    const struct fp_edge *e = &f->cfg->edges[edge];
    uint32_t last = f->blocks[e->src].first_insn + f->blocks[e->src].ninsns - 1;
    const struct fp_insn *insn = &f->insns.at[last];
    uint64_t ran = count_near(c, f, e->src, last), away = 0;
    bool falls = f->blocks[e->dst].ninsns &&
                 f->insns.at[f->blocks[e->dst].first_insn].address == insn->address + insn->length;
    uint64_t jumped = taken(c, f, insn->address, e->dst);
    if (insn->kind == FP_INSN_JUMP && jumped == 0 && fp_cfg_out_degree(f->cfg, e->src) == 1)
        return ran;
    if (insn->kind == FP_INSN_BRANCH) away = tail_calls(c, insn);
    if (f->edges[edge].label == FP_LABEL_TAKEN) jumped += away;
    if (!falls || insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_JUMP_INDIRECT) return jumped;
    if (insn->kind != FP_INSN_BRANCH) return ran;
    const uint64_t *first = fp_table_find(&c->jumps_from, insn->address);
    for (size_t i = first ? (size_t)*first - 1 : c->jumps.len;
         i < c->jumps.len && c->jumps.at[i].from == insn->address; i++)
        away += c->jumps.at[i].count;
    return jumped + (ran > away ? ran - away : 0);
}

/* How often a block ran less how often it was reached by its ordinary in-edges. */
static uint64_t arrivals(const struct fp_callgrind *c, const struct fp_machine_function *f,
                         uint32_t block, const uint64_t *edges)
{
    uint64_t in = 0, count = fp_callgrind_block(c, f, block);
    for (uint32_t i = f->cfg->first_in[block]; i < f->cfg->first_in[block + 1]; i++)
        in += edges[f->cfg->in_edges[i]];
    return count > in ? count - in : 0;
}

static uint64_t departures(const struct fp_callgrind *c, const struct fp_machine_function *f,
                           uint32_t block, const uint64_t *edges)
{
    uint64_t out = 0, count = fp_callgrind_block(c, f, block);
    for (uint32_t e = f->cfg->first_out[block]; e < f->cfg->first_out[block + 1]; e++)
        out += edges[e];
    return count > out ? count - out : 0;
}

bool fp_callgrind_edges(const struct fp_callgrind *c, const struct fp_machine_function *f,
                        uint64_t *entries, uint64_t *edges)
{
    bool ran = false;
    for (uint32_t b = 0; b < f->cfg->nblocks && !ran; b++) ran = fp_callgrind_block(c, f, b) != 0;
    if (!ran) return false;
    for (uint32_t e = 0; e < f->cfg->nedges; e++) {
        const struct fp_edge *edge = &f->cfg->edges[e];
        bool guessed = edge->src == f->hub || edge->dst == f->hub;
        edges[e] = guessed ? 0 : edge_count(c, f, e);
    }
    for (uint32_t e = 0; e < f->cfg->nedges; e++) {
        const struct fp_edge *edge = &f->cfg->edges[e];
        if (f->hub == FP_NONE) break;
        if (edge->src == f->hub)
            edges[e] = edge->dst == f->tail ? 0 : arrivals(c, f, edge->dst, edges);
        if (edge->dst == f->hub) edges[e] = departures(c, f, edge->src, edges);
    }
    *entries = arrivals(c, f, 0, edges);
    return true;
}

/* ---- a whole file ---- */

static bool add_functions(struct fp_edge_profile *p, const struct fp_callgrind *counts,
                          struct fp_error *error)
{
    for (size_t i = 0; i < p->machine.nfunctions; i++) {
        struct fp_machine_function *f = &p->machine.functions[i];
        fp_machine_build(&p->machine, f);
        uint64_t entries, *edges;
        if (!f->cfg) continue;
        edges = FP_NEW_ARRAY(p->arena, uint64_t, f->cfg->nedges);
        if (fp_callgrind_edges(counts, f, &entries, edges))
            fp_edge_profile_add(p, f, entries, edges);
    }
    return p->nfunctions ||
           fp_fail(error, p->machine.object->path, "has no named function that ran");
}

bool fp_callgrind_import(const char *input, const char *binary, const char *output,
                         struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_object object;
    struct fp_callgrind counts;
    struct fp_edge_profile profile = {0};
    struct fp_embedded_map map;
    char full[4096], *args[] = {(char *)"(callgrind)"};
    bool ok = fp_object_open(&arena, realpath(binary, full) ? full : binary, &object, error);
    if (ok) {
        fp_edge_profile_init(&profile, &arena, &object);
        ok = fp_callgrind_read(&arena, input, object.path, &counts, error) &&
             add_functions(&profile, &counts, error);
        struct fp_run result = fp_edge_profile_run(&profile, &map, args, 1);
        ok = ok && fp_profile_write(output, &result, 1, 0, error);
        fp_edge_profile_free(&profile);
        fp_object_close(&object);
    }
    fp_arena_free(&arena);
    return ok;
}
