// A loop with two ways round. The path that leaves the loop is counted through r as it was, so r is
// set for the next round on the edge back and not in front of the branch: both values would need a
// register, and a copy in every round.
// flags: -O1 -fno-unroll-loops --fp-copies=no
void a(void);

int f(const int *next, int i, int n)
{
    do {
        if (i == n) a();
        i = next[i];
    } while (i > 0);
    return i;
}

// CHECK: @[[COUNT:__footpath_c_[0-9a-f]+]] = {{.*}}x i64]
// CHECK-LABEL: @f(
// CHECK: [[SET:%.+]] = call {{.*}} asm sideeffect "leaq [[COUNT]]+32(%rip), $0"
// CHECK-NEXT: br label %[[HEAD:.+]]
// CHECK: [[HEAD]]:
// CHECK-NEXT: [[R:%.+]] = phi {{.*}}@[[COUNT]], {{.*}}[ [[SET]],
// CHECK: call void @a()
// CHECK: [[AT_END:%.+]] = phi {{.*}}[ [[R]],
// CHECK-NOT: asm
// CHECK: getelementptr i64, {{.*}} [[AT_END]], i64 3
// CHECK: ret i32
