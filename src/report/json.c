/* JSON: see json.h. */
#include "report/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void line_break(struct fp_json *j)
{
    if (j->compact) return;
    fp_write_u8(j->out, '\n');
    for (unsigned i = 0; i < j->depth; i++) fp_write_bytes(j->out, "  ", 2);
}

static void value_begins(struct fp_json *j)
{
    if (j->comma) fp_write_u8(j->out, ',');
    if (j->comma || j->opened) line_break(j);
    j->comma = true;
    j->opened = false;
}

void fp_json_begin(struct fp_json *j, char bracket)
{
    value_begins(j);
    fp_write_u8(j->out, (uint8_t)bracket);
    j->comma = false;
    j->opened = true;
    j->depth++;
}

void fp_json_end(struct fp_json *j, char bracket)
{
    j->depth--;
    if (!j->opened) line_break(j);
    fp_write_u8(j->out, (uint8_t)bracket);
    j->comma = true;
    j->opened = false;
}

/* Length of the UTF-8 sequence at text, 0 if it is none. */
static size_t utf8_length(const unsigned char *text)
{
    if (text[0] < 0x80) return 1;
    size_t len = text[0] >= 0xf0 && text[0] < 0xf5   ? 4
                 : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                                                     : 0;
    for (size_t i = 1; i < len; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if (len == 3 && text[0] == 0xe0 && text[1] < 0xa0) return 0; /* overlong */
    if (len == 3 && text[0] == 0xed && text[1] >= 0xa0) return 0; /* surrogate */
    if (len == 4 && text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (len == 4 && text[0] == 0xf4 && text[1] >= 0x90) return 0;
    return len;
}

static void write_text(struct fp_json *j, const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    fp_write_u8(j->out, '"');
    while (*text) {
        size_t len = utf8_length(text);
        if (len == 0) {
            fp_say(j->out, "\\ufffd");
            text++;
            continue;
        }
        if (*text == '"' || *text == '\\')
            fp_say(j->out, "\\%c", *text);
        else if (*text < 0x20 || *text == 0x7f || *text == '<') /* "<" for use inside HTML */
            fp_say(j->out, "\\u%04x", *text);
        else
            fp_write_bytes(j->out, text, len);
        text += len;
    }
    fp_write_u8(j->out, '"');
}

void fp_json_key(struct fp_json *j, const char *key)
{
    value_begins(j);
    write_text(j, key);
    fp_write_bytes(j->out, ": ", j->compact ? 1 : 2);
    j->comma = false;
}

void fp_json_string(struct fp_json *j, const char *text)
{
    value_begins(j);
    write_text(j, text);
}

void fp_json_uint(struct fp_json *j, uint64_t value)
{
    value_begins(j);
    fp_say(j->out, "%" PRIu64, value);
}

void fp_json_int(struct fp_json *j, int64_t value)
{
    value_begins(j);
    fp_say(j->out, "%" PRId64, value);
}

void fp_json_double(struct fp_json *j, double value)
{
    value_begins(j);
    if (isfinite(value))
        fp_say(j->out, "%.9g", value);
    else
        fp_say(j->out, "null");
}

void fp_json_bool(struct fp_json *j, bool value)
{
    value_begins(j);
    fp_say(j->out, value ? "true" : "false");
}

void fp_json_null(struct fp_json *j)
{
    value_begins(j);
    fp_say(j->out, "null");
}
