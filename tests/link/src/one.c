/* The first of two files with a static function called helper. */
__attribute__((noinline)) static int helper(int x)
{
    if (x % 3 == 0) return x + 1;
    return x - 1;
}

int one(int x)
{
    return x > 10 ? helper(x) : x;
}
