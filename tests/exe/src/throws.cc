// Exceptions through moved code: caught, passed on, thrown again, with destructors on the way.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define ALONE __attribute__((noinline))

struct counted {
    static int live;
    explicit counted(int) { live++; }
    ~counted() { live--; }
};
int counted::live = 0;
struct first : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct second {
    int value;
};

ALONE static int inner(int n)
{
    counted a(n);
    switch (n % 7) {
    case 0: throw first("first");
    case 1: throw second{n};
    case 2: throw n;
    case 3: return std::vector<int>().at(static_cast<size_t>(n));
    case 4: return std::stoi("x" + std::to_string(n));
    default: return n;
    }
}

ALONE static int middle(int n)
{
    counted a(n), b(n);
    try {
        return inner(n) + 1;
    } catch (second &e) {
        if (e.value % 2) throw;
        return e.value * 10;
    }
}

ALONE static int outer(int n)
{
    auto p = std::make_unique<counted>(n);
    try {
        return middle(n);
    } catch (const first &e) {
        return 1000 + static_cast<int>(std::string(e.what()).size());
    } catch (int x) {
        throw std::out_of_range("i" + std::to_string(x));
    }
}

int main()
{
    long sum = 0;
    std::map<std::string, int> seen;
    for (int i = 0; i < 2000; i++) {
        try {
            sum += outer(i);
        } catch (std::exception &e) {
            seen[e.what()]++;
            sum += 7;
        } catch (...) {
            sum += 3;
        }
    }
    for (auto &k : seen) sum = sum * 31 + k.second * static_cast<long>(k.first.size());
    std::printf("%ld %d %zu\n", sum, counted::live, seen.size());
}
