/* DWARF through libdw: see dwarflines.h. */
#include "binary/dwarflines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136 /* of the call that was inlined */
#endif

enum { DEEPEST = 64 };

struct row {
    size_t order; /* in the table */
    uint64_t address;
    const char *file;
    uint32_t line, column, discriminator;
    bool ends;
};

/* A function or an inlined instance of one, with all of its code. */
struct dwarf_scope {
    const char *function, *linkage, *file;
    uint32_t declared, parent, depth; /* parent is FP_NONE for a function */
    uint32_t call_line, call_column, call_discriminator;
    const char *call_file;
    uint32_t end; /* of a function: the first scope behind those inlined into it */
    uint64_t die;
};

struct range {
    uint64_t from, to;
    uint32_t index; /* of a unit or of a scope */
};

struct unit {
    Dwarf_Die die;
    bool loaded;
    FP_VEC(struct row) rows;
    FP_VEC(struct dwarf_scope) scopes;
    FP_VEC(struct range) functions; /* by address */
    FP_VEC(struct range) inlined;   /* by scope, parents first */
    uint32_t *first_inlined;        /* per scope: the first range of a later one */
};

struct fp_dwarf_lines {
    struct fp_arena *arena;
    FP_VEC(struct unit) units;
    FP_VEC(struct range) ranges; /* of units, by address */
};

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static const struct range *range_at(const struct range *ranges, size_t len, uint64_t address)
{
    size_t low = 0, high = len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < ranges[low - 1].to ? &ranges[low - 1] : NULL;
}

/* ---- units ---- */

struct fp_dwarf_lines *fp_dwarf_lines_new(struct fp_arena *arena, struct fp_object *object)
{
    struct fp_dwarf_lines *lines = FP_NEW(arena, struct fp_dwarf_lines);
    lines->arena = arena;
    Dwarf_Off at = 0, next;
    size_t header;
    while (object->dwarf && !dwarf_nextcu(object->dwarf, at, &next, &header, NULL, NULL, NULL)) {
        struct unit unit = {0};
        if (dwarf_offdie(object->dwarf, at + header, &unit.die)) {
            Dwarf_Addr base, from, to;
            for (ptrdiff_t k = 0; (k = dwarf_ranges(&unit.die, k, &base, &from, &to)) > 0;) {
                struct range range = {from, to, (uint32_t)lines->units.len};
                if (from < to) fp_vec_push(arena, &lines->ranges, range);
            }
            fp_vec_push(arena, &lines->units, unit);
        }
        at = next;
    }
    if (lines->ranges.len)
        qsort(lines->ranges.at, lines->ranges.len, sizeof *lines->ranges.at, by_from);
    return lines;
}

/* ---- rows ---- */

static int by_row(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->ends != y->ends)
        return (int)y->ends -
               (int)
                   x->ends; /* an end of sequence at an address yields to a row that starts there */
    return (x->order > y->order) -
           (x->order < y->order); /* of several rows of one address the last counts */
}

static void load_rows(struct fp_dwarf_lines *lines, struct unit *unit)
{
    Dwarf_Lines *all;
    size_t count;
    if (dwarf_getsrclines(&unit->die, &all, &count)) return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *one = dwarf_onesrcline(all, i);
        struct row row = {0};
        Dwarf_Addr address;
        int line = 0, column = 0;
        unsigned discriminator = 0;
        if (dwarf_lineaddr(one, &address)) continue;
        dwarf_lineno(one, &line);
        dwarf_linecol(one, &column);
        dwarf_linediscriminator(one, &discriminator);
        dwarf_lineendsequence(one, &row.ends);
        row.address = address;
        row.order = i;
        row.file = dwarf_linesrc(one, NULL, NULL);
        row.line = (uint32_t)line, row.column = (uint32_t)column, row.discriminator = discriminator;
        fp_vec_push(lines->arena, &unit->rows, row);
    }
    if (unit->rows.len) qsort(unit->rows.at, unit->rows.len, sizeof *unit->rows.at, by_row);
}

