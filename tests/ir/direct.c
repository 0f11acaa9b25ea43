// Too many paths for an array, but small ids: words beside the hash table, indexed by the key.
// flags: -O1 --fp-array-paths=2 --fp-cuts=few
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

// CHECK: @[[DIRECT:__footpath_d_[0-9a-f]+]] = {{.*}}[4 x i64]
// CHECK-LABEL: @f(
// CHECK: [[R:%.+]] = phi i64 [ 3, {{.*}} ], [ 1,
// CHECK: [[KEY:%.+]] = add i64 [[R]], 1
// CHECK-NEXT: [[OFFSET:%.+]] = shl i64 [[KEY]], 3
// CHECK-NEXT: getelementptr i8, {{.*}}@[[DIRECT]], i64 [[OFFSET]]
// CHECK-NEXT: getelementptr i8, {{.*}}, i64 -8
// CHECK-NOT: @__footpath_hash_miss
// CHECK: ret void
