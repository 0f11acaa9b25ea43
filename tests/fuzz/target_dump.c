/* gcc's dumps: reading, and counts of arcs by them from a profile of machine code. */
#include "fuzz.h"

#include "gcov/gccdump.h"
#include "gcov/gcda.h"

enum { BLOCKS = 40, LINES = 40, COLUMNS = 8 };

/* Two functions with a graph of branches and loops that fits most dumps of small programs. */
static void make_notes(struct fp_arena *arena, struct fp_gcc_notes *notes)
{
    static const char *const names[] = {"main", "f"};
    *notes = (struct fp_gcc_notes){.folder = ""};
    for (size_t i = 0; i < 2; i++) {
        struct fp_gcc_function f = {.name = names[i], .file = "program.c", .nblocks = BLOCKS};
        fp_vec_push(arena, &f.arcs, (struct fp_gcc_arc){0, 2, 0});
        for (uint32_t b = 2; b < BLOCKS; b++) {
            uint32_t next = b + 1 < BLOCKS ? b + 1 : 1,
                     other = b % 5 ? (b * 7) % (BLOCKS - 2) + 2 : 1;
            fp_vec_push(arena, &f.arcs, (struct fp_gcc_arc){b, next, 0});
            if (b % 3) fp_vec_push(arena, &f.arcs, (struct fp_gcc_arc){b, other, 0});
        }
        fp_vec_push(arena, &notes->functions, f);
    }
}

/* Every place of the first lines ran, in code of both functions. */
static void make_code(struct fp_arena *arena, struct fp_code_counts *code)
{
    *code = (struct fp_code_counts){.arena = arena};
    fp_vec_push(arena, &code->contexts, (struct fp_code_context){"main", FP_NONE});
    fp_vec_push(arena, &code->contexts, (struct fp_code_context){"f", 0});
    for (uint32_t b = 0; b < BLOCKS; b++) fp_vec_push(arena, &code->blocks, b * 17 % 23);
    struct fp_code_file file = {.name = "program.c"};
    fp_table_init(&file.by_place, arena);
    for (uint32_t i = 0; i < LINES * COLUMNS; i++) {
        struct fp_code_place place = {.line = i / COLUMNS + 1, .column = i % COLUMNS + 1};
        struct fp_code_use use = {.context = i % 2, .count = code->blocks.at[i % BLOCKS]};
        fp_vec_push(arena, &use.blocks, i % BLOCKS);
        fp_vec_push(arena, &place.uses, use);
        fp_vec_push(arena, &file.places, place);
        *fp_table_add(&file.by_place, (uint64_t)place.line << 32 | place.column) = file.places.len;
    }
    fp_vec_push(arena, &code->files, file);
    fp_vec_push(arena, &code->calls, (struct fp_code_call){"other", "f", 5});
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_gcc_notes notes;
    struct fp_code_counts code;
    struct fp_source_counts none = {.arena = &arena};
    struct fp_writer out = {0};
    make_notes(&arena, &notes);
    make_code(&arena, &code);
    fp_gcc_dump_read(&arena, (const char *)bytes, len, &notes);
    fp_write_gcda(&out, &notes, fp_gcc_counts_make(&arena, &notes, &none, &code));
    fp_writer_free(&out);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums that are read */
}
