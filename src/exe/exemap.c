/* Map records of the functions of an executable: see exework.h. */
#include "binary/machinesource.h"
#include "exe/exework.h"
#include "profile/mapcode.h"

static void identify(struct fp_exe_work *w, struct fp_exe_function *x)
{
    struct fp_function_place place = {0};
    struct fp_function *f = &x->f;
    fp_dwarf_lines_function(w->lines, x->m->symbol->address, &place);
    f->name = x->m->symbol->name;
    f->file = place.file ? place.file : w->path;
    f->line = place.line;
}

static uint64_t id_of(const struct fp_exe_function *x)
{
    const struct fp_function *f = &x->f;
    uint64_t base = fp_hash64(fp_hash_string(f->name) ^ x->m->symbol->address);
    return fp_function_id(base, f->flags, f->layout.path_slots, f->layout.edge_slots);
}

void fp_exe_describe(struct fp_exe_work *w, struct fp_exe_function *x)
{
    struct fp_function *f = &x->f;
    identify(w, x);
    if (x->left_alone) {
        *f = (struct fp_function){.name = f->name,
                                  .file = f->file,
                                  .line = f->line,
                                  .flags = FP_FUNCTION_SKIPPED | FP_FUNCTION_CODE,
                                  .skipped = x->left_alone,
                                  .source.address = x->m->symbol->address};
        f->id = id_of(x);
        fp_map_write_record(&w->map, f);
        return;
    }
    struct fp_arena scratch = {0};
    f->source.edges = x->m->edges;
    fp_machine_lines(&scratch, w->lines, x->m, f);
    fp_machine_calls(&scratch, &w->machine, w->lines, x->m, f);
    fp_machine_code(&scratch, &w->machine, x->m, f);
    f->id = id_of(x);
    fp_map_write_record(&w->map, f);
    f->source = (struct fp_source){0};
    fp_arena_free(&scratch);
}
