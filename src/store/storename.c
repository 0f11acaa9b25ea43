/* Names of stores: see storename.h. */
#include "store/storename.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000ll

bool fp_is_store_name(const char *name)
{
    return !strncmp(name, "store:", 6) || !strncmp(name, "postgresql:", 11) ||
           !strncmp(name, "postgres:", 9);
}

int64_t fp_store_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

const char *fp_store_time(struct fp_arena *arena, int64_t ns)
{
    char text[32];
    time_t seconds = (time_t)(ns / SECOND);
    struct tm t;
    gmtime_r(&seconds, &t);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &t);
    return fp_arena_strdup(arena, text);
}

/* ---- times ---- */

bool fp_parse_age(const char *text, int64_t *ns)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    char *end;
    if (*text < '0' || *text > '9') return false;
    unsigned long long number = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (*end != units[i].unit || end[1]) continue;
        if (number > (unsigned long long)(INT64_MAX / SECOND / units[i].seconds)) return false;
        *ns = (int64_t)number * units[i].seconds * SECOND;
        return true;
    }
    return false;
}

/* "2026-11-18", "2026-11-18T05:00" or "2026-11-18T05:00:30", with or without Z; UTC. */
static bool parse_date(const char *text, int64_t *ns)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm t = {0};
        const char *end = strptime(text, forms[i], &t);
        if (end && *end == 'Z') end++;
        if (!end || *end) continue;
        *ns = (int64_t)timegm(&t) * SECOND;
        return true;
    }
    return false;
}

/* A date, or a while ago. */
static bool parse_time(const char *text, int64_t now, int64_t *ns)
{
    int64_t age;
    if (parse_date(text, ns)) return true;
    if (!fp_parse_age(text, &age)) return false;
    *ns = now - age;
    return true;
}

/* ---- the part behind the question mark ---- */

static int digit_of(char letter)
{
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
           : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
                                            : -1;
}

/* %20 and the like, in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        int high = *at == '%' ? digit_of(at[1]) : -1, low = high < 0 ? -1 : digit_of(at[2]);
        if (low > 0 || (low == 0 && high)) {
            *to++ = (char)(high * 16 + low);
            at += 2;
        } else {
            *to++ = *at;
        }
    }
    *to = 0;
}

static bool parse_by(const char *value, enum fp_store_by *by)
{
    static const char *const names[] = {[FP_BY_RUN] = "run",
                                        [FP_BY_RECORD] = "record",
                                        [FP_BY_HOUR] = "hour",
                                        [FP_BY_DAY] = "day",
                                        [FP_BY_TIME] = "time"};
    for (size_t i = FP_BY_RUN; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value, names[i])) {
            *by = (enum fp_store_by)i;
            return true;
        }
    return false;
}

#define KNOWN "since, until, host (or on), program, build, by"

/* One word KEY=VALUE. *ours: false for what libpq should have. In a URL of PostgreSQL "host" is the
 * server; "on" says in both forms whose records are meant. */
static bool take_word(struct fp_arena *arena, const char *word, int64_t now,
                      struct fp_store_name *name, bool *ours, struct fp_error *error)
{
    char *key = fp_arena_strdup(arena, word), *value = strchr(key, '=');
    *ours = true;
    if (value) *value++ = 0;
    if (value) unescape(value);
    const struct {
        const char *key;
        const char **text;
        int64_t *time;
    } keys[] = {{"host", &name->host, NULL},       {"on", &name->host, NULL},
                {"program", &name->program, NULL}, {"build", &name->build, NULL},
                {"since", NULL, &name->since_ns},  {"until", NULL, &name->until_ns}};
    for (size_t i = name->postgresql; value && i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(key, keys[i].key)) continue;
        if (keys[i].text) *keys[i].text = value;
        if (!keys[i].time || parse_time(value, now, keys[i].time)) return true;
        return fp_fail(error, NULL,
                       "%s=%s: expected an age such as 90s, 15m, 12h, 1d or 2w, or a time such as "
                       "2026-11-18 or 2026-11-18T05:00",
                       key, value);
    }
    if (value && !strcmp(key, "by")) {
        if (parse_by(value, &name->by)) return true;
        return fp_fail(error, NULL, "by=%s: expected run, record, time, hour or day", value);
    }
    *ours = false;
    if (name->postgresql) return true;
    return fp_fail(error, NULL, "unknown '%s' in the name of a store; known: " KNOWN, word);
}

static bool take_words(struct fp_arena *arena, char *words, int64_t now, struct fp_store_name *name,
                       struct fp_error *error)
{
    char *save;
    const char *rest = "";
    for (char *word = strtok_r(words, "&", &save); word; word = strtok_r(NULL, "&", &save)) {
        bool ours;
        if (!take_word(arena, word, now, name, &ours, error)) return false;
        if (ours)
            name->filter =
                fp_arena_printf(arena, "%s%s%s", name->filter, *name->filter ? "&" : "", word);
        else
            rest = fp_arena_printf(arena, "%s%s%s", rest, *rest ? "&" : "", word);
    }
    if (*rest) name->place = fp_arena_printf(arena, "%s?%s", name->place, rest);
    return true;
}

bool fp_store_name_parse(struct fp_arena *arena, const char *text, int64_t now_ns,
                         struct fp_store_name *name, struct fp_error *error)
{
    *name = (struct fp_store_name){.program = "",
                                   .build = "",
                                   .host = "",
                                   .filter = "",
                                   .since_ns = 0,
                                   .until_ns = INT64_MAX,
                                   .postgresql = !strncmp(text, "postgres", 8)};
    bool is_name = fp_is_store_name(text);
    if (!is_name) name->postgresql = false;
    if (is_name && !name->postgresql) text += strlen("store:");
    /* a plain path may have a question mark in it */
    const char *mark = is_name ? strchr(text, '?') : NULL;
    name->place = mark ? fp_arena_strndup(arena, text, (size_t)(mark - text)) : text;
    if (!*name->place) return fp_fail(error, text, "expected the path of a store behind store:");
    return !mark || take_words(arena, fp_arena_strdup(arena, mark + 1), now_ns, name, error);
}
