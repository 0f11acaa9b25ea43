// Two paths, told apart by one branch: a constant counter on each way, no register.
// flags: -O1
int a(void), b(void);

int f(int n)
{
    return n & 1 ? a() + 1 : b() + 2;
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = external hidden addrspace(256) global [2 x i64]
// CHECK-LABEL: @f(
// CHECK: .debug_footpath_live
// CHECK: br i1
// CHECK: [[OLD:%.+]] = load i64, {{.*}}@[[COUNT]], i64 0, i64 1)
// CHECK-NEXT: [[NEW:%.+]] = add i64 [[OLD]], 1
// CHECK-NEXT: store i64 [[NEW]], {{.*}}@[[COUNT]], i64 0, i64 1)
// CHECK-NEXT: call i32 @a()
// CHECK: [[OLD2:%.+]] = load i64, {{.*}}@[[COUNT]],
// CHECK-NEXT: [[NEW2:%.+]] = add i64 [[OLD2]], 1
// CHECK-NEXT: store i64 [[NEW2]], {{.*}}@[[COUNT]],
// CHECK-NEXT: call i32 @b()
// CHECK-NOT: @__footpath
// CHECK: ret i32