static const struct row *row_at(const struct unit *unit, uint64_t address)
{
    size_t low = 0, high = unit->rows.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (unit->rows.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && !unit->rows.at[low - 1].ends ? &unit->rows.at[low - 1] : NULL;
}

/* ---- scopes ---- */

static uint32_t number_of(Dwarf_Die *die, unsigned attribute, bool integrate)
{
    Dwarf_Attribute room;
    Dwarf_Word value = 0;
    Dwarf_Attribute *found =
        integrate ? dwarf_attr_integrate(die, attribute, &room) : dwarf_attr(die, attribute, &room);
    return found && !dwarf_formudata(found, &value) ? (uint32_t)value : 0;
}

static const char *linkage_of(Dwarf_Die *die)
{
    Dwarf_Attribute room;
    Dwarf_Attribute *found = dwarf_attr_integrate(die, DW_AT_linkage_name, &room);
    if (!found) found = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &room);
    const char *name = found ? dwarf_formstring(found) : NULL;
    if (!name) name = dwarf_diename(die);
    return name ? name : "";
}

static const char *file_of(Dwarf_Die *unit, uint32_t number)
{
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(unit, &files, &count) || number >= count) return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static uint32_t add_scope(struct fp_dwarf_lines *lines, struct unit *unit, Dwarf_Die *die,
                          uint32_t parent)
{
    struct dwarf_scope scope = {.parent = parent, .die = dwarf_dieoffset(die)};
    const char *name = dwarf_diename(die);
    scope.function = name ? name : "";
    scope.linkage = linkage_of(die);
    scope.file = dwarf_decl_file(die);
    scope.declared = number_of(die, DW_AT_decl_line, true);
    if (parent != FP_NONE) {
        scope.depth = unit->scopes.at[parent].depth + 1;
        scope.call_line = number_of(die, DW_AT_call_line, false);
        scope.call_column = number_of(die, DW_AT_call_column, false);
        scope.call_discriminator = number_of(die, DW_AT_GNU_discriminator, false);
        scope.call_file = file_of(&unit->die, number_of(die, DW_AT_call_file, false));
    }
    fp_vec_push(lines->arena, &unit->scopes, scope);
    return (uint32_t)unit->scopes.len - 1;
}

static void add_ranges(struct fp_dwarf_lines *lines, struct unit *unit, Dwarf_Die *die,
                       uint32_t scope)
{
    Dwarf_Addr base, from, to;
    for (ptrdiff_t k = 0; (k = dwarf_ranges(die, k, &base, &from, &to)) > 0;) {
        struct range range = {from, to, scope};
        if (from >= to) continue;
        if (unit->scopes.at[scope].parent == FP_NONE)
            fp_vec_push(lines->arena, &unit->functions, range);
        else
            fp_vec_push(lines->arena, &unit->inlined, range);
    }
}

static void load_inlined(struct fp_dwarf_lines *lines, struct unit *unit, Dwarf_Die *parent,
                         uint32_t scope)
{
    Dwarf_Die child;
    if (unit->scopes.at[scope].depth >= DEEPEST || dwarf_child(parent, &child)) return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_inlined_subroutine) {
            uint32_t inner = add_scope(lines, unit, &child, scope);
            add_ranges(lines, unit, &child, inner);
            load_inlined(lines, unit, &child, inner);
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
                   tag == DW_TAG_catch_block) {
            load_inlined(lines, unit, &child, scope);
        }
    } while (!dwarf_siblingof(&child, &child));
}

