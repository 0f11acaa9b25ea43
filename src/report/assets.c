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
ASSET(fp_asset_css, "report.css");
ASSET(fp_asset_app, "app.js");
ASSET(fp_asset_views, "views.js");
ASSET(fp_asset_function, "function.js");
ASSET(fp_asset_graph, "graph.js");
