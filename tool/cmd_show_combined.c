/* footpath show of a combined profile: what cmd_show.c hands on to. */
#include "cli_combined.h"

#include "report/showcombined.h"

#include <stdlib.h>
#include <string.h>

static bool terminal_has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value) continue;
        return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
    }
    return false;
}

/* Paths where there are any, else edges. */
static unsigned kinds_of(const struct footpath_summary *summary, enum fp_show_view view)
{
    switch (view) {
    case FP_SHOW_PATHS: break;
    case FP_SHOW_FUNCTIONS: return 1u << FOOTPATH_EVENT_CALLS;
    case FP_SHOW_EDGES:
    case FP_SHOW_BLOCKS: return 1u << FOOTPATH_EVENT_EDGE;
    }
    return summary->has_paths ? 1u << FOOTPATH_EVENT_PATH | 1u << FOOTPATH_EVENT_LEFT
                              : 1u << FOOTPATH_EVENT_EDGE;
}

bool cli_rank_named(const char *name, enum footpath_order *by)
{
    static const char *const names[] = {"variation", "deviation", "mean", "count", "unseen"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, names[i])) {
            *by = (enum footpath_order)i;
            return true;
        }
    return false;
}

int cli_show_combined(struct footpath *fp, const struct cli_show_combined *how)
{
    struct fp_writer out = {0};
    struct footpath_summary summary;
    footpath_summarize(fp, &summary);
    struct fp_show_combined options = {.top = how->top,
                                       .above = how->above,
                                       .width = cli_width(how->to ? how->to : stdout),
                                       .colours = cli_colours(how->to ? how->to : stdout),
                                       .utf8 = terminal_has_utf8()};
    options.filter = (struct footpath_event_filter){.kinds = kinds_of(&summary, how->view),
                                                    .order = how->by,
                                                    .unseen = how->unseen,
                                                    .above = how->above};
    if (how->json && how->every_kind) options.filter.kinds = 0;
    if (how->json)
        fp_show_combined_json(&out, fp, &options);
    else
        fp_show_combined_text(&out, fp, &options);
    if (!how->to) return cli_output(NULL, &out);
    fwrite(out.bytes, 1, out.len, how->to);
    fp_writer_free(&out);
    return EXIT_OK;
}
