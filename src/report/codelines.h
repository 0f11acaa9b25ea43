/* The instructions of executables, for forms of output that show them where there are no source
 * lines. src/report knows no machine code: the tool hands a reader over (tool/cli_code.c). */
#ifndef FP_REPORT_CODELINES_H
#define FP_REPORT_CODELINES_H

#include "profile/profile.h"
#include "report/json.h"

struct fp_code_line {
    uint64_t address;
    const char *text; /* "mov 0x8(%rdi),%rax" */
};

struct fp_code_lines {
    struct fp_code_line *at;
    size_t len;
    const char *missing; /* why there are none, or NULL */
};

struct fp_code_reader {
    /* The instructions of a block, in the arena. */
    struct fp_code_lines (*read)(void *context, struct fp_arena *arena,
                                 const struct fp_module *module, const struct fp_function *function,
                                 uint32_t block);
    void *context;
};

/* Is a function shown by its instructions: has it addresses, but no lines? */
static inline bool fp_shows_code(const struct fp_function *f)
{
    return f->source.code && !f->source.npositions;
}

/* The instructions of a block; `reader` may be NULL. */
static inline struct fp_code_lines fp_code_read(const struct fp_code_reader *reader,
                                                struct fp_arena *arena,
                                                const struct fp_module *module,
                                                const struct fp_function *function, uint32_t block)
{
    if (!reader) return (struct fp_code_lines){.missing = "instructions cannot be read here"};
    return reader->read(reader->context, arena, module, function, block);
}

#endif
