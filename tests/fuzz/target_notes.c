/* Notes of gcc: reading, and counts of arcs for whatever graphs they have. */
#include "fuzz.h"

#include "gcov/gcda.h"

#include <stdlib.h>

/* Every line of every file ran: the graphs get weights. */
static void count_lines(struct fp_arena *arena, const struct fp_gcc_notes *notes,
                        struct fp_source_counts *source)
{
    *source = (struct fp_source_counts){.arena = arena};
    fp_strtable_init(&source->by_file, arena);
    fp_strtable_init(&source->by_function, arena);
    fp_strtable_init(&source->by_name, arena);
    for (size_t i = 0; i < notes->functions.len; i++) {
        struct fp_counted_function f = {.name = notes->functions.at[i].name, .entries = i};
        fp_vec_push(arena, &source->functions, f);
        *fp_strtable_add(&source->by_name, f.name) = source->functions.len;
    }
    struct fp_counted_file file = {.name = "program.c"};
    fp_table_init(&file.by_line, arena);
    fp_strtable_init(&file.by_owner, arena);
    for (uint32_t line = 1; line < 100; line++) {
        struct fp_counted_line one = {.line = line, .owner = "main"};
        for (uint32_t k = 0; k <= line % 3; k++)
            fp_vec_push(arena, &one.blocks, (struct fp_counted_block){line * 17 % 23, k == 0});
        fp_vec_push(arena, &file.lines, one);
        *fp_table_add(&file.by_line, line) = file.lines.len;
        *fp_strtable_add(&file.by_owner, fp_arena_printf(arena, "%u main", line)) = file.lines.len;
    }
    fp_vec_push(arena, &source->files, file);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_gcc_notes notes;
    struct fp_source_counts source;
    struct fp_writer out = {0};
    struct fp_error error = {0};
    bool ok = fp_gcc_notes_read(&arena, bytes, len, "notes", &notes, &error);
    if (!ok && !error.set) abort(); /* a failure says why */
    if (ok) {
        for (size_t i = 0; i < notes.functions.len; i++)
            for (size_t k = 0; k < notes.functions.at[i].lines.len; k++)
                notes.functions.at[i].lines.at[k].file = "program.c";
        count_lines(&arena, &notes, &source);
        fp_write_gcda(&out, &notes, fp_gcc_counts_make(&arena, &notes, &source, NULL));
    }
    fp_writer_free(&out);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums that are read */
}
