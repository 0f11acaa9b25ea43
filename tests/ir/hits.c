// Executed operations are counted beside the paths.
// flags: -O1 --fp-hits
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK-DAG: @[[HITS:__footpath_e_[0-9a-f]+]] = {{.*}}[1 x i64]
// CHECK-DAG: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}[2 x i64]
// CHECK-LABEL: @f(
// CHECK: store i64 {{.*}}@[[HITS]],
// CHECK: store i64 {{.*}}@[[COUNT]], i64 0, i64 1)
// CHECK-NEXT: call void @a()
// CHECK: store i64 {{.*}}@[[HITS]],
// CHECK: store i64 {{.*}}@[[COUNT]],
// CHECK-NEXT: call void @b()
