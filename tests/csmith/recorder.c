/* Counts the paths of a traced program by writing down the blocks that it enters, one after
 * the other. Knows nothing of footpath: paper.py puts the calls into the program's IR and
 * says at which edges a path ends.
 *
 *     TRACE_ENDS=FILE TRACE_OUT=FILE PROGRAM
 *
 * Ends: a line "FUNCTION NBLOCKS FROM TO FROM TO ..." for each function, numbered from 0.
 * Out: a line "FUNCTION COUNT CALL NEXT BLOCK BLOCK ..." for each path: CALL is 1 where the
 * path begins with a call; NEXT is the block that its last edge leads to, or -1. A program
 * that enters more than MOST_EVENTS blocks ends with status TOO_LONG.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_EVENTS = 20000000, TOO_LONG = 97, FAILED = 98, SLOTS = 1 << 20 };

struct traced_function {
    unsigned nblocks;
    unsigned char *ends; /* [from * nblocks + to] */
};

struct activation {
    unsigned function, call, first; /* first: of its path, in `blocks` */
};

struct counted_path {
    unsigned function, call, len;
    int next;
    unsigned long count;
    unsigned *blocks;
};

static struct traced_function *functions;
static struct activation *activations;
static unsigned *blocks; /* of the paths of all activations, the innermost last */
static size_t nfunctions, nactivations, nblocks, room_for_activations, room_for_blocks;
static struct counted_path *paths[SLOTS];
static unsigned long nevents;

static void *must(void *memory)
{
    if (!memory) _exit(FAILED);
    return memory;
}

/* ---- ends ---- */

static void read_function(char *line)
{
    functions = must(realloc(functions, (nfunctions + 1) * sizeof *functions));
    strtoul(line, &line, 10);
    unsigned n = (unsigned)strtoul(line, &line, 10);
    struct traced_function f = {n, must(calloc((size_t)n * n, 1))};
    for (char *rest = line;; line = rest) {
        unsigned long from = strtoul(line, &rest, 10);
        if (rest == line) break;
        f.ends[from * n + strtoul(rest, &rest, 10)] = 1;
    }
    functions[nfunctions++] = f;
}

static FILE *open_named(const char *variable, const char *how)
{
    const char *name = getenv(variable);
    return must(name ? fopen(name, how) : NULL);
}

static void write_paths(void);

__attribute__((constructor)) static void begin(void)
{
    FILE *file = open_named("TRACE_ENDS", "r");
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) read_function(line);
    free(line);
    fclose(file);
    atexit(write_paths);
}

/* ---- paths ---- */

static struct counted_path **slot_of(const struct counted_path *path)
{
    unsigned long hash = path->function * 31 + path->call + 7 * (unsigned long)(path->next + 1);
    for (unsigned i = 0; i < path->len; i++) hash = (hash + path->blocks[i]) * 0x9e3779b97f4a7c15u;
    for (size_t at = (hash >> 32) % SLOTS, tried = 0; tried < SLOTS; at = (at + 1) % SLOTS, tried++) {
        const struct counted_path *other = paths[at];
        if (!other) return &paths[at];
        if (other->function == path->function && other->call == path->call &&
            other->next == path->next && other->len == path->len &&
            !memcmp(other->blocks, path->blocks, path->len * sizeof *path->blocks))
            return &paths[at];
    }
    _exit(TOO_LONG);
}

/* The path of the innermost activation ends. */
static void count_path(int next)
{
    struct activation *top = &activations[nactivations - 1];
    struct counted_path path = {.function = top->function,
                                .call = top->call,
                                .len = (unsigned)(nblocks - top->first),
                                .next = next,
                                .blocks = blocks + top->first};
    struct counted_path **slot = slot_of(&path);
    if (!*slot) {
        size_t size = path.len * sizeof *path.blocks;
        *slot = must(malloc(sizeof path));
        **slot = path;
        (*slot)->blocks = memcpy(must(malloc(size)), path.blocks, size);
    }
    (*slot)->count++;
    nblocks = top->first;
    top->call = 0;
}

static void write_paths(void)
{
    FILE *file = open_named("TRACE_OUT", "w");
    for (size_t at = 0; at < SLOTS; at++) {
        const struct counted_path *path = paths[at];
        if (!path) continue;
        fprintf(file, "%u %lu %u %d", path->function, path->count, path->call, path->next);
        for (unsigned i = 0; i < path->len; i++) fprintf(file, " %u", path->blocks[i]);
        fputc('\n', file);
    }
    if (fclose(file)) _exit(FAILED);
}

/* ---- what the program calls ---- */

/* At the head of each block. Nothing leads to block 0 but a call. */
void trace_block(unsigned function, unsigned block)
{
    if (++nevents > MOST_EVENTS) _exit(TOO_LONG);
    if (nblocks == room_for_blocks)
        blocks = must(realloc(blocks, (room_for_blocks = 2 * nblocks + 64) * sizeof *blocks));
    if (block == 0) {
        if (nactivations == room_for_activations)
            activations = must(realloc(activations, (room_for_activations = 2 * nactivations + 64) *
                                                        sizeof *activations));
        activations[nactivations++] = (struct activation){function, 1, (unsigned)nblocks};
    } else {
        unsigned from = blocks[nblocks - 1];
        const struct traced_function *f = &functions[function];
        if (activations[nactivations - 1].function != function) _exit(FAILED);
        if (f->ends[(size_t)from * f->nblocks + block]) count_path((int)block);
    }
    blocks[nblocks++] = block;
}

/* In front of each return. */
void trace_leave(void)
{
    count_path(-1);
    nactivations--;
}
