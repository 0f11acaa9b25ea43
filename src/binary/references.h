/* Who refers to what in an object's code: all direct calls and jumps between functions, all
 * addresses of code that code or data holds, and all addresses of data that code names.
 *
 * Every executable byte is decoded once, from front to end: FDE by FDE, and the code between
 * them. Pointers in data are what relocations say; in an object at a fixed address, all aligned
 * words that could be some. */
#ifndef FP_BINARY_REFERENCES_H
#define FP_BINARY_REFERENCES_H

#include "binary/frames.h"
#include "binary/machine.h"

enum fp_reference_kind {
    FP_REFERENCE_CALL,
    FP_REFERENCE_JUMP,    /* out of an FDE, or from code without FDE */
    FP_REFERENCE_NAMED,   /* an address in code */
    FP_REFERENCE_POINTER, /* an address in data */
    FP_REFERENCE_READ,    /* an access to code as data */
    FP_REFERENCE_SYMBOL,  /* a symbol of a function; where the program starts */
};

struct fp_reference {
    uint64_t target, from;
    enum fp_reference_kind kind;
};

/* The code of an FDE. */
struct fp_reference_code {
    struct fp_insn *insns;
    uint32_t ninsns;
    bool broken;      /* holds bytes that are no instruction */
    bool transaction; /* xbegin */
};

struct fp_references {
    struct fp_arena *arena;
    const struct fp_object *object;
    const struct fp_frames *frames;
    struct fp_reference_code *code;  /* per FDE */
    FP_VEC(struct fp_reference) all; /* to code, by target */
    FP_VEC(uint64_t) named;          /* addresses of data, sorted */
};

void fp_references_find(struct fp_references *references, struct fp_arena *arena,
                        const struct fp_object *object, const struct fp_frames *frames);

/* The first reference whose target is not below an address; `all.len` if there is none. */
size_t fp_references_from(const struct fp_references *references, uint64_t address);

#endif
