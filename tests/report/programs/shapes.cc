// Templates, virtual calls, exceptions and inlined members, for reports of C++.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Square : Shape {
    double side;
    explicit Square(double s) : side(s)
    {
        if (s < 0)
            throw std::invalid_argument("negative side");
    }
    double area() const override { return side * side; }
};

struct Disc : Shape {
    double radius;
    explicit Disc(double r) : radius(r) {}
    double area() const override { return 3.14159 * radius * radius; }
};

template <typename T> T largest(const std::vector<T> &all)
{
    T best = all[0];
    for (const T &one : all)
        if (one > best)
            best = one;
    return best;
}

static std::unique_ptr<Shape> make(int i)
{
    if (i % 3 == 0)
        return std::make_unique<Disc>(i);
    return std::make_unique<Square>(i % 5 == 4 ? -1 : i);
}

int main()
{
    std::vector<double> areas;
    std::vector<std::string> names;
    int failures = 0;
    for (int i = 1; i < 40; i++) {
        try {
            areas.push_back(make(i)->area());
            names.push_back("shape" + std::to_string(i));
        } catch (const std::invalid_argument &) {
            failures++;
        }
    }
    std::printf("%.1f %s %d\n", largest(areas), largest(names).c_str(), failures);
    return 0;
}
