/* The survey: see survey.h. */
#include "llvm/sense/survey.h"

#include "base/vec.h"
#include "flags/flags.h"
#include "graph/cfg.h"
#include "llvm/sense/blocknames.h"
#include "llvm/shim.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TAGS = 65535 - FP_FIRST_TAG }; /* columns have 16 bits */

struct surveying {
    struct fp_survey *survey;
    struct fp_surveyed *f;
    struct fp_table numbers; /* block of the IR -> its number */
    FP_VEC(struct fp_surveyed_way) ways;
    FP_VEC(uint32_t) lines;
    FP_VEC(const void *) callees;
};

/* What is converted, negated or expected (__builtin_expect). */
static LLVMValueRef peeled(LLVMValueRef value)
{
    for (;;) {
        bool expected = LLVMIsACallInst(value) && LLVMIsAFunction(LLVMGetCalledValue(value)) &&
                        LLVMGetNumArgOperands(value) == 2 &&
                        LLVMGetIntrinsicID(LLVMGetCalledValue(value));
        bool negated = LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMXor;
        if (!LLVMIsACastInst(value) && !expected && !negated) return value;
        value = LLVMGetOperand(value, 0);
    }
}

static enum fp_left left_of(LLVMValueRef value)
{
    value = peeled(value);
    if (!LLVMIsAInstruction(value)) return FP_LEFT_PLAIN;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMURem:
    case LLVMSRem: return FP_LEFT_BITS;
    case LLVMAdd:
    case LLVMSub: return FP_LEFT_SUM;
    default: return FP_LEFT_PLAIN;
    }
}

static bool is_operation(LLVMValueRef value, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

static void read_mask(LLVMValueRef value, struct fp_comparison *c)
{
    if (!is_operation(value, LLVMAnd)) return;
    LLVMValueRef mask = LLVMGetOperand(value, 1);
    c->mask_is_sum = is_operation(mask, LLVMOr) || is_operation(LLVMGetOperand(value, 0), LLVMOr);
    if (!LLVMIsAConstantInt(mask) || LLVMGetIntTypeWidth(LLVMTypeOf(mask)) > 64) return;
    c->mask = LLVMConstIntGetZExtValue(mask);
    c->of_low_bits = c->mask <= 15 && !(c->mask & (c->mask + 1));
}

static LLVMValueRef without_casts(LLVMValueRef value)
{
    while (LLVMIsACastInst(value)) value = LLVMGetOperand(value, 0);
    return value;
}

/* A call's function, not an intrinsic one; NULL of anything else. */
static LLVMValueRef function_called(LLVMValueRef value)
{
    if (!LLVMIsACallInst(value) && !LLVMIsAInvokeInst(value)) return NULL;
    LLVMValueRef callee = LLVMGetCalledValue(value);
    return LLVMIsAFunction(callee) && !LLVMGetIntrinsicID(callee) ? callee : NULL;
}

static void read_origin(LLVMValueRef left, struct fp_comparison *c)
{
    LLVMValueRef callee = function_called(left);
    if (callee) {
        size_t len;
        const char *name = LLVMGetValueName2(callee, &len);
        c->origin = FP_ORIGIN_CALL;
        c->callee = fp_hash_bytes(name, len, 0);
    } else if (LLVMIsALoadInst(left) && !LLVMIsAAllocaInst(LLVMGetOperand(left, 0))) {
        c->origin = FP_ORIGIN_MEMORY;
    }
}

static bool is_bool(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
}

/* The comparison that a condition is, perhaps with `!` and `!= 0` around it; NULL where there is
 * more to it. */
static LLVMValueRef whole_comparison(LLVMValueRef condition, bool *opposite)
{
    for (;;) {
        if (is_operation(condition, LLVMXor) && is_bool(condition) &&
            LLVMIsAConstantInt(LLVMGetOperand(condition, 1))) {
            *opposite = !*opposite;
            condition = LLVMGetOperand(condition, 0);
            continue;
        }
        if (!LLVMIsAICmpInst(condition)) return NULL;
        LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
        LLVMValueRef inner = without_casts(LLVMGetOperand(condition, 0));
        if (!is_bool(inner)) return condition;
        if (!LLVMIsNull(LLVMGetOperand(condition, 1))) return NULL;
        if (predicate != LLVMIntEQ && predicate != LLVMIntNE) return NULL;
        if (predicate == LLVMIntEQ) *opposite = !*opposite;
        condition = inner;
    }
}

static LLVMIntPredicate opposite_of(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntEQ: return LLVMIntNE;
    case LLVMIntNE: return LLVMIntEQ;
    case LLVMIntUGT: return LLVMIntULE;
    case LLVMIntUGE: return LLVMIntULT;
    case LLVMIntULT: return LLVMIntUGE;
    case LLVMIntULE: return LLVMIntUGT;
    case LLVMIntSGT: return LLVMIntSLE;
    case LLVMIntSGE: return LLVMIntSLT;
    case LLVMIntSLT: return LLVMIntSGE;
    case LLVMIntSLE: return LLVMIntSGT;
    }
    return predicate;
}

