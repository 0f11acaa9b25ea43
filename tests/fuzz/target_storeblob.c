/* The bytes of a store: a run's counts, plain or compressed, as the rows of a database have them.
 * What was read is written and read again: it must be the same. */
#include "fuzz.h"

#include "store/store.h"

#include <stdlib.h>
#include <string.h>

static void write_again(struct fp_arena *arena, const struct fp_run *run)
{
    static struct fp_store store; /* for its compressor */
    struct fp_writer blob = {0}, again = {0};
    struct fp_run back;
    struct fp_error error = {0};
    fp_store_pack(&store, run, &blob);
    if (!fp_store_unpack(arena, "again", blob.bytes, blob.len, &back, &error)) abort();
    fp_store_pack(&store, &back, &again);
    if (blob.len != again.len || memcmp(blob.bytes, again.bytes, blob.len)) abort();
    fp_writer_free(&blob);
    fp_writer_free(&again);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_run run;
    if (fp_store_unpack(&arena, "store", bytes, len, &run, &error)) write_again(&arena, &run);
    fp_arena_free(&arena);
}

/* How it is kept: of nearly all inputs a frame of zstd is damaged, so they are made plain. */
void fuzz_repair(unsigned char *bytes, size_t len)
{
    if (len && !(len > 4 && !memcmp(bytes + 1, "\x28\xb5\x2f\xfd", 4))) bytes[0] = 0;
}
