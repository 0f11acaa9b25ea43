/* A library for dlopen, with more thread-local variables than libc keeps room for where a library
 * wants them at a fixed offset. */
static _Thread_local char seen[4096];

int work(int x)
{
    if (x % 2) seen[x & 4095]++;
    return x < 50 ? seen[1] : -seen[99];
}
