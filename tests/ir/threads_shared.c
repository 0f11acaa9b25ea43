// All threads count in one array, by plain additions.
// flags: -O1 --fp-threads=shared
int a(void), b(void);

int f(int n)
{
    return n & 1 ? a() + 1 : b() + 2;
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = external hidden global [2 x i64]
// CHECK-LABEL: @f(
// CHECK: load i64, {{.*}}@[[COUNT]]
// CHECK-NOT: addrspace
// CHECK-NOT: atomicrmw
// CHECK: ret i32
