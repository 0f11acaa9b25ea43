/* An inline function that every file of the program emits. */
__attribute__((noinline)) inline int clamp(int x)
{
    if (x < 10) return 10;
    if (x > 90) return 90;
    return x;
}

template <class T> __attribute__((noinline)) T twice(T x)
{
    return x > 50 ? x * 2 : x;
}

int first(int x);
int second(int x);
