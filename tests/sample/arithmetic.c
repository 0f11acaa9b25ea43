/* Integer instructions of all kinds, whose results decide branches: for forward.py.
 *
 * Compilers choose instructions by chance of the code around them, so those that matter are
 * written out. Each is tried on values at the edges of the types, and after each every condition
 * that a jump, a move or a byte can have is asked for. */
#include <alloca.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static unsigned long sum;

APART static void note(unsigned long value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15ul;
}

static const uint64_t values[] = {
    0,          1,          2,         0x7f,       0x80,       0xff,
    0x100,      0x7fff,     0x8000,    0xffff,     0x7fffffff, 0x80000000,
    0xffffffff, 1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX, 0x123456789abcdef0};
enum { NVALUES = sizeof values / sizeof *values };

uint64_t cell[2] __asm__("cell");

/* ---- every condition, as a jump, as a move and as a byte ---- */

#define ASK(cc)                                                      \
    "j" cc " 1f\n\tlea 1(%%r8), %%r8\n1:\tlea (%%r8,%%r8), %%r8\n\t" \
    "mov %%r8, %%r9\n\tcmov" cc " %%r10, %%r9\n\tset" cc " %%r11b\n\t"
/* What most instructions leave known, and what shifts do not. */
#define ASK_MOST \
    ASK("b") ASK("ae") ASK("e") ASK("ne") ASK("be") ASK("a") ASK("s") ASK("ns") ASK("p") ASK("np")
#define ASK_ALL ASK_MOST ASK("o") ASK("no") ASK("l") ASK("ge") ASK("le") ASK("g")
/* What is below the stack pointer may be the compiler's. */
#define BEGIN                                                                                      \
    "lea -128(%%rsp), %%rsp\n\txor %%r8d, %%r8d\n\tmov %%r8, %%r9\n\tmov $7, %%r10d\n\tmov %%r8, " \
    "%%r11\n\t"
/* What was moved and set decides a branch, too. */
#define END                                                                               \
    "test %%r11b, %%r11b\n\tje 2f\n\tadd $3, %%r8\n2:\tcmp $7, %%r9\n\tje 3f\n\tsub $5, " \
    "%%r8\n3:\tlea 128(%%rsp), %%rsp\n\t"
#define CLOBBERED "r8", "r9", "r10", "r11", "cc", "memory"

#define TRY(insn, ask)                                                                  \
    __asm__ volatile(BEGIN "add $-1, %[c]\n\t" insn "\n\t" ask END "mov %%r8, %[asked]" \
                     : [asked] "=&r"(asked), [a] "+&a"(a), [b] "+&c"(b), [c] "+&d"(c)   \
                     :                                                                  \
                     : CLOBBERED)

/* a and b are operands of the instruction; the flags before it are those of c. */
#define TWO(name, insn)                                                    \
    APART static void name(uint64_t a, uint64_t b, uint64_t c, bool whole) \
    {                                                                      \
        uint64_t asked;                                                    \
        if (whole)                                                         \
            TRY(insn, ASK_ALL);                                            \
        else                                                               \
            TRY(insn, ASK_MOST);                                           \
        note(asked);                                                       \
        if (a & 1) note(a);                                                \
        if (b >> 63) note(b);                                              \
    }

