// All threads count in one array, by atomic additions.
// flags: -O1 --fp-threads=atomic
int a(void), b(void);

int f(int n)
{
    return n & 1 ? a() + 1 : b() + 2;
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = external hidden global [2 x i64]
// CHECK-LABEL: @f(
// CHECK: atomicrmw add {{.*}}@[[COUNT]], i64 0, i64 1), i64 1 monotonic
// CHECK-NEXT: call i32 @a()
// CHECK: atomicrmw add {{.*}}@[[COUNT]], i64 1 monotonic
// CHECK-NEXT: call i32 @b()
