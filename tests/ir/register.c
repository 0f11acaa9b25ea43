// Two branches in a row: r is the address of a counter, set where ways merge, counted through.
// flags: -O1
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
// CHECK-NOT: store
// CHECK: call void @a()
// CHECK-NOT: store
// CHECK: call void @b()
// CHECK: [[R:%.+]] = phi {{.*}}@[[COUNT]], i64 0, i64 2){{.*}} @[[COUNT]],
// CHECK: [[R1:%.+]] = getelementptr i64, {{.*}} [[R]], i64 1
// CHECK: load i64, {{.*}} [[R1]],
// CHECK: store i64 {{.*}} [[R1]],
// CHECK-NEXT: call void @c()
// CHECK: load i64, {{.*}} [[R]],
// CHECK: store i64 {{.*}} [[R]],
// CHECK-NEXT: call void @d()
