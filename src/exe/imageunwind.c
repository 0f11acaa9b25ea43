/* .eh_frame_hdr of a rewritten file (unwindtable.h). It has the entries of the old table, those of
 * the runtime and those of the new code, by address. */
#include "exe/imageparts.h"
#include "exe/unwindtable.h"

bool fp_image_has_unwind(const struct fp_elfview *view)
{
    struct fp_unwind_table table;
    return fp_unwind_table_find(view, &table) && table.count;
}

static void add_pairs(struct fp_image *image, const struct fp_unwind_table *table, uint64_t delta)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct fp_unwind_entry entry = fp_unwind_table_entry(table, i);
        fp_image_fde(image, entry.pc + delta, entry.fde + delta);
    }
}

bool fp_image_merge_unwind(struct fp_image *image, struct fp_error *error)
{
    struct fp_unwind_table old, runtime;
    uint64_t address;
    bool has_old = fp_unwind_table_find(&image->old, &old);
    if ((!has_old && !image->is_static) || !fp_unwind_table_find(&image->runtime, &runtime))
        return fp_fail(error, image->old.path, "has no .eh_frame_hdr");
    if (has_old) add_pairs(image, &old, 0); /* else the caller has added them */
    add_pairs(image, &runtime, image->delta);
    uint64_t size = fp_unwind_table_size(image->fdes.len);
    if (!fp_image_reserve(image, FP_IMAGE_READ, size, 4, &address, error)) return false;
    unsigned char *bytes = fp_arena_alloc(image->arena, size);
    fp_unwind_table_write(image->fdes.at, image->fdes.len, address, has_old ? old.eh_frame : 0,
                          bytes);
    image->tables[TABLE_EH_FRAME_HDR] = (struct image_table){address, size};
    return fp_image_patch(image, address, bytes, size);
}
