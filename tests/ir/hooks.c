// The profile is written in front of a call that ends the process without exit handlers.
// flags: -O1
void _exit(int) __attribute__((noreturn));

void f(int n)
{
    if (n) _exit(n);
}

// CHECK-LABEL: @f(
// CHECK: store i64
// CHECK-NEXT: call void @__footpath_at_end()
// CHECK-NEXT: call void @_exit(
