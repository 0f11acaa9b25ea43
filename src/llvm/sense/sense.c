/* The sense of branches: see sense.h. */
#include "llvm/sense/sense.h"

#include "base/vec.h"
#include "llvm/sense/body.h"
#include "llvm/sense/certain.h"
#include "llvm/sense/passed.h"
#include "llvm/sense/samevalue.h"
#include "llvm/shim.h"

enum { DEEPEST = 2, MOST_PARTS = 16 };

/* The way out of `from` that reaches a block first: over the fewest conditions. */
struct fp_nearness {
    uint32_t round; /* of the search that set the rest */
    uint32_t way;   /* SHARED where two are equally near */
    uint32_t depth; /* conditions on the way */
    uint32_t via;   /* the block before */
    bool is_case;   /* the way of a switch leads right here */
    uint32_t block; /* itself */
};

enum { SHARED = 0xfffffffe, CONFLICT = FP_CONFLICT };

/* ---- the survey's graph: which way leads to a block ---- */

struct front {
    FP_VEC(uint32_t) blocks;
};

static void reach(struct fp_sense *s, struct front *front, uint32_t block, uint32_t via,
                  uint32_t way, uint32_t depth)
{
    struct fp_nearness *n = &s->near[block];
    bool first = n->round != s->round;
    if (!first && (n->depth < depth || n->way == way || n->way == SHARED)) return;
    if (!first && n->is_case) return; /* a case that another falls into is still that case */
    *n = (struct fp_nearness){s->round, first ? way : SHARED, depth, via, false, block};
    fp_vec_push(s->arena, &front->blocks, block);
}

/* Follows jumps to the end, which costs no condition; then goes over one. */
static void expand(struct fp_sense *s, struct front *front, struct front *next, uint32_t depth)
{
    for (size_t i = 0; i < front->blocks.len; i++) {
        uint32_t at = front->blocks.at[i];
        const struct fp_surveyed_block *b = &s->of->blocks[at];
        if (at == s->from) continue; /* from there on it is another time round */
        bool jump = b->nways == 1;
        for (uint32_t w = b->first_way; w < b->first_way + b->nways; w++)
            reach(s, jump ? front : next, s->of->ways[w].block, at, s->near[at].way,
                  jump ? depth : depth + 1);
    }
}

static void search(struct fp_sense *s, const struct fp_surveyed *f, uint32_t from)
{
    struct front fronts[DEEPEST + 2] = {0};
    if (s->of == f && s->from == from) return;
    if (s->of != f) {
        s->near = FP_NEW_ARRAY(s->arena, struct fp_nearness, f->nblocks);
        s->round = 0;
    }
    s->of = f, s->from = from, s->round++;
    const struct fp_surveyed_block *b = &f->blocks[from];
    for (uint32_t w = 0; w < b->nways; w++) {
        uint32_t to = f->ways[b->first_way + w].block;
        if (s->near[to].round == s->round) continue; /* several cases of one block */
        reach(s, &fronts[0], to, from, w, 0);
        s->near[to].is_case = b->ending == FP_ENDING_SWITCH;
    }
    for (uint32_t d = 0; d <= DEEPEST; d++) expand(s, &fronts[d], &fronts[d + 1], d);
}

/* ---- the IR: where a way leads ---- */

/* What one instruction says of the way that leads to it. What passes put into an edge has the
 * place of the branch before; only a branch of that place comes round to the condition again. */
static bool tells(struct fp_sense *s, const struct fp_body *body, LLVMValueRef instruction,
                  struct fp_nearness *found)
{
    if (LLVMGetInstructionOpcode(instruction) == LLVMPHI) return false;
    uint32_t block = fp_body_block(body, instruction);
    if (block == FP_NONE || (block == s->from && !fp_ir_is_branch(instruction))) return false;
    if (s->near[block].round != s->round || s->near[block].way == SHARED) return false;
    *found = s->near[block];
    return true;
}

/* Where a way leads: to a block that tells, to a branch of the compiler's own, to another test of
 * the same condition, or to what does not tell. */
