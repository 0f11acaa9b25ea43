/* A library for dlopen: work() takes 2 ways. */
static __attribute__((noinline)) int step(int x)
{
    if (x % 2 == 0) return x * 1;
    return x + 1;
}

int work(int x)
{
    return x < 50 ? step(x) : -step(x);
}
