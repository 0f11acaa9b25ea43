/* An executable or shared library that is being rewritten: PROGRAM as it was, with footpath's
 * runtime in it and room for new code and data.
 *
 *     struct fp_image *image = fp_image_open(arena, "prog", &error);
 *     fp_image_reserve(image, FP_IMAGE_CODE, size, 16, &address);
 *     fp_image_patch(image, address, bytes, size);
 *     fp_image_set_map(image, records, len);
 *     fp_image_write(image, "out", &error);
 *
 * Addresses are as linked: those of the old program do not change, and new ones lie behind
 * them, near enough for a 32-bit distance. Everything lives in the arena.
 *
 * What OUT looks like. The old bytes stay where they were in the file. Behind the old
 * segments come five zones: tables and constants (R), code (RX), the runtime's own segments,
 * data (RW), and memory that is 0 at first (counters). The tables for the loader (symbols,
 * relocations, versions, dynamic section) and the program headers are written anew.
 *
 * When the new code may run. The runtime sets the base of %gs and maps the shadow of the
 * first thread's stack while the loader relocates OUT (by a relocation of type IRELATIVE, the
 * first one). No code of OUT runs before that, so every function may be moved, also
 * constructors and resolvers of indirect functions. A statically linked program has no loader:
 * its OUT begins at the runtime's entry point, which goes on at the program's.
 */
#ifndef FP_EXE_IMAGE_H
#define FP_EXE_IMAGE_H

#include "base/arena.h"
#include "base/error.h"
#include "footpath/abi.h"

struct fp_image;

/* Why a file is not rewritten is in the error: not x86-64, no .eh_frame, setuid, rewritten or
 * instrumented already. runtime: the file of the runtime, or NULL for libfootpath-exe.so, of static
 * programs libfootpath-static.so, in lib/footpath beside the tools. */
struct fp_image *fp_image_open(struct fp_arena *arena, const char *path, const char *runtime,
                               struct fp_error *error);
/* Closes files; the rest is the arena's. */
void fp_image_close(struct fp_image *image);

/* Is it linked at a fixed address (ET_EXEC)? Else addresses are relative to where it is loaded. */
bool fp_image_is_fixed(const struct fp_image *image);
/* Bytes of executable segments. */
uint64_t fp_image_text(const struct fp_image *image);
/* Is it a program, and not a shared library? */
bool fp_image_is_program(const struct fp_image *image);
/* Is it a program that no loader is needed for? Its runtime is another one. */
bool fp_image_is_static(const struct fp_image *image);

/* ---- room ---- */

enum fp_image_zone {
    FP_IMAGE_READ,     /* constants: unwind tables, LSDAs, tables of jumps */
    FP_IMAGE_CODE,     /* read and execute */
    FP_IMAGE_DATA,     /* read and write, from the file. Each thread counts in a copy of nothing
                        * here: use it for what all threads share */
    FP_IMAGE_COUNTERS, /* 64-bit counters: section footpath_cnt. A copy per thread; reach them
                        * by %gs */
    FP_IMAGE_TABLES,   /* struct fp_hash_table: section footpath_hash. A copy per thread, from
                        * the file: fill in all fields (see fp_image_hash_table) */
    FP_IMAGE_DIRECT,   /* direct counts of hash tables: section footpath_direct; per thread */
    FP_IMAGE_NZONES
};

/* Room of `size` bytes, all 0, aligned to a power of two of at most 4096. Several calls for one
 * zone give rising addresses; without gaps but for the alignment. Fails where the zone would
 * be too far away for 32-bit distances. */
bool fp_image_reserve(struct fp_image *image, enum fp_image_zone zone, uint64_t size,
                      uint64_t align, uint64_t *address, struct fp_error *error);
/* Where the next room of the zone would begin, for code that is written piece by piece. */
uint64_t fp_image_next(const struct fp_image *image, enum fp_image_zone zone);

/* Replaces bytes, old or new. False where there are none in the file (bss, counters). */
bool fp_image_patch(struct fp_image *image, uint64_t address, const void *bytes, size_t len);
/* The bytes as they are now, and how many follow in the same segment or zone. */
const unsigned char *fp_image_bytes(const struct fp_image *image, uint64_t address, size_t *len);

