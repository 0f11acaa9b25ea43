// The block in which r is set for the next round lies in front of the loop's header: no round jumps
// to it and on.
// flags: -O1 -fno-unroll-loops --fp-copies=no
// output: assembly
void a(void);

int f(const int *next, int i, int n)
{
    do {
        if (i == n) a();
        i = next[i];
    } while (i > 0);
    return i;
}

// CHECK-LABEL: f:
// CHECK: leaq [[COUNT:__footpath_c_[0-9a-f]+]](%rip), [[R:%r[a-z0-9]+]]
// CHECK: jmp [[HEAD:.LBB[0-9_]+]]
// CHECK: [[SET:.LBB[0-9_]+]]:
// CHECK: leaq [[COUNT]]+32(%rip), [[R]]
// CHECK-NOT: jmp
// CHECK: [[HEAD]]:
// CHECK-NOT: jmp
// CHECK-NOT: movq {{.*}}[[R]]
// CHECK: jg [[SET]]
// CHECK-NOT: jmp
// CHECK: ret
