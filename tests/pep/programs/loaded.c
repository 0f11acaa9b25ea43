/* A library that comes and goes while samples are taken: of everything.c. */
unsigned long loaded_piece(unsigned long n);

unsigned long loaded_piece(unsigned long n)
{
    unsigned long x = n;
    for (unsigned long i = 0; i < n; i++) x = x & 1 ? x * 3 + i : x % 3 ? x >> 1 : x + 5;
    return x;
}
