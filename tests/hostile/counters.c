/* Counters that are not 0 against an array of all of them: random additions, in and out of
 * order, with and without settling in between, near the largest number. */
#include "check.h"
#include "count/counters.h"
#include "random.h"

#include <string.h>

enum { TABLES = 3, WORDS = 4000, ROUNDS = 300 };

static uint64_t expected[TABLES][WORDS];

static void compare(const struct fp_counters *c)
{
    size_t place = 0;
    bool same = true;
    for (uint64_t t = 0; t < TABLES; t++)
        for (uint64_t i = 0; i < WORDS; i++) {
            same &= fp_counters_get(c, t, i) == expected[t][i];
            while (place < c->len && !c->at[place].count) place++;
            if (!expected[t][i]) continue;
            same &= place < c->len && c->at[place].table == t && c->at[place].path == i;
            same &= fp_counters_from(c, t, i) == place;
            place++;
        }
    CHECK(same);
    CHECK_EQUAL(place, c->len);
}

static void one_round(struct fp_counters *c, uint64_t *seed)
{
    size_t place = 0;
    bool rising = random_chance(seed, 70);
    uint32_t step = 1 + random_below(seed, 200), index = random_below(seed, step);
    for (uint32_t n = 0; n < 200; n++) {
        uint32_t table = rising ? n * TABLES / 200 : random_below(seed, TABLES);
        index = rising ? (index + step) % WORDS : random_below(seed, WORDS);
        uint64_t count = random_chance(seed, 5) ? UINT64_MAX - random_below(seed, 9) : random_below(seed, 100);
        uint64_t *sum = &expected[table][index];
        *sum = c->wraps || *sum <= UINT64_MAX - count ? *sum + count : UINT64_MAX;
        fp_counters_add(c, table, index, count, &place);
    }
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t state = seed;
        struct fp_counters c = {.wraps = seed % 2};
        memset(expected, 0, sizeof expected);
        for (int i = 0; i < ROUNDS; i++) {
            one_round(&c, &state);
            if (i % 37 && i + 1 < ROUNDS) continue;
            fp_counters_sort(&c);
            compare(&c);
        }
        fp_counters_free(&c);
    }
    return check_summary();
}
