/* A report in the forms of other viewers. */
#ifndef FP_REPORT_EXPORTS_H
#define FP_REPORT_EXPORTS_H

#include "report/json.h"
#include "model/model.h"

/* For callgrind_annotate and kcachegrind: self cost per line, and calls by name with the part of
 * the callee's inclusive cost that is theirs (callgraph.h). needs: edges. */
void fp_write_callgrind(struct fp_writer *out, const struct fp_report *report);

/* Stacks of two frames, a function and a path in it (or, without paths, the function alone),
 * weighted by cost, one per line: for flame graphs. */
void fp_write_collapsed(struct fp_writer *out, const struct fp_report *report);

/* Chains of calls (callchains.h), and above each the paths of its last function, as a speedscope
 * file. needs: edges. */
void fp_write_speedscope(struct fp_writer *out, const struct fp_report *report);

/* What a path is called in a stack. */
const char *fp_stack_path_name(struct fp_arena *arena, const struct fp_report *report,
                               const struct footpath_path *one, const struct fp_path *path);

/* pprof's profile.proto, compressed: lines with inlined frames, each path a label. False, with
 * an error, where that would be too large. needs: edges. */
bool fp_write_pprof(struct fp_writer *out, const struct fp_report *report, struct fp_error *error);

#endif
