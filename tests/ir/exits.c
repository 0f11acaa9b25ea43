// Marks around what may leave, the register in a slot too, a personality that sees exceptions pass.
// flags: -O1 --fp-exits
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

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}[4 x i64]
// CHECK-LABEL: @f(
// CHECK-SAME: personality {{.*}}@__footpath_personality
// CHECK: [[SLOT:%.+]] = alloca i64
// CHECK: .pushsection footpath_mark
// CHECK: call void @a()
// CHECK: .pushsection footpath_mark
// CHECK: store volatile i64 2, {{.*}}[[SLOT]]
// CHECK: call void @b()
// CHECK: store volatile i64 0, {{.*}}[[SLOT]]
// CHECK: .pushsection footpath_slot{{.*}}[[SLOT]])
// CHECK: call void @c()
// CHECK: store i64
// CHECK: call void @d()
// CHECK: store i64
// CHECK: ret void
