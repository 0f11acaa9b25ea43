// More paths than an array takes: the key is an index into a sparse array, once that is made.
// flags: -O1 --fp-array-paths=2 --fp-cuts=few
void a(int), b(int);

#define TWO(n)      \
    if (x & 1 << n) \
        a(n);       \
    else            \
        b(n);

void f(int x)
{
    TWO(1) TWO(2) TWO(3) TWO(4) TWO(5) TWO(6) TWO(7) TWO(8) TWO(9) TWO(10) TWO(11) TWO(12) TWO(13)
}

// CHECK: @[[TABLE:__footpath_h_[0-9a-f]+]] = {{.*}}[3 x i64]
// CHECK-LABEL: @f(
// CHECK: call void @b(i32 noundef 12)
// CHECK: [[ARRAY:%.+]] = load volatile i64, {{.*}}@[[TABLE]]
// CHECK-NEXT: [[THERE:%.+]] = icmp sgt i64 [[ARRAY]], 0
// CHECK-NEXT: br i1 [[THERE]], {{.*}}!prof
// CHECK: [[OFFSET:%.+]] = shl i64 [[KEY:%.+]], 3
// CHECK-NEXT: inttoptr i64 [[ARRAY]]
// CHECK: add i64 {{%.+}}, 1
// CHECK: call preserve_allcc void @__footpath_sparse_miss({{.*}}@[[TABLE]], i64 [[KEY]])
