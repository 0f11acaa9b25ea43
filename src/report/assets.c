/* The web page's fixed parts, taken into the library as they are. */
#include "report/siteparts.h"

#define ASSET(name, file)                              \
    __asm__(".section .rodata\n"                       \
            ".global " #name "\n" #name ":\n"          \
            ".incbin \"" FP_WEB_FOLDER "/" file "\"\n" \
            "771:\n.byte 0\n.balign 4\n"               \
            ".global " #name "_len\n" #name "_len:\n"  \
            ".int 771b - " #name "\n.previous\n")

ASSET(fp_asset_html, "index.html");
ASSET(asset_css, "report.css");
ASSET(asset_app, "app.js");
ASSET(asset_views, "views.js");
ASSET(asset_calls, "calls.js");
ASSET(asset_split, "split.js");
ASSET(asset_flame, "flame.js");
ASSET(asset_compare, "compare.js");
ASSET(asset_gap, "gap.js");
ASSET(asset_history, "history.js");
ASSET(asset_code, "code.js");
ASSET(asset_function, "function.js");
ASSET(asset_graph, "graph.js");

extern const char asset_css[], asset_app[], asset_views[], asset_calls[], asset_split[],
    asset_flame[], asset_compare[], asset_gap[], asset_history[], asset_code[], asset_function[],
    asset_graph[];
extern const unsigned asset_css_len, asset_app_len, asset_views_len, asset_calls_len,
    asset_split_len, asset_flame_len, asset_compare_len, asset_gap_len, asset_history_len,
    asset_code_len, asset_function_len, asset_graph_len;

const struct fp_asset fp_assets[] = {
    {"report.css", asset_css, &asset_css_len},
    {"app.js", asset_app, &asset_app_len},
    {"views.js", asset_views, &asset_views_len},
    {"calls.js", asset_calls, &asset_calls_len},
    {"split.js", asset_split, &asset_split_len},
    {"flame.js", asset_flame, &asset_flame_len},
    {"compare.js", asset_compare, &asset_compare_len},
    {"gap.js", asset_gap, &asset_gap_len},
    {"history.js", asset_history, &asset_history_len},
    {"code.js", asset_code, &asset_code_len},
    {"function.js", asset_function, &asset_function_len},
    {"graph.js", asset_graph, &asset_graph_len},
    {0},
};
