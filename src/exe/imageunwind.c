/* .eh_frame_hdr: the table by which unwinders find the FDE of an address. The new one has the
 * entries of the old table, those of the runtime and those of the new code, by address.
 *
 * Not handled: tables that are not as all linkers write them (sorted pairs of 32-bit distances
 * from the table): such a file is refused as if it had none.
 */
#include "exe/imageparts.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 12, PAIR = 8, PCREL_SDATA4 = 0x1b, UDATA4 = 3, DATAREL_SDATA4 = 0x3b };

struct unwind_table {
    uint64_t address;  /* of the header */
    uint64_t eh_frame; /* of .eh_frame */
    const unsigned char *pairs;
    uint32_t count;
};

static bool find_table(const struct fp_elfview *view, struct unwind_table *table)
{
    const Elf64_Phdr *segment = fp_elfview_segment(view, PT_GNU_EH_FRAME);
    uint64_t size = segment ? segment->p_filesz : 0;
    const unsigned char *bytes = segment ? fp_elfview_at(view, segment->p_vaddr, size) : NULL;
    static const unsigned char usual[] = {1, PCREL_SDATA4, UDATA4, DATAREL_SDATA4};
    int32_t distance;
    if (!bytes || size < HEAD || memcmp(bytes, usual, sizeof usual)) return false;
    table->address = segment->p_vaddr;
    memcpy(&distance, bytes + 4, sizeof distance);
    table->eh_frame = segment->p_vaddr + 4 + (uint64_t)(int64_t)distance;
    memcpy(&table->count, bytes + 8, sizeof table->count);
    table->pairs = bytes + HEAD;
    return table->count <= (size - HEAD) / PAIR;
}

bool fp_image_has_unwind(const struct fp_elfview *view)
{
    struct unwind_table table;
    return find_table(view, &table) && table.count;
}

static void add_pairs(struct fp_image *image, const struct unwind_table *table, uint64_t delta)
{
    for (uint32_t i = 0; i < table->count; i++) {
        int32_t pair[2];
        memcpy(pair, table->pairs + (size_t)i * PAIR, sizeof pair);
        fp_image_fde(image, table->address + (uint64_t)(int64_t)pair[0] + delta,
                     table->address + (uint64_t)(int64_t)pair[1] + delta);
    }
}

static int by_pc(const void *a, const void *b)
{
    const struct image_fde *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void put_u32(unsigned char **at, uint64_t value)
{
    uint32_t word = (uint32_t)value;
    memcpy(*at, &word, sizeof word);
    *at += sizeof word;
}

bool fp_image_merge_unwind(struct fp_image *image, struct fp_error *error)
{
    struct unwind_table old, runtime;
    uint64_t address;
    bool has_old = find_table(&image->old, &old);
    if ((!has_old && !image->is_static) || !find_table(&image->runtime, &runtime))
        return fp_fail(error, image->old.path, "has no .eh_frame_hdr");
    if (has_old) add_pairs(image, &old, 0); /* else the caller has added them */
    add_pairs(image, &runtime, image->delta);
    qsort(image->fdes.at, image->fdes.len, sizeof *image->fdes.at, by_pc);
    uint64_t size = HEAD + image->fdes.len * PAIR;
    if (!fp_image_reserve(image, FP_IMAGE_READ, size, 4, &address, error)) return false;
    unsigned char *bytes = fp_arena_alloc(image->arena, size), *at = bytes;
    *at++ = 1, *at++ = PCREL_SDATA4, *at++ = UDATA4, *at++ = DATAREL_SDATA4;
    put_u32(&at, has_old ? old.eh_frame - (address + 4) : 0); /* no reader needs it */
    put_u32(&at, image->fdes.len);
    for (size_t i = 0; i < image->fdes.len; i++) {
        put_u32(&at, image->fdes.at[i].pc - address);
        put_u32(&at, image->fdes.at[i].fde - address);
    }
    image->tables[TABLE_EH_FRAME_HDR] = (struct image_table){address, size};
    return fp_image_patch(image, address, bytes, size);
}
