/* Where Graphviz would put the blocks and edges of a function's cfg: coordinates
 * alone, for a page that draws them itself in its own colours. */
#ifndef FP_REPORT_GRAPHLAYOUT_H
#define FP_REPORT_GRAPHLAYOUT_H

#include "count/function.h"

enum { FP_LAYOUT_NODE_WIDTH = 104, FP_LAYOUT_NODE_HEIGHT = 38 }; /* points */

struct fp_layout_point {
    int x, y; /* from the upper left corner */
};

struct fp_drawing {
    int width, height;
    struct fp_layout_point *blocks; /* centres; x < 0 where a block never runs */
    struct fp_layout_point **edges; /* per cfg edge: points of a Bezier curve, 3n+1 */
    uint32_t *npoints;              /* the last one is where the arrow head ends */
};

/* Time grows with the square of the size: the caller chooses which to draw. */
bool fp_layout_function(struct fp_arena *arena, const struct fp_function *function,
                        struct fp_drawing *layout, struct fp_error *error);

#endif
