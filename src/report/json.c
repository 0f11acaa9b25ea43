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
    if (len == 3 && text[0] == 0xe0 && text[1] < 0xa0) return 0; /* overlong */
    if (len == 3 && text[0] == 0xed && text[1] >= 0xa0) return 0; /* surrogate */
    if (len == 4 && text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (len == 4 && text[0] == 0xf4 && text[1] >= 0x90) return 0;
    return len;
}

/* Plain characters of a string, which most are, are written in one go. */
static size_t plain_run(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len) {
        unsigned char c = (unsigned char)text[at];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<') break;
        at++;
    }
    return at;
}

static void write_text(struct fp_json *j, const char *text, size_t len)
{
    fp_write_u8(j->out, '"');
    for (size_t at = 0, step; at < len; at += step) {
        unsigned char c = (unsigned char)text[at];
        step = plain_run(text + at, len - at);
        if (step) {
            fp_write_bytes(j->out, text + at, step);
            continue;
        }
        step = fp_utf8_length(text + at, len - at);
        if (!step) {
            fp_say(j->out, "\\ufffd");
            step = 1;
        } else if (c == '"' || c == '\\') {
            fp_say(j->out, "\\%c", c);
        } else if (step == 1) { /* "<" for use inside HTML */
            fp_say(j->out, "\\u%04x", c);
        } else if (step == 3 && !memcmp(text + at, "\xe2\x80", 2) && (text[at + 2] & 0xfe) == 0xa8) {
            fp_say(j->out, "\\u202%d", 8 + (text[at + 2] & 1)); /* line breaks to old scripts */
        } else {
            fp_write_bytes(j->out, text + at, step);
        }
    }
    fp_write_u8(j->out, '"');
}

void fp_say_plain(struct fp_writer *out, const char *text, size_t len)
{
    for (size_t at = 0, step; at < len; at += step) {
        unsigned char c = (unsigned char)text[at];
        step = fp_utf8_length(text + at, len - at);
        bool control = step == 1 ? c < 0x20 || c == 0x7f
                                 : step == 2 && c == 0xc2 && (unsigned char)text[at + 1] < 0xa0;
        if (!step) {
            fp_write_bytes(out, "\xef\xbf\xbd", 3);
            step = 1;
        } else if (control) {
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
    fp_say_plain(&out, text, len);
    bool same = out.len == len && (!len || !memcmp(out.bytes, text, len));
    const char *result = same ? text : fp_arena_strndup(arena, (char *)out.bytes, out.len);
    fp_writer_free(&out);
    return result;
}

void fp_say_xml(struct fp_writer *out, const char *text)
{
    for (size_t at = 0, len = strlen(text), step; at < len; at += step) {
        unsigned char c = (unsigned char)text[at];
        step = fp_utf8_length(text + at, len - at);
        if (!step || (step == 1 && c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) {
            fp_write_bytes(out, "\xef\xbf\xbd", 3);
            step = 1;
            continue;
        }
        switch (c) {
        case '<': fp_say(out, "&lt;"); break;
        case '>': fp_say(out, "&gt;"); break;
        case '&': fp_say(out, "&amp;"); break;
        case '"': fp_say(out, "&quot;"); break;
        case '\'': fp_say(out, "&#39;"); break;
        default: fp_write_bytes(out, text + at, step);
        }
    }
}

void fp_json_key(struct fp_json *j, const char *key)
{
    value_begins(j);
    write_text(j, key, strlen(key));
    fp_write_bytes(j->out, ": ", j->compact ? 1 : 2);
    j->comma = false;
}

void fp_json_string(struct fp_json *j, const char *text)
{
    fp_json_text(j, text, strlen(text));
}

void fp_json_text(struct fp_json *j, const char *text, size_t len)
{
    value_begins(j);
    write_text(j, text, len);
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
