// Sampled paths with traps: a note of the place in a section, and no instruction.
// flags: -O1 --fp-mode=pep
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK-LABEL: @f(
// CHECK: .pushsection footpath_sites
// CHECK: br i1
// CHECK: .pushsection footpath_sites{{.*}}__footpath_c_
// CHECK-NEXT: call void @a()
// CHECK: .pushsection footpath_sites{{.*}}__footpath_c_
// CHECK-NEXT: call void @b()
// CHECK-NOT: store
// CHECK: ret void
