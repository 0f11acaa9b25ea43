/* A library that is loaded and unloaded all the time (kills.c). */
extern volatile unsigned long sink;

void plugin(unsigned n);
void plugin(unsigned n)
{
    if (n & 1) sink += n;
    if (n & 2) sink ^= n;
    if (n & 4) sink -= n;
    if (n & 8) sink |= n;
}
