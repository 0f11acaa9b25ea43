// Sampled paths with values: a note in front of an indirect call says where its target is, which may be in any register. It
// is no instruction. Sizes are not noted. The function has a hash table, with paths and targets.
// flags: -O1 --fp-mode=pep --fp-at=early --fp-values
void f(void (*call)(void), char *to, const char *from, unsigned long n)
{
    call();
    __builtin_memcpy(to, from, n);
}

// CHECK-LABEL: @f(
// CHECK-NOT: __footpath_d_
// CHECK: [[TARGET:%.+]] = ptrtoint {{.+}} [[CALL:%.+]] to i64
// CHECK: call void asm sideeffect ".Lfp${:uid}:\0A.pushsection footpath_sites{{[^"]*}}__footpath_h_{{[0-9a-f]+}} - .\0A.quad -9223372036854775808\0A.long 1073741825\0A{{[^"]*}}", "r"(i64 [[TARGET]])
// CHECK-NEXT: call void [[CALL]]()
// CHECK-NOT: "r"(
// CHECK: call void @llvm.memcpy