/* Each of these is tried: X(name, instructions). */
/* clang-format off */
#define SIZES(X, name, insn) \
    X(name##8, insn " %%cl, %%al") X(name##16, insn " %%cx, %%ax") \
    X(name##32, insn " %%ecx, %%eax") X(name##64, insn " %%rcx, %%rax")
#define ONE_SIZES(X, name, insn) \
    X(name##8, insn " %%al") X(name##16, insn " %%ax") \
    X(name##32, insn " %%eax") X(name##64, insn " %%rax")
#define SHIFT_SIZES(X, name, insn) \
    ONE_SIZES(X, name##cl_, insn " %%cl,") ONE_SIZES(X, name##1_, insn " $1,") \
    ONE_SIZES(X, name##7_, insn " $7,")
#define INSTRUCTIONS(X) \
    SIZES(X, add_, "add") \
    SIZES(X, sub_, "sub") \
    SIZES(X, adc_, "adc") \
    SIZES(X, sbb_, "sbb") \
    SIZES(X, cmp_, "cmp") \
    SIZES(X, test_, "test") \
    SIZES(X, and_, "and") \
    SIZES(X, or_, "or") \
    SIZES(X, xor_, "xor") \
    SIZES(X, xchg_, "xchg") \
    SIZES(X, mov_, "mov") \
    SIZES(X, xadd_, "xadd") \
    SIZES(X, cmpxchg_, "cmpxchg") \
    ONE_SIZES(X, inc_, "inc") \
    ONE_SIZES(X, dec_, "dec") \
    ONE_SIZES(X, neg_, "neg") \
    ONE_SIZES(X, not_, "not") \
    SHIFT_SIZES(X, shl_, "shl") \
    SHIFT_SIZES(X, shr_, "shr") \
    SHIFT_SIZES(X, sar_, "sar") \
    SHIFT_SIZES(X, rol_, "rol") \
    SHIFT_SIZES(X, ror_, "ror") \
    SHIFT_SIZES(X, rcl_, "rcl") \
    X(add_imm8, "add $-3, %%al") \
    X(sub_imm16, "sub $0x8000, %%ax") \
    X(cmp_imm32, "cmp $-1, %%eax") \
    X(cmp_imm64, "cmp $-1, %%rax") \
    X(and_imm64, "and $-16, %%rax") \
    X(or_imm32, "or $-1, %%eax") \
    X(xor_same, "xor %%eax, %%eax") \
    X(sub_same, "sub %%rax, %%rax") \
    X(sbb_same, "sbb %%eax, %%eax") \
    X(sbb_same64, "sbb %%rax, %%rax") \
    X(adc_imm, "adc $0, %%eax") \
    X(sbb_imm, "sbb $-1, %%rax") \
    X(xor_same8, "xor %%al, %%al") \
    X(and_0, "and $0, %%eax") \
    X(cmp_same, "cmp %%rax, %%rax") \
    X(shld, "shld $5, %%rcx, %%rax") \
    X(shrd_cl, "shrd %%cl, %%ecx, %%eax") \
    X(imul16, "imul %%cx, %%ax\n\tcmp %%cx, %%ax") \
    X(imul32, "imul %%ecx, %%eax\n\tcmp %%ecx, %%eax") \
    X(imul64, "imul %%rcx, %%rax\n\tcmp %%rcx, %%rax") \
    X(imul_by_8, "imul $-7, %%ecx, %%eax\n\ttest %%eax, %%eax") \
    X(imul_by_32, "imul $100000, %%rcx, %%rax\n\ttest %%rax, %%rax") \
    X(imul16_by, "imul $-300, %%cx, %%ax\n\ttest %%ax, %%ax") \
    X(mul_wide, "mul %%rcx\n\ttest %%rax, %%rax") \
    X(imul_wide, "imul %%ecx\n\ttest %%edx, %%edx") \
    X(movsx_8_16, "movsbw %%cl, %%ax\n\ttest %%ax, %%ax") \
    X(movsx_8_32, "movsbl %%cl, %%eax\n\ttest %%eax, %%eax") \
    X(movsx_8_64, "movsbq %%cl, %%rax\n\ttest %%rax, %%rax") \
    X(movsx_16_32, "movswl %%cx, %%eax\n\ttest %%eax, %%eax") \
    X(movsx_16_64, "movswq %%cx, %%rax\n\ttest %%rax, %%rax") \
    X(movsx_32_64, "movslq %%ecx, %%rax\n\ttest %%rax, %%rax") \
    X(movzx_8_16, "movzbw %%cl, %%ax\n\tcmp %%cx, %%ax") \
    X(movzx_8_32, "movzbl %%cl, %%eax\n\tcmp %%ecx, %%eax") \
    X(movzx_16_32, "movzwl %%cx, %%eax\n\tcmp %%rcx, %%rax") \
    X(mov_clears, "mov %%ecx, %%eax\n\tcmp %%rcx, %%rax") \
    X(high_to_low, "mov %%ah, %%cl\n\tcmp %%cl, %%al") \
    X(low_to_high, "mov %%cl, %%ah\n\tcmp %%ax, %%cx") \
    X(high_add, "add %%ch, %%ah\n\tadc $0, %%ch") \
    X(high_cmp, "cmp %%ah, %%ch") \
    X(high_inc, "inc %%ah") \
    X(high_zero, "movzbl %%ch, %%eax\n\ttest $0x80, %%eax") \
    X(high_set, "cmp %%ecx, %%eax\n\tsetl %%ah\n\ttest %%ax, %%ax") \
    X(high_shift, "shr $3, %%ah") \
    X(high_xor, "xor %%ch, %%ch\n\tcmp %%rax, %%rcx") \
    X(cbw, "cbtw\n\ttest %%ax, %%ax") \
    X(cwde, "cwtl\n\tcmp %%rcx, %%rax") \
    X(cdqe, "cltq\n\tcmp %%rcx, %%rax") \
    X(cwd, "cwtd\n\ttest %%edx, %%edx") \
    X(cdq, "cltd\n\ttest %%rdx, %%rdx") \
    X(cqo, "cqto\n\ttest %%rdx, %%rdx") \
    X(lea_all, "lea 5(%%rax,%%rcx,4), %%rdx\n\tcmp %%rdx, %%rax") \
    X(lea_32, "lea -5(%%rax,%%rcx,8), %%eax\n\tcmp %%rcx, %%rax") \
    X(lea_16, "lea 1(%%rax,%%rcx), %%ax\n\tcmp %%rcx, %%rax") \
    X(lea_short, "lea 1(%%eax,%%ecx), %%rax\n\tcmp %%rcx, %%rax") \
    X(bt, "bt %%rcx, %%rax") \
    X(bts, "bts $5, %%eax") \
    X(btr, "btr $63, %%rax\n\tcmp %%rcx, %%rax") \
    X(btc, "btc %%ecx, %%eax\n\tjb 9f\n\tcmp %%rcx, %%rax\n9:") \
    X(bswap, "bswap %%eax\n\tcmp %%rcx, %%rax") \
    X(bswap_64, "bswap %%rax\n\tcmp %%rcx, %%rax") \
    X(bsf, "or $1, %%ecx\n\tbsf %%ecx, %%eax\n\ttest %%eax, %%eax") \
    X(carry_kept, "cmp %%rax, %%rcx\n\tinc %%eax\n\tadc $0, %%ecx") \
    X(carry_set, "stc\n\tadc %%rcx, %%rax") \
    X(carry_clear, "clc\n\tsbb %%rcx, %%rax") \
    X(carry_turned, "cmc\n\tsbb %%ecx, %%eax") \
    X(lea_keeps, "cmp %%rcx, %%rax\n\tlea 1(%%rcx), %%rcx") \
    X(not_keeps, "cmp %%rcx, %%rax\n\tnot %%rax") \
    X(mov_keeps, "cmp %%ecx, %%eax\n\tmovzbl %%cl, %%eax") \
    X(shift_none, "mov $32, %%cl\n\tcmp $5, %%eax\n\tshl %%cl, %%eax") \
    X(shift_none_64, "mov $64, %%cl\n\tcmp $5, %%rax\n\tsar %%cl, %%rax") \
    X(cmov_clears, "cmp %%rcx, %%rcx\n\tcmovne %%ecx, %%eax\n\tcmp %%rcx, %%rax") \
    X(flags_stacked, "cmp %%rcx, %%rax\n\tpushf\n\tadd $3, %%eax\n\tpopf") \
    X(flags_in_ah, "cmp %%rcx, %%rax\n\tlahf\n\tadd $3, %%ecx\n\tsahf") \
    X(xchg_high, "xchg %%ah, %%al\n\tcmp %%ecx, %%eax") \
    X(stacked, "push %%rax\n\tpush %%rcx\n\tpop %%rax\n\tpop %%rcx\n\tcmp %%rcx, %%rax") \
    X(stacked_imm, "push $-5\n\tpop %%rax\n\tcmp %%rcx, %%rax") \
    X(stacked_16, "pushw %%ax\n\tpushw $-2\n\tpopw %%cx\n\tpopw %%ax\n\tcmp %%cx, %%ax") \
    X(stacked_mem, "push %%rax\n\tpush (%%rsp)\n\taddq $3, (%%rsp)\n\tpop (%%rsp)\n\t" \
      "pop %%rcx\n\tcmp %%rcx, %%rax") \
    X(stacked_sp, "push %%rsp\n\tpop %%rax\n\tcmp %%rsp, %%rax") \
    X(stored_32, "push %%rax\n\tmovl $-1, (%%rsp)\n\tmov (%%rsp), %%eax\n\t" \
      "mov 4(%%rsp), %%ecx\n\tpop %%rdx\n\tcmp %%rcx, %%rax") \
    X(stored_8, "push %%rax\n\tmovb $-1, 1(%%rsp)\n\tmovzwl (%%rsp), %%eax\n\tpop %%rdx\n\t" \
      "cmp %%rcx, %%rax") \
    X(stored_parts, "push %%rax\n\tmov %%cl, 3(%%rsp)\n\tmov (%%rsp), %%eax\n\tpop %%rdx\n\t" \
      "cmp %%rdx, %%rax") \
    X(in_memory, "push %%rax\n\tsub %%ecx, (%%rsp)\n\tpop %%rax") \
    X(shift_memory, "push %%rax\n\tshlw %%cl, 2(%%rsp)\n\tpop %%rax") \
    X(set_memory, "push %%rax\n\tcmp %%ecx, %%eax\n\tsetb 1(%%rsp)\n\tpop %%rax\n\t" \
      "test %%ah, %%ah") \
    X(shift_clears, "mov $32, %%cl\n\tshl %%cl, %%eax\n\ttest %%rax, %%rax") \
    X(stored_byte, "movb $-1, cell(%%rip)\n\tmovzbl cell(%%rip), %%eax\n\tcmp $255, %%eax") \
    X(stored_word, "movl $-2, cell(%%rip)\n\tcmpl $1, cell(%%rip)") \
    X(stored_over, "mov %%rax, cell(%%rip)\n\tmovb $3, 2+cell(%%rip)\n\t" \
      "mov cell(%%rip), %%rcx\n\tcmp %%rcx, %%rax") \
    X(stored_apart, "mov %%eax, cell(%%rip)\n\tmov %%ecx, 4+cell(%%rip)\n\t" \
      "cmp %%ecx, cell(%%rip)") \
    X(string_once, "push %%rax\n\tpush %%rdi\n\tlea 8(%%rsp), %%rdi\n\tmov %%ecx, %%eax\n\t" \
      "stosl\n\tpop %%rdi\n\tmov (%%rsp), %%eax\n\tpop %%rdx\n\tcmp %%edx, %%eax") \
    X(string_moved, "push %%rax\n\tpush %%rcx\n\tpush %%rdi\n\tpush %%rsi\n\t" \
      "lea 16(%%rsp), %%rsi\n\tlea 24(%%rsp), %%rdi\n\tmovsb\n\tpop %%rsi\n\tpop %%rdi\n\t" \
      "mov 8(%%rsp), %%rax\n\tpop %%rcx\n\tpop %%rdx\n\tcmp %%rcx, %%rax") \
    X(by_vector, "push %%rax\n\tpush %%rax\n\tmovq %%rcx, %%xmm0\n\tmovups %%xmm0, (%%rsp)\n\t" \
      "pop %%rax\n\tpop %%rdx\n\tcmp %%rdx, %%rax") \
    X(from_vector, "movq %%rcx, %%xmm0\n\tmovd %%xmm0, %%eax\n\tcmp %%rcx, %%rax") \
    X(counted, "popcnt %%rcx, %%rax\n\ttest %%eax, %%eax") \
    X(system_call, "push %%rcx\n\tpush %%rdx\n\tmov $39, %%eax\n\tsyscall\n\tpop %%rdx\n\t" \
      "pop %%rcx\n\tcmp $39, %%eax") \
    X(identified, "push %%rbx\n\txor %%eax, %%eax\n\tcpuid\n\tpop %%rbx\n\ttest %%eax, %%eax") \
    X(entered, "push %%rbp\n\tenter $16, $0\n\tmov %%rax, -8(%%rbp)\n\tmov -8(%%rbp), %%rcx\n\t" \
      "leave\n\tpop %%rbp\n\tcmp %%rcx, %%rax") \
    X(counted_down, "mov $2, %%ecx\n4:\tadd %%rax, %%rax\n\tloop 4b\n\tjrcxz 5f\n\t" \
      "dec %%rax\n5:\ttest %%rax, %%rax")
/* clang-format on */

INSTRUCTIONS(TWO)

#define NAME(name, insn) name,
static void (*const all[])(uint64_t, uint64_t, uint64_t, bool) = {INSTRUCTIONS(NAME)};
enum { NALL = sizeof all / sizeof *all };

APART static void instructions(unsigned seed)
{
    for (unsigned i = 0; i < NALL; i++) {
        seed = seed * 1103515245u + 12345u;
        all[i](values[(seed >> 8) % NVALUES], values[(seed >> 16) % NVALUES], seed >> 24 & 1,
               seed >> 25 & 1);
    }
}

/* ---- what compilers make ---- */

static int global;
static signed char small[4];

/* Memory of the program that is written and read again, in parts and whole. */
APART static void globals(unsigned v)
{
    global = -1;
    small[v & 3] = -1;
    if (global < 0) note(1);
    if (global == -1) note(2);
    if ((unsigned char)small[v & 3] == 255) note(3);
    if (small[v & 3] < 0) note(4);
    global = (int)v;
    if ((short)global < 100) note(5);
}

APART static unsigned chosen(unsigned v)
{
    switch (v % 11) {
    case 0: return v + 1;
    case 1: return v * 3;
    case 2: return v ^ 5;
    case 3: return v >> 2;
    case 4: return ~v;
    case 5: return v / 7;
    case 7: return v % 9;
    case 8: return v << 3;
    default: return v;
    }
}

APART static unsigned recursive(unsigned v)
{
    if (v < 2) return v;
    return recursive(v - 1) + recursive(v - 2);
}

static unsigned compared;

APART static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    compared++;
    return (x > y) - (x < y);
}

struct counter {
    unsigned *calls; /* a local of the caller */
    int last;
};

APART static void count_one(struct counter *c, int value)
{
    ++*c->calls;
    c->last = value;
}

/* Locals that others write to through pointers. */
APART static void callbacks(unsigned v, void (*const volatile one)(struct counter *, int))
{
    unsigned calls = 0;
    int numbers[8];
    struct counter c = {&calls, 0};
    for (unsigned i = 0; i < 8; i++) numbers[i] = (int)(v * 2654435761u >> (i + 3)) % 100;
    qsort(numbers, 8, sizeof *numbers, compare);
    for (unsigned i = 0; i < 8; i++)
        if (numbers[i] > 20) one(&c, numbers[i]);
    if (calls > 3) note(calls);
    if (c.last == numbers[7]) note(7);
}

APART static void write_some(char *room, size_t size, unsigned v)
{
    memset(room, (int)v, size);
    room[v % size] = 1;
}

APART static void on_stack(unsigned v)
{
    size_t size = 16 + v % 50;
    char *room = alloca(size), copy[64], *to = copy;
    unsigned long words[6], *word = words;
    size_t rest = size % 60, eight = 6;
    write_some(room, size, v);
    memcpy(copy, room, 16);
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(room), "+c"(rest) : : "memory");
    __asm__ volatile("rep stosq" : "+D"(word), "+c"(eight) : "a"(v & 1ul) : "memory");
    if (copy[v % 16] == 1) note(8);
    if (words[v % 6]) note(9);
    if (rest || eight) note(10);
}

static unsigned char order[16];

/* A table on the stack that is written to at an index that is not known. */
APART static void tables(unsigned v)
{
    unsigned room[4] = {0}, bytes = 0;
    room[order[v & 15] & 3] = v | 1;
    for (unsigned i = 0; i < 4; i++)
        if (room[i]) note(room[i] + i);
    ((unsigned char *)&bytes)[order[(v + 1) & 15] & 3] = 1;
    if (bytes > 0xffff) note(bytes);
}

/* A table that one instruction fills. */
APART static void filled(unsigned v)
{
    unsigned long room[4] = {2, 3, 4, 5}, *to = room, n = 4;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(v & 1ul) : "memory");
    for (unsigned i = 4; i-- > 0;)
        if (room[i] > 1) note(i);
}

static const char *const names[] = {"zero", "one", "two", "three"};

APART static void strings(unsigned v)
{
    char text[40];
    snprintf(text, sizeof text, "%s %u", names[v & 3], v);
    if (!strcmp(text, "two 2")) note(11);
    for (const char *at = text; *at; at++)
        if (*at > 'f') note((unsigned char)*at);
}

APART static long wide(__int128 a, __int128 b)
{
    __int128 c = a * 3 - b;
    if (c < 0) note(12);
    if (c > a) note(13);
    return (long)(c >> 64);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    for (unsigned i = 0; i < 16; i++) order[i] = (unsigned char)(i * 11 + (unsigned)argc);
    for (unsigned i = 0; i < n; i++) {
        instructions(i);
        globals(i * 37);
        note(chosen(i * 7919));
        note(recursive(i % 7));
        callbacks(i + 1, count_one);
        on_stack(i);
        strings(i);
        for (unsigned k = 0; k < 10; k++) tables(i + k), filled(i + k);
        note((unsigned long)wide((__int128)values[i % NVALUES] << 40, values[(i + 3) % NVALUES]));
    }
    printf("%lx %u\n", sum, compared);
    return 0;
}
