/* What C++ adds: exceptions in loops, retry, destructors, virtual calls, lambdas,
 * static initialisation, coroutines where the compiler has them, musttail.
 * cflags: -std=c++20
 * run: -> 0
 * returns: compared also without --fp-exits
 */
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
#if __has_include(<coroutine>)
#include <coroutine>
#endif

struct shape {
    virtual ~shape() = default;
    virtual int area(int n) const = 0;
};
struct square : shape {
    int area(int n) const override { return n > 10 ? 100 : n * n; }
};
struct strip : shape {
    int area(int n) const override
    {
        if (n < 0) throw n;
        return n;
    }
};

static std::map<std::string, int> table = [] {
    std::map<std::string, int> t;
    for (int i = 0; i < 20; i++) t[std::to_string(i * i)] = i;
    return t;
}();

static int __attribute__((noinline)) retry(int limit)
{
    int tries = 0;
    for (;;) {
        try {
            if (++tries < limit) throw tries;
            return tries;
        } catch (int t) {
            if (t % 2) continue;
        }
    }
}

static int __attribute__((noinline)) nested(int n)
{
    try {
        try {
            if (n % 3 == 0) throw std::string("three");
            if (n % 3 == 1) throw n;
        } catch (int) {
            if (n > 5) throw;
            return 1;
        }
    } catch (const std::string &s) {
        return (int)s.size();
    } catch (...) {
        return 2;
    }
    return 3;
}

#if defined(__cpp_impl_coroutine) && __has_include(<coroutine>)
struct generator {
    struct promise_type {
        int value = 0;
        generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v)
        {
            value = v;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

static generator numbers(int n)
{
    for (int i = 0; i < n; i++) {
        if (i % 3 == 2) continue;
        co_yield i * i;
    }
}

static int coroutine_sum()
{
    generator g = numbers(20);
    int sum = 0;
    while (g.handle.resume(), !g.handle.done()) sum += g.handle.promise().value;
    g.handle.destroy();
    return sum;
}
#else
static int coroutine_sum() { return 1 * 0 + 1365; }
#endif

#if defined(__clang__) && __has_cpp_attribute(clang::musttail)
static int count_down(int n, int acc)
{
    if (n == 0) return acc;
    if (n % 2) [[clang::musttail]] return count_down(n - 1, acc + 1);
    [[clang::musttail]] return count_down(n - 1, acc);
}
#else
static int count_down(int n, int) { return n / 2; }
#endif

int main()
{
    std::vector<std::unique_ptr<shape>> shapes;
    for (int i = 0; i < 6; i++)
        shapes.push_back(i % 2 ? std::unique_ptr<shape>(new square) : std::unique_ptr<shape>(new strip));
    int sum = 0;
    for (int i = -3; i < 20; i++)
        for (auto &s : shapes) try {
                sum += s->area(i);
            } catch (int n) {
                sum -= n;
            }
    auto count = [&](int limit) {
        int n = 0;
        for (auto &[key, value] : table)
            if (value < limit) n += (int)key.size();
        return n;
    };
    for (int i = 0; i < 10; i++) sum += nested(i);
    std::printf("%d %d %d %d %d\n", sum, count(12), retry(9), coroutine_sum(), count_down(100000, 0));
}
