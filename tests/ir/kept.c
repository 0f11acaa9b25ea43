// Counts of a short loop go up in registers and are added to memory where the loop is left. Not
// where other threads may be waited for: such a loop may never be left. Nor where the loop is a small
// part of its function, whose other code would lack the registers.
// flags: -O1 --fp-copies=all
__attribute__((noinline)) long kept(const unsigned *a, unsigned *b, long n)
{
    for (long i = 0; i < n; i++) {
        if (a[i] & 4) b[i & 7] += a[i];
        b[i & 15] ^= 1;
    }
    return n;
}

__attribute__((noinline)) long watched(const unsigned *a, volatile unsigned *b, long n)
{
    for (long i = 0; i < n; i++) {
        if (a[i] & 4) b[i & 7] += a[i];
        b[i & 15] ^= 1;
    }
    return n;
}

void other(long k);

__attribute__((noinline)) long seldom(const unsigned *a, unsigned *b, long n)
{
    for (long k = 0; k < n; k++) {
        other(k);
        if (__builtin_expect(k == 77, 0))
            for (long i = 0; i < n; i++) {
                if (a[i] & 4) b[i & 7] += a[i];
                b[i & 15] ^= 1;
            }
    }
    return n;
}

int main(void)
{
    return 0;
}

// CHECK-LABEL: @kept(
// CHECK: [[SUM:%.+]] = add i64 {{%.+}}, {{%[0-9]+}}
// CHECK-NEXT: store i64 [[SUM]], {{.*}}@__footpath_c_
// CHECK: [[ROUND:%.+]] = freeze i64
// CHECK: phi i64 {{.*}}[[ROUND]]
// CHECK-LABEL: @watched(
// CHECK-NOT: freeze i64
// CHECK-LABEL: @seldom(
// CHECK-NOT: freeze i64
// CHECK-LABEL: @main(