/* The word at `at` is to hold the address `target`: writes it, and adds a relocation
 * where OUT has no fixed address. Only for words of writable zones. */
bool fp_image_pointer(struct fp_image *image, uint64_t at, uint64_t target);

/* Fills in a table in FP_IMAGE_TABLES. direct: in FP_IMAGE_DIRECT, or 0; nsparse: words of
 * the sparse array, or 0. */
bool fp_image_hash_table(struct fp_image *image, uint64_t table, uint64_t direct, uint32_t ndirect,
                         uint32_t nsparse);

/* ---- the runtime ---- */

/* The address of one of its symbols (FP_HASH_MISS_SYMBOL ...), in OUT; 0: it has none. */
uint64_t fp_image_runtime_symbol(const struct fp_image *image, const char *name);

/* The address of one of its entries (footpath/abi.h). */
uint64_t fp_image_entry(const struct fp_image *image, enum fp_exe_entry entry);

/* Where a frame keeps its path sum when no register is free: 8 bytes at CFA + distance, with
 * the %gs prefix or without. One slot per frame. The memory there is the runtime's own: it does
 * not hold anything of the program, on whichever stack the frame is. */
struct fp_image_slot {
    bool gs;
    int32_t distance;
};
struct fp_image_slot fp_image_slot(const struct fp_image *image);

/* ---- traps: what happens where an old instruction is executed ---- */

/* What a path register is to hold there: the address of a counter. `home` is a register as
 * machine code numbers them, or FP_EXE_IN_SLOT: the slot at register `base` + disp. */
struct fp_image_sum {
    uint8_t home, base;
    int32_t disp;
    uint64_t counter;
};

/* An old instruction, which is int3 now, and where to go on. `function` is an index that
 * fp_image_trap_function has returned; the function is then no longer exact. `sum` is one that
 * fp_image_trap_sum has returned, or 0: the code there needs no path register. */
uint32_t fp_image_trap_function(struct fp_image *image, uint64_t map_id, uint64_t counters);
uint32_t fp_image_trap_sum(struct fp_image *image, const struct fp_image_sum *sum);
void fp_image_trap(struct fp_image *image, uint64_t old_address, uint64_t new_address,
                   uint32_t function, uint32_t sum);

/* From this address of the new code on, frames have this path in flight: `block` and `where` as in
 * struct fp_exe_mark. By rising addresses. */
void fp_image_mark(struct fp_image *image, uint64_t address, uint32_t function, uint32_t block,
                   int32_t where);

/* ---- what the loader, unwinders and debuggers see ---- */

/* A new FDE. fp_image_write merges them with the FDEs of the old .eh_frame_hdr and with the
 * runtime's, and writes the new .eh_frame_hdr. */
void fp_image_fde(struct fp_image *image, uint64_t pc, uint64_t fde);

/* A symbol of .symtab, in new code or data. */
void fp_image_symbol(struct fp_image *image, const char *name, uint64_t address, uint64_t size,
                     bool is_function);
/* A section header for a part of a zone, such as ".text.footpath". Zones have section headers of
 * their own where nothing else covers them. */
void fp_image_section(struct fp_image *image, const char *name, uint64_t address, uint64_t size);

/* A section that is not loaded; the bytes are copied. */
void fp_image_unloaded_section(struct fp_image *image, const char *name, const unsigned char *bytes,
                               size_t len);

/* Replaces the address that something outside of the old code has of a function: the entry point
 * of the program (e_entry), DT_INIT and DT_FINI. Not needed: the old entry is a jump. */
void fp_image_set_entry(struct fp_image *image, uint64_t address);

/* The map: plain records one behind the other (fp_map_write_record); packed here. */
void fp_image_set_map(struct fp_image *image, const unsigned char *records, size_t len);

/* Writes OUT beside its place and renames it. Mode bits are PROGRAM's. */
bool fp_image_write(struct fp_image *image, const char *out, struct fp_error *error);

#endif
