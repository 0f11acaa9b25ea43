int twice(int x)
{
    return x > 3 ? 2 * x : x;
}
