// Copy 0 of P3. main takes turns: a choice at the head, a counting body and a plain one. f
// belongs to this copy: its invocations and paths are counted.
// flags: -O1
// division: --strategy invocations
volatile int sink;
__attribute__((noinline)) void a(int n)
{
    sink = n;
}
__attribute__((noinline)) void b(int n)
{
    sink = -n;
}

__attribute__((noinline)) void f(int n)
{
    if (n & 1)
        a(0);
    else
        b(0);
    if (n & 2)
        a(1);
    else
        b(1);
    if (n & 4)
        a(2);
    else
        b(2);
}

int main(void)
{
    for (int i = 0; i < 100000; i++) f(i);
    return 0;
}

// CHECK-LABEL: void @f(
// CHECK: store i64 {{.*}}@__footpath_e_
// CHECK: br i1
// CHECK-NOT: urem
// CHECK-LABEL: i32 @main(
// CHECK: [[BEFORE:%.+]] = load i64, {{.*}}@[[TURNS:__footpath_e_[0-9a-f]+]],
// CHECK: store i64 {{.*}}@[[TURNS]],
// CHECK-NEXT: [[WHOSE:%.+]] = urem i64 [[BEFORE]], 2
// CHECK-NEXT: [[MINE:%.+]] = icmp eq i64 [[WHOSE]], 0
// CHECK-NEXT: br i1 [[MINE]], {{.*}}!prof
// CHECK: {{^[0-9]+}}:
// CHECK: store i64 {{.*}}@__footpath_c_
// CHECK: call void @f(
// CHECK: call void @f(
// CHECK-NOT: @__footpath
// CHECK: {{^}$}}
