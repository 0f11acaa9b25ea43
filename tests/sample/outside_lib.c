/* What outside.c uses of a library. */
const int limits[4] = {1000000, 1000000, 1000000, 1000000};

int triple(int x)
{
    return x * 3;
}
