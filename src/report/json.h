/* Writing JSON: commas and escapes in one place.
 *
 *     fp_json_begin(&j, '{');
 *     fp_json_key(&j, "name"), fp_json_string(&j, name);
 *     fp_json_end(&j, '}');
 */
#ifndef FP_REPORT_JSON_H
#define FP_REPORT_JSON_H

#include "base/plain.h"

struct fp_json {
    struct fp_writer *out;
    bool comma;   /* something stands before at this level */
    bool opened;  /* a bracket stands before: an empty one stays on its line */
    bool compact; /* no line breaks */
    unsigned depth;
};

void fp_json_begin(struct fp_json *j, char bracket);
void fp_json_end(struct fp_json *j, char bracket);
void fp_json_key(struct fp_json *j, const char *key);
/* Bytes that are not UTF-8 become U+FFFD. */
void fp_json_string(struct fp_json *j, const char *text);
void fp_json_text(struct fp_json *j, const char *text, size_t len);
void fp_json_uint(struct fp_json *j, uint64_t value);
void fp_json_int(struct fp_json *j, int64_t value);
void fp_json_double(struct fp_json *j, double value);
void fp_json_bool(struct fp_json *j, bool value);
void fp_json_null(struct fp_json *j);
/* The key "address" with a value like "0x4290"; nothing where it is 0, not known. */
void fp_json_address(struct fp_json *j, uint64_t address);

/* For XML and HTML, in text or in a quoted attribute. */
void fp_say_xml(struct fp_writer *out, const char *text);

#endif
