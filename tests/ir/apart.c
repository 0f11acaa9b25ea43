// A count before optimisation is no access of the program's memory: what the loop reads again and again is read once, in
// front of the loop. The count itself stays in the loop, where a signal handler may count, too.
// flags: -O2 --fp-at=early
struct words {
    long *at;
    unsigned n;
};

long f(struct words *w, unsigned long *seen)
{
    long sum = 0;
    for (unsigned i = 0; i < w->n; i++)
        if (w->at[i] & 1) sum += w->at[i], (*seen)++;
    return sum;
}

// CHECK-LABEL: @f(
// CHECK: load ptr, ptr %0
// CHECK-NOT: load ptr, ptr %0
// CHECK: store volatile i64 {{.*}}__footpath_c_{{.*}} !tbaa [[TAG:![0-9]+]]
// CHECK-NOT: load ptr, ptr %0
// CHECK: ret i64
// CHECK: [[TAG]] = !{[[TYPE:![0-9]+]], [[TYPE]], i64 0}
// CHECK: [[TYPE]] = !{!"footpath counter", ![[ROOT:[0-9]+]], i64 0}
