// Sampled paths with a flag: a test of a byte of the thread, and a call that is rarely made.
// flags: -O1 --fp-mode=pep --fp-pep=flag
void a(void), b(void);

void f(int n)
{
    if (n & 1)
        a();
    else
        b();
}

// CHECK: @__footpath_sampling = external hidden addrspace(256) global i8
// CHECK-LABEL: @f(
// CHECK: [[FLAG:%.+]] = load volatile i8, {{.*}}@__footpath_sampling
// CHECK-NEXT: [[IDLE:%.+]] = icmp eq i8 [[FLAG]], 0
// CHECK-NEXT: br i1 [[IDLE]], {{.*}}!prof
// the path, with the bit of one that no path of this call follows; and its cost
// CHECK: call preserve_allcc void @__footpath_sample_array({{.*}}, i64 4611686018427387905, i64 {{[1-9][0-9]*}})
// CHECK: call void @a()
// CHECK: call preserve_allcc void @__footpath_sample_array({{.*}}, i64 4611686018427387904, i64 {{[1-9][0-9]*}})
// CHECK: call void @b()
