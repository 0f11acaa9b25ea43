/* Unwind tables for debuggers: see debugframe.h.
 *
 * All CIEs of newframes.c begin with the same row, and a debugger needs neither personality nor
 * LSDA. So one CIE will do, and the instructions of an FDE are copied as they are.
 */
#include "exe/debugframe.h"

#include <string.h>

enum { CIE_ID = -1, CFA_DEF_CFA = 0x0c, CFA_OFFSET = 0x80, ALIGN = 8 };

static uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Fills with DW_CFA_nop, and writes the length of the entry that began at `start`. */
static void end_entry(struct fp_writer *out, size_t start)
{
    while ((out->len - start - 4) % ALIGN) fp_write_u8(out, 0);
    uint32_t len = (uint32_t)(out->len - start - 4);
    memcpy(out->bytes + start, &len, sizeof len);
}

static void write_cie(struct fp_writer *out)
{
    static const uint8_t rest[] = {
        1, /* version */
        0, /* no augmentation */
        1,
        0x78,            /* factors of code and data: 1 and -8 */
        FP_FRAME_RETURN, /* */
        CFA_DEF_CFA,
        FP_FRAME_RSP,
        8, /* */
        CFA_OFFSET | FP_FRAME_RETURN,
        1,
    };
    fp_write_u32(out, 0);
    fp_write_u32(out, (uint32_t)CIE_ID);
    fp_write_bytes(out, rest, sizeof rest);
    end_entry(out, 0);
}

/* An FDE of the table: length, distance to its CIE, distance to the code, size, a length and as
 * many bytes of augmentation, instructions. */
static void write_fde(const struct fp_new_table *table, size_t at, size_t len,
                      struct fp_writer *out)
{
    enum { PC = 8, SIZE = 12, AUGMENTATION = 16 };
    const unsigned char *fde = table->bytes.bytes + at;
    size_t first = AUGMENTATION + 1 + fde[AUGMENTATION], start = out->len;
    uint64_t pc = table->address + at + PC + (uint64_t)(int64_t)(int32_t)read_u32(fde + PC);
    fp_write_u32(out, 0);
    fp_write_u32(out, 0); /* where its CIE is */
    fp_write_u64(out, pc);
    fp_write_u64(out, read_u32(fde + SIZE));
    fp_write_bytes(out, fde + first, len + 4 - first);
    end_entry(out, start);
}

void fp_debug_frame_write(const struct fp_new_table *table, struct fp_writer *out)
{
    const struct fp_writer *all = &table->bytes;
    write_cie(out);
    for (size_t at = 0, len; at + 8 <= all->len && (len = read_u32(all->bytes + at)); at += 4 + len)
        if (read_u32(all->bytes + at + 4)) write_fde(table, at, len, out);
}
