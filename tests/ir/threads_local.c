// Each thread counts in a copy of its own: relative to %gs, which is address space 256.
// flags: -O1 --fp-threads=local
int a(void), b(void);

int f(int n)
{
    return n & 1 ? a() + 1 : b() + 2;
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = external hidden addrspace(256) global [2 x i64]
// CHECK-LABEL: @f(
// CHECK: load i64, {{.*}}addrspace(256){{.*}}@[[COUNT]]
// CHECK-NOT: atomicrmw
// CHECK: ret i32
