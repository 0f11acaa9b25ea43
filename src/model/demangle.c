/* Names of C++ as people write them.
 *
 * A mangled name refers back to its own parts, so that 200 characters can stand for
 * gigabytes: pair<T, T> of pair<T, T> of ... The library that decodes names has no limit,
 * so a bound of the result is computed before; a name above it is shown as it is. The bound
 * is rough. Few references cannot do much harm whatever they are: n of them make a text
 * 3^(n/3) times as long at most.
 */
#include "model/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *name, char *room, size_t *len, int *status);

enum {
    DEEPEST = 256,
    LONGEST_CODE = 24,
    FEW = 24,
    MOST_BYTES = 1 << 20,
    LONGEST = 4096,
    LONGER_BY = 8
};

/* Larger than any bound that matters, small enough to be added to. */
#define ENOUGH ((uint64_t)1 << 40)

struct bound {
    uint64_t size;            /* of the text so far */
    uint64_t part;            /* of the largest part so far that can be referred to */
    uint64_t starts[DEEPEST]; /* where the open groups begin */
    unsigned depth, references;
};

static void note_part(struct bound *b)
{
    uint64_t part = b->size - (b->depth ? b->starts[b->depth - 1] : 0);
    if (part > b->part) b->part = part;
}

/* A name with its length in front; the number of characters of both. */
static size_t take_name(struct bound *b, const char *at)
{
    size_t digits = strspn(at, "0123456789"), len = strtoul(at, NULL, 10),
           left = strlen(at + digits);
    if (len > left) len = left;
    b->size += len + 2;
    note_part(b);
    return digits + len;
}

/* A reference, S or T with a number and an underscore; 0 for something else. */
static size_t take_reference(struct bound *b, const char *at)
{
    if (*at != 'S' && *at != 'T') return 0;
    size_t len = 1 + strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (at[len] != '_') return 0;
    b->references++;
    b->size += b->part + LONGEST_CODE;
    if (b->size > ENOUGH) b->size = ENOUGH;
    note_part(b);
    return len + 1;
}

static void take_code(struct bound *b, char code)
{
    b->size += LONGEST_CODE;
    if (strchr("INXLJF", code) && b->depth < DEEPEST)
        b->starts[b->depth++] = b->size - LONGEST_CODE;
    if (code != 'E' || !b->depth) return;
    note_part(b);
    b->depth--;
    note_part(b); /* with what is in front of the group */
}

static bool may_be_huge(const char *name)
{
    struct bound b = {0};
    for (size_t step; *name; name += step) {
        step = isdigit((unsigned char)*name) ? take_name(&b, name) : take_reference(&b, name);
        if (step) continue;
        take_code(&b, *name);
        step = 1;
    }
    return b.references > FEW && b.size > MOST_BYTES;
}

const char *fp_demangle(struct fp_arena *arena, const char *name)
{
    int status = 0;
    if (strncmp(name, "_Z", 2) || may_be_huge(name)) return name;
    char *text = __cxa_demangle(name, NULL, NULL, &status);
    size_t len = text && status == 0 ? strlen(text) : 0;
    bool fits = len && (len <= LONGEST || len / LONGER_BY <= strlen(name));
    const char *result = fits ? fp_arena_strdup(arena, text) : name;
    free(text);
    return result;
}