enum leads { LEADS_NOWHERE, LEADS_ON, LEADS_TO_OWN, LEADS_TO_SAME };

static enum leads leads_to_branch(const struct fp_sense *s, const struct fp_body *body,
                                  LLVMValueRef end, LLVMValueRef branch)
{
    if (LLVMGetNumSuccessors(end) < 2 || end == branch) return LEADS_NOWHERE;
    if (fp_ir_is_own(s, end)) return LEADS_TO_OWN;
    return fp_body_end(body, end) == s->from ? LEADS_TO_SAME : LEADS_NOWHERE;
}

/* Walks on from a successor of a branch to the next branch. */
static enum leads follow(struct fp_sense *s, const struct fp_body *body, LLVMValueRef branch,
                         unsigned successor, struct fp_nearness *found)
{
    LLVMBasicBlockRef block = LLVMGetSuccessor(branch, successor);
    for (int k = 0; k < FP_FARTHEST_BLOCKS; k++) {
        LLVMValueRef at = LLVMGetFirstInstruction(block);
        for (; at; at = LLVMGetNextInstruction(at))
            if (tells(s, body, at, found)) return LEADS_ON;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (!fp_ir_goes_on(end)) return leads_to_branch(s, body, end, branch);
        block = LLVMGetSuccessor(end, 0);
    }
    return LEADS_NOWHERE;
}

/* ---- conditions ---- */

/* What a branch tests: the blocks of the survey whose conditions are parts of it. */
struct parts {
    uint32_t blocks[MOST_PARTS];
    uint32_t n;
    bool unknown; /* a part whose block is not known */
};

static bool is_combination(LLVMValueRef value)
{
    if (!LLVMIsAInstruction(value)) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    return opcode == LLVMAnd || opcode == LLVMOr || opcode == LLVMXor || opcode == LLVMSelect ||
           opcode == LLVMFreeze;
}

static void add_part(struct parts *parts, uint32_t block)
{
    for (uint32_t i = 0; i < parts->n; i++)
        if (parts->blocks[i] == block) return;
    if (parts->n < MOST_PARTS && block != FP_NONE)
        parts->blocks[parts->n++] = block;
    else
        parts->unknown = true;
}

static bool is_bool(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
}

static void collect_parts(const struct fp_body *body, LLVMValueRef value, struct parts *parts)
{
    if (LLVMIsAConstant(value)) return;
    if (is_combination(value)) {
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            if (is_bool(LLVMGetOperand(value, (unsigned)i)))
                collect_parts(body, LLVMGetOperand(value, (unsigned)i), parts);
    } else {
        add_part(parts, LLVMIsAInstruction(value) ? fp_body_block(body, value) : FP_NONE);
    }
}

/* What became of a condition: still itself, perhaps another's comparison, perhaps one comparison
 * with another, an expression with others, or with all of a whole such as `!(a && b)`. */
enum fate_of { AS_WRITTEN, DOUBTFUL, REWRITTEN, MERGED, WHOLE };

/* Was a condition that was crossed on the way to a block decided together with the first? On the
 * first one's line that does no harm. */
static bool crosses_merged(struct fp_sense *s, const struct fp_body *body, struct fp_nearness to,
                           LLVMValueRef branch, enum fate_of fate)
{
    const struct fp_surveyed_block *blocks = s->of->blocks;
    if (fate <= DOUBTFUL) return false;
    for (; to.depth && to.via != s->from; to = s->near[to.via]) {
        if (blocks[to.via].nways < 2 || blocks[to.via].line == blocks[s->from].line) continue;
        if (fate != REWRITTEN || !fp_body_has_branch(s, body, to.via, branch)) return true;
    }
    return false;
}