/* Functions are in units, namespaces and types. */
static void load_functions(struct fp_dwarf_lines *lines, struct unit *unit, Dwarf_Die *parent,
                           unsigned depth)
{
    Dwarf_Die child;
    if (depth > DEEPEST || dwarf_child(parent, &child)) return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram) {
            Dwarf_Addr base, from, to;
            if (dwarf_ranges(&child, 0, &base, &from, &to) <= 0) continue;
            uint32_t scope = add_scope(lines, unit, &child, FP_NONE);
            add_ranges(lines, unit, &child, scope);
            load_inlined(lines, unit, &child, scope);
            unit->scopes.at[scope].end = (uint32_t)unit->scopes.len;
        } else if (tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
                   tag == DW_TAG_structure_type || tag == DW_TAG_module) {
            load_functions(lines, unit, &child, depth + 1);
        }
    } while (!dwarf_siblingof(&child, &child));
}

/* Where the inlined ranges of each scope begin: scopes are numbered parents first,
 * and ranges are in the order of their scopes. */
static void index_inlined(struct fp_dwarf_lines *lines, struct unit *unit)
{
    unit->first_inlined = FP_NEW_ARRAY(lines->arena, uint32_t, unit->scopes.len + 1);
    uint32_t at = 0;
    for (uint32_t s = 0; s < unit->scopes.len; s++) {
        while (at < unit->inlined.len && unit->inlined.at[at].index <= s) at++;
        unit->first_inlined[s] = at;
    }
    unit->first_inlined[unit->scopes.len] = (uint32_t)unit->inlined.len;
}

static struct unit *unit_at(struct fp_dwarf_lines *lines, uint64_t address)
{
    const struct range *range = range_at(lines->ranges.at, lines->ranges.len, address);
    if (!range) return NULL;
    struct unit *unit = &lines->units.at[range->index];
    if (unit->loaded) return unit;
    unit->loaded = true;
    load_rows(lines, unit);
    load_functions(lines, unit, &unit->die, 0);
    if (unit->functions.len)
        qsort(unit->functions.at, unit->functions.len, sizeof *unit->functions.at, by_from);
    index_inlined(lines, unit);
    return unit;
}

/* ---- questions ---- */

bool fp_dwarf_lines_function(struct fp_dwarf_lines *lines, uint64_t address,
                             struct fp_function_place *place)
{
    const struct unit *unit = unit_at(lines, address);
    const struct range *range =
        unit ? range_at(unit->functions.at, unit->functions.len, address) : NULL;
    if (!range) return false;
    const struct dwarf_scope *scope = &unit->scopes.at[range->index];
    *place =
        (struct fp_function_place){scope->linkage, scope->file ? scope->file : "", scope->declared};
    return true;
}

static uint32_t innermost(const struct unit *unit, uint32_t function, uint64_t address)
{
    uint32_t best = function, end = unit->scopes.at[function].end;
    for (uint32_t i = unit->first_inlined[function]; i < unit->inlined.len; i++) {
        const struct range *range = &unit->inlined.at[i];
        if (range->index >= end) break;
        if (address < range->from || address >= range->to) continue;
        if (unit->scopes.at[range->index].depth > unit->scopes.at[best].depth) best = range->index;
    }
    return best;
}

size_t fp_dwarf_lines_frames(struct fp_dwarf_lines *lines, uint64_t address,
                             struct fp_frame *frames, size_t room)
{
    const struct unit *unit = unit_at(lines, address);
    const struct range *range =
        unit ? range_at(unit->functions.at, unit->functions.len, address) : NULL;
    const struct row *row = unit ? row_at(unit, address) : NULL;
    size_t count = 0;
    if (!range || !row) return 0;
    uint32_t line = row->line, column = row->column, discriminator = row->discriminator;
    const char *file = row->file;
    for (uint32_t s = innermost(unit, range->index, address); s != FP_NONE && count < room;
         s = unit->scopes.at[s].parent) {
        const struct dwarf_scope *scope = &unit->scopes.at[s];
        frames[count++] = (struct fp_frame){scope->function, scope->linkage, file ? file : "",
                                            scope->declared, line,           column,
                                            discriminator,   scope->die};
        line = scope->call_line, column = scope->call_column;
        discriminator = scope->call_discriminator;
        file = scope->call_file;
    }
    return count;
}
