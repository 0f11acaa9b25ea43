/* Combined profiles as packets of types 8 and 9 of legacy files: docs/formats/legacy.md.
 * They go with a program of one module, made from one bitcode file. */
#ifndef FP_COMBINED_COMBINEDLEGACY_H
#define FP_COMBINED_COMBINEDLEGACY_H

#include "combined/combine.h"
#include "profile/legacy.h"

/* A packet of type FP_LEGACY_COMBINED_EDGES or _PATHS. Fails where functions have
 * different numbers of trials, of which the packet has one. */
bool fp_combined_to_legacy(struct fp_writer *out, const struct fp_combined *combined,
                           const struct fp_program *program, enum fp_legacy_packet type,
                           struct fp_error *error);

/* Adds the body of such a packet, at which the reader is. It gets as many bins as the
 * packet has. */
bool fp_combined_from_legacy(struct fp_combined *into, const struct fp_program *program,
                             struct fp_legacy_reader *reader);

/* A whole combined profile, which is of one program, as one such packet. */
bool fp_combined_export_legacy(struct fp_combiner *combiner, const struct fp_combined *combined,
                               bool paths, struct fp_writer *out, struct fp_error *error);

/* A legacy file of such packets, made by the program `binary`, as a combined profile. */
bool fp_combined_import_legacy(const char *input, const char *binary, const char *output,
                               struct fp_error *error);

/* Does a legacy file hold such packets? */
bool fp_legacy_is_combined(const unsigned char *bytes, size_t len);

#endif
