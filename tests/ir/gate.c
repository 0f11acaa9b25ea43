// A large array in a function without loops: a gate in front of each count, and a call where it is
// not open. A function with a loop, or with a small array, has none.
// flags: -O1
void a(int), b(int);

#define TWO(n)      \
    if (x & 1 << n) \
        a(n);       \
    else            \
        b(n);

#define ELEVEN TWO(1) TWO(2) TWO(3) TWO(4) TWO(5) TWO(6) TWO(7) TWO(8) TWO(9) TWO(10) TWO(11)

void f(int x)
{
    ELEVEN
}

void loop(int x)
{
    for (int i = 0; i < 1000; i++, x += 3) { ELEVEN }
}

void small(int x)
{
    TWO(1) TWO(2) TWO(3)
}

// CHECK: @[[GATE:__footpath_gate_[0-9a-f]+]] = {{.*}}addrspace(256) global i16
// CHECK-NOT: @__footpath_gate_
// CHECK-LABEL: @f(
// CHECK: call void @b(i32 noundef 10)
// CHECK: [[OPEN:%.+]] = load volatile i16, {{.*}}@[[GATE]]
// CHECK-NEXT: [[THERE:%.+]] = icmp slt i16 [[OPEN]], 0
// CHECK-NEXT: br i1 [[THERE]], {{.*}}!prof
// CHECK: add i64 {{%.+}}, 1
// CHECK: call void asm sideeffect {{.*}}__footpath_gate_miss
// CHECK-LABEL: @loop(
// CHECK-NOT: __footpath_gate_
