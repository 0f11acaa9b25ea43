/* Text of unknown origin, for a terminal or for a line of a file.
 *
 * Names, paths and arguments come from profiles and programs that a stranger may have made. In
 * plain text control characters are '?' and bytes that are not UTF-8 are U+FFFD, so that
 * nothing moves the cursor, changes a terminal, starts a new line or writes backwards. Every
 * report and every message passes its text through here when it prints.
 */
#ifndef FP_BASE_PLAIN_H
#define FP_BASE_PLAIN_H

#include "base/varint.h"

/* Length of the UTF-8 sequence at text, which has len bytes; 0 if it is not valid. */
size_t fp_utf8_length(const char *text, size_t len);

/* Is the sequence of this length a control character, of C0, C1 or of writing direction? */
bool fp_is_control(const char *text, size_t len);

/* Text into any writer. */
void fp_say(struct fp_writer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void fp_say_plain(struct fp_writer *out, const char *text, size_t len);
/* The same as a string; text itself where there is nothing to replace. */
const char *fp_plain(struct fp_arena *arena, const char *text);
/* The same in its place, where bytes that are not UTF-8 are '?' too. */
void fp_make_plain(char *text);

/* "1,234,567"; the longest has 26 letters. */
void fp_group_digits(uint64_t value, char text[32]);

#endif
