/* Reading the code of a program as it was: see originalcode.h. */
#include "exe/originalcode.h"

#include "exe/elfview.h"
#include "footpath/abi.h"

#include <string.h>

struct fp_original_code {
    struct fp_elfview view;
    bool rewritten;
};

static bool is_of_build(const struct fp_elfview *view, const unsigned char *build_id, size_t len)
{
    size_t found = 0;
    uint64_t note = fp_elfview_note(view, "GNU", NT_GNU_BUILD_ID, &found);
    const unsigned char *id = note ? fp_elfview_at(view, note, found) : NULL;
    return id && len && found == len && !memcmp(id, build_id, len);
}

struct fp_original_code *fp_original_open(struct fp_arena *arena, const char *path,
                                          const unsigned char *build_id, size_t build_id_len,
                                          struct fp_error *error)
{
    struct fp_original_code *code = FP_NEW(arena, struct fp_original_code);
    size_t len;
    if (!fp_elfview_open(arena, path, &code->view, error)) return NULL;
    if (!is_of_build(&code->view, build_id, build_id_len)) {
        fp_fail(error, path, "is of another build than the one that ran");
        return NULL;
    }
    code->rewritten = fp_elfview_note(&code->view, "footpath", FP_NOTE_EXE, &len) != 0;
    if (code->rewritten && !fp_elfview_section(&code->view, FP_ORIGINAL_SECTION)) {
        fp_fail(error, path, "has no copy of its old code; make it anew by footpath exe");
        return NULL;
    }
    return code;
}

/* The sections were checked to lie in the file. */
static const unsigned char *kept_bytes(const struct fp_elfview *view, uint64_t address, size_t *len)
{
    for (size_t i = 1; i < view->nsections; i++) {
        const Elf64_Shdr *s = &view->sections[i];
        if (address < s->sh_addr || address - s->sh_addr >= s->sh_size ||
            s->sh_type != SHT_PROGBITS ||
            strcmp(fp_elfview_section_name(view, s), FP_ORIGINAL_SECTION) != 0)
            continue;
        *len = s->sh_size - (address - s->sh_addr);
        return view->bytes + s->sh_offset + (address - s->sh_addr);
    }
    return NULL;
}

const unsigned char *fp_original_bytes(const struct fp_original_code *code, uint64_t address,
                                       size_t *len)
{
    if (code->rewritten) return kept_bytes(&code->view, address, len);
    *len = fp_elfview_room(&code->view, address);
    return *len ? fp_elfview_at(&code->view, address, *len) : NULL;
}
