/* What the parts of the site writer share: see site.h. */
#ifndef FP_REPORT_SITEPARTS_H
#define FP_REPORT_SITEPARTS_H

#include "model/callgraph.h"
#include "paths/coverage.h"
#include "paths/linecounts.h"
#include "paths/untaken.h"
#include "report/site.h"

enum { FP_SITE_CHUNK = 200 << 10, FP_SITE_SOURCE_LINES = 500, FP_SITE_LONGEST_LINE = 2000 };

struct fp_site_function {
    struct fp_coverage coverage;
    uint32_t chunk;
    bool drawn;         /* laid out by Graphviz */
    double *costs;      /* per column */
    uint32_t first_gap; /* 1 + its index, or 0 */
};

/* A path that the edge profile makes likely and that was never taken. */
struct fp_site_surprise {
    uint32_t function;
    uint64_t id;
    double expected;
    const char *text;
};

/* Who calls whom: of the whole program, also where the site shows a part of it. */
struct fp_site_calls {
    const struct fp_report *report;
    struct fp_call_graph graph;
    uint32_t *shown; /* per function of `report`: its index on the site, or FP_NONE */
    uint32_t *whole; /* per function of the site: its index in `report` */
};

struct fp_pages {
    const struct fp_report *report;
    struct fp_sources *sources;
    const struct fp_site_options *options;
    struct fp_arena arena;
    struct fp_site_function *functions; /* as in the report */
    struct fp_table by_function;        /* address of an fp_function -> 1 + its index */
    struct fp_strtable file_index;      /* 1 + index in files */
    FP_VEC(const char *) files;
    struct fp_strtable programs; /* files that are programs: of functions without lines */
    struct fp_line_counts lines;
    FP_VEC(struct fp_site_surprise) surprises;
    struct fp_site_calls calls;
    uint32_t *next_gap; /* per gap: 1 + the next one of the same function, or 0 */
};

/* A function's index on the site, or FP_NONE. */
uint32_t fp_site_find(const struct fp_pages *site, const struct fp_function *function);
uint32_t fp_site_file(struct fp_pages *site, const char *name);
/* The text of one of the site's files, and its counts, or NULL where it has none. */
const struct fp_source_text *fp_site_source(struct fp_pages *site, size_t file,
                                            const struct fp_source_file **lines);

/* Numbers that a script cannot hold exactly are written as strings. */
void fp_site_count(struct fp_json *j, uint64_t value);

/* A text that may be long: its beginning. */
void fp_site_clipped(struct fp_json *j, const char *text);

/* The line of a place or, where there is none, the address as a text. */
void fp_site_line(struct fp_json *j, uint32_t line, uint64_t address);

/* The instructions of a function that has no lines. */
void fp_site_json_code(struct fp_json *j, const struct fp_pages *site, uint32_t index);

/* Everything about one function: its graph, paths, untaken paths, layout. */
void fp_site_json_function(struct fp_json *j, struct fp_pages *site, uint32_t index);

/* Makes site->calls. */
void fp_site_calls_make(struct fp_pages *site);
/* The callers and callees of a function. */
void fp_site_json_calls(struct fp_json *j, const struct fp_pages *site, uint32_t index);

/* The frames of the flame graph. */
void fp_site_json_flame(struct fp_json *j, struct fp_pages *site);

/* What changed from the first column to each other one. */
void fp_site_json_changes(struct fp_json *j, struct fp_pages *site);

/* Sorts the gaps by function. */
void fp_site_gaps_make(struct fp_pages *site);
/* The paths of one function that no test took; all gaps; how much they are. */
void fp_site_json_untested(struct fp_json *j, struct fp_pages *site, uint32_t index);
void fp_site_json_gaps(struct fp_json *j, struct fp_pages *site);
void fp_site_json_gap_sums(struct fp_json *j, const struct fp_pages *site);

/* A function's hottest paths over time; and which times these are. */
void fp_site_json_history(struct fp_json *j, const struct fp_pages *site, uint32_t index);
void fp_site_json_timeline(struct fp_json *j, const struct fp_pages *site);

/* The page's first data. needs: all functions were written. */
void fp_site_json_index(struct fp_json *j, struct fp_pages *site);

/* The page itself, and the files beside it; the last has no name. */
extern const char fp_asset_html[];

struct fp_asset {
    const char *name, *bytes;
    const unsigned *len;
};

extern const struct fp_asset fp_assets[];

#endif
