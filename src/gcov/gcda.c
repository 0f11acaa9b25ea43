/* Writing of gcc's counts: see gcda.h. */
#include "gcov/gcda.h"

enum { DATA_MAGIC = 0x67636461 };
enum data_tag { TAG_FUNCTION = 0x01000000, TAG_ARC_COUNTS = 0x01a10000, TAG_SUMMARY = 0xa1000000 };

static bool is_counted(const struct fp_gcc_arc *arc)
{
    return !(arc->flags & FP_GCC_ARC_ON_TREE);
}

static uint32_t largest(const struct fp_gcc_notes *notes, const struct fp_gcc_counts *counts)
{
    uint64_t most = 0;
    for (size_t i = 0; i < notes->functions.len; i++)
        for (size_t a = 0; counts[i].arcs && a < notes->functions.at[i].arcs.len; a++)
            if (is_counted(&notes->functions.at[i].arcs.at[a]) && counts[i].arcs[a] > most)
                most = counts[i].arcs[a];
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static void write_function(struct fp_writer *out, const struct fp_gcc_function *f,
                           const uint64_t *arcs)
{
    uint32_t n = 0;
    fp_write_u32(out, TAG_FUNCTION);
    fp_write_u32(out, 3 * 4);
    fp_write_u32(out, f->ident);
    fp_write_u32(out, f->lineno_checksum);
    fp_write_u32(out, f->cfg_checksum);
    for (size_t i = 0; i < f->arcs.len; i++) n += is_counted(&f->arcs.at[i]);
    fp_write_u32(out, TAG_ARC_COUNTS);
    fp_write_u32(out, n * 8);
    for (size_t i = 0; i < f->arcs.len; i++)
        if (is_counted(&f->arcs.at[i])) fp_write_u64(out, arcs[i]);
}

void fp_write_gcda(struct fp_writer *out, const struct fp_gcc_notes *notes,
                   const struct fp_gcc_counts *counts)
{
    fp_write_u32(out, DATA_MAGIC);
    fp_write_u32(out, notes->version);
    fp_write_u32(out, notes->stamp);
    fp_write_u32(out, 0); /* a checksum that gcc does not ask for */
    fp_write_u32(out, TAG_SUMMARY);
    fp_write_u32(out, 2 * 4);
    fp_write_u32(out, 1); /* runs */
    fp_write_u32(out, largest(notes, counts));
    for (size_t i = 0; i < notes->functions.len; i++)
        if (counts[i].arcs) write_function(out, &notes->functions.at[i], counts[i].arcs);
    fp_write_u32(out, 0);
}