static void read_whole(LLVMValueRef condition, struct fp_comparison *c)
{
    bool opposite = false;
    LLVMValueRef comparison = whole_comparison(condition, &opposite);
    if (!comparison) return;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
    c->is_whole = true;
    c->predicate = opposite ? opposite_of(predicate) : predicate;
    read_origin(without_casts(LLVMGetOperand(comparison, 0)), c);
}

struct fp_comparison fp_survey_comparison(LLVMValueRef condition)
{
    struct fp_comparison c = {0};
    read_whole(condition, &c);
    /* `(x == 1) != 0` */
    while (LLVMIsAICmpInst(condition) && LLVMIsAICmpInst(peeled(LLVMGetOperand(condition, 0))))
        condition = peeled(LLVMGetOperand(condition, 0));
    if (!LLVMIsAICmpInst(condition)) return c;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    LLVMValueRef left = LLVMGetOperand(condition, 0);
    c.compares = true;
    c.equality = predicate == LLVMIntEQ || predicate == LLVMIntNE;
    c.left = left_of(left);
    c.of_call = LLVMIsACallInst(peeled(left)) || LLVMIsAInvokeInst(peeled(left));
    read_mask(peeled(left), &c);
    LLVMValueRef right = LLVMGetOperand(condition, 1);
    c.with_zero = LLVMIsNull(right);
    c.with_number = LLVMIsAConstantInt(right) && LLVMGetIntTypeWidth(LLVMTypeOf(right)) <= 64;
    if (!c.with_number) return c;
    c.number = LLVMConstIntGetSExtValue(right);
    c.unsigned_number = LLVMConstIntGetZExtValue(right);
    c.width = LLVMGetIntTypeWidth(LLVMTypeOf(right));
    return c;
}

/* ---- one function ---- */

static enum fp_ending ending_of(LLVMValueRef terminator)
{
    switch (LLVMGetInstructionOpcode(terminator)) {
    case LLVMBr: return LLVMIsConditional(terminator) ? FP_ENDING_CONDITION : FP_ENDING_JUMP;
    case LLVMSwitch: return FP_ENDING_SWITCH;
    default: return FP_ENDING_OTHER;
    }
}

static uint32_t number_of(const struct surveying *s, LLVMBasicBlockRef block)
{
    return (uint32_t)*fp_table_find(&s->numbers, (uintptr_t)block);
}

static void add_way(struct surveying *s, LLVMValueRef terminator, unsigned i, bool is_switch)
{
    LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, i);
    struct fp_surveyed_way way = {.block = number_of(s, to)};
    if (is_switch) way.is_case = fp_shim_switch_case(terminator, i, &way.value);
    fp_vec_push(&s->survey->arena, &s->ways, way);
}

static void survey_end(struct surveying *s, struct fp_surveyed_block *b, LLVMValueRef terminator)
{
    struct fp_shim_place place;
    b->ending = ending_of(terminator);
    b->first_way = (uint32_t)s->ways.len;
    b->nways = LLVMGetNumSuccessors(terminator);
    b->true_way = b->true_way_of_whole = b->whole = FP_NONE;
    if (b->ending == FP_ENDING_SWITCH) b->construct = FP_CONSTRUCT_SWITCH;
    for (unsigned i = 0; i < b->nways; i++)
        add_way(s, terminator, i, b->ending == FP_ENDING_SWITCH);
    if (fp_shim_place(terminator, &place)) b->line = place.line, b->column = place.column;
    if (b->ending != FP_ENDING_CONDITION) return;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    /* all branches of `a && b` have the place of the whole; what they test has its own */
    if (LLVMIsAInstruction(condition) && fp_shim_place(condition, &place) && place.line)
        b->line = place.line, b->column = place.column;
    struct fp_named_branch named = fp_named_branch(terminator);
    b->true_way = named.true_way;
    b->construct = named.construct;
    b->true_way_of_whole = named.true_way_of_whole;
    if (named.whole) b->whole = number_of(s, named.whole);
    b->comparison = fp_survey_comparison(condition);
}

/* ---- what a block holds ---- */

static void add_line(struct surveying *s, const struct fp_surveyed_block *b, uint32_t line)
{
    for (size_t i = b->first_line; i < s->lines.len; i++)
        if (s->lines.at[i] == line) return;
    fp_vec_push(&s->survey->arena, &s->lines, line);
}

static void add_callee(struct surveying *s, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!callee || !LLVMIsAFunction(callee) || LLVMIsDeclaration(callee)) return;
    const void *subprogram = LLVMGetSubprogram(callee);
    if (subprogram) fp_vec_push(&s->survey->arena, &s->callees, subprogram);
}

static void survey_code(struct surveying *s, struct fp_surveyed_block *b, LLVMBasicBlockRef block)
{
    struct fp_shim_place place;
    b->first_line = (uint32_t)s->lines.len;
    b->first_callee = (uint32_t)s->callees.len;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (fp_shim_place(i, &place) && place.line) add_line(s, b, place.line);
        if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)) add_callee(s, i);
    }
    b->nlines = (uint32_t)s->lines.len - b->first_line;
    b->ncallees = (uint32_t)s->callees.len - b->first_callee;
}

/* Is a file, by its name or behind the folder of compilation, the other one? */
static bool is_file(const struct fp_shim_location *at, const char *other, size_t len)
{
    if (at->file_len == len && !memcmp(at->file, other, len)) return true;
    return at->folder_len + 1 + at->file_len == len && other[at->folder_len] == '/' &&
           (!at->folder_len || !memcmp(other, at->folder, at->folder_len)) &&
           !memcmp(other + at->folder_len + 1, at->file, at->file_len);
}

/* In another file than the one that is compiled? */
static bool is_of_header(LLVMModuleRef module, LLVMValueRef function)
{
    struct fp_shim_location at;
    size_t len;
    const char *main_file = LLVMGetSourceFileName(module, &len);
    return fp_shim_function_location(function, &at) && !is_file(&at, main_file, len);
}

/* Puts the number of the block into the columns of its instructions. */
static void tag_block(LLVMBasicBlockRef block, uint32_t number)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    LLVMMetadataRef last = NULL, fresh = NULL;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMMetadataRef here = LLVMInstructionGetDebugLoc(i);
        if (!here) continue;
        if (here != last)
            fresh = LLVMDIBuilderCreateDebugLocation(
                context, LLVMDILocationGetLine(here), FP_FIRST_TAG + number,
                LLVMDILocationGetScope(here), LLVMDILocationGetInlinedAt(here));
        last = here;
        LLVMInstructionSetDebugLoc(i, fresh);
    }
}

static uint64_t key_of(uint32_t line, uint32_t column)
{
    return (uint64_t)line << 16 | column;
}

static void note_position(struct fp_table *table, const struct fp_shim_place *place, uint32_t block)
{
    if (!place->line || !place->column) return;
    uint64_t *at = fp_table_add(table, key_of(place->line, place->column));
    *at = *at && *at != block + 1 ? FP_SURVEY_AMBIGUOUS : block + 1;
}

