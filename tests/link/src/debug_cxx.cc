/* As debug.c, with what exceptions and containers bring. */
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static int walk(const std::vector<int> &numbers, int k)
{
    int sum = 0;
    for (int x : numbers) {
        if (x % k == 0) {
            sum += x;
        } else if (x > 50) {
            int half = x / 2;
            sum -= half;
        }
        for (int i = 0; i < x % 4; i++) {
            int mixed = sum ^ i;
            sum += mixed & 3;
        }
    }
    return sum;
}

__attribute__((noinline)) static int get(std::map<std::string, int> &seen, int i)
{
    std::string name(i % 7, 'a');
    try {
        if (i % 5 == 3) throw std::runtime_error(name);
        seen[name] += i;
        if (seen.at(name) > 20) return i;
        return seen.at(std::string(i % 9, 'a'));
    } catch (const std::out_of_range &) {
        return -1;
    } catch (const std::exception &) {
        return -static_cast<int>(name.size());
    }
}

int main()
{
    std::vector<int> numbers;
    std::map<std::string, int> seen;
    int all = 0;
    for (int i = 0; i < 100; i++) numbers.push_back(i * 7 % 93);
    for (int i = 0; i < 60; i++) all += get(seen, i);
    std::printf("%d %d %d\n", walk(numbers, 3), walk(numbers, 5), all);
    return 0;
}
