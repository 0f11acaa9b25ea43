// A loop with two ways round. It is copied for rounds that begin in it, and what is behind the merge for each of the two
// ways: every path is counted at a fixed address, and no register is set.
// flags: -O1 -fno-unroll-loops --fp-copies=all
// output: assembly
void a(void);
void b(void);

int f(const int *next, int i, int n)
{
    do {
        if (i == n)
            a();
        else
            b();
        i = next[i];
    } while (i > 0);
    return i;
}

// CHECK-LABEL: f:
// CHECK-NOT: leaq __footpath_c_
// CHECK: incq %gs:[[COUNT:__footpath_c_[0-9a-f]+]]
// CHECK-NOT: leaq __footpath_c_
// CHECK-NOT: incq %gs:(
// CHECK: .Lfunc_end0:
