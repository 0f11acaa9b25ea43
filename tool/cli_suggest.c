/* The nearest name: see cli_suggest.h. */
#include "cli_suggest.h"

#include "base/plain.h"
#include "cli.h"
#include "model/model.h"

#include <string.h>

enum { FARTHEST = 2, LONGEST = 60 };

/* How many letters must be changed, added or taken away. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], alen = strlen(a), blen = strlen(b);
    if (alen > LONGEST || blen > LONGEST) return SIZE_MAX;
    for (size_t i = 0; i <= blen; i++) row[i] = i;
    for (size_t i = 1; i <= alen; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= blen; k++) {
            size_t above = row[k], change = diagonal + (a[i - 1] != b[k - 1]);
            size_t least = above < row[k - 1] ? above : row[k - 1];
            row[k] = change < least + 1 ? change : least + 1;
            diagonal = above;
        }
    }
    return row[blen];
}

/* More than half of the letters is no typing mistake. */
void cli_consider(struct cli_nearest *nearest, const char *name)
{
    size_t far = distance(nearest->wanted, name), len = strlen(nearest->wanted);
    if (far > FARTHEST || 2 * far > len) return;
    if (nearest->name && far >= nearest->distance) return;
    nearest->name = name;
    nearest->distance = far;
}

const char *cli_suggestion(struct fp_arena *arena, const struct cli_nearest *nearest)
{
    return nearest->name ? fp_arena_printf(arena, "; did you mean %s?", nearest->name) : "";
}

/* Of "ns::list<int>::add(int)" what a person types: "add". */
static const char *short_name(struct fp_arena *arena, const char *name)
{
    size_t len = strcspn(name, "("), from = len;
    while (from && name[from - 1] != ':') from--;
    return fp_arena_strndup(arena, name + from, len - from);
}

bool cli_check_function(const struct fp_profile *profile, const char *name)
{
    struct fp_arena arena = {0};
    struct cli_nearest nearest = {.wanted = name};
    bool found = !name;
    for (size_t i = 0; !found && i < profile->modules.len; i++) {
        const struct fp_program *program = &profile->modules.at[i]->program;
        for (size_t k = 0; !found && k < program->nfunctions; k++) {
            const char *one = fp_plain(&arena, fp_demangle(&arena, program->functions[k].name));
            found = strstr(one, name);
            cli_consider(&nearest, short_name(&arena, one));
        }
    }
    if (!found)
        cli_say("no function '%s' in the profile%s; footpath show --functions lists them", name,
                cli_suggestion(&arena, &nearest));
    fp_arena_free(&arena);
    return found;
}
