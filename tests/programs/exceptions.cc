/* Exceptions through frames that do not catch them, that clean up, that rethrow.
 * run: -> 0
 * run: uncaught -> signal 6
 */
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

struct guard {
    int *count;
    ~guard() { ++*count; }
};

static int cleaned;

static void __attribute__((noinline)) plain(int n)
{
    if (n % 2) cleaned += 2;
    if (n == 0) throw std::runtime_error("bottom");
    plain(n - 1);
    cleaned += 1000;
}

static void __attribute__((noinline)) cleans(int n)
{
    guard g{&cleaned};
    if (n > 2) cleans(n - 1);
    else plain(n);
    cleaned += 1000;
}

static void __attribute__((noinline)) rethrows(int n)
{
    try {
        cleans(n);
    } catch (const std::runtime_error &) {
        if (n % 3 == 0) throw;
        throw n;
    }
}

static int __attribute__((noinline)) catches(int n)
{
    try {
        if (n % 5 == 0) return 5;
        if (n % 7 == 0) std::vector<int>().at(3);
        rethrows(n);
    } catch (int value) {
        return value;
    } catch (const std::out_of_range &) {
        return 7;
    } catch (const std::exception &e) {
        return (int)std::strlen(e.what());
    }
    return -1;
}

int main(int argc, char **)
{
    long sum = 0;
    for (int i = 0; i < 999; i++) sum += catches(i % 12);
    std::printf("%ld %d\n", sum, cleaned);
    if (argc > 1) plain(3);
    return 0;
}
