/* Linked into static programs only, where footpath-cc asks for it: there dlsym does not
 * find what rt_end.c looks for. Everywhere else nothing that is linked into a module may
 * name a function that ends the process: libraries check themselves for such names (libpq
 * of PostgreSQL does). */
#include "rt.h"

extern rt_at_quick_exit __cxa_at_quick_exit;
extern const char __footpath_static_quick;

rt_at_quick_exit *rt_at_quick = __cxa_at_quick_exit;

/* What footpath-cc asks for: the other is defined in rt_end.c as well. */
const char __footpath_static_quick FP_HIDDEN = 1;
