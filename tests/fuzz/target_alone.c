/* Profiles that have the map of their program in them: which build is chosen, and its counts. */
#include "fuzz.h"
#include "readers.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_error error = {0};
    struct fp_profile *profile = fp_profile_new();
    if (fp_profile_add(profile, fuzz_file(bytes, len), &error)) {
        fp_profile_load_maps(profile, NULL);
        for (size_t i = 0; i < profile->modules.len; i++) {
            struct fp_arena arena = {0};
            const struct fp_module *module = profile->modules.at[i];
            for (size_t k = 0; module->have_program && k < module->program.nfunctions; k++) {
                const struct fp_function *f = &module->program.functions[k];
                struct fp_counts counts;
                if (!(f->flags & FP_FUNCTION_SKIPPED))
                    fp_profile_counts(&arena, module, f, &counts);
            }
            fp_arena_free(&arena);
        }
    } else if (!error.set) {
        __builtin_trap(); /* a failure says why */
    }
    fp_profile_free(profile);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    fuzz_repair_profile(bytes, len);
    fuzz_repair_maps_within(bytes, len);
    fuzz_repair_profile(bytes, len); /* its records' checksums hold the maps' */
}
