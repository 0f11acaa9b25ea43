/* A small program whose ways depend on its input: counts words, numbers and marks in
 * the text it is given, in as many rounds as asked.
 *
 *     example ROUNDS TEXT
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned words, numbers, marks, longest;

__attribute__((noinline)) static const char *one_word(const char *at)
{
    unsigned length = 0;
    while (isalpha((unsigned char)*at)) {
        at++;
        length++;
    }
    if (length > longest) longest = length;
    words++;
    return at;
}

__attribute__((noinline)) static const char *one_number(const char *at)
{
    while (isdigit((unsigned char)*at)) at++;
    numbers++;
    return at;
}

__attribute__((noinline)) static void one_round(const char *text)
{
    while (*text) {
        if (isalpha((unsigned char)*text))
            text = one_word(text);
        else if (isdigit((unsigned char)*text))
            text = one_number(text);
        else if (*text++ != ' ')
            marks++;
    }
}

__attribute__((noinline)) static void never_without_marks(void)
{
    printf("%u marks\n", marks);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds && argc > 2; i++) one_round(argv[2]);
    if (marks) never_without_marks();
    printf("%u words, %u numbers, longest %u\n", words, numbers, longest);
    return 0;
}
