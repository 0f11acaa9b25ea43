/* A guide as what a running program is compared with (paths/drift.h). Of rare paths a guide
 * knows nothing: it has those that make up 99.9% of a function's counts. */
#ifndef FP_GUIDE_GUIDEDRIFT_H
#define FP_GUIDE_GUIDEDRIFT_H

#include "guide/guide.h"
#include "paths/drift.h"

/* The guide must stay open as long as `other` is used. */
void fp_drift_against_guide(const struct fp_guide *guide, struct fp_drift_other *other);

#endif
