// The target of an indirect call and the size of a copy are counted in the hash table: the runtime is called only
// where the probe does not find them. Paths are counted beside the table, by one addition.
// flags: -O1 --fp-at=early --fp-values
void f(void (*call)(void), char *to, const char *from, unsigned long n)
{
    call();
    __builtin_memcpy(to, from, n);
}

// CHECK: @[[TABLE:__footpath_h_[0-9a-f]+]] =
// CHECK-LABEL: @f(
// CHECK: load volatile i64, {{.*}}@[[PATHS:__footpath_d_[0-9a-f]+]]
// CHECK: store volatile i64 {{.*}}@[[PATHS]]
// CHECK: [[DISTANCE:%.+]] = sub i64 {{%.+}}, ptrtoint ({{.*}}@[[TABLE]]
// CHECK-NEXT: [[VALUE:%.+]] = and i64 [[DISTANCE]], 1099511627775
// CHECK-NEXT: [[KEY:%.+]] = add {{.*}}i64 [[VALUE]], -9223372036854775807
// CHECK: [[SAME:%.+]] = icmp eq i64 {{.*}}[[KEY]]
// CHECK-NEXT: br i1 [[SAME]], label {{.*}} !prof
// CHECK: store volatile i64
// CHECK: call preserve_allcc void @__footpath_hash_miss({{.*}}@[[TABLE]], i64 [[KEY]])
// CHECK: call void %0()
// CHECK: [[SIZE:%.+]] = and i64 %3, 1099511627775
// CHECK-NEXT: [[KEY2:%.+]] = add {{.*}}i64 [[SIZE]], -4611686018427387903
// CHECK: icmp eq i64 {{.*}}[[KEY2]]
// CHECK: call preserve_allcc void @__footpath_hash_miss({{.*}}@[[TABLE]], i64 [[KEY2]])
// CHECK: call void @llvm.memcpy
