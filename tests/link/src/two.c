/* The second; its helper is another function. */
__attribute__((noinline)) static int helper(int x)
{
    int sum = 0;
    for (int i = 0; i < x % 5; i++) sum += i ^ x;
    return sum;
}

int two(int x)
{
    return helper(x) + helper(x + 1);
}
