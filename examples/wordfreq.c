/* wordfreq: the most frequent words of the files given, or of standard input.
 *
 * A small real program for `make demo`: a scanner, an open-addressed hash table and
 * a sort, with the kind of branches that programs have. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64, SHOWN = 10 };

struct word {
    char text[LONGEST];
    unsigned long count;
};

static struct word *table;
static size_t size = 1024, used;

static size_t hash_of(const char *text)
{
    size_t hash = 5381;
    while (*text) hash = hash * 33 + (unsigned char)*text++;
    return hash;
}

static struct word *find(const char *text)
{
    size_t at = hash_of(text) % size;
    while (table[at].count && strcmp(table[at].text, text)) at = (at + 1) % size;
    return &table[at];
}

static void grow(void)
{
    struct word *old = table;
    size_t old_size = size;
    size *= 2;
    table = calloc(size, sizeof *table);
    if (!table) exit(1);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].count) *find(old[i].text) = old[i];
    free(old);
}

static void count_word(const char *text)
{
    struct word *word = find(text);
    if (word->count == 0) {
        if (2 * ++used > size) {
            grow();
            word = find(text);
        }
        strcpy(word->text, text);
    }
    word->count++;
}

/* A word is letters, with an apostrophe inside; case does not matter. */
static void scan(FILE *file)
{
    char text[LONGEST];
    size_t len = 0;
    for (int c; (c = getc(file)) != EOF;) {
        if (isalpha(c) || (c == '\'' && len > 0)) {
            if (len < LONGEST - 1) text[len++] = (char)tolower(c);
        } else if (len > 0) {
            text[len] = 0;
            if (len > 3) count_word(text);
            len = 0;
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->text, y->text);
}

int main(int argc, char **argv)
{
    table = calloc(size, sizeof *table);
    if (!table) return 1;
    if (argc < 2) scan(stdin);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        scan(file);
        fclose(file);
    }
    qsort(table, size, sizeof *table, by_count);
    for (size_t i = 0; i < SHOWN && table[i].count; i++) printf("%6lu %s\n", table[i].count, table[i].text);
    return 0;
}
