/* Graphs of given shapes and any size, for tests and measurements. */
#ifndef FP_TESTS_SHAPES_H
#define FP_TESTS_SHAPES_H

#include "graph/cfg.h"

/* count if-else statements in a row: 2^count paths. */
struct fp_cfg *fp_shape_diamonds(struct fp_arena *arena, uint32_t count);

/* A loop around a switch of `ways` cases. */
struct fp_cfg *fp_shape_switch_in_loop(struct fp_arena *arena, uint32_t ways);

/* count switches of `ways` cases in a row. */
struct fp_cfg *fp_shape_switches(struct fp_arena *arena, uint32_t count, uint32_t ways);

/* What compilers see: nested ifs, loops, switches, early returns, some gotos. */
struct fp_cfg *fp_shape_random(struct fp_arena *arena, uint32_t nblocks, uint64_t seed);

#endif
