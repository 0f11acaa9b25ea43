/* Reading of gcc's notes: see notes.h. */
#include "gcov/notes.h"

#include "base/varint.h"

enum { NOTES_MAGIC = 0x67636e6f };
enum notes_tag {
    TAG_FUNCTION = 0x01000000,
    TAG_BLOCKS = 0x01410000,
    TAG_ARCS = 0x01430000,
    TAG_LINES = 0x01450000,
};

struct notes_reader {
    struct fp_arena *arena;
    struct fp_gcc_notes *out;
    struct fp_gcc_function *function; /* the last one, or NULL */
    struct fp_reader in;              /* its end is that of the record */
    size_t len;                       /* of the file */
};

/* Its length in bytes with the NUL; 0 is no string. */
static const char *read_text(struct notes_reader *r)
{
    uint32_t len = fp_read_u32(&r->in);
    if (!len) return "";
    const char *bytes = fp_read_bytes(&r->in, len);
    if (bytes && bytes[len - 1]) fp_reader_fail(&r->in, "a string without its end");
    return bytes && !r->in.failed ? fp_arena_strndup(r->arena, bytes, len - 1) : "";
}

/* "B22*" is gcc 12.2: 'A' and the digit are tens and ones. */
static uint32_t gcc_of(uint32_t version)
{
    uint32_t tens = version >> 24, ones = version >> 16 & 0xff;
    return tens >= 'A' && ones >= '0' && ones <= '9' ? (tens - 'A') * 10 + (ones - '0') : 0;
}

/* Up to gcc 11 lengths were in words and strings were padded. */
static void read_head(struct notes_reader *r)
{
    enum { OLDEST = 12 };
    if (fp_read_u32(&r->in) != NOTES_MAGIC) {
        fp_reader_fail(&r->in, "not notes of gcc for this kind of machine (.gcno)");
        return;
    }
    r->out->version = fp_read_u32(&r->in);
    uint32_t gcc = gcc_of(r->out->version);
    if (gcc < OLDEST) {
        fp_reader_fail(&r->in, "notes of gcc %u: gcc 12 and newer are read", gcc);
        return;
    }
    r->out->stamp = fp_read_u32(&r->in);
    fp_read_u32(&r->in); /* a checksum that gcc keeps for itself */
    r->out->folder = read_text(r);
    fp_read_u32(&r->in); /* are there blocks that nothing runs? */
}

static void read_function(struct notes_reader *r)
{
    struct fp_gcc_function f = {0};
    f.ident = fp_read_u32(&r->in);
    f.lineno_checksum = fp_read_u32(&r->in);
    f.cfg_checksum = fp_read_u32(&r->in);
    f.name = read_text(r);
    fp_read_u32(&r->in); /* is it artificial? */
    f.file = read_text(r);
    f.line = fp_read_u32(&r->in);
    fp_read_u32(&r->in); /* column */
    f.last_line = fp_read_u32(&r->in);
    fp_vec_push(r->arena, &r->out->functions, f);
    r->function = &r->out->functions.at[r->out->functions.len - 1];
}

static bool is_block(struct notes_reader *r, uint32_t block)
{
    if (block < r->function->nblocks) return true;
    return fp_reader_fail(&r->in, "block %u of %u", block, r->function->nblocks);
}

/* Each block takes at least the bytes of an arc, but for the exit. Once for a function: what has
 * been read of it is below this number. */
static void read_blocks(struct notes_reader *r)
{
    enum { ARC_BYTES = 8 };
    uint32_t n = fp_read_u32(&r->in);
    if (r->function->nblocks) {
        fp_reader_fail(&r->in, "the number of blocks of %s twice", r->function->name);
        return;
    }
    if (n < 2 || n > r->len / ARC_BYTES + 2) {
        fp_reader_fail(&r->in, "a function of %u blocks", n);
        return;
    }
    r->function->nblocks = n;
}

static void read_arcs(struct notes_reader *r)
{
    uint32_t src = fp_read_u32(&r->in);
    while (!r->in.failed && fp_reader_left(&r->in) && is_block(r, src)) {
        uint32_t dst = fp_read_u32(&r->in), flags = fp_read_u32(&r->in);
        if (r->in.failed || !is_block(r, dst)) return;
        struct fp_gcc_arc arc = {src, dst, flags};
        fp_vec_push(r->arena, &r->function->arcs, arc);
    }
}

/* Lines, and in front of those of another file a 0 and its name; a 0 without a name ends them. */
static void read_lines(struct notes_reader *r)
{
    uint32_t block = fp_read_u32(&r->in);
    const char *file = "";
    while (!r->in.failed && fp_reader_left(&r->in) && is_block(r, block)) {
        uint32_t line = fp_read_u32(&r->in);
        if (!line) {
            file = read_text(r);
            if (!*file) return;
            continue;
        }
        struct fp_gcc_line one = {block, line, file};
        fp_vec_push(r->arena, &r->function->lines, one);
    }
}

static void read_record(struct notes_reader *r, uint32_t tag)
{
    if (tag == TAG_FUNCTION) read_function(r);
    if (!r->function) return;
    if (tag == TAG_BLOCKS) read_blocks(r);
    if (tag == TAG_ARCS) read_arcs(r);
    if (tag == TAG_LINES) read_lines(r);
}

bool fp_gcc_notes_read(struct fp_arena *arena, const void *bytes, size_t len, const char *name,
                       struct fp_gcc_notes *out, struct fp_error *error)
{
    struct notes_reader r = {.arena = arena, .out = out, .len = len};
    r.in = (struct fp_reader){.bytes = bytes, .len = len, .file = name, .error = error};
    *out = (struct fp_gcc_notes){.folder = ""};
    read_head(&r);
    while (!r.in.failed && fp_reader_left(&r.in)) {
        uint32_t tag = fp_read_u32(&r.in), size = fp_read_u32(&r.in);
        if (!tag && !size) break;
        struct fp_reader whole = r.in;
        if (!fp_read_bytes(&whole, size)) {
            r.in = whole;
            break;
        }
        r.in.len = whole.at; /* what the record does not use is of a newer gcc */
        read_record(&r, tag);
        whole.failed = r.in.failed;
        r.in = whole;
    }
    return !r.in.failed;
}
