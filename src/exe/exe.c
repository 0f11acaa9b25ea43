/* Rewriting an executable: the list of steps. See exe.h. */
#include "exe/exe.h"

#include "binary/recovered.h"
#include "exe/debugframe.h"
#include "exe/exework.h"

#include <stdlib.h>

enum { FUNCTION_ALIGN = 16, TABLE_ALIGN = 8 };

static bool open_all(struct fp_exe_work *w, const char *in)
{
    w->image = fp_image_open(w->arena, in, w->options->runtime, w->error);
    if (!w->image) return false;
    if (!fp_object_open(w->arena, in, &w->object, w->error)) return false;
    char *path = realpath(in, NULL);
    w->path = fp_arena_strdup(w->arena, path ? path : in);
    free(path);
    if (!fp_frames_read(w->arena, &w->object, &w->old_frames, w->error)) return false;
    fp_machine_init(&w->machine, w->arena, &w->object);
    if (!fp_machine_recover(&w->machine, &w->old_frames, w->error)) return false;
    if (w->options->guide) {
        w->guide = fp_exe_guide_open(w->arena, w->options->guide, w->error);
        if (!w->guide) return false;
    }
    w->lines = fp_dwarf_lines_new(w->arena, &w->object);
    if (fp_image_is_static(w->image))
        w->calls = (struct fp_kernel_calls){fp_image_entry(w->image, FP_EXE_WATCHED),
                                            fp_image_entry(w->image, FP_EXE_THROUGH),
                                            fp_image_entry(w->image, FP_EXE_LEAVE_MIXED),
                                            fp_image_entry(w->image, FP_EXE_LEAVE_PLAIN)};
    w->frames = (struct fp_new_frames){
        .arena = w->arena, .old = &w->old_frames, .fixed = fp_image_is_fixed(w->image)};
    return true;
}

static void close_all(struct fp_exe_work *w)
{
    if (w->guide) fp_exe_guide_close(w->guide);
    if (w->image) fp_image_close(w->image);
    if (w->object.elf) fp_object_close(&w->object);
    fp_writer_free(&w->map);
    fp_writer_free(&w->frames.lsdas.bytes);
    fp_writer_free(&w->frames.table.bytes);
}

static uint64_t bytes_of(const struct fp_machine_function *m)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->ranges.len; i++) bytes += m->ranges.at[i].size;
    return bytes;
}

static void tell_progress(const struct fp_exe_work *w, size_t done)
{
    if (w->options->progress) w->options->progress(w->options->context, done, w->nfunctions);
}

static void prepare_functions(struct fp_exe_work *w)
{
    fp_table_init(&w->entries, w->arena);
    w->nfunctions = w->machine.nfunctions;
    w->functions = FP_NEW_ARRAY(w->arena, struct fp_exe_function, w->nfunctions);
    for (size_t i = 0; i < w->nfunctions; i++) {
        struct fp_exe_function *x = &w->functions[i];
        x->m = &w->machine.functions[i];
        tell_progress(w, i);
        fp_exe_prepare(w, x);
        *(x->left_alone ? &w->summary->left_alone : &w->summary->counted) += 1;
        *(x->left_alone ? &w->summary->left_alone_bytes : &w->summary->counted_bytes) +=
            bytes_of(x->m);
    }
}

static bool reserve_counters(struct fp_exe_work *w)
{
    for (size_t i = 0; i < w->nfunctions; i++) {
        struct fp_exe_function *x = &w->functions[i];
        if (x->left_alone) continue;
        uint64_t size = x->f.layout.path_slots * 8;
        if (!fp_image_reserve(w->image, FP_IMAGE_COUNTERS, size, 8, &x->f.layout.path_address,
                              w->error))
            return false;
        w->summary->counters += x->f.layout.path_slots;
    }
    return true;
}

static bool reserve_code(struct fp_exe_work *w)
{
    for (size_t i = 0; i < w->nfunctions; i++) {
        struct fp_exe_function *x = &w->functions[i];
        if (x->left_alone) continue;
        if (!fp_image_reserve(w->image, FP_IMAGE_CODE, x->code.pieces.size, FUNCTION_ALIGN,
                              &x->start, w->error))
            return false;
        w->summary->code += x->code.pieces.size;
    }
    return true;
}

/* Calls and jumps to a counted function go to its new entry. */
static uint64_t code_at(const void *context, uint64_t old_address)
{
    const struct fp_exe_work *w = context;
    const uint64_t *index = fp_table_find(&w->entries, old_address);
    return index ? w->functions[*index - 1].start : old_address;
}

