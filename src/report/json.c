/* JSON: see json.h. */
#include "report/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void line_break(struct fp_json *j)
{
    if (j->compact) return;
    static const char indented[] = "\n                "; /* for eight levels */
    unsigned at_once = j->depth < 8 ? j->depth : 8;
    fp_write_bytes(j->out, indented, 1 + 2 * at_once);
    for (unsigned i = at_once; i < j->depth; i++) fp_write_bytes(j->out, "  ", 2);
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

/* Of a sequence of two or three bytes. */
static unsigned code_of(const unsigned char *c, size_t len)
{
    if (len == 2) return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    return (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
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
        } else if (fp_is_control(text + at, step)) { /* and line breaks to old scripts */
            fp_say(j->out, "\\u%04x", code_of((const unsigned char *)text + at, step));
        } else {
            fp_write_bytes(j->out, text + at, step);
        }
    }
    fp_write_u8(j->out, '"');
}

void fp_say_xml(struct fp_writer *out, const char *text)
{
    for (size_t at = 0, len = strlen(text), step; at < len; at += step) {
        unsigned char c = (unsigned char)text[at];
        step = fp_utf8_length(text + at, len - at);
        if (!step || (fp_is_control(text + at, step) && c != '\t' && c != '\n')) {
            fp_write_bytes(out, "\xef\xbf\xbd", 3);
            step = step ? step : 1;
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

/* Most of a large file are numbers: printf would take a fifth of the time. */
static void write_digits(struct fp_json *j, uint64_t value)
{
    char digits[20];
    size_t first = sizeof digits;
    do digits[--first] = (char)('0' + value % 10);
    while (value /= 10);
    fp_write_bytes(j->out, digits + first, sizeof digits - first);
}

void fp_json_uint(struct fp_json *j, uint64_t value)
{
    value_begins(j);
    write_digits(j, value);
}

void fp_json_int(struct fp_json *j, int64_t value)
{
    value_begins(j);
    if (value < 0) fp_write_u8(j->out, '-');
    write_digits(j, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
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
    fp_write_bytes(j->out, value ? "true" : "false", value ? 4 : 5);
}

void fp_json_null(struct fp_json *j)
{
    value_begins(j);
    fp_say(j->out, "null");
}

void fp_json_address(struct fp_json *j, uint64_t address)
{
    char text[24];
    if (!address) return;
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    fp_json_key(j, "address"), fp_json_string(j, text);
}
