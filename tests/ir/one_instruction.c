// Without optimisation a count is still one instruction: a signal handler may count too.
// flags: -O0
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK-LABEL: @f(
// CHECK: br i1
// CHECK: asm sideeffect "addq $1, %gs:$0"{{.*}}@__footpath_c_
// CHECK-NEXT: call void @a()
// CHECK: asm sideeffect "addq $1, %gs:$0"{{.*}}@__footpath_c_
// CHECK-NEXT: call void @b()
