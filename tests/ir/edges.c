// A counter on the entry and on every edge.
// flags: -O1 --fp-mode=edge
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK: @[[EDGE:__footpath_e_[0-9a-f]+]] = {{.*}}[5 x i64]
// CHECK-LABEL: @f(
// CHECK: store i64 {{.*}}@[[EDGE]], align
// CHECK: br i1
// CHECK: store i64 {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK-NEXT: call void @a()
// CHECK: store i64 {{.*}}@[[EDGE]], i64 0, i64 3)
// CHECK: store i64 {{.*}}@[[EDGE]], i64 0, i64 1)
// CHECK-NEXT: call void @b()
// CHECK: store i64 {{.*}}@[[EDGE]], i64 0, i64 4)
// CHECK-NOT: @__footpath_c_
// CHECK: ret void
