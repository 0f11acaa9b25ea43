/* The flame graph's frames, for the report's page: see siteparts.h, model/callchains.h and
 * docs/formats/report.md. */
#include "report/siteparts.h"

#include "model/callchains.h"

enum { FRAME_ALL = -1, FRAME_FOLDED = -2, FRAME_ELSEWHERE = -3 };

static void json_frame(struct fp_json *j, const struct fp_site_calls *c,
                       const struct fp_chain_frame *frame)
{
    bool known = frame->function != FP_NONE;
    uint32_t shown = known ? c->shown[frame->function] : FP_NONE;
    fp_json_begin(j, '[');
    fp_json_int(j, frame->parent == FP_NONE ? -1 : (int64_t)frame->parent);
    fp_json_int(j, shown != FP_NONE           ? (int64_t)shown
                   : known                    ? FRAME_ELSEWHERE
                   : frame->parent == FP_NONE ? FRAME_ALL
                                              : FRAME_FOLDED);
    if (known && shown == FP_NONE)
        fp_json_string(j, c->report->functions[frame->function].name);
    else
        fp_json_uint(j, frame->folded);
    fp_json_double(j, frame->cost);
    fp_json_double(j, frame->own);
    fp_json_end(j, ']');
}

void fp_site_json_flame(struct fp_json *j, struct fp_pages *site)
{
    struct fp_arena scratch = {0};
    struct fp_chains chains;
    fp_call_chains(&scratch, site->calls.report, &site->calls.graph, &chains);
    fp_json_begin(j, '[');
    for (size_t i = 0; i < chains.len; i++) json_frame(j, &site->calls, &chains.frames[i]);
    fp_json_end(j, ']');
    fp_arena_free(&scratch);
}
