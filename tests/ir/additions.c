// With a second body the running register is moved by one instruction, which footpath-cc finds by a
// section of their addresses. A short loop keeps nothing in a register.
// flags: -O1 --fp-mode=pep
__attribute__((noinline)) unsigned flip(unsigned *a, unsigned n, unsigned mask)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] & mask) a[i] ^= 5;
    return mask & 1 ? n : 0;
}

// CHECK-LABEL: @flip(
// CHECK-NOT: "*m,r"
// CHECK: asm sideeffect ".Lfp${:uid}: addq $${{-?[0-9]+}}, $0\0A.pushsection footpath_adds,
// CHECK-SAME: "=*m,*m,~{flags}"(ptr elementtype(i64) [[WORD:%[0-9]+]], ptr elementtype(i64) [[WORD]])
// CHECK-NOT: "*m,r"
// CHECK: attributes #
