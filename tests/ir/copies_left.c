// Copies of blocks with --fp-exits: a mark tells the copy, in which the sum is a constant, and no slot is stored to.
// flags: -O1 -fno-unroll-loops --fp-exits --fp-copies=all
void a(void), b(void), c(void), d(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
    if (n & 2)
        c();
    else
        d();
}

// CHECK-LABEL: @f(
// CHECK-NOT: store volatile
// CHECK: call void @c()
// CHECK-NOT: store volatile
// CHECK: call void @c()
// CHECK-NOT: store volatile
// CHECK: ret void
