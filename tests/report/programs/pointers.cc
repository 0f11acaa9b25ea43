// Calls through pointers and of virtual functions; each target is called as often as its name tells
// in test_calls.py.
#include <cstdio>

static volatile int sink;

__attribute__((noinline)) static int add(int n)
{
    for (int i = 0; i < 10; i++) sink = sink + n;
    return n + 1;
}

__attribute__((noinline)) static int twice(int n)
{
    for (int i = 0; i < 100; i++) sink = sink + n;
    return 2 * n;
}

struct Shape {
    virtual int area(int n) = 0;
};
struct Circle : Shape {
    __attribute__((noinline)) int area(int n) override
    {
        return 3 * n * n + sink;
    }
};
struct Square : Shape {
    __attribute__((noinline)) int area(int n) override
    {
        return n * n - sink;
    }
};

static int (*volatile ways[2])(int) = {add, twice};

__attribute__((noinline)) static int apply(int n)
{
    return ways[n % 10 >= 7](n);
}

__attribute__((noinline)) static int visit(Shape *shape, int n)
{
    return shape->area(n);
}

int main()
{
    Circle circle;
    Square square;
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += apply(i);
    for (int i = 0; i < 25; i++) sum += visit(i % 5 ? static_cast<Shape *>(&circle) : &square, i);
    std::printf("%d\n", sum != 0);
    return 0;
}
