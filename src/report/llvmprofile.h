/* A profile as clang's own instrumentation would have written it (docs/formats/llvm-profdata.md).
 *
 * Of programs built with --fp-at=pgo the map says which blocks clang would have counted
 * (struct fp_llvm_counters). Their executions follow from the paths or edges that were counted. The
 * values that calls were given (--fp-values) come along.
 */
#ifndef FP_REPORT_LLVMPROFILE_H
#define FP_REPORT_LLVMPROFILE_H

#include "base/varint.h"
#include "base/vec.h"
#include "profile/profile.h"

struct fp_llvm_value {
    uint64_t value, count;
};

/* What one call was given: functions by the hash of their name, or sizes. Most frequent first. */
struct fp_llvm_site {
    struct fp_llvm_value *values;
    size_t nvalues;
};

struct fp_llvm_function {
    const char *name;
    uint64_t hash, *counters;
    uint32_t ncounters;
    struct fp_llvm_site *sites[2]; /* by enum fp_value_kind */
    uint32_t nsites[2];
};

struct fp_llvm_profile {
    FP_VEC(struct fp_llvm_function) functions; /* by name, then hash */
    size_t without; /* instrumented functions that were not built with --fp-at=pgo */
};

/* The first eight bytes of the MD5: how LLVM's profiles name functions. */
uint64_t fp_llvm_name_hash(const char *name);

bool fp_llvm_profile_make(struct fp_arena *arena, const struct fp_profile *profile,
                          struct fp_llvm_profile *out, struct fp_error *error);

/* The file that clang's -fprofile-use= takes: LLVM's indexed form, version 5, which all supported
 * versions read. */
void fp_write_llvm_profdata(struct fp_writer *out, const struct fp_llvm_profile *profile);

#endif
