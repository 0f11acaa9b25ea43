/* quick_exit in static programs: there dlsym does not find __cxa_at_quick_exit, which
 * rt_end.c looks for, so this file names it. footpath-cc links the file into static programs
 * only. Other modules must not name a function that ends the process: some libraries check
 * themselves for such names (libpq of PostgreSQL does). */
#include "rt.h"

extern rt_at_quick_exit __cxa_at_quick_exit;
extern const char __footpath_static_quick;

rt_at_quick_exit *rt_at_quick = __cxa_at_quick_exit;

/* footpath-cc asks for this symbol. rt_at_quick would not do: rt_end.c defines it too. */
const char __footpath_static_quick FP_HIDDEN = 1;
