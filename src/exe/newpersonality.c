/* Personality functions of moved functions: see exework.h.
 *
 * The unwinder calls them for every frame that an exception or the end of a thread passes. Each old
 * function is called by one of the runtime, which counts the frames that are passed
 * (runtime/exits/rt_personality.c). In between is a little code that says which function it was:
 *
 *     endbr64; mov old(%rip), %r9 (or lea, or xor); jmp FP_PERSONALITY_SYMBOL
 */
#include "binary/ehpointer.h"
#include "exe/exework.h"

enum { CODE_SIZE = 16 };

static void put_distance(uint8_t *code, size_t at, uint64_t start, uint64_t to)
{
    int32_t distance = (int32_t)(to - (start + at + 4));
    memcpy(code + at, &distance, 4);
}

/* Where it begins is `start`. */
static void make_code(const struct fp_cie *cie, uint64_t start, uint64_t runtime, uint8_t *code)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const uint8_t load[] = {0x4c, 0x8b, 0x0d}, take[] = {0x4c, 0x8d, 0x0d};
    static const uint8_t clear[] = {0x45, 0x31, 0xc9};
    size_t at = sizeof endbr;
    memcpy(code, endbr, sizeof endbr);
    if (cie->personality) {
        memcpy(code + at, cie->personality_encoding & FP_EH_INDIRECT ? load : take, 3);
        put_distance(code, at + 3, start, cie->personality);
        at += 7;
    } else {
        memcpy(code + at, clear, sizeof clear);
        at += sizeof clear;
    }
    code[at] = 0xe9;
    put_distance(code, at + 1, start, runtime);
}

static bool same(const struct fp_cie *a, const struct fp_cie *b)
{
    return a->personality == b->personality &&
           ((a->personality_encoding ^ b->personality_encoding) & FP_EH_INDIRECT) == 0;
}

static bool wrap(struct fp_exe_work *w, uint32_t index)
{
    const struct fp_cie *cies = w->old_frames.cies.at;
    uint64_t *all = w->frames.personality;
    uint8_t code[CODE_SIZE] = {0};
    for (uint32_t i = 0; i < index; i++)
        if (same(&cies[i], &cies[index])) {
            all[index] = all[i];
            return true;
        }
    if (!fp_image_reserve(w->image, FP_IMAGE_CODE, sizeof code, CODE_SIZE, &all[index], w->error))
        return false;
    make_code(&cies[index], all[index], fp_image_runtime_symbol(w->image, FP_PERSONALITY_SYMBOL),
              code);
    return fp_image_patch(w->image, all[index], code, sizeof code);
}

bool fp_exe_wrap_personalities(struct fp_exe_work *w)
{
    uint32_t n = (uint32_t)w->old_frames.cies.len;
    if (w->options->no_exits) return true;
    w->frames.personality = FP_NEW_ARRAY(w->arena, uint64_t, n);
    for (uint32_t i = 0; i < n; i++)
        if (!wrap(w, i)) return false;
    return true;
}
