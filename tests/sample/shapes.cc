#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
struct Shape { virtual ~Shape() {} virtual unsigned area(unsigned k) const = 0; };
struct Square : Shape { unsigned area(unsigned k) const override { return k * k; } };
struct Line : Shape { unsigned area(unsigned k) const override { return k > 7 ? k : 1; } };
static unsigned mix(unsigned s) { s ^= s << 13; s ^= s >> 17; return s ^ s << 5; }
template <typename T> static T clamp3(T v, T lo, T hi) { return v < lo ? lo : v > hi ? hi : v; }
static unsigned pick(unsigned v) {
    switch (v % 7) { case 0: return v + 1; case 1: return v * 3; case 2: return v ^ 5; case 3: return v >> 2; case 5: return ~v; default: return v; }
}
int main(int argc, char **argv) {
    unsigned n = argc > 1 ? atoi(argv[1]) : 1000, s = 1, sum = 0;
    std::vector<unsigned> all;
    Square square; Line line;
    for (unsigned i = 0; i < n; i++) {
        s = mix(s);
        const Shape *shape = s & 4 ? (const Shape *)&square : &line;
        sum += shape->area(s % 13) + pick(s);
        if (s % 5 == 0) all.push_back(clamp3(s % 1000, 10u, 900u));
        else if (s % 3 == 0) sum -= clamp3(sum, 5u, 50000u);
    }
    std::sort(all.begin(), all.end());
    printf("%u %zu\n", sum, all.size());
}