/* The true way of a branch by one condition of the survey: 0, 1, FP_NONE or CONFLICT. */
static uint32_t true_way_by(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                            LLVMValueRef branch, enum fate_of fate)
{
    const struct fp_surveyed_block *b = &body->f->blocks[block];
    uint32_t true_way = fate == WHOLE ? b->true_way_of_whole : b->true_way;
    uint32_t says[2] = {FP_NONE, FP_NONE};
    bool direct = false;    /* one way, at least, leads there over no other condition */
    uint32_t own = FP_NONE; /* the way to a test of the compiler's own */
    if (b->ending != FP_ENDING_CONDITION || true_way == FP_NONE) return FP_NONE;
    search(s, body->f, block);
    s->undecided = FP_NONE;
    for (unsigned i = 0; i < 2; i++) {
        struct fp_nearness found;
        enum leads leads = follow(s, body, branch, s->ways[i], &found);
        if (leads == LEADS_TO_OWN) own = i;
        if (leads == LEADS_TO_SAME) s->undecided = i;
        if (leads != LEADS_ON) continue;
        if (crosses_merged(s, body, found, branch, fate)) return CONFLICT;
        direct |= !found.depth;
        says[i] = found.way == true_way ? i : 1 - i;
    }
    if (!direct && (says[0] & says[1]) != FP_NONE) return CONFLICT;
    /* behind the end of an unrolled loop; in front of one the other way leaves the loop */
    if (own != FP_NONE && b->construct == FP_CONSTRUCT_LOOP && says[1 - own] != own)
        return CONFLICT;
    if (fate == DOUBTFUL && (says[0] == FP_NONE || says[1] == FP_NONE)) return CONFLICT;
    if (says[0] == FP_NONE) return says[1];
    return says[1] == FP_NONE || says[0] == says[1] ? says[0] : CONFLICT;
}

/* Does one way of a condition, and not the other, lead right to a block? */
static bool decides(const struct fp_surveyed *f, uint32_t condition, uint32_t block)
{
    const struct fp_surveyed_block *c = &f->blocks[condition];
    int leading = 0;
    for (uint32_t w = c->first_way; w < c->first_way + 2; w++) {
        uint32_t at = f->ways[w].block;
        for (int i = 0; i < FP_FARTHEST_BLOCKS && at != block && f->blocks[at].nways == 1; i++)
            at = f->ways[f->blocks[at].first_way].block;
        leading += at == block;
    }
    return leading == 1;
}

/* Was a condition in front of a block's, on another line, decided together with that? */
static bool was_joined(struct fp_sense *s, const struct fp_body *body, uint32_t earlier,
                       uint32_t block, LLVMValueRef branch)
{
    const struct fp_surveyed_block *blocks = body->f->blocks;
    return earlier != block && blocks[earlier].ending == FP_ENDING_CONDITION &&
           blocks[earlier].line != blocks[block].line && decides(body->f, earlier, block) &&
           !fp_body_has_branch(s, body, earlier, branch);
}

/* Two conditions become one comparison, as of bits: `x & 1` and `x & 2` become `(x & 3) == 3`. What
 * the first one needs then stands in front of the branch, in its block, or is of bits as well. */
static bool has_earlier_condition(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                                  LLVMValueRef branch)
{
    LLVMValueRef at = LLVMGetPreviousInstruction(branch);
    for (; at; at = LLVMGetPreviousInstruction(at)) {
        uint32_t from = fp_body_block(body, at);
        if (from != FP_NONE && was_joined(s, body, from, block, branch)) return true;
    }
    if (body->f->blocks[block].comparison.left != FP_LEFT_BITS) return false;
    for (uint32_t b = 0; b < body->f->nblocks; b++)
        if (body->f->blocks[b].comparison.left == FP_LEFT_BITS &&
            was_joined(s, body, b, block, branch))
            return true;
    return false;
}

/* Was a condition on another line that a way of a block's leads to decided together with that? `a
 * == 1` and behind it `a == 2` become one range. */
static bool has_later_condition(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                                LLVMValueRef branch)
{
    const struct fp_surveyed *f = body->f;
    for (uint32_t w = 0; w < 2; w++) {
        uint32_t at = f->ways[f->blocks[block].first_way + w].block;
        for (int i = 0; i < FP_FARTHEST_BLOCKS && f->blocks[at].nways == 1; i++)
            at = f->ways[f->blocks[at].first_way].block;
        if (at != block && f->blocks[at].ending == FP_ENDING_CONDITION &&
            f->blocks[at].line != f->blocks[block].line && !fp_body_has_branch(s, body, at, branch))
            return true;
    }
    return false;
}

