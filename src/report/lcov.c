/* Line, branch and function counts as an lcov tracefile, and as Cobertura XML.
 * Both are per source line, so paths have no place in them. */
#include "report/coverreport.h"
#include "model/model.h"

#include <inttypes.h>
#include <string.h>

/* Commas separate fields and lines records. */
static void say_name(struct fp_writer *out, const char *name)
{
    struct fp_arena scratch = {0};
    const char *text = fp_plain(&scratch, name);
    fp_write_bytes(out, text, strlen(text));
    fp_arena_free(&scratch);
}

static void lcov_functions(struct fp_writer *out, const struct fp_source_file *file)
{
    size_t hit = 0;
    for (size_t i = 0; i < file->functions.len; i++) {
        fp_say(out, "FN:%u,", file->functions.at[i].line);
        say_name(out, file->functions.at[i].name);
        fp_say(out, "\n");
    }
    for (size_t i = 0; i < file->functions.len; i++) {
        fp_say(out, "FNDA:%" PRIu64 ",", file->functions.at[i].calls);
        say_name(out, file->functions.at[i].name);
        fp_say(out, "\n");
        hit += file->functions.at[i].calls != 0;
    }
    fp_say(out, "FNF:%zu\nFNH:%zu\n", file->functions.len, hit);
}

static void lcov_branches(struct fp_writer *out, const struct fp_source_file *file)
{
    size_t hit = 0;
    for (size_t i = 0; i < file->branches.len; i++) {
        const struct fp_line_branch *b = &file->branches.at[i];
        fp_say(out, "BRDA:%u,%u,%u,", b->line, b->branch, b->way);
        if (b->reached)
            fp_say(out, "%" PRIu64 "\n", b->taken);
        else
            fp_say(out, "-\n");
        hit += b->taken != 0;
    }
    fp_say(out, "BRF:%zu\nBRH:%zu\n", file->branches.len, hit);
}

void fp_write_lcov(struct fp_writer *out, const struct fp_line_counts *lines)
{
    fp_say(out, "TN:\n");
    for (size_t i = 0; i < lines->files.len; i++) {
        const struct fp_source_file *file = &lines->files.at[i];
        size_t hit = 0;
        fp_say(out, "SF:");
        say_name(out, file->name);
        fp_say(out, "\n");
        lcov_functions(out, file);
        lcov_branches(out, file);
        for (size_t k = 0; k < file->lines.len; k++) {
            fp_say(out, "DA:%u,%" PRIu64 "\n", file->lines.at[k].line, file->lines.at[k].count);
            hit += file->lines.at[k].count != 0;
        }
        fp_say(out, "LF:%zu\nLH:%zu\nend_of_record\n", file->lines.len, hit);
    }
}

/* ---- Cobertura ---- */

struct sums {
    size_t lines, lines_hit, branches, branches_hit;
};

static struct sums sum_file(const struct fp_source_file *file)
{
    struct sums s = {.lines = file->lines.len, .branches = file->branches.len};
    for (size_t i = 0; i < file->lines.len; i++) s.lines_hit += file->lines.at[i].count != 0;
    for (size_t i = 0; i < file->branches.len; i++)
        s.branches_hit += file->branches.at[i].taken != 0;
    return s;
}

static double rate(size_t hit, size_t all)
{
    return all ? (double)hit / (double)all : 1;
}

static void say_rates(struct fp_writer *out, struct sums s)
{
    fp_say(out, " line-rate=\"%.4f\" branch-rate=\"%.4f\"", rate(s.lines_hit, s.lines),
           rate(s.branches_hit, s.branches));
}

/* Branches are sorted as the lines are: *at moves along. */
static void xml_line(struct fp_writer *out, const struct fp_source_file *file,
                     const struct fp_line *line, size_t *at)
{
    size_t ways = 0, taken = 0;
    while (*at < file->branches.len && file->branches.at[*at].line < line->line) ++*at;
    for (; *at < file->branches.len && file->branches.at[*at].line == line->line; ++*at) {
        ways++;
        taken += file->branches.at[*at].taken != 0;
    }
    fp_say(out, "            <line number=\"%u\" hits=\"%" PRIu64 "\"", line->line, line->count);
    if (ways)
        fp_say(out, " branch=\"true\" condition-coverage=\"%.0f%% (%zu/%zu)\"/>\n",
               100 * rate(taken, ways), taken, ways);
    else
        fp_say(out, " branch=\"false\"/>\n");
}

static void xml_file(struct fp_writer *out, const struct fp_source_file *file)
{
    size_t at = 0;
    fp_say(out, "        <class name=\"");
    fp_say_xml(out, fp_base_name(file->name));
    fp_say(out, "\" filename=\"");
    fp_say_xml(out, file->name);
    fp_say(out, "\"");
    say_rates(out, sum_file(file));
    fp_say(out, " complexity=\"0\">\n          <methods/>\n          <lines>\n");
    for (size_t i = 0; i < file->lines.len; i++) xml_line(out, file, &file->lines.at[i], &at);
    fp_say(out, "          </lines>\n        </class>\n");
}

void fp_write_cobertura(struct fp_writer *out, const struct fp_line_counts *lines)
{
    struct sums all = {0};
    for (size_t i = 0; i < lines->files.len; i++) {
        struct sums one = sum_file(&lines->files.at[i]);
        all.lines += one.lines, all.lines_hit += one.lines_hit;
        all.branches += one.branches, all.branches_hit += one.branches_hit;
    }
    fp_say(out,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
           "<coverage");
    say_rates(out, all);
    fp_say(
        out,
        " lines-covered=\"%zu\" lines-valid=\"%zu\" branches-covered=\"%zu\" branches-valid=\"%zu\""
        " complexity=\"0\" version=\"footpath\" timestamp=\"0\">\n  <sources><source>/</source>"
        "</sources>\n  <packages>\n    <package name=\"all\"",
        all.lines_hit, all.lines, all.branches_hit, all.branches);
    say_rates(out, all);
    fp_say(out, " complexity=\"0\">\n      <classes>\n");
    for (size_t i = 0; i < lines->files.len; i++) xml_file(out, &lines->files.at[i]);
    fp_say(out, "      </classes>\n    </package>\n  </packages>\n</coverage>\n");
}
