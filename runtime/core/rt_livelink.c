/* Programs that were linked with --fp-live: footpath-cc links this file into them, by asking for
 * the second symbol. The first would not do, as rt_live.c defines it too. */
#include "rt.h"

extern char __footpath_live[2] FP_HIDDEN;
extern const char __footpath_live_from_start;

char __footpath_live[2] = "1";
const char __footpath_live_from_start FP_HIDDEN = 1;
