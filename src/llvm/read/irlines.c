/* Source positions: see irlines.h. */
#include "llvm/read/irlines.h"

#include "llvm/sense/survey.h"
#include "llvm/shim.h"

#include <string.h>

void fp_ir_lines_init(struct fp_ir_lines *lines, struct fp_arena *arena)
{
    *lines = (struct fp_ir_lines){.arena = arena};
    fp_table_init(&lines->scopes, arena);
    fp_table_init(&lines->by_function, arena);
    fp_strtable_init(&lines->files, arena);
}

/* A relative file name is relative to the folder of compilation. */
static const char *full_name(struct fp_arena *arena, const struct fp_shim_location *at)
{
    bool absolute = at->file_len && at->file[0] == '/';
    if (absolute || !at->folder_len) return fp_arena_strndup(arena, at->file, at->file_len);
    return fp_arena_printf(arena, "%.*s/%.*s", (int)at->folder_len, at->folder, (int)at->file_len,
                           at->file);
}

/* 1 + the first scope of a file; 0 where there is none yet. */
static uint64_t *known_file(struct fp_ir_lines *lines, const char *file)
{
    return fp_strtable_add(&lines->files, file);
}

/* A function that includes a file in its body has lines of several files, and a scope for each.
 * LLVM keeps one copy of a file's name. */
static uint64_t scope_key(const struct fp_shim_location *at)
{
    const void *both[2] = {at->scope, at->file};
    return fp_hash_bytes(both, sizeof both, 0);
}

/* Scopes are listed with parents first. */
static uint32_t scope_index(struct fp_ir_lines *lines, const struct fp_shim_location *at)
{
    uint64_t *known = fp_table_find(&lines->scopes, scope_key(at));
    if (known) return (uint32_t)*known - 1;
    struct fp_scope scope = {.parent = FP_NONE};
    struct fp_shim_location outer;
    if (at->inlined_at && fp_shim_outer_location(at->inlined_at, &outer)) {
        scope.parent = scope_index(lines, &outer);
        scope.call_line = outer.line;
        scope.call_discriminator = outer.discriminator;
    }
    scope.function =
        fp_arena_strndup(lines->arena, at->function ? at->function : "", at->function_len);
    scope.linkage = fp_arena_strndup(lines->arena, at->linkage ? at->linkage : "", at->linkage_len);
    scope.line = at->function_line;
    scope.file = full_name(lines->arena, at);
    scope.file_sum = at->file_sum;
    fp_vec_push(lines->arena, &lines->all, scope);
    *fp_table_add(&lines->scopes, scope_key(at)) = lines->all.len;
    uint64_t *first = known_file(lines, scope.file);
    if (!*first) *first = lines->all.len;
    return (uint32_t)lines->all.len - 1;
}

uint32_t fp_ir_lines_file_scope(struct fp_ir_lines *lines, const void *subprogram)
{
    struct fp_shim_location at;
    uint64_t *known = fp_table_add(&lines->by_function, (uintptr_t)subprogram);
    if (*known) return (uint32_t)*known - 1;
    fp_shim_subprogram_location(subprogram, &at);
    uint64_t *first = known_file(lines, full_name(lines->arena, &at));
    if (!*first) *first = scope_index(lines, &at) + 1;
    *known = *first;
    return (uint32_t)*known - 1;
}

uint32_t fp_ir_lines_file_of(struct fp_ir_lines *lines, uint32_t scope)
{
    return (uint32_t)*known_file(lines, lines->all.at[scope].file) - 1;
}

bool fp_ir_lines_add(struct fp_ir_lines *lines, LLVMValueRef instruction, size_t first)
{
    struct fp_shim_location at;
    if (!fp_shim_location(instruction, &at) || !at.line) return false;
    struct fp_position position = {scope_index(lines, &at), at.line,
                                   at.column < FP_FIRST_TAG ? at.column : 0, at.discriminator};
    if (lines->positions.len > first) {
        struct fp_position *last = &lines->positions.at[lines->positions.len - 1];
        if (last->scope == position.scope && last->line == position.line &&
            last->discriminator == position.discriminator) {
            last->column = position.column; /* the branch comes last */
            return true;
        }
    }
    fp_vec_push(lines->arena, &lines->positions, position);
    return true;
}

void fp_ir_lines_function(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f)
{
    size_t len;
    const char *name = LLVMGetValueName2(function, &len);
    /* \1 in front says that the name is to be taken as it is */
    if (len && name[0] == '\1') name++, len--;
    f->name = fp_arena_strndup(arena, name, len);
    struct fp_shim_location at;
    if (fp_shim_function_location(function, &at)) {
        f->file = full_name(arena, &at);
        f->file_sum = at.file_sum;
        f->line = at.line;
    } else {
        name = LLVMGetSourceFileName(LLVMGetGlobalParent(function), &len);
        f->file = fp_arena_strndup(arena, name, len);
    }
}
