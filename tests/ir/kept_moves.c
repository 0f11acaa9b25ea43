// A short loop moves the running register in a register of the processor: sites in the loop are
// given both parts of it, and the word is moved where the loop is left. With a second body the first
// one adds nothing, so nothing is kept (additions.c).
// flags: -O1 --fp-mode=pep --fp-pep=trap
__attribute__((noinline)) unsigned flip(unsigned *a, unsigned n, unsigned mask)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] & mask) a[i] ^= 5;
    return mask & 1 ? n : 0;
}

__attribute__((noinline)) unsigned outside(unsigned *a, unsigned n, void call(void))
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] & 4) call();
    return n;
}

// CHECK-LABEL: @flip(
// CHECK: load i64, {{.*}}[[AT:%[0-9]+]], align
// CHECK-NEXT: [[SUM:%[0-9]+]] = add i64 {{.*}}[[MOVED:%[0-9]+]]
// CHECK-NEXT: store i64 [[SUM]], {{.*}}[[AT]], align
// CHECK: freeze i64 [[MOVED]]
// CHECK: "*m,r"({{.*}}[[AT]], i64 [[MOVED]])
// CHECK-LABEL: @outside(
// CHECK-NOT: "*m,r"
