/* Reading of .eh_frame: see frames.h. The programs of its entries are run by framerows.c. */
#include "binary/frames.h"

#include "binary/ehpointer.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct frames_reader {
    struct fp_frames *frames;
    struct fp_eh_reader all; /* the section */
    struct fp_table cies;    /* address -> index + 1 */
    struct fp_error *error;
};

static bool bad_entry(struct frames_reader *r, uint64_t address, const char *what)
{
    return fp_fail(r->error, r->frames->object->path, ".eh_frame: entry at 0x%llx: %s",
                   (unsigned long long)address, what);
}

/* ---- CIEs ---- */

/* The letters behind 'z'. `in` is at the augmentation data, and ends with it. */
static bool read_augmentation(struct frames_reader *r, struct fp_cie *cie, const char *letters,
                              struct fp_eh_reader *in)
{
    for (; *letters; letters++) {
        switch (*letters) {
        case 'P':
            cie->personality_encoding = fp_eh_byte(in);
            cie->personality = fp_eh_pointer(in, cie->personality_encoding, 0);
            break;
        case 'L': cie->lsda_encoding = fp_eh_byte(in); break;
        case 'R': cie->pointer_encoding = fp_eh_byte(in); break;
        case 'S': cie->signal = true; break;
        case 'B': break; /* of other machines */
        default: return bad_entry(r, cie->address, "unknown augmentation");
        }
    }
    return !in->bad || bad_entry(r, cie->address, "the augmentation data ends early");
}

/* `in` is behind the CIE's id and ends with the entry. */
static bool read_cie(struct frames_reader *r, uint64_t address, struct fp_eh_reader *in)
{
    struct fp_cie cie = {
        .address = address, .lsda_encoding = FP_EH_OMIT, .personality_encoding = FP_EH_OMIT};
    uint8_t version = fp_eh_byte(in);
    if (version != 1 && version != 3) return bad_entry(r, address, "unknown version of a CIE");
    const char *letters = (const char *)in->bytes + in->at;
    size_t len = strnlen(letters, in->len - in->at);
    fp_eh_skip(in, len + 1);
    if (in->bad) return bad_entry(r, address, "the CIE ends early");
    if (*letters && *letters != 'z') return bad_entry(r, address, "unknown augmentation");
    cie.code_align = fp_eh_uleb(in);
    cie.data_align = fp_eh_sleb(in);
    cie.return_register = version == 1 ? fp_eh_byte(in) : fp_eh_uleb(in);
    if (*letters == 'z') {
        uint64_t size = fp_eh_uleb(in);
        struct fp_eh_reader data = *in;
        fp_eh_skip(in, size);
        data.len = in->at;
        if (in->bad || !read_augmentation(r, &cie, letters + 1, &data))
            return bad_entry(r, address, "the CIE ends early");
    }
    if (in->bad) return bad_entry(r, address, "the CIE ends early");
    if (cie.return_register != FP_FRAME_RETURN)
        return bad_entry(r, address, "unexpected return address register");
    cie.program = in->bytes + in->at;
    cie.program_len = in->len - in->at;
    fp_vec_push(r->frames->arena, &r->frames->cies, cie);
    *fp_table_add(&r->cies, address) = r->frames->cies.len;
    return true;
}

/* ---- FDEs ---- */

/* `in` is behind the pointer to the CIE and ends with the entry. */
static bool read_fde(struct frames_reader *r, uint64_t address, uint64_t cie_address,
                     struct fp_eh_reader *in)
{
    const uint64_t *known = fp_table_find(&r->cies, cie_address);
    if (!known) return bad_entry(r, address, "an FDE without CIE");
    const struct fp_cie *cie = &r->frames->cies.at[*known - 1];
    struct fp_fde fde = {.address = address, .cie = (uint32_t)*known - 1};
    if (cie->pointer_encoding & FP_EH_INDIRECT)
        return bad_entry(r, address, "an indirect pointer to code");
    fde.start = fp_eh_pointer(in, cie->pointer_encoding, 0);
    fde.size = fp_eh_pointer(in, cie->pointer_encoding & 0x0f, 0);
    uint64_t size = fp_eh_uleb(in);
    struct fp_eh_reader data = *in;
    fp_eh_skip(in, size);
    data.len = in->at;
    if (cie->lsda_encoding != FP_EH_OMIT) {
        if (cie->lsda_encoding & FP_EH_INDIRECT)
            return bad_entry(r, address, "an indirect pointer to an LSDA");
        fde.lsda = fp_eh_pointer(&data, cie->lsda_encoding, 0);
    }
    if (in->bad || data.bad) return bad_entry(r, address, "the FDE ends early");
    if (fde.start + fde.size < fde.start) return bad_entry(r, address, "code beyond the end");
    fde.program = in->bytes + in->at;
    fde.program_len = in->len - in->at;
    if (fde.size) fp_vec_push(r->frames->arena, &r->frames->fdes, fde);
    return true;
}