/* The other sides of the && or || that a block's condition is one side of. */
struct other_sides {
    uint32_t n;
    uint32_t with_branch; /* that still have a branch of their own */
    uint32_t elsewhere;   /* on another line */
};

static struct other_sides other_sides_of(struct fp_sense *s, const struct fp_body *body,
                                         uint32_t block, LLVMValueRef branch)
{
    const struct fp_surveyed_block *blocks = body->f->blocks;
    struct other_sides sides = {0};
    uint32_t whole = blocks[block].whole;
    for (uint32_t b = 0; whole != FP_NONE && b < body->f->nblocks; b++) {
        if (b == block || (blocks[b].whole != whole && b != whole)) continue;
        sides.n++;
        sides.with_branch += fp_body_has_branch(s, body, b, branch);
        sides.elsewhere += blocks[b].line != blocks[block].line;
    }
    return sides;
}

/* Which way is true, and of what. */
struct claim {
    uint32_t way;
    bool is_part;       /* of one side of && or || alone */
    uint32_t condition; /* the block of the survey that alone decides; or FP_NONE */
};

/* Conditions that became one branch: about the whole that they are, or about one of them. Of a side
 * that was decided together with another, one way is not known: nothing is claimed, and certain.c
 * tells the other way. */
static struct claim claim_of_joined(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                                    LLVMValueRef branch, enum fate_of fate)
{
    uint32_t whole = body->f->blocks[block].whole, way = FP_NONE;
    struct other_sides sides = other_sides_of(s, body, block, branch);
    if (whole != FP_NONE && !sides.with_branch && !sides.elsewhere)
        way = true_way_by(s, body, whole, branch, WHOLE);
    if (way <= 1) return (struct claim){way, false, whole};
    if (sides.with_branch < sides.n) return (struct claim){FP_NONE, true, FP_NONE};
    return (struct claim){true_way_by(s, body, block, branch, fate), whole != FP_NONE, FP_NONE};
}

/* Conditions that were merged into one branch: of the line as a whole, if they share one. A
 * part that lost its place may be of any line: then nothing is claimed, and certain.c tells one
 * way. */
static struct claim claim_of_merged(struct fp_sense *s, const struct fp_body *body,
                                    const struct parts *parts, uint32_t block, LLVMValueRef branch)
{
    struct claim claim = claim_of_joined(s, body, block, branch, MERGED);
    if (parts->unknown)
        return (struct claim){FP_NONE, body->f->blocks[block].whole != FP_NONE, FP_NONE};
    for (uint32_t i = 0; i < parts->n; i++)
        if (body->f->blocks[parts->blocks[i]].line != body->f->blocks[block].line)
            return (struct claim){FP_NONE, false, FP_NONE};
    for (uint32_t i = 0; i < parts->n && claim.way > 1 && !claim.is_part; i++)
        claim.way = true_way_by(s, body, parts->blocks[i], branch, MERGED);
    return claim;
}

/* A comparison of other operands than the source's may be of two conditions: of bits, or of a
 * range. A sum that is equal to something is a loop's variable. */
static bool is_rewritten(const struct fp_comparison *then, const struct fp_comparison *now)
{
    if (!now->compares) return false;
    if (now->left == FP_LEFT_BITS && then->left == FP_LEFT_BITS)
        return now->mask != then->mask || now->mask_is_sum != then->mask_is_sum ||
               now->with_zero != then->with_zero;
    if (now->left == then->left)
        return then->with_number && now->with_number && fp_compares_same(then, now) == FP_NONE;
    return now->left == FP_LEFT_BITS || (now->left == FP_LEFT_SUM && !now->equality);
}

/* May a comparison be another condition's than the one it is taken for? By what it compares. */
static bool looks_different(const struct fp_comparison *then, const struct fp_comparison *now)
{
    return !then->compares || then->of_call || then->with_zero != now->with_zero ||
           then->with_number != now->with_number || then->number != now->number;
}

/* `kind == 3` and behind it `kind == 0` may become `kind == 0` alone. That lost its place, or is of
 * another block, where it was computed; the branch has the place of the first. */
