// The clock is read at the start and where the path ends; counters come in pairs.
// flags: -O1 --fp-metric=inclusive-cycles
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}[4 x i64]
// CHECK-LABEL: @f(
// CHECK: [[START:%.+]] = call i64 @llvm.readcyclecounter()
// CHECK: br i1
// CHECK: call void @a()
// CHECK: call void @b()
// CHECK: [[SINCE:%.+]] = phi i64 [ [[START]], {{.*}} [ [[START]],
// CHECK: [[AT:%.+]] = getelementptr i64, {{.*}}, i64 2
// CHECK: store i64 {{.*}} [[AT]],
// CHECK: [[CELL:%.+]] = getelementptr i64, {{.*}} [[AT]], i64 1
// CHECK: [[NOW:%.+]] = call i64 @llvm.readcyclecounter()
// CHECK-NEXT: [[TOOK:%.+]] = sub i64 [[NOW]], [[SINCE]]
// CHECK: add i64 {{%.+}}, [[TOOK]]
// CHECK-NEXT: store i64 {{.*}} [[CELL]],
