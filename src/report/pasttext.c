/* Pairs and callers in text and JSON: see pastreport.h. */
#include "report/pastreport.h"

#include "model/sentence.h"
#include "report/showparts.h"

#include <inttypes.h>

static void say_count(struct fp_writer *out, uint64_t count, uint64_t all)
{
    char digits[32];
    fp_group_digits(count, digits);
    fp_say(out, "%14s %6.1f%%", digits, all ? 100 * (double)count / (double)all : 0);
}

static void say_function(struct fp_writer *out, struct fp_arena *scratch,
                         const struct fp_function *f, const struct fp_past_view *view)
{
    fp_say(out, "  %s%s%s  %s", view->colours ? FP_BOLD : "",
           fp_plain(scratch, fp_demangle(scratch, f->name)), view->colours ? FP_PLAIN : "",
           fp_function_place(scratch, f));
}

static void say_head(struct fp_writer *out, const struct fp_past_view *view, const char *head)
{
    fp_say(out, "%s%s%s\n", view->colours ? FP_DIM : "", head, view->colours ? FP_PLAIN : "");
}

static void say_rest(struct fp_writer *out, const struct fp_past *past, size_t shown, size_t all)
{
    if (shown < all) fp_say(out, "... %zu more; --top 0 shows all\n", all - shown);
    if (past->dropped)
        fp_say(out, "%" PRIu64 " samples are not in it: there were too many kinds\n",
               past->dropped);
    if (past->unknown)
        fp_say(out, "%" PRIu64 " samples are of no path of the map\n", past->unknown);
}

static size_t shown_of(const struct fp_past_view *view, size_t all)
{
    return view->top && view->top < all ? (size_t)view->top : all;
}

/* ---- pairs ---- */

static void say_path(struct fp_writer *out, struct fp_arena *scratch, const char *what,
                     const struct fp_function *f, uint64_t id, const struct fp_past_view *view)
{
    enum { INDENT = 24 };
    struct fp_path path;
    struct fp_show_out show = {.out = out};
    if (!fp_path_decode(scratch, f->paths.numbering, id, &path)) return;
    const char *sentence = fp_path_sentence(scratch, view->sources, f, &path);
    fp_show_wrapped(&show, fp_arena_printf(scratch, "%s %s", what, sentence), INDENT, view->width);
    fp_arena_free(&show.scratch);
}

void fp_pairs_text(struct fp_writer *out, const struct fp_past *past,
                   const struct fp_past_view *view)
{
    struct fp_arena scratch = {0};
    size_t shown = shown_of(view, past->npairs);
    say_head(out, view, "         count   after  function: a path, and how often it came next");
    for (size_t i = 0; i < shown; i++) {
        const struct fp_past_pair *pair = &past->pairs[i];
        say_count(out, pair->count, pair->all);
        say_function(out, &scratch, pair->function, view);
        fp_say(out, "\n");
        say_path(out, &scratch, "after", pair->function, pair->before, view);
        say_path(out, &scratch, "came ", pair->function, pair->id, view);
        fp_arena_free(&scratch);
    }
    say_rest(out, past, shown, past->npairs);
    fp_arena_free(&scratch);
}

/* ---- callers ---- */

static const char *last_part(const char *file)
{
    const char *last = file;
    for (const char *at = file; *at; at++)
        if (*at == '/') last = at + 1;
    return last;
}

static void say_caller(struct fp_writer *out, struct fp_arena *scratch,
                       const struct fp_past_caller *caller, const struct fp_past_view *view)
{
    struct fp_call_place place = {0};
    view->places.look(view->places.context, scratch, caller, &place);
    fp_say(out, "  %s ", place.inlined ? "inlined, from" : "from");
    if (!caller->address) {
        fp_say(out, "another module");
        return;
    }
    if (place.function) fp_say(out, "%s", fp_plain(scratch, fp_demangle(scratch, place.function)));
    if (place.file && place.line)
        fp_say(out, "  %s:%u", fp_plain(scratch, last_part(place.file)), place.line);
    else
        fp_say(out, "%s0x%" PRIx64, place.function ? "  " : "", caller->address);
}

