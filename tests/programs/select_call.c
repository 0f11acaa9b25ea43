/* An argument that is an address of elsewhere or NULL is a select, of which code generation
 * makes a branch: the call behind it is in another block of code then. Its frame must be
 * found when longjmp leaves it.
 * run: -> 0
 * calls: search 200
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct parsed {
    int month, day, year;
};

extern char **environ;
static jmp_buf back;
static const char *long_names[] = {"a", 0}, *short_names[] = {"b", 0}, *numbers[] = {"c", 0}, *days[] = {"d", 0};

__attribute__((noinline)) static int search(int *value, const char **text, const char **names, const void *localized,
                                            int step, int collation, int node, bool *failed)
{
    if (**text == '/') longjmp(back, 1);
    *value = (*text)[0] + step + (localized ? 1 : 0) + (names != NULL) + (collation + node) % 2 + (failed != NULL);
    (*text)++;
    return 1;
}

__attribute__((noinline)) static void set_number(int *place, int value, int step, bool *failed)
{
    if (failed && value == step) *failed = true;
    *place = value;
}

#define CHECK                     \
    if (failed && *failed) goto out

static int parse(const int *step, const char *text, struct parsed *parsed, bool *failed)
{
    int value = 0;
    for (; *step >= 0; step++) {
        switch (*step & 15) {
        case 0:
            search(&value, &text, long_names, *step & 16 ? &environ : 0, *step, 7, 2, failed);
            CHECK;
            set_number(&parsed->month, value + 1, *step, failed);
            CHECK;
            break;
        case 1:
            search(&value, &text, short_names, *step & 16 ? (void *)&stdin : 0, *step, 7, 2, failed);
            CHECK;
            set_number(&parsed->month, value + 1, *step, failed);
            CHECK;
            break;
        case 2:
            search(&value, &text, days, *step & 16 ? (void *)&stderr : 0, *step, 7, 2, failed);
            CHECK;
            set_number(&parsed->day, value, *step, failed);
            CHECK;
            value++;
            break;
        case 3:
            search(&value, &text, numbers, *step & 16 ? (void *)&optarg : 0, *step, 7, 2, failed);
            CHECK;
            set_number(&parsed->day, value, *step, failed);
            CHECK;
            value++;
            break;
        case 4:
            set_number(&parsed->year, 3, *step, failed);
            CHECK;
            break;
        default: text++;
        }
    }
out:
    return value;
}

int main(void)
{
    static const int steps[][3] = {{0, 4, -1}, {1, 4, -1}, {2, 4, -1}, {3, 4, -1}, {17, 4, -1}};
    static const char *const inputs[] = {"x/", "/x"};
    struct parsed parsed;
    bool failed = false;
    volatile int sum = 0;
    for (volatile int i = 0; i < 200; i++) {
        if (setjmp(back) == 0) sum += parse(steps[i % 5], inputs[(i / 5) & 1], &parsed, i & 1 ? &failed : NULL);
        failed = false;
    }
    printf("%d\n", sum);
    return 0;
}
