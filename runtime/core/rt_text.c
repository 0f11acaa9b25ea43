/* Text and warnings without stdio.
 *
 * Not handled: text that is longer than its room is cut off. */
#include "rt.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

void rt_text_add_char(struct rt_text *text, char c)
{
    if (text->len + 1 >= text->size) return;
    text->at[text->len++] = c;
    text->at[text->len] = 0;
}

void rt_text_add(struct rt_text *text, const char *string)
{
    while (*string) rt_text_add_char(text, *string++);
}

void rt_text_add_number(struct rt_text *text, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n) rt_text_add_char(text, digits[--n]);
}

void rt_text_add_hex(struct rt_text *text, uint64_t value, unsigned digits)
{
    while (digits--) rt_text_add_char(text, "0123456789abcdef"[value >> (4 * digits) & 15]);
}

/* Messages that are only good to know are for people. Where a program reads our stderr they
 * would change what it does: Tcl's exec takes any output there for a failure. */
bool rt_somebody_reads(void)
{
    return rt_settings.log || isatty(STDERR_FILENO);
}

/* The bytes of a control character: of C0, or in UTF-8 of C1, of the two line ends of
 * Unicode or of writing direction. 0 where there is none. */
static size_t control_length(const unsigned char *c, size_t left)
{
    if (c[0] < 0x20 || c[0] == 0x7f) return 1;
    if (left > 1 && c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) return 2;
    if (left < 3 || c[0] != 0xe2) return 0;
    bool direction = (c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
                     (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
    return direction ? 3 : 0;
}

/* Replaces control characters: names of files and variables may hold commands for a
 * terminal. */
static void make_plain(char *line, size_t len)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = control_length((unsigned char *)line + i, len - i);
        memset(line + i, '?', n);
    }
}

void rt_warn(const char *part, ...)
{
    char line[1024];
    struct rt_text text = {line, 0, sizeof line - 1};
    va_list args;
    rt_text_add(&text, "footpath: ");
    va_start(args, part);
    for (; part; part = va_arg(args, const char *)) rt_text_add(&text, part);
    va_end(args);
    make_plain(line, text.len);
    line[text.len++] = '\n';
    struct rt_held held;
    rt_hold_signals(&held);
    if (write(STDERR_FILENO, line, text.len) < 0)
        rt_note_raised(&held, errno); /* there is no other place for a message */
    rt_release_signals(&held);
}
