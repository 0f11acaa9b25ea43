/* The places of a module where samples are taken, and the traps there: rt_places.c. */
#ifndef RT_PLACES_H
#define RT_PLACES_H

#include "rt.h"

struct rt_place {
    uint64_t address;
    const struct fp_site *site;
    unsigned char *slot; /* or NULL */
    int32_t frame_offset;
    int16_t reg;       /* index among gregs, or -1 */
    int16_t frame_reg; /* with it and the offset, where a running register lies; or -1 */
    uint32_t group;
    bool more;  /* the next one is at the same address */
    bool ready; /* slot, reg and frame are known */
    unsigned char original;
};

/* The first place at the address, or NULL. */
const struct rt_place *rt_places_at(uint64_t address) FP_HIDDEN;
/* Are there traps at all places of the place's function? */
bool rt_place_is_armed(const struct rt_place *place) FP_HIDDEN;
/* Puts them in, unless all traps are gone. needs: the lock. */
void rt_place_arm(const struct rt_place *place) FP_HIDDEN;

#endif
