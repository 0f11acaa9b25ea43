// More paths than a sparse array takes: the key is looked up in a hash table.
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
    TWO(14) TWO(15) TWO(16) TWO(17) TWO(18) TWO(19) TWO(20) TWO(21) TWO(22) TWO(23) TWO(24)
    TWO(25)
}

// CHECK: @[[TABLE:__footpath_h_[0-9a-f]+]] = {{.*}}[3 x i64]
// CHECK-LABEL: @f(
// CHECK: call void @b(i32 noundef 24)
// CHECK: [[HASH:%.+]] = mul i64 [[KEY:%.+]],
// CHECK-NEXT: [[TOP:%.+]] = lshr i64 [[HASH]],
// CHECK-NEXT: [[WORD:%.+]] = load volatile i64, {{.*}}@[[TABLE]]
// CHECK-NEXT: [[LEVEL:%.+]] = inttoptr i64 [[WORD]]
// CHECK-NEXT: [[MASK:%.+]] = load i64, {{.*}}[[LEVEL]]
// CHECK-NEXT: and i64 [[TOP]], [[MASK]]
// CHECK: [[SAME:%.+]] = icmp eq i64 {{%.+}}, [[KEY]]
// CHECK-NEXT: br i1 [[SAME]], {{.*}}!prof
// CHECK: add i64 {{%.+}}, 1
// CHECK: call preserve_allcc void @__footpath_hash_miss({{.*}}@[[TABLE]], i64 [[KEY]])
