/* Pairs and callers for footpath show: see cli_past.h. Call sites are named by the symbols and the
 * debug information of the file that ran, where that is still there. */
#include "cli_past.h"

#include "binary/dwarflines.h"

#include <string.h>

struct module_file {
    bool open;
    struct fp_object object;
    struct fp_dwarf_lines *lines;
};

struct site_names {
    struct fp_arena arena;
    const char *binary;
    struct fp_table files; /* module (a pointer) -> struct module_file (a pointer) */
};

static bool is_file_of(const struct fp_object *object, const struct fp_module_id *id)
{
    return object->build_id_len == id->build_id_len &&
           (!id->build_id_len || !memcmp(object->build_id, id->build_id, id->build_id_len));
}

static bool try_open(struct site_names *names, const char *path, const struct fp_module_id *id,
                     struct module_file *file)
{
    struct fp_error error = {0};
    if (!path || !fp_object_open(&names->arena, path, &file->object, &error)) return false;
    file->open = is_file_of(&file->object, id);
    if (file->open)
        file->lines = fp_dwarf_lines_new(&names->arena, &file->object);
    else
        fp_object_close(&file->object);
    return file->open;
}

static struct module_file *file_of(struct site_names *names, const struct fp_module *module)
{
    uint64_t *known = fp_table_add(&names->files, (uintptr_t)module);
    if (*known) return (struct module_file *)(uintptr_t)*known;
    struct module_file *file = FP_NEW(&names->arena, struct module_file);
    *known = (uintptr_t)file;
    if (!try_open(names, names->binary, &module->id, file))
        try_open(names, module->id.path, &module->id, file);
    return file;
}

/* Has the compiler made a variant of the function, such as f.cold or f.llvm.123? */
static bool is_same_function(const char *symbol, const char *name)
{
    size_t len = strlen(name);
    return !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '.');
}

/* The call stands right in front of the return address. */
static void look(void *context, struct fp_arena *arena, const struct fp_past_caller *caller,
                 struct fp_call_place *place)
{
    (void)arena;
    struct module_file *file = file_of(context, caller->module);
    if (!file->open) return;
    const struct fp_object_symbol *frame =
        caller->code ? fp_object_function(&file->object, caller->code) : NULL;
    if (frame && frame->name && !is_same_function(frame->name, caller->function->name))
        place->inlined = frame->name;
    if (!caller->address) return;
    struct fp_frame at;
    const struct fp_object_symbol *from = fp_object_function(&file->object, caller->address - 1);
    if (from) place->function = from->name;
    if (fp_dwarf_lines_frames(file->lines, caller->address - 1, &at, 1)) {
        place->file = at.file, place->line = at.line;
        if (at.linkage) place->function = at.linkage;
    }
}

static void close_files(const struct fp_profile *profile, struct site_names *names)
{
    for (size_t i = 0; i < profile->modules.len; i++) {
        const uint64_t *known = fp_table_find(&names->files, (uintptr_t)profile->modules.at[i]);
        struct module_file *file = known ? (struct module_file *)(uintptr_t)*known : NULL;
        if (file && file->open) fp_object_close(&file->object);
    }
    fp_arena_free(&names->arena);
}

int cli_show_past(const struct cli_past_request *request, enum cli_past what)
{
    struct fp_past past;
    struct site_names names = {.binary = request->binary};
    struct fp_past_view view = request->view;
    struct fp_writer out = cli_stream();
    if (!fp_profile_has_past(request->profile)) {
        cli_say("the profile has no pairs and no callers; programs built with --fp-mode=pep note "
                "them");
        return EXIT_FAILED;
    }
    fp_table_init(&names.files, &names.arena);
    view.places = (struct fp_place_reader){look, &names};
    fp_past_make(&names.arena, request->profile, request->filter, &past);
    if (what == CLI_PAST_PAIRS)
        fp_pairs_text(&out, &past, &view);
    else
        fp_callers_text(&out, &past, &view);
    close_files(request->profile, &names);
    return cli_output(NULL, &out);
}

void cli_json_past(struct fp_json *j, void *context)
{
    const struct cli_past_request *request = context;
    struct fp_past past;
    struct site_names names = {.binary = request->binary};
    struct fp_past_view view = request->view;
    if (!fp_profile_has_past(request->profile)) return;
    fp_table_init(&names.files, &names.arena);
    view.places = (struct fp_place_reader){look, &names};
    fp_past_make(&names.arena, request->profile, request->filter, &past);
    fp_past_json(j, &past, &view);
    close_files(request->profile, &names);
}
