/* Line, branch and function counts as `gcov --json-format` writes them.
 *
 * gcovr takes such a file by --add-tracefile, for which it wants the keys that begin with
 * "gcovr/" and `lineno`. Other readers of gcov's files pass over them. */
#include "report/coverreport.h"
#include "model/model.h"

/* Of the gcovr that Debian 12 has, which takes no other. */
#define GCOVR_FORMAT "0.3"

static void json_functions(struct fp_json *j, struct fp_arena *scratch,
                           const struct fp_source_file *file)
{
    fp_json_key(j, "functions"), fp_json_begin(j, '[');
    for (size_t i = 0; i < file->functions.len; i++) {
        const struct fp_line_function *f = &file->functions.at[i];
        fp_json_begin(j, '{');
        fp_json_key(j, "name"), fp_json_string(j, f->name);
        fp_json_key(j, "demangled_name"), fp_json_string(j, fp_demangle(scratch, f->name));
        fp_json_key(j, "start_line"), fp_json_uint(j, f->line);
        fp_json_key(j, "lineno"), fp_json_uint(j, f->line);
        fp_json_key(j, "execution_count"), fp_json_uint(j, f->calls);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

/* Those of the line; the files' branches are sorted by line, as its lines are. */
static size_t json_branches(struct fp_json *j, const struct fp_source_file *file, uint32_t line,
                            size_t at)
{
    const size_t n = file->branches.len;
    while (at < n && file->branches.at[at].line < line) at++;
    fp_json_key(j, "branches"), fp_json_begin(j, '[');
    for (; at < n && file->branches.at[at].line == line; at++) {
        fp_json_begin(j, '{');
        fp_json_key(j, "count"), fp_json_uint(j, file->branches.at[at].taken);
        fp_json_key(j, "throw"), fp_json_bool(j, false);
        fp_json_key(j, "fallthrough"), fp_json_bool(j, file->branches.at[at].way == 0);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
    return at;
}

static void json_lines(struct fp_json *j, const struct fp_source_file *file)
{
    size_t branch = 0;
    fp_json_key(j, "lines"), fp_json_begin(j, '[');
    for (size_t i = 0; i < file->lines.len; i++) {
        const struct fp_line *line = &file->lines.at[i];
        fp_json_begin(j, '{');
        fp_json_key(j, "line_number"), fp_json_uint(j, line->line);
        fp_json_key(j, "count"), fp_json_uint(j, line->count);
        fp_json_key(j, "unexecuted_block"), fp_json_bool(j, !line->count);
        branch = json_branches(j, file, line->line, branch);
        fp_json_key(j, "gcovr/noncode"), fp_json_bool(j, false);
        fp_json_key(j, "gcovr/excluded"), fp_json_bool(j, false);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

void fp_write_gcov_json(struct fp_writer *out, const struct fp_line_counts *lines)
{
    struct fp_arena scratch = {0};
    struct fp_json j = {.out = out, .compact = true};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_string(&j, "1");
    fp_json_key(&j, "gcovr/format_version"), fp_json_string(&j, GCOVR_FORMAT);
    fp_json_key(&j, "gcc_version"), fp_json_string(&j, "footpath " FOOTPATH_VERSION);
    fp_json_key(&j, "current_working_directory"), fp_json_string(&j, "/");
    fp_json_key(&j, "data_file"), fp_json_string(&j, "");
    fp_json_key(&j, "files"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < lines->files.len; i++) {
        fp_json_begin(&j, '{');
        fp_json_key(&j, "file"), fp_json_string(&j, lines->files.at[i].name);
        json_functions(&j, &scratch, &lines->files.at[i]);
        json_lines(&j, &lines->files.at[i]);
        fp_json_end(&j, '}');
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&scratch);
}
