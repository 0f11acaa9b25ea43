/* Lengths of instructions as the runtime reads them: hexadecimal bytes a line in, a
 * length a line out (0: not understood). And some copies, executed. */
#include "rt.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int lengths(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        unsigned char bytes[64] = {0};
        unsigned byte;
        int used;
        size_t n = 0;
        for (const char *at = line; n < 16 && sscanf(at, " %2x%n", &byte, &used) == 1; at += used)
            bytes[n++] = (unsigned char)byte;
        printf("%zu\n", rt_insn_length(bytes));
    }
    return 0;
}

/* code: one instruction, then `ret`. Called through its copy, with 5, it must give `due`. */
static int execute(unsigned char *room, const char *code, size_t len, long due)
{
    unsigned char *slot = room + 2048;
    memset(room, 0xcc, 4096); /* what is executed in its place traps */
    memcpy(room, code, len);
    if (!rt_slot_make(room, slot)) {
        printf("not understood: %02x %02x\n", (unsigned char)code[0], (unsigned char)code[1]);
        return 1;
    }
    room[0] = 0xcc;
    uint64_t callee = (uint64_t)room + len; /* for calls through memory */
    memcpy(room + 512, &callee, sizeof callee);
    memcpy(room + len, "\x48\x8d\x47\x03\xc3", 5); /* lea 3(%rdi), %rax; ret */
    long (*call)(long);
    memcpy(&call, &slot, sizeof call);
    long got = call(5);
    if (got != due) printf("%02x %02x gave %ld, not %ld\n", (unsigned char)code[0], (unsigned char)code[1], got, due);
    return got != due;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "lengths")) return lengths();
    unsigned char *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        puts("skipped: no memory that is writable and executable");
        return 77;
    }
    int failed = 0;
#define EXECUTE(code, due) failed += execute(room, code, sizeof(code) - 1, due)
    EXECUTE("\x48\x8d\x47\x02\xc3", 7);                          /* lea 2(%rdi), %rax; ret */
    EXECUTE("\x48\x8b\x05\x01\x00\x00\x00\xc3\x2a\0\0\0\0\0\0\0", 42); /* mov 1(%rip), %rax */
    EXECUTE("\xeb\x01\xcc\xb8\x07\0\0\0\xc3", 7);                /* jmp over a trap */
    EXECUTE("\xe9\x01\0\0\0\xcc\xb8\x08\0\0\0\xc3", 8);
    EXECUTE("\x48\xb8\x15\x81\xe9\x7d\xf4\x10\x22\x11\xc3", 0x112210f47de98115); /* movabs */
    EXECUTE("\x48\x6b\xc7\x03\xc3", 15);                         /* imul $3, %rdi, %rax */
    EXECUTE("\x48\x69\xc7\xe8\x03\0\0\xc3", 5000);
    EXECUTE("\x57\x58\xc3", 5); /* push %rdi, then pop %rax */
    EXECUTE("\xe8\x01\0\0\0\xc3", 8);                        /* call; ret */
    EXECUTE("\xff\x15\xfa\x01\0\0\x48\xff\xc0\xc3", 9);     /* call *0x1fa(%rip); inc %rax; ret */
    printf(failed ? "%d failed\n" : "passed\n", failed);
    return failed != 0;
}
