/* Programs whose threads share counters: footpath-cc links this file into them, by asking
 * for the second symbol. The first would not do, as rt_threads.c defines it too. */
#include "rt.h"

extern const char __footpath_threads_share;

const char rt_threads_share = 1;
extern char rt_live_shared;
char rt_live_shared FP_HIDDEN = 1; /* as rt_live.c asks */
const char __footpath_threads_share FP_HIDDEN = 1;
