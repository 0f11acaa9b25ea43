// A loop whose variable tells how often its one edge is taken: nothing is counted in it.
// flags: -O1 -fno-unroll-loops -fno-vectorize --fp-mode=edge-min
int f(const int *at, long n)
{
    int sum = 1;
    for (long i = 0; i < n; i++) sum = sum * 3 ^ at[i];
    return sum;
}

// CHECK: @[[EDGE:__footpath_e_[0-9a-f]+]] = {{.*}}[3 x i64]
// CHECK-LABEL: @f(
// CHECK: [[VISITS:%.+]] = sub i64 [[N:%.+]], 0
// CHECK-NEXT: [[ROUNDS:%.+]] = add i64 [[VISITS]], -1
// CHECK-NEXT: [[OLD:%.+]] = load i64, {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK-NEXT: [[NEW:%.+]] = add i64 [[OLD]], [[ROUNDS]]
// CHECK-NEXT: store i64 [[NEW]], {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK: ret i32
// CHECK: mul nsw i32
// CHECK-NOT: @[[EDGE]]
// CHECK: icmp eq i64 {{%.+}}, [[N]]
// CHECK-NOT: @[[EDGE]]
// CHECK: }
