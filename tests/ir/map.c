// A record in the map and room for the counters, in one group; of a function that is left
// out a record alone.
// flags: -O1
void a(void);

void f(int n)
{
    if (n) a();
}

static int left_out(int n) __attribute__((no_profile_instrument_function, used));
static int left_out(int n)
{
    return n;
}

// CHECK: ".pushsection footpath_cnt,\22awG\22,@nobits,[[GROUP:__footpath_g_[0-9a-f]+]],comdat"
// CHECK: "[[COUNT:__footpath_c_[0-9a-f]+]]:"
// CHECK-NEXT: ".zero 16"
// CHECK: ".pushsection .footpath_map,\22G\22,@progbits,[[GROUP]],comdat"
// CHECK: ".quad [[COUNT]]"
// CHECK: ".ascii {{.*}}map.c
// CHECK: ".pushsection .footpath_map
// CHECK-NOT: footpath_cnt
// CHECK: ".ascii {{.*}}left_out
// CHECK: .footpath_need
// CHECK-LABEL: @left_out(
// CHECK-NEXT: ret i32
