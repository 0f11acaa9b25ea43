/* A stack that overflows; how deep it gets depends on the environment.
 * run: -> signal 11
 * not: deterministic
 */
static int __attribute__((noinline)) overflow(int n)
{
    volatile char room[4096];
    room[n % 4096] = (char)n;
    if (n == -1) return 0;
    return overflow(n + 1) + room[n % 4096];
}

int main(void)
{
    return overflow(0);
}