/* Where columns must stay: which block each position is of. */
static void note_block(struct fp_surveyed *f, LLVMBasicBlockRef block, uint32_t number)
{
    struct fp_shim_place place;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (!fp_shim_place(i, &place)) continue;
        note_position(&f->at, &place, number);
        if (f->blocks[number].nways > 1 && !LLVMGetNextInstruction(i))
            note_position(&f->ends, &place, number);
    }
    if (f->blocks[number].ending != FP_ENDING_CONDITION) return;
    LLVMValueRef tested = LLVMGetCondition(LLVMGetBasicBlockTerminator(block));
    if (LLVMIsAInstruction(tested) && fp_shim_place(tested, &place))
        note_position(&f->tests, &place, number);
}

/* A global, or an address inside it. */
static LLVMValueRef global_of(LLVMValueRef value)
{
    while (LLVMIsAConstantExpr(value) && LLVMGetNumOperands(value))
        value = LLVMGetOperand(value, 0);
    return LLVMIsAGlobalVariable(value) ? value : NULL;
}

/* By name: passes remove globals and make others. */
static uint64_t key_of_global(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    return fp_hash_bytes(name, len, 0);
}

static void note_constants(struct fp_surveyed *f, LLVMBasicBlockRef block, uint32_t number)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        for (int k = 0; k < LLVMGetNumOperands(i); k++) {
            LLVMValueRef global = global_of(LLVMGetOperand(i, (unsigned)k));
            if (!global) continue;
            uint64_t *at = fp_table_add(&f->constants, key_of_global(global));
            *at = *at && *at != number + 1 ? FP_SURVEY_AMBIGUOUS : number + 1;
        }
}

uint32_t fp_surveyed_user(const struct fp_surveyed *f, LLVMValueRef value)
{
    LLVMValueRef global = global_of(value);
    uint64_t *at = global ? fp_table_find(&f->constants, key_of_global(global)) : NULL;
    return at && *at != FP_SURVEY_AMBIGUOUS ? (uint32_t)*at - 1 : FP_NONE;
}

static void number_blocks(struct surveying *s, LLVMValueRef function)
{
    fp_table_init(&s->numbers, &s->survey->arena);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        *fp_table_add(&s->numbers, (uintptr_t)b) = s->f->nblocks++;
    s->f->blocks = FP_NEW_ARRAY(&s->survey->arena, struct fp_surveyed_block, s->f->nblocks);
}

/* Conditions of one macro share its place. A column stays only where it names one of them. */
static void drop_shared_columns(struct surveying *s)
{
    struct fp_table places;
    fp_table_init(&places, &s->survey->arena);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < s->f->nblocks; i++) {
            struct fp_surveyed_block *b = &s->f->blocks[i];
            if (b->ending != FP_ENDING_CONDITION || !b->column) continue;
            uint64_t *times = fp_table_add(&places, key_of(b->line, b->column));
            if (!round) ++*times;
            if (round && *times > 1) b->column = 0;
        }
}

static void survey_function(struct fp_survey *survey, LLVMValueRef function, bool tag)
{
    struct fp_surveyed *f = FP_NEW(&survey->arena, struct fp_surveyed);
    struct surveying s = {.survey = survey, .f = f};
    uint32_t number = 0;
    number_blocks(&s, function);
    f->tagged = tag && f->nblocks < MOST_TAGS;
    fp_table_init(&f->at, &survey->arena);
    fp_table_init(&f->ends, &survey->arena);
    fp_table_init(&f->tests, &survey->arena);
    fp_table_init(&f->constants, &survey->arena);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b);
        if (terminator) survey_end(&s, &f->blocks[number], terminator);
        survey_code(&s, &f->blocks[number], b);
        if (f->tagged)
            tag_block(b, number);
        else
            note_block(f, b, number);
        note_constants(f, b, number);
        number++;
    }
    f->ways = s.ways.at;
    f->lines = s.lines.at;
    f->callees = s.callees.at;
    f->shared = is_of_header(survey->module, function);
    drop_shared_columns(&s);
    *fp_table_add(&survey->functions, (uintptr_t)LLVMGetSubprogram(function)) = (uintptr_t)f;
}

