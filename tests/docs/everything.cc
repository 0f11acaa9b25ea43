// For show_json.py: a program whose profile has every kind of thing that show --json can say.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace shapes {
template <class T> T twice(T x)
{
    return x > 0 ? x + x : 0;
}
} // namespace shapes

__attribute__((no_profile_instrument_function)) int left_out(int x)
{
    return x ? x : 1;
}

__attribute__((noinline)) int kinds(int x)
{
    switch (x % 5) {
    case 0: return 7;
    case 1: return x;
    case 4: throw std::runtime_error("four");
    default: return -x;
    }
}

__attribute__((noinline)) int loops(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i % 3 ? i : -i;
    for (volatile int i = 0; i < n; i++) {}
    return sum;
}

static jmp_buf back;

__attribute__((noinline)) void jump(int n)
{
    if (n > 2) longjmp(back, n);
    printf("%d\n", n);
}

__attribute__((noinline)) void ends(int code)
{
    if (code >= 0) exit(code);
    puts("not reached");
}

int main(int argc, char **)
{
    int sum = left_out(argc) + shapes::twice(argc) + loops(30);
    for (int i = 0; i < 9; i++) {
        try {
            sum += kinds(i + argc);
        } catch (const std::exception &problem) {
            sum += static_cast<int>(problem.what()[0]);
        }
    }
    if (setjmp(back) == 0)
        for (int i = 0;; i++) jump(i);
    printf("%d\n", sum);
    ends(0);
}