static bool write_code(struct fp_exe_work *w, const struct fp_exe_function *x)
{
    uint8_t *bytes = malloc(x->code.pieces.size);
    struct fp_piece_places places = {
        .start = x->start, .counters = x->f.layout.path_address, .code_at = code_at, .context = w};
    bool ok = bytes && fp_pieces_write(&x->code.pieces, &places, bytes) &&
              fp_image_patch(w->image, x->start, bytes, x->code.pieces.size);
    free(bytes);
    if (!ok)
        fp_fail(w->error, w->object.path, "the new code of %s is too far from the old one",
                x->m->symbol->name);
    return ok;
}

static void write_symbols(struct fp_exe_work *w, const struct fp_exe_function *x)
{
    fp_image_symbol(w->image, x->m->symbol->name, x->start, x->code.pieces.size, true);
}

static bool write_functions(struct fp_exe_work *w)
{
    for (size_t i = 0; i < w->nfunctions; i++) {
        struct fp_exe_function *x = &w->functions[i];
        fp_exe_describe(w, x);
        if (x->left_alone) continue;
        if (!write_code(w, x) || !fp_exe_replace_old(w, x)) return false;
        fp_exe_add_marks(w, x);
        write_symbols(w, x);
    }
    fp_image_set_map(w->image, w->map.bytes, w->map.len);
    return true;
}

/* ---- unwind tables ---- */

static bool begin_table(struct fp_exe_work *w, struct fp_new_table *table)
{
    uint64_t next = fp_image_next(w->image, FP_IMAGE_READ);
    table->address = (next + TABLE_ALIGN - 1) & ~(uint64_t)(TABLE_ALIGN - 1);
    return true;
}

static bool end_table(struct fp_exe_work *w, struct fp_new_table *table)
{
    uint64_t address;
    if (!table->bytes.len) return true;
    if (!fp_image_reserve(w->image, FP_IMAGE_READ, table->bytes.len, TABLE_ALIGN, &address,
                          w->error))
        return false;
    if (address != table->address ||
        !fp_image_patch(w->image, address, table->bytes.bytes, table->bytes.len))
        return fp_fail(w->error, w->object.path, "the new tables do not lie where they should");
    return true;
}

static void write_debug_frame(struct fp_exe_work *w)
{
    struct fp_writer out = {0};
    fp_debug_frame_write(&w->frames.table, &out);
    fp_image_unloaded_section(w->image, ".debug_frame", out.bytes, out.len);
    fp_writer_free(&out);
}

/* Of a file that has no .eh_frame_hdr: OUT gets one. */
static void add_old_frames(struct fp_exe_work *w)
{
    for (size_t i = 0; !w->old_frames.header && i < w->old_frames.fdes.len; i++)
        fp_image_fde(w->image, w->old_frames.fdes.at[i].start, w->old_frames.fdes.at[i].address);
}

static bool write_frames(struct fp_exe_work *w)
{
    begin_table(w, &w->frames.lsdas);
    for (size_t i = 0; i < w->nfunctions; i++) {
        struct fp_exe_function *x = &w->functions[i];
        const char *why =
            x->left_alone ? NULL : fp_new_lsdas_add(&w->frames, x->m, &x->code, x->start, x->lsdas);
        if (why) return fp_fail(w->error, w->object.path, "%s: %s", x->m->symbol->name, why);
    }
    if (!end_table(w, &w->frames.lsdas)) return false;
    begin_table(w, &w->frames.table);
    for (size_t i = 0; i < w->nfunctions; i++) {
        struct fp_exe_function *x = &w->functions[i];
        if (!x->left_alone) fp_new_frames_add(&w->frames, x->m, &x->code, x->start, x->lsdas);
    }
    fp_new_frames_end(&w->frames);
    if (!end_table(w, &w->frames.table)) return false;
    write_debug_frame(w);
    for (size_t i = 0; i < w->frames.fdes.len; i++)
        fp_image_fde(w->image, w->frames.fdes.at[i].pc, w->frames.fdes.at[i].address);
    add_old_frames(w);
    return true;
}

bool fp_exe_rewrite(struct fp_arena *arena, const char *in, const char *out,
                    const struct fp_exe_options *options, struct fp_exe_summary *summary,
                    struct fp_error *error)
{
    struct fp_exe_work w = {.arena = arena, .options = options, .error = error, .summary = summary};
    *summary = (struct fp_exe_summary){0};
    bool ok = open_all(&w, in);
    if (ok) {
        fp_exe_find_budget(&w);
        prepare_functions(&w);
        ok = reserve_counters(&w) && reserve_code(&w) && fp_exe_wrap_personalities(&w) &&
             fp_exe_see_bare(&w) && write_functions(&w) && write_frames(&w) &&
             fp_image_write(w.image, out, error) && fp_exe_write_graph(&w);
    }
    close_all(&w);
    return ok;
}
