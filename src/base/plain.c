/* Plain text: see plain.h. */
#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

size_t fp_utf8_length(const char *string, size_t left)
{
    const unsigned char *text = (const unsigned char *)string;
    if (!left) return 0;
    if (text[0] < 0x80) return 1;
    size_t len = text[0] >= 0xf0 && text[0] < 0xf5   ? 4
                 : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                                                     : 0;
    if (len > left) return 0;
    for (size_t i = 1; i < len; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if (len == 3 && text[0] == 0xe0 && text[1] < 0xa0) return 0;  /* overlong */
    if (len == 3 && text[0] == 0xed && text[1] >= 0xa0) return 0; /* surrogate */
    if (len == 4 && text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (len == 4 && text[0] == 0xf4 && text[1] >= 0x90) return 0;
    return len;
}

bool fp_is_control(const char *string, size_t len)
{
    const unsigned char *c = (const unsigned char *)string;
    if (len == 1) return c[0] < 0x20 || c[0] == 0x7f;
    if (len == 2) return c[0] == 0xc2 && c[1] < 0xa0;
    if (len != 3 || c[0] != 0xe2) return false;
    /* U+2028 .. U+202E, U+2066 .. U+2069 */
    return (c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
           (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

/* Most text is plain already, and is written in one go. */
static size_t ascii_run(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len && text[at] >= 0x20 && text[at] < 0x7f) at++;
    return at;
}

void fp_say_plain(struct fp_writer *out, const char *text, size_t len)
{
    for (size_t at = 0, step; at < len; at += step) {
        step = ascii_run(text + at, len - at);
        if (step) {
            fp_write_bytes(out, text + at, step);
            continue;
        }
        step = fp_utf8_length(text + at, len - at);
        if (!step) {
            fp_write_bytes(out, "\xef\xbf\xbd", 3);
            step = 1;
        } else if (fp_is_control(text + at, step)) {
            fp_write_u8(out, '?');
        } else {
            fp_write_bytes(out, text + at, step);
        }
    }
}

const char *fp_plain(struct fp_arena *arena, const char *text)
{
    struct fp_writer out = {0};
    size_t len = strlen(text);
    if (ascii_run(text, len) == len) return text;
    fp_say_plain(&out, text, len);
    const char *result = fp_arena_strndup(arena, (char *)out.bytes, out.len);
    fp_writer_free(&out);
    return result;
}

void fp_make_plain(char *text)
{
    size_t len = strlen(text), to = 0;
    for (size_t at = 0, step; at < len; at += step) {
        step = fp_utf8_length(text + at, len - at);
        if (!step || fp_is_control(text + at, step)) {
            text[to++] = '?';
            step = step ? step : 1;
        } else {
            memmove(text + to, text + at, step);
            to += step;
        }
    }
    text[to] = 0;
}

void fp_say(struct fp_writer *out, const char *format, ...)
{
    char room[512], *text = room;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(room, sizeof room, format, args);
    va_end(args);
    if (len >= (int)sizeof room) {
        text = malloc((size_t)len + 1);
        if (!text) abort();
        vsnprintf(text, (size_t)len + 1, format, again);
    }
    va_end(again);
    if (len > 0) fp_write_bytes(out, text, (size_t)len);
    if (text != room) free(text);
}

void fp_group_digits(uint64_t value, char text[32])
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value), at = 0;
    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
}
