/* footpath show --json: see show.h; docs/formats/show.schema.json. */
#include "report/show.h"

#include <inttypes.h>
#include <stdio.h>

static void json_place(struct fp_json *j, const struct footpath_place *place)
{
    fp_json_address(j, place->address);
    if (!place->line) return;
    fp_json_key(j, "file"), fp_json_string(j, place->file);
    fp_json_key(j, "line"), fp_json_uint(j, place->line);
    if (place->column) fp_json_key(j, "column"), fp_json_uint(j, place->column);
}

/* What a branch did, as a word; and what that means in the source, apart. */
static void json_branch(struct fp_json *j, const char *branch, struct footpath_meaning meaning,
                        const char *text)
{
    bool holds = meaning.sense == FOOTPATH_SENSE_TRUE;
    fp_json_key(j, "branch"), fp_json_string(j, branch);
    if (meaning.construct)
        fp_json_key(j, "kind"), fp_json_string(j, footpath_construct_name(meaning.construct));
    if (meaning.sense == FOOTPATH_SENSE_NONE) return;
    if (meaning.is_part) fp_json_key(j, "part"), fp_json_bool(j, true);
    if (text) fp_json_key(j, "text"), fp_json_string(j, text);
    if (holds || meaning.sense == FOOTPATH_SENSE_FALSE)
        fp_json_key(j, "sense"), fp_json_bool(j, holds);
    if (meaning.sense == FOOTPATH_SENSE_CASE)
        fp_json_key(j, "value"), fp_json_int(j, meaning.value);
}

