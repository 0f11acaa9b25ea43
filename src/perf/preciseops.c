/* Samples of IBS and SPE: see preciseops.h. */
#include "perf/preciseops.h"

#include <string.h>

static uint64_t bits_at(const unsigned char *bytes, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* ---- IBS: registers in the order of their numbers, from byte 4 ---- */

enum {
    IBS_CAPS = 4,
    IBS_REGISTERS = 7, /* without the branch target */
    IBS_HAS_TARGET = 1 << 5,
};

static uint64_t ibs_register(const unsigned char *raw, unsigned number)
{
    return bits_at(raw + IBS_CAPS + 8 * number, 8);
}

static bool bit(uint64_t value, unsigned number)
{
    return value >> number & 1;
}

bool fp_ibs_read_op(const unsigned char *raw, size_t len, struct fp_precise_op *op)
{
    *op = (struct fp_precise_op){0};
    if (len < IBS_CAPS + 8 * IBS_REGISTERS) return false;
    uint64_t control = ibs_register(raw, 0), data = ibs_register(raw, 2);
    if (!bit(control, 17) || !bit(control, 18)) return false; /* enabled, valid */
    op->has_address = !bit(data, 38);
    op->address = op->has_address ? ibs_register(raw, 1) : 0;
    op->retired = true;
    bool branch = bit(data, 37), taken = bit(data, 35);
    bool has_target =
        bits_at(raw, IBS_CAPS) & IBS_HAS_TARGET && len >= IBS_CAPS + 8 * (IBS_REGISTERS + 1);
    op->mispredicted = branch && bit(data, 36);
    op->target = branch && taken && has_target ? ibs_register(raw, IBS_REGISTERS) : 0;
    return true;
}

/* ---- SPE ---- */

enum spe_kind { SPE_NOTHING, SPE_END, SPE_TICKS, SPE_EVENTS, SPE_CONTEXT, SPE_ADDRESS };

struct spe_packet {
    enum spe_kind kind;
    unsigned index;
    uint64_t value;
    size_t len;
};

enum spe_address { SPE_PROGRAM_COUNTER = 0, SPE_BRANCH_TARGET = 1 };

/* What follows a header byte: 1, 2, 4 or 8 bytes. */
static bool read_payload(const unsigned char *bytes, size_t len, size_t header,
                         struct spe_packet *packet)
{
    size_t size = (size_t)1 << (bytes[header - 1] >> 4 & 3);
    if (len < header + size) return false;
    packet->value = bits_at(bytes + header, size);
    packet->len = header + size;
    return true;
}

/* Up to the next multiple of 2 to 65536 bytes from the start of the buffer. */
static bool read_alignment(const struct fp_spe_reader *r, struct spe_packet *packet)
{
    size_t alignment = (size_t)2 << (r->bytes[r->at] & 15);
    packet->len = alignment - (r->at & (alignment - 1));
    return packet->len >= 2 && packet->len <= r->len - r->at;
}

static enum spe_kind kind_of(unsigned char header)
{
    if (header == 0x71) return SPE_TICKS;
    if ((header & 0xcf) == 0x42) return SPE_EVENTS;
    if ((header & 0xfc) == 0x64) return SPE_CONTEXT;
    if ((header & 0xf8) == 0xb0) return SPE_ADDRESS;
    return SPE_NOTHING;
}

static bool is_known(unsigned char header)
{
    return kind_of(header) != SPE_NOTHING || (header & 0xcf) == 0x43 /* source of data */ ||
           (header & 0xfc) == 0x48 /* type of operation */ || (header & 0xf8) == 0x98 /* counter */;
}

static bool read_packet(const struct fp_spe_reader *r, struct spe_packet *packet)
{
    const unsigned char *at = r->bytes + r->at;
    size_t len = r->len - r->at, header = 1;
    *packet = (struct spe_packet){.kind = at[0] == 1 ? SPE_END : SPE_NOTHING, .len = 1};
    if (at[0] <= 1) return true;  /* padding; the end without a timestamp */
    if ((at[0] & 0xfc) == 0x20) { /* an extended header */
        if (len < 2) return false;
        if (at[1] == 0) return read_alignment(r, packet);
        header = 2;
    }
    unsigned char last = at[header - 1];
    bool extends = (last & 0xf8) == 0xb0 || (last & 0xf8) == 0x98;
    if (header == 2 ? !extends : !is_known(last)) return false;
    packet->kind = kind_of(last);
    packet->index = (last & 7u) | (header == 2 ? (at[0] & 3u) << 3 : 0);
    return read_payload(at, len, header, packet);
}

static void take_address(const struct spe_packet *packet, struct fp_precise_op *op)
{
    const uint64_t bytes_0_to_6 = ((uint64_t)1 << 56) - 1;
    uint64_t address = packet->value & bytes_0_to_6;
    if (packet->index == SPE_BRANCH_TARGET) op->target = address;
    if (packet->index != SPE_PROGRAM_COUNTER) return;
    op->address = address;
    op->has_address = true;
    op->kernel = packet->value >> 61 & 3; /* the exception level */
    if (op->kernel) op->address |= (uint64_t)0xff << 56;
}

/* True at the end of a record. */
static bool take_packet(const struct spe_packet *packet, struct fp_precise_op *op, bool *not_taken)
{
    switch (packet->kind) {
    case SPE_NOTHING: break;
    case SPE_ADDRESS: take_address(packet, op); break;
    case SPE_CONTEXT:
        op->context = (uint32_t)packet->value;
        op->has_context = true;
        break;
    case SPE_EVENTS:
        op->retired = bit(packet->value, 1);
        op->mispredicted = bit(packet->value, 7);
        *not_taken = bit(packet->value, 6);
        break;
    case SPE_TICKS:
        op->ticks = packet->value;
        op->has_ticks = true;
        return true;
    case SPE_END: return true;
    }
    return false;
}

bool fp_spe_next(struct fp_spe_reader *r, struct fp_precise_op *op)
{
    bool not_taken = false, started = false;
    *op = (struct fp_precise_op){0};
    while (r->at < r->len) {
        struct spe_packet packet;
        if (!read_packet(r, &packet)) {
            r->at++;
            r->skipped++;
            *op = (struct fp_precise_op){0};
            not_taken = started = false;
            continue;
        }
        r->at += packet.len;
        started |= packet.kind != SPE_NOTHING;
        if (!take_packet(&packet, op, &not_taken) || !started) continue;
        if (not_taken) op->target = 0;
        return true;
    }
    return false;
}
