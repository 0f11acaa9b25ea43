/* What lies in the store as bytes: a run's counts, and maps.
 *
 * A blob begins with how it is kept: plain, or a zstd frame. A run is encoded as in a profile
 * file, without what the columns of its row say: host, program, and which module. The readers of
 * profile files read it, and check it, as they check any file.
 */
#include "store/store.h"

#include <stdlib.h>
#include <zstd.h>

enum { PLAIN = 0, ZSTD_FRAME = 1, LEVEL = 3, FEWEST = 64 /* bytes that are worth trying */ };
static const size_t most_bytes = (size_t)1 << 28; /* of a blob, unpacked */

static bool compress(struct fp_store *store, const void *bytes, size_t len, struct fp_writer *to)
{
    size_t room = ZSTD_compressBound(len);
    unsigned char *packed = malloc(room);
    if (!packed || (!store->compressor && !(store->compressor = ZSTD_createCCtx()))) abort();
    size_t got = ZSTD_compressCCtx(store->compressor, packed, room, bytes, len, LEVEL);
    bool ok = !ZSTD_isError(got) && got < len;
    if (ok) {
        fp_write_u8(to, ZSTD_FRAME);
        fp_write_bytes(to, packed, got);
    }
    free(packed);
    return ok;
}

void fp_store_squeeze(struct fp_store *store, const void *bytes, size_t len, struct fp_writer *to)
{
    if (len >= FEWEST && compress(store, bytes, len, to)) return;
    fp_write_u8(to, PLAIN);
    fp_write_bytes(to, bytes, len);
}

static bool decompress(struct fp_arena *arena, struct fp_reader *r)
{
    const unsigned char *frame = r->bytes + 1;
    unsigned long long size = ZSTD_getFrameContentSize(frame, r->len - 1);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most_bytes)
        return fp_reader_fail(r, "expected a zstd frame with its size");
    unsigned char *bytes = fp_arena_alloc(arena, (size_t)size + 1);
    size_t got = ZSTD_decompress(bytes, (size_t)size, frame, r->len - 1);
    if (ZSTD_isError(got) || got != size)
        return fp_reader_fail(r, "zstd: %s",
                              ZSTD_isError(got) ? ZSTD_getErrorName(got) : "another size");
    *r = (struct fp_reader){.bytes = bytes, .len = got, .file = r->file, .error = r->error};
    return true;
}

bool fp_store_unsqueeze(struct fp_arena *arena, const char *name, const void *blob, size_t len,
                        struct fp_reader *r, struct fp_error *error)
{
    *r = (struct fp_reader){.bytes = blob, .len = len, .file = name, .error = error};
    uint8_t how = fp_read_u8(r);
    if (r->failed) return false;
    if (how == ZSTD_FRAME) return decompress(arena, r);
    return how == PLAIN || fp_reader_fail(r, "expected a blob that is plain or of zstd");
}

void fp_store_pack(struct fp_store *store, const struct fp_run *run, struct fp_writer *blob)
{
    struct fp_writer plain = {0};
    struct fp_run lean = *run;
    lean.host = lean.program = lean.module.path = "";
    lean.module.build_id_len = 0;
    fp_run_encode(&plain, &lean);
    fp_store_squeeze(store, plain.bytes, plain.len, blob);
    fp_writer_free(&plain);
}

bool fp_store_unpack(struct fp_arena *arena, const char *name, const void *blob, size_t len,
                     struct fp_run *run, struct fp_error *error)
{
    struct fp_reader r;
    return fp_store_unsqueeze(arena, name, blob, len, &r, error) && fp_run_decode(arena, &r, run);
}
