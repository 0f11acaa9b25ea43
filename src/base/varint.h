/* Reading and writing of packed integers.
 *
 * LEB128 for unsigned values, zig-zag on top of it for signed ones, fixed
 * little-endian where a field must be found without parsing. A reader checks
 * the length before every access; after the first failure all reads give 0 and
 * the error keeps the offset of that first failure.
 */
#ifndef FP_BASE_VARINT_H
#define FP_BASE_VARINT_H

#include "base/arena.h"
#include "base/error.h"

struct fp_writer {
    unsigned char *bytes; /* malloc'ed; fp_writer_free */
    size_t len, cap;
    /* Where the whole need not be in memory: takes the bytes of a full buffer and sets `len` to
     * 0. NULL: the buffer grows. */
    void (*drain)(struct fp_writer *writer);
};

void fp_writer_free(struct fp_writer *writer);
void fp_write_bytes(struct fp_writer *writer, const void *bytes, size_t len);
void fp_write_u8(struct fp_writer *writer, uint8_t value);
void fp_write_u32(struct fp_writer *writer, uint32_t value);
void fp_write_u64(struct fp_writer *writer, uint64_t value);
void fp_write_f64(struct fp_writer *writer, double value);
void fp_write_uint(struct fp_writer *writer, uint64_t value);
void fp_write_int(struct fp_writer *writer, int64_t value);
/* Each as fp_write_uint does. */
void fp_write_uints(struct fp_writer *writer, const uint64_t *values, size_t count);
/* Length, then the bytes. */
void fp_write_string(struct fp_writer *writer, const char *text);

struct fp_reader {
    const unsigned char *bytes;
    size_t at, len;
    uint64_t base; /* offset of bytes[0] in the file, for messages */
    const char *file;
    struct fp_error *error;
    bool failed;
};

static inline size_t fp_reader_left(const struct fp_reader *reader)
{
    return reader->len - reader->at;
}

/* Marks the reader failed, with what was expected at the present offset. */
bool fp_reader_fail(struct fp_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const void *fp_read_bytes(struct fp_reader *reader, size_t len);
uint8_t fp_read_u8(struct fp_reader *reader);
uint32_t fp_read_u32(struct fp_reader *reader);
uint64_t fp_read_u64(struct fp_reader *reader);
double fp_read_f64(struct fp_reader *reader);
uint64_t fp_read_uint(struct fp_reader *reader);
int64_t fp_read_int(struct fp_reader *reader);

/* A count of things that take at least min_bytes each, so that a hostile
 * number cannot make the caller allocate more than the file could hold. */
size_t fp_read_count(struct fp_reader *reader, size_t min_bytes);

/* A value below limit, which `what` names. */
uint32_t fp_read_index(struct fp_reader *reader, uint64_t limit, const char *what);

char *fp_read_string(struct fp_reader *reader, struct fp_arena *arena);

#endif