/* ---- the section ---- */

/* One entry; false at the end, or where it fails. */
static bool read_entry(struct frames_reader *r, bool *ok)
{
    struct fp_eh_reader *all = &r->all;
    uint64_t address = fp_eh_here(all);
    if (all->at == all->len) return false;
    uint64_t length = fp_eh_fixed(all, 4);
    if (!length && !all->bad) return false; /* the terminator */
    if (length == 0xffffffff) length = fp_eh_fixed(all, 8);
    struct fp_eh_reader in = *all;
    fp_eh_skip(all, length);
    if (all->bad || length < 4) {
        *ok = bad_entry(r, address, "it reaches beyond the section");
        return false;
    }
    in.len = all->at;
    uint64_t id_address = fp_eh_here(&in), id = fp_eh_fixed(&in, 4);
    *ok = id ? read_fde(r, address, id_address - id, &in) : read_cie(r, address, &in);
    return *ok;
}

static int by_start(const void *a, const void *b)
{
    const struct fp_fde *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static void find_section(struct fp_frames *frames)
{
    Elf_Scn *scn = NULL;
    size_t names;
    if (elf_getshdrstrndx(frames->object->elf, &names) < 0) return;
    while ((scn = elf_nextscn(frames->object->elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header)) continue;
        const char *name = elf_strptr(frames->object->elf, names, header.sh_name);
        if (!name || strcmp(name, ".eh_frame") != 0) continue;
        frames->eh_frame = header.sh_addr;
        frames->eh_frame_size = header.sh_size;
    }
}

/* .eh_frame_hdr leads to .eh_frame where sections have no names. */
static void find_header(struct fp_frames *frames)
{
    size_t count = 0, len;
    elf_getphdrnum(frames->object->elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(frames->object->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
            continue;
        frames->header = header.p_vaddr;
        frames->header_size = header.p_memsz;
    }
    if (!frames->header || frames->eh_frame) return;
    const unsigned char *bytes = fp_object_bytes(frames->object, frames->header, &len);
    if (!bytes || len < 8 || bytes[0] != 1) return;
    struct fp_eh_reader in = {.bytes = bytes, .at = 4, .len = len, .address = frames->header};
    uint64_t start = fp_eh_pointer(&in, bytes[1], frames->header);
    if (in.bad || !fp_object_bytes(frames->object, start, &len)) return;
    frames->eh_frame = start;
    frames->eh_frame_size = len;
}

bool fp_frames_read(struct fp_arena *arena, const struct fp_object *object,
                    struct fp_frames *frames, struct fp_error *error)
{
    *frames = (struct fp_frames){.arena = arena, .object = object};
    struct frames_reader r = {.frames = frames, .error = error};
    bool ok = true;
    size_t len;
    find_section(frames);
    find_header(frames);
    const unsigned char *bytes =
        frames->eh_frame ? fp_object_bytes(object, frames->eh_frame, &len) : NULL;
    if (!bytes) return fp_fail(error, object->path, "has no .eh_frame");
    if (len > frames->eh_frame_size) len = frames->eh_frame_size;
    r.all = (struct fp_eh_reader){.bytes = bytes, .len = len, .address = frames->eh_frame};
    fp_table_init(&r.cies, arena);
    while (read_entry(&r, &ok)) {
    }
    if (frames->fdes.len)
        qsort(frames->fdes.at, frames->fdes.len, sizeof *frames->fdes.at, by_start);
    return ok;
}

const struct fp_fde *fp_frames_find(const struct fp_frames *frames, uint64_t address)
{
    size_t low = 0, high = frames->fdes.len;
    while (low < high) { /* the first one behind the address */
        size_t middle = low + (high - low) / 2;
        if (frames->fdes.at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct fp_fde *found = &frames->fdes.at[low - 1];
    return address - found->start < found->size ? found : NULL;
}
