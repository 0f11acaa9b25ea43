/* One page of variables that every process touches: most of each stays empty, so together they
 * take the one page where they would take three. All are 0 at first.
 *
 * Not handled: long names of folders, and records of more than a room, touch further pages.
 */
#include "rt.h"

/* In assembly: C gives no order to variables. */
__asm__(".pushsection footpath_apart,\"aw\",@nobits\n.balign 4096\n"
        ".globl rt_of_program\n.hidden rt_of_program\nrt_of_program: .skip 2688\n"
        ".globl rt_near_rooms\n.hidden rt_near_rooms\nrt_near_rooms: .skip 640\n"
        ".globl rt_near_names\n.hidden rt_near_names\nrt_near_names: .skip 13312\n"
        ".popsection\n");

_Static_assert(sizeof(struct rt_process) <= 2688, "its place");
_Static_assert(sizeof rt_near_rooms == 640 && sizeof rt_near_names == 13312, "their places");
