/* The second body of a linked program: see cc_body.h. */
#include "cc_body.h"

#include "exe/secondbody.h"

#include <inttypes.h>
#include <stdio.h>

static void tell(const char *program, const char *path, const struct fp_second_body *made)
{
    if (made->why_not) {
        fprintf(stderr, "%s: %s: no second body: %s; samples are taken by traps\n", program, path,
                made->why_not);
        return;
    }
    fprintf(stderr, "%s: %s: a second body of %" PRIu32 " functions, %" PRIu64 " bytes of code\n",
            program, path, made->functions, made->code);
    if (made->left_out)
        fprintf(stderr, "%s: %s: %" PRIu32 " functions have none; %s %s\n", program, path,
                made->left_out, made->left_out_name, made->left_out_why);
}

bool cc_add_second_body(const char *path, const char *program, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_second_body made;
    bool ok = fp_second_body_add(&arena, path, &made, error);
    if (ok && program) tell(program, path, &made);
    fp_arena_free(&arena);
    return ok;
}
