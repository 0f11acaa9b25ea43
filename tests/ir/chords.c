// Counters on the chords of a spanning tree only: the other edges follow from them.
// flags: -O1 --fp-mode=edge-min
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK: @[[EDGE:__footpath_e_[0-9a-f]+]] = {{.*}}[2 x i64]
// CHECK-LABEL: @f(
// CHECK-NOT: store
// CHECK: call void @a()
// CHECK: store i64 {{.*}}@[[EDGE]], align
// CHECK: call void @b()
// CHECK: store i64 {{.*}}@[[EDGE]], i64 0, i64 1)
// CHECK-NOT: store
// CHECK: ret void
