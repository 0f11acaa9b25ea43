/* Packed integers: see varint.h. */
#include "base/varint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fp_writer_free(struct fp_writer *writer)
{
    free(writer->bytes);
    *writer = (struct fp_writer){0};
}

enum { DRAINED = 1 << 16 }; /* the size of a buffer that is drained */

void fp_write_bytes(struct fp_writer *writer, const void *bytes, size_t len)
{
    if (writer->drain && writer->cap >= DRAINED && writer->cap - writer->len < len)
        writer->drain(writer);
    if (writer->cap - writer->len < len) {
        size_t cap = writer->cap ? writer->cap * 2 : 256;
        while (cap - writer->len < len) cap *= 2;
        writer->bytes = realloc(writer->bytes, cap);
        if (!writer->bytes) abort();
        writer->cap = cap;
    }
    if (len) memcpy(writer->bytes + writer->len, bytes, len);
    writer->len += len;
}

void fp_write_u8(struct fp_writer *writer, uint8_t value)
{
    if (writer->len < writer->cap)
        writer->bytes[writer->len++] = value;
    else
        fp_write_bytes(writer, &value, 1);
}

static void write_fixed(struct fp_writer *writer, uint64_t value, size_t len)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < len; i++) bytes[i] = (unsigned char)(value >> (8 * i));
    fp_write_bytes(writer, bytes, len);
}

void fp_write_u32(struct fp_writer *writer, uint32_t value)
{
    write_fixed(writer, value, 4);
}

void fp_write_u64(struct fp_writer *writer, uint64_t value)
{
    write_fixed(writer, value, 8);
}

void fp_write_f64(struct fp_writer *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    write_fixed(writer, bits, 8);
}

void fp_write_uint(struct fp_writer *writer, uint64_t value)
{
    unsigned char bytes[10];
    size_t len = 0;
    do {
        unsigned char low = value & 0x7f;
        value >>= 7;
        bytes[len++] = value ? low | 0x80 : low;
    } while (value);
    fp_write_bytes(writer, bytes, len);
}

void fp_write_uints(struct fp_writer *w, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) fp_write_uint(w, values[i]);
}

void fp_write_int(struct fp_writer *writer, int64_t value)
{
    fp_write_uint(writer, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void fp_write_string(struct fp_writer *writer, const char *text)
{
    size_t len = strlen(text);
    fp_write_uint(writer, len);
    fp_write_bytes(writer, text, len);
}

bool fp_reader_fail(struct fp_reader *reader, const char *format, ...)
{
    if (reader->failed) return false;
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    reader->failed = true;
    return fp_fail_at(reader->error, reader->file, reader->base + reader->at, "%s", what);
}

const void *fp_read_bytes(struct fp_reader *reader, size_t len)
{
    if (reader->failed) return NULL;
    if (fp_reader_left(reader) < len) {
        fp_reader_fail(reader, "expected %zu more bytes, got %zu before the end", len,
                       fp_reader_left(reader));
        return NULL;
    }
    const void *bytes = reader->bytes + reader->at;
    reader->at += len;
    return bytes;
}

static uint64_t read_fixed(struct fp_reader *reader, size_t len)
{
    const unsigned char *bytes = fp_read_bytes(reader, len);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < len; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint8_t fp_read_u8(struct fp_reader *reader)
{
    return (uint8_t)read_fixed(reader, 1);
}

uint32_t fp_read_u32(struct fp_reader *reader)
{
    return (uint32_t)read_fixed(reader, 4);
}

uint64_t fp_read_u64(struct fp_reader *reader)
{
    return read_fixed(reader, 8);
}

double fp_read_f64(struct fp_reader *reader)
{
    uint64_t bits = read_fixed(reader, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t fp_read_uint(struct fp_reader *reader)
{
    if (reader->failed) return 0;
    uint64_t value = 0;
    size_t start = reader->at;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (reader->at == reader->len) {
            reader->at = start;
            fp_reader_fail(reader, "expected a packed integer, got the end");
            return 0;
        }
        uint64_t byte = reader->bytes[reader->at++];
        if (shift == 63 && byte > 1) break;
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    reader->at = start;
    fp_reader_fail(reader, "expected a packed integer of at most 64 bits, got a longer one");
    return 0;
}

int64_t fp_read_int(struct fp_reader *reader)
{
    uint64_t value = fp_read_uint(reader);
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

size_t fp_read_count(struct fp_reader *reader, size_t min_bytes)
{
    size_t start = reader->at;
    uint64_t count = fp_read_uint(reader);
    if (reader->failed) return 0;
    size_t most = fp_reader_left(reader) / (min_bytes ? min_bytes : 1);
    if (count <= most) return (size_t)count;
    reader->at = start;
    fp_reader_fail(reader, "expected a count of at most %zu, got %" PRIu64, most, count);
    return 0;
}

uint32_t fp_read_index(struct fp_reader *reader, uint64_t limit, const char *what)
{
    size_t start = reader->at;
    uint64_t value = fp_read_uint(reader);
    if (reader->failed) return 0;
    if (value < limit && value <= UINT32_MAX) return (uint32_t)value;
    reader->at = start;
    fp_reader_fail(reader, "expected a %s below %" PRIu64 ", got %" PRIu64, what, limit, value);
    return 0;
}

char *fp_read_string(struct fp_reader *reader, struct fp_arena *arena)
{
    size_t len = fp_read_count(reader, 1);
    const char *bytes = fp_read_bytes(reader, len);
    return bytes ? fp_arena_strndup(arena, bytes, len) : fp_arena_strdup(arena, "");
}
