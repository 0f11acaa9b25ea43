/* Coroutines: suspended in branches and loops, destroyed halfway, left by an exception,
 * awaiting each other and resumed by each other.
 * cflags: -std=c++20
 * run: -> 0
 */
#include <cstdio>
#include <stdexcept>
#if defined(__cpp_impl_coroutine) && __has_include(<coroutine>)
#include <coroutine>
#include <exception>
#include <utility>

/* ---- one that yields ---- */

struct numbers {
    struct promise_type {
        int value = 0;
        std::exception_ptr thrown;
        numbers get_return_object() { return numbers(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) noexcept
        {
            value = v;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { thrown = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
    explicit numbers(std::coroutine_handle<promise_type> h) : handle(h) {}
    numbers(numbers &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~numbers()
    {
        if (handle) handle.destroy();
    }
    bool next()
    {
        handle.resume();
        if (handle.promise().thrown) std::rethrow_exception(handle.promise().thrown);
        return !handle.done();
    }
};

static numbers collatz(int n, int most)
{
    for (int i = 0; n != 1; i++) {
        if (i == most) throw std::runtime_error("too long");
        if (n % 2) {
            co_yield n;
            n = 3 * n + 1;
        } else {
            if (n % 3 == 0) co_yield -n;
            n /= 2;
        }
    }
    co_yield 1;
}

static numbers all_of(int first, int last)
{
    for (int n = first; n <= last; n++) {
        numbers inner = collatz(n, 200);
        while (inner.next()) co_yield inner.handle.promise().value;
    }
}

static long take(numbers from, int count)
{
    long sum = 0;
    while (count-- > 0 && from.next()) sum += from.handle.promise().value;
    return sum;
}

/* ---- those that await ---- */

struct task {
    struct promise_type {
        int value = 0;
        std::coroutine_handle<> waits = std::noop_coroutine();
        task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct hand_over {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept { return h.promise().waits; }
            void await_resume() noexcept {}
        };
        hand_over final_suspend() noexcept { return {}; }
        void return_value(int v) { value = v; }
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
    explicit task(std::coroutine_handle<promise_type> h) : handle(h) {}
    task(task &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~task()
    {
        if (handle) handle.destroy();
    }
    bool await_ready() { return handle.done(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h)
    {
        handle.promise().waits = h;
        return handle;
    }
    int await_resume() { return handle.promise().value; }
};

static task fibonacci(int n)
{
    if (n < 2) co_return n;
    int a = co_await fibonacci(n - 1);
    int b = n % 5 ? co_await fibonacci(n - 2) : 0;
    co_return a + b;
}

static task one() { co_return 1; }
static task many(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += co_await one();
    co_return sum;
}

static int run(task t)
{
    t.handle.resume();
    return t.handle.promise().value;
}

int main()
{
    long whole = take(all_of(1, 60), 1 << 30), part = take(all_of(1, 60), 333), none = take(collatz(7, 5), 0);
    int thrown = 0;
    for (int n = 20; n < 40; n++) {
        try {
            take(collatz(n, 30), 1000);
        } catch (const std::runtime_error &) {
            thrown++;
        }
    }
    std::printf("%ld %ld %ld %d %d\n", whole, part, none, thrown, run(fibonacci(17)) + run(many(100000)));
}
#else
int main() { std::puts("no coroutines"); }
#endif
