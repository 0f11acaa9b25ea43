// The clock is read at the start and where the path ends; what was charged meanwhile, by callees,
// is taken off; counters come in pairs.
// flags: -O1 --fp-metric=cycles
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}[4 x i64]
// CHECK: @__footpath_charged = weak thread_local(initialexec) global i64 0
// CHECK-LABEL: @f(
// CHECK: [[START:%.+]] = call i64 @llvm.readcyclecounter()
// CHECK: [[CHARGED:%.+]] = load i64, {{.*}} @__footpath_charged
// CHECK: [[ENTERED:%.+]] = sub i64 [[START]], [[CHARGED]]
// CHECK: br i1
// CHECK: call void @a()
// CHECK: call void @b()
// CHECK: [[AT:%.+]] = getelementptr i64, {{.*}}, i64 2
// CHECK: store i64 {{.*}} [[AT]],
// CHECK: [[CELL:%.+]] = getelementptr i64, {{.*}} [[AT]], i64 1
// CHECK: [[NOW:%.+]] = call i64 @llvm.readcyclecounter()
// CHECK-NEXT: [[PASSED:%.+]] = sub i64 [[NOW]], [[ENTERED]]
// CHECK-NEXT: [[BEFORE:%.+]] = load i64, {{.*}} @__footpath_charged
// CHECK: [[AFTER:%.+]] = select i1 {{.*}} i64 [[PASSED]], i64 [[BEFORE]]
// CHECK-NEXT: store i64 [[AFTER]], {{.*}} @__footpath_charged
// CHECK-NEXT: [[TOOK:%.+]] = sub i64 [[AFTER]], [[BEFORE]]
// CHECK: add i64 {{%.+}}, [[TOOK]]
// CHECK-NEXT: store i64 {{.*}} [[CELL]],