static void json_steps(struct fp_json *j, struct footpath *fp, const struct footpath_route *route)
{
    size_t count;
    const struct footpath_function *f = &footpath_functions(fp, &count)[route->function];
    fp_json_key(j, "blocks"), fp_json_begin(j, '[');
    for (uint32_t i = 0; i < route->nsteps; i++) {
        const struct footpath_step *step = &route->steps[i];
        fp_json_begin(j, '{');
        json_place(j, &step->place);
        if (step->jump) fp_json_key(j, "jump"), fp_json_string(j, step->jump);
        if (step->branch)
            json_branch(j, step->branch, step->meaning, footpath_condition(fp, f, step->edge));
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

/* Two paths through the same blocks may end at different edges. */
static void json_next_block(struct fp_json *j, struct footpath *fp,
                            const struct footpath_route *route)
{
    size_t count;
    if (route->end_edge == FOOTPATH_NONE) return;
    const struct footpath_function *f = &footpath_functions(fp, &count)[route->function];
    const struct footpath_edge *edges = footpath_edges(fp, f);
    if (edges) fp_json_key(j, "next_block"), fp_json_uint(j, edges[route->end_edge].to);
}

static void json_path(struct fp_json *j, struct footpath *fp, const struct footpath_path *path)
{
    static const char *const ends[] = {"exit", "edge", "lap", "left"};
    struct footpath_route route;
    if (!footpath_decode(fp, path, &route)) return;
    fp_json_begin(j, '{');
    j->compact = true; /* a path a line: there may be many, and long ones */
    fp_json_key(j, "id");
    if (path->id == FOOTPATH_NO_ID)
        fp_json_null(j);
    else
        fp_json_uint(j, path->id);
    fp_json_key(j, "count"), fp_json_uint(j, path->count);
    if (path->cycles) fp_json_key(j, "cycles"), fp_json_uint(j, path->cycles);
    fp_json_key(j, "branches"), fp_json_uint(j, path->branches);
    fp_json_key(j, "instructions"), fp_json_uint(j, path->instructions);
    fp_json_key(j, "starts_at"),
        fp_json_string(j, route.start == FOOTPATH_STARTS_AT_ENTRY ? "entry" : "edge");
    fp_json_key(j, "ends_at"), fp_json_string(j, ends[route.end]);
    json_next_block(j, fp, &route);
    fp_json_key(j, "lines"), fp_json_string(j, footpath_route_text(fp, &route));
    fp_json_key(j, "block_ids"), fp_json_begin(j, '[');
    for (uint32_t i = 0; i < route.nblocks; i++) fp_json_uint(j, route.blocks[i]);
    fp_json_end(j, ']');
    json_steps(j, fp, &route);
    fp_json_end(j, '}');
    j->compact = false;
}

/* Of an executable: where each block is, as the ids of blocks count them. */
static void json_block_addresses(struct fp_json *j, struct footpath *fp,
                                 const struct footpath_function *f)
{
    const struct footpath_block *blocks = f->address ? footpath_blocks(fp, f) : NULL;
    char text[24];
    if (!blocks) return;
    fp_json_key(j, "block_addresses"), fp_json_begin(j, '[');
    j->compact = true;
    for (uint32_t b = 0; b < f->nblocks; b++) {
        snprintf(text, sizeof text, "0x%" PRIx64, blocks[b].first.address);
        if (blocks[b].first.address)
            fp_json_string(j, text);
        else
            fp_json_null(j);
    }
    fp_json_end(j, ']');
    j->compact = false;
}

static void json_edges(struct fp_json *j, struct footpath *fp, const struct footpath_function *f)
{
    const struct footpath_edge *edges = footpath_edges(fp, f);
    const struct footpath_block *blocks = footpath_blocks(fp, f);
    if (!edges) return;
    fp_json_key(j, "edges"), fp_json_begin(j, '[');
    for (uint32_t e = 0; e < f->nedges; e++) {
        bool choice = (e && edges[e - 1].from == edges[e].from) ||
                      (e + 1 < f->nedges && edges[e + 1].from == edges[e].from);
        fp_json_begin(j, '{');
        fp_json_key(j, "from"), fp_json_uint(j, edges[e].from);
        fp_json_key(j, "to"), fp_json_uint(j, edges[e].to);
        fp_json_key(j, "count"), fp_json_uint(j, edges[e].count);
        if (choice) json_place(j, &blocks[edges[e].from].last);
        if (choice && blocks[edges[e].from].jump)
            fp_json_key(j, "jump"), fp_json_string(j, blocks[edges[e].from].jump);
        if (choice)
            json_branch(j, footpath_branch(fp, f, e), footpath_meaning(fp, f, e),
                        footpath_condition(fp, f, e));
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

static void json_calls(struct fp_json *j, struct footpath *fp, const struct footpath_function *f)
{
    size_t count;
    const struct footpath_call *calls = footpath_callees(fp, f, &count);
    fp_json_key(j, "inclusive_cost"), fp_json_double(j, footpath_inclusive(fp, f));
    fp_json_key(j, "callees"), fp_json_begin(j, '[');
    for (size_t i = 0; i < count; i++) {
        const struct footpath_call *call = &calls[i];
        fp_json_begin(j, '{');
        if (call->callee_name) fp_json_key(j, "name"), fp_json_string(j, call->callee_name);
        fp_json_key(j, "measured"), fp_json_bool(j, call->callee != NULL);
        if (call->line) fp_json_key(j, "line"), fp_json_uint(j, call->line);
        fp_json_key(j, "count"), fp_json_uint(j, call->count);
        fp_json_key(j, "cost"), fp_json_double(j, call->cost);
        fp_json_key(j, "recursive"), fp_json_bool(j, call->recursive);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

static void json_measured(struct fp_json *j, struct footpath *fp, const struct footpath_function *f)
{
    size_t npaths;
    const struct footpath_path *const *paths = footpath_paths(fp, f, &npaths);
    fp_json_key(j, "num_paths"), fp_json_uint(j, f->possible_paths);
    fp_json_key(j, "executed_paths"), fp_json_uint(j, f->executed_paths);
    fp_json_key(j, "calls"), fp_json_uint(j, f->calls);
    fp_json_key(j, "cuts"), fp_json_uint(j, f->cuts);
    fp_json_key(j, "doors"), fp_json_uint(j, f->doors);
    fp_json_key(j, "laps"), fp_json_uint(j, f->laps);
    if (footpath_problem(fp, f))
        fp_json_key(j, "problem"), fp_json_string(j, footpath_problem(fp, f));
    fp_json_key(j, "paths"), fp_json_begin(j, '[');
    for (size_t i = 0; i < npaths; i++) json_path(j, fp, paths[i]);
    fp_json_end(j, ']');
    json_block_addresses(j, fp, f);
    json_edges(j, fp, f);
    json_calls(j, fp, f);
}

static void json_function(struct fp_json *j, struct footpath *fp, const struct footpath_function *f)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "name"), fp_json_string(j, footpath_name(fp, f));
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->linkage_name);
    fp_json_key(j, "file"), fp_json_string(j, f->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->line);
    fp_json_address(j, f->address);
    if (f->not_measured)
        fp_json_key(j, "not_measured"), fp_json_string(j, f->not_measured);
    else
        json_measured(j, fp, f);
    fp_json_end(j, '}');
}

void fp_show_json(struct fp_writer *out, struct footpath *fp)
{
    fp_show_json_with(out, fp, NULL, NULL);
}

void fp_show_json_with(struct fp_writer *out, struct footpath *fp,
                       void (*more)(struct fp_json *j, void *context), void *context)
{
    struct fp_json j = {.out = out};
    struct footpath_summary summary;
    size_t count;
    const struct footpath_function *functions = footpath_functions(fp, &count);
    footpath_summarize(fp, &summary);
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "runs"), fp_json_uint(&j, summary.runs);
    fp_json_key(&j, "cost_unit"), fp_json_string(&j, summary.inclusive ? "inclusive-cycles"
                                                     : summary.cycles  ? "cycles"
                                                                       : "instructions");
    fp_json_key(&j, "functions"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < count; i++) json_function(&j, fp, &functions[i]);
    fp_json_end(&j, ']');
    if (more) more(&j, context);
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
}
