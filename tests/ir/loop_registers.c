// A loop with two ways round: both are counted in registers, which are added to memory where the
// loop is left. The loop itself touches no counter in memory.
// flags: -O1 -fno-unroll-loops --fp-mode=edge-min
void f(unsigned *at, const unsigned *from, long n)
{
    for (long i = 0; i < n; i++)
        if (from[i] & 4) at[i] = 3;
}

// CHECK: @[[EDGE:__footpath_e_[0-9a-f]+]] = {{.*}}[4 x i64]
// CHECK-LABEL: @f(
// CHECK: [[ONE:%.+]] = phi i64 [ [[ROUND_ONE:%.+]], {{.*}} ]
// CHECK-NEXT: [[TWO:%.+]] = phi i64 [ [[ROUND_TWO:%.+]], {{.*}} ]
// CHECK-NEXT: [[OLD_TWO:%.+]] = load i64, {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK-NEXT: [[NEW_TWO:%.+]] = add i64 [[OLD_TWO]], [[TWO]]
// CHECK-NEXT: store i64 [[NEW_TWO]], {{.*}}@[[EDGE]], i64 0, i64 2)
// CHECK-NEXT: [[OLD_ONE:%.+]] = load i64, {{.*}}@[[EDGE]], i64 0, i64 3)
// CHECK-NEXT: [[NEW_ONE:%.+]] = add i64 [[OLD_ONE]], [[ONE]]
// CHECK-NEXT: store i64 [[NEW_ONE]], {{.*}}@[[EDGE]], i64 0, i64 3)
// CHECK: phi i64 [ 0, {{%.+}} ], [ [[ROUND_ONE]], {{%.+}} ]
// CHECK-NEXT: phi i64 [ 0, {{%.+}} ], [ [[ROUND_TWO]], {{%.+}} ]
// CHECK-NOT: @[[EDGE]]
// CHECK: [[ROUND_ONE]] = phi i64
// CHECK-NEXT: [[ROUND_TWO]] = phi i64
// CHECK-NOT: @[[EDGE]]
// CHECK: icmp eq i64
// CHECK-NOT: @[[EDGE]]
// CHECK: }
