/* A library for dlopen: work() takes 3 ways. */
static __attribute__((noinline)) int step(int x)
{
    if (x % 3 == 0) return x * 2;
    return x + 2;
}

int work(int x)
{
    return x < 50 ? step(x) : -step(x);
}
