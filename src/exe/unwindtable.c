/* .eh_frame_hdr: see unwindtable.h. */
#include "exe/unwindtable.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 12, PAIR = 8, PCREL_SDATA4 = 0x1b, UDATA4 = 3, DATAREL_SDATA4 = 0x3b };

bool fp_unwind_table_find(const struct fp_elfview *view, struct fp_unwind_table *table)
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

struct fp_unwind_entry fp_unwind_table_entry(const struct fp_unwind_table *table, uint32_t i)
{
    int32_t pair[2];
    memcpy(pair, table->pairs + (size_t)i * PAIR, sizeof pair);
    return (struct fp_unwind_entry){table->address + (uint64_t)(int64_t)pair[0],
                                    table->address + (uint64_t)(int64_t)pair[1]};
}

static int by_pc(const void *a, const void *b)
{
    const struct fp_unwind_entry *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void put_u32(unsigned char **at, uint64_t value)
{
    uint32_t word = (uint32_t)value;
    memcpy(*at, &word, sizeof word);
    *at += sizeof word;
}

uint64_t fp_unwind_table_size(size_t count)
{
    return HEAD + count * PAIR;
}

void fp_unwind_table_write(struct fp_unwind_entry *entries, size_t count, uint64_t address,
                           uint64_t eh_frame, unsigned char *at)
{
    qsort(entries, count, sizeof *entries, by_pc);
    *at++ = 1, *at++ = PCREL_SDATA4, *at++ = UDATA4, *at++ = DATAREL_SDATA4;
    put_u32(&at, eh_frame ? eh_frame - (address + 4) : 0); /* no reader needs it */
    put_u32(&at, count);
    for (size_t i = 0; i < count; i++) {
        put_u32(&at, entries[i].pc - address);
        put_u32(&at, entries[i].fde - address);
    }
}