static bool is_doubtful(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                        LLVMValueRef branch, const struct fp_comparison *now)
{
    const struct fp_comparison *then = &body->f->blocks[block].comparison;
    LLVMValueRef condition = LLVMGetCondition(branch);
    struct fp_shim_place place;
    if (!now->compares || !LLVMIsAInstruction(condition)) return false;
    if (!fp_shim_place(condition, &place) || !place.line) return looks_different(then, now);
    uint32_t from = fp_body_block(body, condition);
    if (from == FP_NONE || from == block) return false;
    struct other_sides sides = other_sides_of(s, body, block, branch);
    return decides(body->f, block, from) || looks_different(then, now) ||
           sides.with_branch < sides.n || has_later_condition(s, body, block, branch);
}

/* `a && b` may be known as a whole, and neither side by itself. */
static bool is_known_joined(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                            LLVMValueRef branch)
{
    struct other_sides sides = other_sides_of(s, body, block, branch);
    return LLVMIsAConstant(LLVMGetCondition(branch)) &&
           (sides.with_branch < sides.n || has_later_condition(s, body, block, branch));
}

static struct claim claim_of(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                             LLVMValueRef branch)
{
    const struct fp_surveyed_block *b = &body->f->blocks[block];
    struct parts parts = {0};
    struct fp_comparison now = {0};
    if (!fp_ir_is_branch(branch)) return claim_of_joined(s, body, block, branch, MERGED);
    LLVMValueRef condition = LLVMGetCondition(branch);
    if (is_known_joined(s, body, block, branch))
        return (struct claim){FP_NONE, b->whole != FP_NONE, FP_NONE};
    if (is_combination(condition)) collect_parts(body, condition, &parts);
    if (parts.n > 1 || parts.unknown) return claim_of_merged(s, body, &parts, block, branch);
    if (fp_body_has(body, condition)) now = fp_survey_comparison(condition);
    bool rewritten = is_rewritten(&b->comparison, &now);
    if (fp_is_remainder(&b->comparison, &now) ||
        (rewritten && (has_earlier_condition(s, body, block, branch) ||
                       has_later_condition(s, body, block, branch))))
        return (struct claim){CONFLICT, false, FP_NONE};
    if (rewritten) return claim_of_joined(s, body, block, branch, REWRITTEN);
    if (is_doubtful(s, body, block, branch, &now))
        return claim_of_joined(s, body, block, branch, DOUBTFUL);
    return (struct claim){true_way_by(s, body, block, branch, AS_WRITTEN), b->whole != FP_NONE,
                          block};
}

/* ---- switches ---- */

static struct fp_edge_info label_of_way(const struct fp_surveyed_way *way)
{
    return (struct fp_edge_info){way->is_case ? FP_LABEL_CASE : FP_LABEL_DEFAULT,
                                 way->is_case ? way->value : 0};
}

/* The way of the survey's switch that has a value; NULL where none has. */
static const struct fp_surveyed_way *way_of_value(const struct fp_surveyed *f,
                                                  const struct fp_surveyed_block *b, int64_t value)
{
    const struct fp_surveyed_way *ways = &f->ways[b->first_way], *found = NULL;
    for (uint32_t w = 0; w < b->nways && !found; w++)
        if (ways[w].is_case && ways[w].value == value) found = &ways[w];
    for (uint32_t w = 0; found && w < b->nways; w++)
        if (ways[w].block == found->block) return &ways[w]; /* the first that leads there */
    return NULL;
}

/* Passes may count the cases of a switch anew: are they still the source's? */
static bool keeps_values(const struct fp_surveyed *f, const struct fp_surveyed_block *b,
                         LLVMValueRef terminator)
{
    int64_t value;
    if (LLVMGetInstructionOpcode(terminator) != LLVMSwitch) return false;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        if (fp_shim_switch_case(terminator, i, &value) && !way_of_value(f, b, value)) return false;
    return true;
}

/* Can another way of the switch reach the block, over conditions? Those may be gone by now, as
 * those of a loop that does nothing are: then the branch leads there by both ways. */
