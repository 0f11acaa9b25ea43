// With --fp-exits edges are exact up to where a frame is left, so a loop counts in memory.
// flags: -O1 -fno-unroll-loops -fno-vectorize --fp-mode=edge-min --fp-exits
int f(const int *at, long n)
{
    int sum = 1;
    for (long i = 0; i < n; i++) sum = sum * 3 ^ at[i];
    return sum;
}

// CHECK: @[[EDGE:__footpath_e_[0-9a-f]+]] = {{.*}}[3 x i64]
// CHECK-LABEL: @f(
// CHECK: [[OLD:%.+]] = load i64, {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK-NEXT: [[NEW:%.+]] = add i64 [[OLD]], 1
// CHECK-NEXT: store i64 [[NEW]], {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK-NEXT: br label %[[HEADER:[0-9]+]]
// CHECK: {{^}}[[HEADER]]:
// CHECK: mul nsw i32
