/* MANY_PATHS(name): a function of 2^40 paths, one per value of the low 40 bits of x. Its
 * counts are in a hash table. The stores are volatile, so that no branch becomes a select. */
#define TURN(k) \
    if (x >> (k) & 1) *sink = k;
#define TURNS(k) TURN(k) TURN(k + 1) TURN(k + 2) TURN(k + 3) TURN(k + 4) TURN(k + 5) TURN(k + 6) TURN(k + 7)
#define MANY_PATHS(name)                                  \
    void name(unsigned long long x, volatile int *sink); \
    void name(unsigned long long x, volatile int *sink)  \
    {                                                     \
        TURNS(0) TURNS(8) TURNS(16) TURNS(24) TURNS(32)   \
    }