static bool others_reach(struct fp_sense *s, const struct fp_surveyed *f, uint32_t from,
                         const struct fp_nearness *found)
{
    const struct fp_surveyed_block *b = &f->blocks[from];
    uint8_t *marks = FP_NEW_ARRAY(s->arena, uint8_t, f->nblocks);
    for (uint32_t w = b->first_way; w < b->first_way + b->nways; w++)
        if (f->ways[w].block != f->ways[b->first_way + found->way].block)
            fp_mark_reached(s, f, f->ways[w].block, from, 1, marks);
    return marks[found->block];
}

/* Each way of the branch or switch by where it leads, or else by its value. */
static void label_cases(struct fp_sense *s, const struct fp_body *body, uint32_t block,
                        LLVMValueRef terminator, struct fp_edge_info *labels)
{
    const struct fp_surveyed_block *b = &body->f->blocks[block];
    bool by_value = keeps_values(body->f, b, terminator);
    search(s, body->f, block);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        struct fp_nearness found;
        int64_t value;
        if (follow(s, body, terminator, i, &found) == LEADS_ON && !found.depth &&
            (found.is_case || !others_reach(s, body->f, block, &found)))
            labels[i] = label_of_way(&body->f->ways[b->first_way + found.way]);
        else if (by_value && fp_shim_switch_case(terminator, i, &value))
            labels[i] = label_of_way(way_of_value(body->f, b, value));
    }
}

/* ---- both ---- */

/* Two successors that stand for all: those of a branch, or of a switch that leads to two blocks.
 * False where there are more. */
static bool find_ways(struct fp_sense *s, LLVMValueRef terminator)
{
    unsigned n = LLVMGetNumSuccessors(terminator);
    s->ways[0] = s->ways[1] = 0;
    for (unsigned i = 1; i < n; i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, i);
        if (to == LLVMGetSuccessor(terminator, 0)) continue;
        if (s->ways[1] && to != LLVMGetSuccessor(terminator, s->ways[1])) return false;
        s->ways[1] = i;
    }
    return s->ways[1];
}

static void label_ways(const struct fp_sense *s, uint32_t true_way, LLVMValueRef terminator,
                       struct fp_edge_info *labels)
{
    LLVMBasicBlockRef second = LLVMGetSuccessor(terminator, s->ways[1]);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        uint32_t way = LLVMGetSuccessor(terminator, i) == second;
        if (way != s->undecided) labels[i].label = way == true_way ? FP_LABEL_TRUE : FP_LABEL_FALSE;
    }
}

/* What is told of a branch or switch. */
struct fp_told {
    struct fp_edge_info *labels; /* one per successor */
    enum fp_construct construct;
    bool is_part;
    bool placed; /* it has a place */
    struct fp_body body;
    uint32_t block; /* of the survey: the condition that is told */
    struct fp_sense_branch branch;
};

static void label_condition(struct fp_sense *s, LLVMValueRef terminator, struct fp_told *told)
{
    const struct fp_body *body = &told->body;
    const struct fp_surveyed_block *b = &body->f->blocks[told->block];
    struct claim claim = {FP_NONE, false, FP_NONE};
    if (find_ways(s, terminator)) claim = claim_of(s, body, told->block, terminator);
    if (claim.way > 1) {
        claim.way = fp_true_way_by_value(body, told->block, terminator);
        claim.is_part = b->whole != FP_NONE;
        claim.condition = FP_NONE;
        s->undecided = FP_NONE;
    }
    if (claim.way <= 1) {
        label_ways(s, claim.way, terminator, told->labels);
    } else if (!fp_certain_label(s, body, told->block, terminator, told->labels) &&
               !fp_chooses_copy(s, body, told->block, terminator)) {
        uint32_t passed = fp_passed_label(s, body, told->block, terminator, told->labels);
        if (passed == FP_NONE) return;
        told->block = passed;
        b = &body->f->blocks[passed];
        claim.is_part = b->whole != FP_NONE;
    }
    told->construct = b->construct;
    told->is_part = claim.is_part;
    told->branch.condition = claim.condition;
    told->branch.is_whole = claim.condition != told->branch.block;
}