/* ---- the module ---- */

/* Of the compilation that runs in this thread: some compilers run several at once. */
static _Thread_local struct fp_survey *current;

void fp_survey_make(LLVMModuleRef module, bool tag)
{
    fp_survey_end();
    struct fp_arena arena = {0};
    current = FP_NEW(&arena, struct fp_survey);
    current->arena = arena; /* it lives in its own arena */
    current->module = module;
    fp_table_init(&current->functions, &current->arena);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetSubprogram(f)) survey_function(current, f, tag);
}

/* ---- lines that still have code ---- */

static void note_kept(struct fp_survey *survey, LLVMValueRef function)
{
    struct fp_shim_place place;
    LLVMMetadataRef last = NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMMetadataRef here = LLVMInstructionGetDebugLoc(i);
            if (here && here != last && fp_shim_place(i, &place) && place.line) {
                const struct fp_surveyed *f = fp_survey_find(survey, place.subprogram);
                if (f && !f->shared) *fp_table_add(survey->kept, place.line) = 1;
            }
            last = here;
        }
}

bool fp_survey_keeps(struct fp_survey *survey, uint32_t line)
{
    if (!survey->kept) {
        survey->kept = FP_NEW(&survey->arena, struct fp_table);
        fp_table_init(survey->kept, &survey->arena);
        for (LLVMValueRef g = LLVMGetFirstFunction(survey->module); g; g = LLVMGetNextFunction(g))
            note_kept(survey, g);
    }
    return fp_table_find(survey->kept, line);
}

struct fp_survey *fp_survey_of(LLVMModuleRef module)
{
    return current && current->module == module ? current : NULL;
}

void fp_survey_end(void)
{
    if (!current) return;
    struct fp_arena arena = current->arena;
    current = NULL;
    fp_arena_free(&arena);
}

void fp_survey_drop_names(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMValueRef p = LLVMGetFirstParam(f); p; p = LLVMGetNextParam(p))
            LLVMSetValueName2(p, "", 0);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMSetValueName2(LLVMBasicBlockAsValue(b), "", 0);
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                LLVMSetValueName2(i, "", 0);
        }
    }
    LLVMContextSetDiscardValueNames(LLVMGetModuleContext(module), true);
}

const struct fp_surveyed *fp_survey_find(const struct fp_survey *survey, const void *subprogram)
{
    uint64_t *found = survey ? fp_table_find(&survey->functions, (uintptr_t)subprogram) : NULL;
    return found ? (const struct fp_surveyed *)(uintptr_t)*found : NULL;
}

uint32_t fp_surveyed_block(const struct fp_surveyed *f, uint32_t line, uint32_t column,
                           enum fp_position_of of)
{
    const struct fp_table *tables[] = {&f->at, &f->ends, &f->tests};
    if (!line || !column) return FP_NONE;
    if (f->tagged)
        return column >= FP_FIRST_TAG && column - FP_FIRST_TAG < f->nblocks ? column - FP_FIRST_TAG
                                                                            : FP_NONE;
    uint64_t *at = fp_table_find(tables[of], key_of(line, column));
    return at && *at != FP_SURVEY_AMBIGUOUS ? (uint32_t)*at - 1 : FP_NONE;
}

/* What is wrong with the flags is said where they are used. */
bool fp_llvm_survey(LLVMModuleRef module)
{
    struct fp_arena arena = {0};
    struct fp_flags flags;
    struct fp_error error = {0};
    bool ok = fp_flags_read(&arena, getenv(FP_PLUGIN_VARIABLE), &flags, &error);
    bool counts = ok && flags.mode != FP_MODE_NONE;
    if (counts) fp_survey_make(module, flags.strip_lines);
    if (ok && flags.strip_names) fp_survey_drop_names(module);
    fp_arena_free(&arena);
    return counts;
}
