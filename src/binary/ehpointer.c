/* Bytes of exception tables: see ehpointer.h. */
#include "binary/ehpointer.h"

uint8_t fp_eh_byte(struct fp_eh_reader *r)
{
    if (r->at < r->len) return r->bytes[r->at++];
    r->bad = true;
    return 0;
}

uint64_t fp_eh_fixed(struct fp_eh_reader *r, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)fp_eh_byte(r) << (8 * i);
    return value;
}

/* Bits above 64 are dropped; a number of more than ten bytes is an error. */
static uint64_t leb(struct fp_eh_reader *r, bool with_sign)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = fp_eh_byte(r);
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (shift > 70) r->bad = true;
    } while (byte & 128 && !r->bad);
    if (with_sign && byte & 64 && shift < 64) value |= ~(uint64_t)0 << shift;
    return value;
}

uint64_t fp_eh_uleb(struct fp_eh_reader *r)
{
    return leb(r, false);
}

int64_t fp_eh_sleb(struct fp_eh_reader *r)
{
    return (int64_t)leb(r, true);
}

void fp_eh_skip(struct fp_eh_reader *r, uint64_t count)
{
    if (count > r->len - r->at) {
        r->bad = true;
        count = r->len - r->at;
    }
    r->at += count;
}

unsigned fp_eh_pointer_size(uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case FP_EH_ABSOLUTE:
    case FP_EH_UDATA8:
    case FP_EH_SDATA8: return 8;
    case FP_EH_UDATA4:
    case FP_EH_SDATA4: return 4;
    case FP_EH_UDATA2:
    case FP_EH_SDATA2: return 2;
    default: return 0;
    }
}

static uint64_t stored(struct fp_eh_reader *r, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case FP_EH_ABSOLUTE:
    case FP_EH_UDATA8:
    case FP_EH_SDATA8: return fp_eh_fixed(r, 8);
    case FP_EH_ULEB: return fp_eh_uleb(r);
    case FP_EH_SLEB: return (uint64_t)fp_eh_sleb(r);
    case FP_EH_UDATA2: return fp_eh_fixed(r, 2);
    case FP_EH_UDATA4: return fp_eh_fixed(r, 4);
    case FP_EH_SDATA2: return (uint64_t)(int64_t)(int16_t)fp_eh_fixed(r, 2);
    case FP_EH_SDATA4: return (uint64_t)(int64_t)(int32_t)fp_eh_fixed(r, 4);
    default: r->bad = true; return 0;
    }
}

uint64_t fp_eh_pointer(struct fp_eh_reader *r, uint8_t encoding, uint64_t data)
{
    if (encoding == FP_EH_OMIT) return 0;
    uint64_t here = fp_eh_here(r), value = stored(r, encoding);
    if (!value) return 0;
    switch (encoding & 0x70) {
    case 0: return value;
    case FP_EH_PCREL: return value + here;
    case FP_EH_DATAREL: return value + data;
    default: r->bad = true; return 0;
    }
}