void fp_callers_text(struct fp_writer *out, const struct fp_past *past,
                     const struct fp_past_view *view)
{
    struct fp_arena scratch = {0};
    size_t shown = shown_of(view, past->ncallers);
    say_head(out, view, "       samples   share  function, and where it was called");
    for (size_t i = 0; i < shown; i++) {
        const struct fp_past_caller *caller = &past->callers[i];
        say_count(out, caller->count, caller->all);
        say_function(out, &scratch, caller->function, view);
        say_caller(out, &scratch, caller, view);
        fp_say(out, "\n");
        fp_arena_free(&scratch);
    }
    say_rest(out, past, shown, past->ncallers);
    fp_arena_free(&scratch);
}

/* ---- JSON ---- */

static void json_function(struct fp_json *j, struct fp_arena *scratch, const struct fp_function *f)
{
    fp_json_key(j, "function"), fp_json_string(j, fp_demangle(scratch, f->name));
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->name);
    fp_json_key(j, "file"), fp_json_string(j, f->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->line);
}

static void json_pair(struct fp_json *j, struct fp_arena *scratch, const struct fp_past_pair *pair)
{
    fp_json_begin(j, '{');
    json_function(j, scratch, pair->function);
    fp_json_key(j, "before"), fp_json_uint(j, pair->before);
    fp_json_key(j, "id"), fp_json_uint(j, pair->id);
    fp_json_key(j, "count"), fp_json_uint(j, pair->count);
    fp_json_end(j, '}');
}

static void json_caller(struct fp_json *j, struct fp_arena *scratch,
                        const struct fp_past_caller *caller, const struct fp_past_view *view)
{
    struct fp_call_place place = {0};
    view->places.look(view->places.context, scratch, caller, &place);
    fp_json_begin(j, '{');
    json_function(j, scratch, caller->function);
    fp_json_address(j, caller->address);
    if (place.function) {
        fp_json_key(j, "caller"), fp_json_string(j, fp_demangle(scratch, place.function));
    }
    if (place.file && place.line) {
        fp_json_key(j, "caller_file"), fp_json_string(j, place.file);
        fp_json_key(j, "caller_line"), fp_json_uint(j, place.line);
    }
    if (place.inlined)
        fp_json_key(j, "inlined_into"), fp_json_string(j, fp_demangle(scratch, place.inlined));
    fp_json_key(j, "count"), fp_json_uint(j, caller->count);
    fp_json_key(j, "paths"), fp_json_begin(j, '[');
    for (size_t i = 0; i < caller->npaths; i++) {
        fp_json_begin(j, '{');
        fp_json_key(j, "id"), fp_json_uint(j, caller->paths[i].id);
        fp_json_key(j, "count"), fp_json_uint(j, caller->paths[i].count);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

void fp_past_json(struct fp_json *j, const struct fp_past *past, const struct fp_past_view *view)
{
    struct fp_arena scratch = {0};
    fp_json_key(j, "history"), fp_json_begin(j, '{');
    fp_json_key(j, "dropped"), fp_json_uint(j, past->dropped);
    fp_json_key(j, "broken"), fp_json_uint(j, past->broken);
    fp_json_key(j, "unknown"), fp_json_uint(j, past->unknown);
    fp_json_key(j, "pairs"), fp_json_begin(j, '[');
    for (size_t i = 0; i < past->npairs; i++) json_pair(j, &scratch, &past->pairs[i]);
    fp_json_end(j, ']');
    fp_json_key(j, "callers"), fp_json_begin(j, '[');
    for (size_t i = 0; i < past->ncallers; i++) {
        json_caller(j, &scratch, &past->callers[i], view);
        fp_arena_free(&scratch);
    }
    fp_json_end(j, ']');
    fp_json_end(j, '}');
    fp_arena_free(&scratch);
}
