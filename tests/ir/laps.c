// A loop with one way round: its closing edge has a counter of its own. The call may not
// return, so laps are counted one by one.
// flags: -O1
void a(int);

void f(int n)
{
    for (int i = 0; i < n; i++) a(i);
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}[3 x i64]
// CHECK-LABEL: @f(
// CHECK: phi i32
// CHECK: load i64, {{.*}}@[[COUNT]], i64 0, i64 2)
// CHECK-NEXT: [[NEW:%.+]] = add i64 {{%.+}}, 1
// CHECK-NEXT: store i64 [[NEW]], {{.*}}@[[COUNT]], i64 0, i64 2)
// CHECK-NEXT: call void @a(
// CHECK: br i1
