// A loop whose variable tells the laps: they are added up where the loop is left, and
// nothing is counted in it.
// flags: -O1 -fno-unroll-loops -fno-vectorize
int f(const int *at, long n)
{
    int sum = 1;
    for (long i = 0; i < n; i++) sum = sum * 3 ^ at[i];
    return sum;
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}[3 x i64]
// CHECK-LABEL: @f(
// CHECK: [[LAPS:%.+]] = sub i64 [[N:%.+]], 0
// CHECK-NEXT: [[OLD:%.+]] = load i64, {{.*}}@[[COUNT]], i64 0, i64 2)
// CHECK-NEXT: [[NEW:%.+]] = add i64 [[OLD]], [[LAPS]]
// CHECK-NEXT: store i64 [[NEW]], {{.*}}@[[COUNT]], i64 0, i64 2)
// CHECK: ret i32
// CHECK: mul nsw i32
// CHECK-NOT: @[[COUNT]]
// CHECK: icmp eq i64 {{%.+}}, [[N]]
