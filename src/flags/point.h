/* Where in the compiler's pipeline functions are counted. Also for C++. */
#ifndef FP_FLAGS_POINT_H
#define FP_FLAGS_POINT_H

/* Behind optimisation; before inlining; where clang's own profiles count (-fprofile-generate). All
 * but the first are early: code is inlined and optimised after counters were put in. */
enum fp_point { FP_POINT_LATE, FP_POINT_EARLY, FP_POINT_PGO };

#endif
