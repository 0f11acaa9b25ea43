/* Reading of .eh_frame and of LSDAs byte by byte: numbers, and pointers in DW_EH_PE encodings.
 *
 * A reader never runs past its end: what is missing reads as 0 and sets `bad`, which callers ask
 * for once at the end of a record. */
#ifndef FP_BINARY_EHPOINTER_H
#define FP_BINARY_EHPOINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FP_EH_OMIT = 0xff,
    FP_EH_ABSOLUTE = 0x00, /* the format, in the low four bits */
    FP_EH_ULEB = 0x01,
    FP_EH_UDATA2 = 0x02,
    FP_EH_UDATA4 = 0x03,
    FP_EH_UDATA8 = 0x04,
    FP_EH_SLEB = 0x09,
    FP_EH_SDATA2 = 0x0a,
    FP_EH_SDATA4 = 0x0b,
    FP_EH_SDATA8 = 0x0c,
    FP_EH_PCREL = 0x10, /* what is added, in the next three */
    FP_EH_DATAREL = 0x30,
    FP_EH_INDIRECT = 0x80, /* the pointer is the address of a word that holds the pointer */
};

struct fp_eh_reader {
    const unsigned char *bytes;
    size_t at, len;
    uint64_t address; /* of bytes[0] */
    bool bad;
};

uint8_t fp_eh_byte(struct fp_eh_reader *reader);
uint64_t fp_eh_fixed(struct fp_eh_reader *reader, unsigned size); /* little endian, unsigned */
uint64_t fp_eh_uleb(struct fp_eh_reader *reader);
int64_t fp_eh_sleb(struct fp_eh_reader *reader);
void fp_eh_skip(struct fp_eh_reader *reader, uint64_t count);

/* The address of the next byte. */
static inline uint64_t fp_eh_here(const struct fp_eh_reader *reader)
{
    return reader->address + reader->at;
}

/* A pointer. The word behind an indirect one is not read: the address of that word is given.
 * `data` is what DW_EH_PE_datarel adds. A pointer that is stored as 0 stays 0. */
uint64_t fp_eh_pointer(struct fp_eh_reader *reader, uint8_t encoding, uint64_t data);

/* Bytes that a pointer of an encoding takes; 0 for the ones of varying size and unknown ones. */
unsigned fp_eh_pointer_size(uint8_t encoding);

#endif
