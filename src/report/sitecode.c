/* Instructions of a function for the report's page, where an executable has no lines: see site.h
 * and docs/formats/report.md. */
#include "report/siteparts.h"

#include <inttypes.h>
#include <stdio.h>

void fp_site_line(struct fp_json *j, uint32_t line, uint64_t address)
{
    char text[24];
    if (line || !address) {
        fp_json_uint(j, line);
        return;
    }
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    fp_json_string(j, text);
}

/* Address, distance of the last instruction, and of each one its distance and text; or 0. */
static void json_block(struct fp_json *j, const struct fp_block_code *code,
                       const struct fp_code_lines *lines)
{
    if (!code->size) {
        fp_json_uint(j, 0);
        return;
    }
    fp_json_begin(j, '[');
    fp_site_count(j, code->address);
    fp_json_uint(j, code->last);
    for (size_t i = 0; i < lines->len; i++) {
        fp_json_uint(j, lines->at[i].address - code->address);
        fp_site_clipped(j, lines->at[i].text);
    }
    fp_json_end(j, ']');
}

void fp_site_json_code(struct fp_json *j, const struct fp_pages *site, uint32_t index)
{
    const struct fp_report_function *rf = &site->report->functions[index];
    const struct fp_function *f = rf->function;
    const char *missing = fp_report_ran(rf) ? NULL : "the function never ran";
    struct fp_arena scratch = {0};
    if (!fp_shows_code(f)) return;
    fp_json_key(j, "a"), fp_json_begin(j, '{');
    fp_json_key(j, "at"), fp_site_count(j, f->source.address);
    fp_json_key(j, "b"), fp_json_begin(j, '[');
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        struct fp_code_lines lines = {0};
        if (!missing) lines = fp_code_read(site->options->code, &scratch, rf->module, f, b);
        if (lines.missing && f->source.code[b].size) missing = lines.missing;
        json_block(j, &f->source.code[b], &lines);
    }
    fp_json_end(j, ']');
    if (missing) fp_json_key(j, "why"), fp_json_string(j, missing);
    fp_json_end(j, '}');
    fp_arena_free(&scratch);
}
