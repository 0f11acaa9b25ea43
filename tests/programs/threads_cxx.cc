/* std::thread, whose pthread_create is called inside the C++ library; exceptions in
 * threads.
 * cflags: -pthread
 * run: -> 0
 */
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

static int __attribute__((noinline)) risky(int n)
{
    if (n % 7 == 0) throw std::runtime_error("seven");
    if (n % 2) return n;
    return -n;
}

static void work(std::atomic<long> &sum, int from)
{
    for (int i = from; i < from + 5000; i++) {
        try {
            sum += risky(i);
        } catch (const std::exception &) {
            sum += 1;
        }
    }
}

int main()
{
    std::atomic<long> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back(work, std::ref(sum), i * 1000);
    for (auto &t : threads) t.join();
    std::printf("%ld\n", sum.load());
}
