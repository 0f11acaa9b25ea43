/* Gaps as SARIF: see gapreport.h. */
#include "report/gapreport.h"

#include <inttypes.h>
#include <string.h>

/* From this share of production on a gap is a warning, below it a note. */
#define WARNING_PERCENT 1.0

static const char *const descriptions[FP_GAP_REASONS] = {
    "Production calls a function that no test program has",
    "Production calls a function that no test calls",
    "Production takes paths that begin where no tested path begins",
    "Production takes a branch that no test takes",
    "Production takes a branch after others, which tests take only apart",
    "Production's paths go on where tested ones do not, or the other way round",
};

static void json_rules(struct fp_json *j)
{
    fp_json_key(j, "rules"), fp_json_begin(j, '[');
    for (int i = 0; i < FP_GAP_REASONS; i++) {
        fp_json_begin(j, '{');
        fp_json_key(j, "id"), fp_json_string(j, fp_gap_reason_names[i]);
        fp_json_key(j, "shortDescription"), fp_json_begin(j, '{');
        fp_json_key(j, "text"), fp_json_string(j, descriptions[i]);
        fp_json_end(j, '}');
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

/* A file name as a URI: from the project's folder where it lies below that. */
static char *uri_of(struct fp_arena *arena, const char *file, const char *folder)
{
    struct fp_writer uri = {0};
    size_t len = folder ? strlen(folder) : 0;
    if (len && !strncmp(file, folder, len) && file[len] == '/')
        file += len + 1;
    else if (*file == '/')
        fp_say(&uri, "file://");
    for (; *file; file++) {
        unsigned char c = (unsigned char)*file;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("/._~+-", c);
        fp_say(&uri, plain ? "%c" : "%%%02X", c);
    }
    char *text = fp_arena_strndup(arena, (char *)uri.bytes, uri.len);
    fp_writer_free(&uri);
    return text;
}

static void json_location(struct fp_json *j, struct fp_arena *scratch, const struct fp_gap *gap,
                          const char *folder)
{
    struct footpath_place place = fp_gap_place(gap);
    fp_json_key(j, "locations"), fp_json_begin(j, '['), fp_json_begin(j, '{');
    fp_json_key(j, "physicalLocation"), fp_json_begin(j, '{');
    fp_json_key(j, "artifactLocation"), fp_json_begin(j, '{');
    fp_json_key(j, "uri"), fp_json_string(j, uri_of(scratch, place.file, folder));
    fp_json_end(j, '}');
    if (!place.line && place.address) {
        fp_json_key(j, "address"), fp_json_begin(j, '{');
        fp_json_key(j, "absoluteAddress"), fp_json_uint(j, place.address);
        fp_json_end(j, '}');
    }
    if (place.line) {
        fp_json_key(j, "region"), fp_json_begin(j, '{');
        fp_json_key(j, "startLine"), fp_json_uint(j, place.line);
        if (place.column) fp_json_key(j, "startColumn"), fp_json_uint(j, place.column);
        fp_json_end(j, '}');
    }
    fp_json_end(j, '}');
    fp_json_key(j, "logicalLocations"), fp_json_begin(j, '['), fp_json_begin(j, '{');
    fp_json_key(j, "name"), fp_json_string(j, fp_demangle(scratch, gap->function->name));
    fp_json_key(j, "fullyQualifiedName"), fp_json_string(j, gap->function->name);
    fp_json_key(j, "kind"), fp_json_string(j, "function");
    fp_json_end(j, '}'), fp_json_end(j, ']');
    fp_json_end(j, '}'), fp_json_end(j, ']');
}

static void json_result(struct fp_json *j, struct fp_arena *scratch, const struct fp_gap *gap,
                        const struct fp_gaps *gaps, const struct fp_gap_view *view)
{
    double whole = fp_gaps_whole(gaps, view->by_count);
    double percent = 100 * (view->by_count ? (double)gap->count : gap->cost) / whole;
    fp_json_begin(j, '{');
    fp_json_key(j, "ruleId"), fp_json_string(j, fp_gap_reason_names[gap->reason]);
    fp_json_key(j, "ruleIndex"), fp_json_uint(j, gap->reason);
    fp_json_key(j, "level"), fp_json_string(j, percent >= WARNING_PERCENT ? "warning" : "note");
    fp_json_key(j, "message"), fp_json_begin(j, '{');
    fp_json_key(j, "text"),
        fp_json_string(j, fp_arena_printf(scratch,
                                          "%s: %s. %.2f%% of production (%" PRIu64
                                          " executions, %zu paths) goes this way.",
                                          fp_demangle(scratch, gap->function->name),
                                          fp_gap_reason(gap), percent, gap->count, gap->npaths));
    fp_json_end(j, '}');
    json_location(j, scratch, gap, view->folder);
    fp_json_key(j, "partialFingerprints"), fp_json_begin(j, '{');
    /* stays while the function keeps its shape, wherever its lines move */
    fp_json_key(j, "footpathGap/v1"),
        fp_json_string(
            j, fp_arena_printf(scratch, "%s:%016" PRIx64 ":%" PRIx32 ":%d", gap->function->name,
                               fp_cfg_hash(gap->function->paths.cfg),
                               gap->edge != FP_NONE ? gap->edge : gap->block, (int)gap->reason));
    fp_json_end(j, '}');
    fp_json_end(j, '}');
}

void fp_gap_sarif(struct fp_writer *out, const struct fp_gaps *gaps, const struct fp_gap_view *view)
{
    struct fp_arena scratch = {0};
    struct fp_json j = {.out = out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "version"), fp_json_string(&j, "2.1.0");
    fp_json_key(&j, "$schema"), fp_json_string(&j, "https://json.schemastore.org/sarif-2.1.0.json");
    fp_json_key(&j, "runs"), fp_json_begin(&j, '['), fp_json_begin(&j, '{');
    fp_json_key(&j, "tool"), fp_json_begin(&j, '{');
    fp_json_key(&j, "driver"), fp_json_begin(&j, '{');
    fp_json_key(&j, "name"), fp_json_string(&j, "footpath gap");
    json_rules(&j);
    fp_json_end(&j, '}'), fp_json_end(&j, '}');
    fp_json_key(&j, "results"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < gaps->ngaps && (!view->top || i < view->top); i++) {
        json_result(&j, &scratch, &gaps->gaps[i], gaps, view);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}'), fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&scratch);
}
