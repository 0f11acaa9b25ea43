// The slot is set on the edges out of a loop, as the register is: in front of the branches that would be in every round.
// What is behind the loop cannot be copied, so the ways out of the loop's copies meet there.
// flags: -O1 -fno-unroll-loops --fp-exits --fp-copies=all
void a(void);
void b(void);
void c(void) __attribute__((noduplicate));

int f(const int *next, int i, int n)
{
    do {
        if (i == n)
            a();
        else
            b();
        i = next[i];
    } while (i > 0);
    c();
    if (i) a();
    b();
    return i;
}

// CHECK-LABEL: @f(
// CHECK: [[SLOT:%.+]] = alloca i64
// The first round, by either way, then the others.
// CHECK: br i1 {{.*}}!llvm.loop
// CHECK: br i1 {{.*}}!llvm.loop
// CHECK-NOT: store volatile
// CHECK: br i1 {{.*}}!llvm.loop
// CHECK-NOT: store volatile
// CHECK: br i1 {{.*}}!llvm.loop
// CHECK: store volatile {{.*}}[[SLOT]]
// CHECK: store volatile {{.*}}[[SLOT]]
// CHECK: call void @c()