/* Without a condition of the survey in its place. */
static void label_unplaced(struct fp_sense *s, LLVMValueRef terminator, struct fp_told *told)
{
    told->placed = fp_body_find_behind_step(s, terminator, &told->body, &told->block);
    if ((told->placed && fp_certain_label(s, &told->body, told->block, terminator, told->labels)) ||
        fp_chooses_copy_of_loop(s, terminator))
        told->construct = FP_CONSTRUCT_LOOP;
}

static void tell(struct fp_sense *s, LLVMValueRef terminator, struct fp_told *told)
{
    unsigned n = LLVMGetNumSuccessors(terminator);
    told->labels = FP_NEW_ARRAY(s->arena, struct fp_edge_info, n);
    told->placed = fp_body_find(s, terminator, &told->body, &told->block);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(terminator);
    if (n < 2 || (opcode != LLVMBr && opcode != LLVMSwitch)) return;
    if (!told->placed) {
        label_unplaced(s, terminator, told);
        return;
    }
    told->branch = (struct fp_sense_branch){.f = told->body.f,
                                            .subprogram = told->body.subprogram,
                                            .inlined_at = told->body.inlined_at,
                                            .block = told->block,
                                            .condition = FP_NONE};
    switch (told->body.f->blocks[told->block].ending) {
    case FP_ENDING_SWITCH:
        told->construct = FP_CONSTRUCT_SWITCH;
        told->branch.condition = told->block;
        label_cases(s, &told->body, told->block, terminator, told->labels);
        break;
    case FP_ENDING_CONDITION: label_condition(s, terminator, told); break;
    case FP_ENDING_OTHER:
    case FP_ENDING_JUMP: break;
    }
}

uint32_t fp_sense_target(const struct fp_sense_branch *branch, struct fp_edge_info label)
{
    if (!branch->f || branch->condition == FP_NONE) return FP_NONE;
    const struct fp_surveyed_block *b = &branch->f->blocks[branch->condition];
    const struct fp_surveyed_way *ways = &branch->f->ways[b->first_way], *found = NULL;
    uint32_t true_way = branch->is_whole ? b->true_way_of_whole : b->true_way;
    if (label.label == FP_LABEL_CASE) found = way_of_value(branch->f, b, label.value);
    for (uint32_t w = 0; label.label == FP_LABEL_DEFAULT && w < b->nways; w++)
        if (!ways[w].is_case) found = &ways[w];
    if (fp_label_is_truth(label.label) && true_way <= 1 && b->nways == 2)
        found = &ways[label.label == FP_LABEL_TRUE ? true_way : 1 - true_way];
    return found ? found->block : FP_NONE;
}

/* What is told is found once: a branch is asked for its place, and later for its labels. */
static const struct fp_told *told_of(struct fp_sense *s, LLVMValueRef terminator)
{
    if (!s->told) {
        s->told = FP_NEW(s->arena, struct fp_table);
        fp_table_init(s->told, s->arena);
    }
    uint64_t *known = fp_table_find(s->told, (uintptr_t)terminator);
    if (known) return (const struct fp_told *)(uintptr_t)*known;
    struct fp_told *told = FP_NEW(s->arena, struct fp_told);
    tell(s, terminator, told);
    *fp_table_add(s->told, (uintptr_t)terminator) = (uintptr_t)told;
    return told;
}

void fp_sense_label(struct fp_sense *s, LLVMValueRef terminator, struct fp_edge_info *labels,
                    struct fp_block_info *branch)
{
    const struct fp_told *told = told_of(s, terminator);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) labels[i] = told->labels[i];
    branch->construct = told->construct;
    branch->is_part = told->is_part;
    s->branch = told->branch;
}

bool fp_sense_place(struct fp_sense *s, LLVMValueRef terminator, struct fp_position *position)
{
    const struct fp_told *told = told_of(s, terminator);
    if (!told->placed || !told->body.f->blocks[told->block].line) return false;
    position->line = told->body.f->blocks[told->block].line;
    position->column = told->body.f->blocks[told->block].column;
    return true;
}
