#!/usr/bin/env python3
"""Recovered cfgs of executables, against what their code executes.

    recovery.py --bin BIN --list-functions PROGRAM [--case NAME]...

callgrind tells every instruction that was executed and every jump that was taken. Each executed
instruction of a function must lie in a block, each jump within a function must be an edge to the
start of a block, and all instructions of a block must be executed equally often: but for repeated
ones (rep), and behind calls that may not come back.
"""
import bisect
import collections
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import equal, expect, needs  # noqa: E402

SWITCH, UNWIND, INDIRECT, TWICE = 1, 2, 3, 4  # enum fp_edge_kind


# ---- what was recovered ----

class Function:
    def __init__(self, name, start, refused):
        self.name, self.start, self.refused = name, start, refused
        self.ranges, self.insns, self.blocks, self.edges = [], {}, {}, []
        self.lengths, self.jumps, self.moves = {}, [], False

    def kinds(self):
        return collections.Counter(kind for _, _, kind in self.edges)

    def following(self, block, seen=()):
        """Blocks with code that control goes to next."""
        found = set()
        for src, dst, _ in self.edges:
            if src != block or dst in seen:
                continue
            found |= {dst} if self.blocks[dst][0] else self.following(dst, (*seen, dst))
        return found


class Recovered:
    """Of the text that list-functions -b prints."""

    def __init__(self, b, path, how="-b"):
        self.functions = []
        for line in b.run(b.args.list_functions, how, path).stdout.splitlines():
            words = line.split()
            if words[0] == "F":
                self.functions.append(Function(words[1], int(words[2], 16), " ".join(words[4:])))
            elif words[0] == "R":
                self.functions[-1].ranges.append((int(words[1], 16), int(words[2], 16)))
            elif words[0] == "I":
                self.functions[-1].insns[int(words[1], 16)] = int(words[3])
                self.functions[-1].lengths[int(words[1], 16)] = int(words[2])
            elif words[0] == "B":
                self.functions[-1].blocks[int(words[1])] = (int(words[2], 16), int(words[3], 16))
            elif words[0] == "M":
                self.functions[-1].moves = len(words) == 1
            elif words[0] == "J":
                self.functions[-1].jumps.append(tuple(int(word, 16) for word in words[1:]))
            elif words[0] == "E":
                self.functions[-1].edges.append(tuple(int(word) for word in words[1:4]))
        self.ranges = sorted((start, size, f) for f in self.functions for start, size in f.ranges)
        self.starts = [start for start, _, _ in self.ranges]

    def at(self, address):
        """The function that has an address, or None."""
        index = bisect.bisect(self.starts, address) - 1
        if index < 0 or address - self.ranges[index][0] >= self.ranges[index][1]:
            return None
        return self.ranges[index][2]

    def named(self, name):
        return [f for f in self.functions if re.search(name, f.name)]


# ---- what was executed ----

def number(word, last):
    return last + int(word, 0) if word[0] in "+-" else last if word == "*" else int(word, 0)


def executed(path, program):
    """Per address of the program how often it was executed, and per (from, to) how often a jump went there."""
    counts, jumps, names = collections.Counter(), collections.Counter(), {}
    here, address, called, jump = None, 0, False, None
    with open(path) as f:
        for line in f:
            line = line.strip()
            if line.startswith("ob="):
                key, _, name = line[3:].partition(" ")
                here = names.setdefault(key, name) == program
            elif line.startswith("cob="):
                key, _, name = line[4:].partition(" ")
                names.setdefault(key, name)
            elif line.startswith("calls="):
                called = True  # the next line has the cost of what was called
            elif line.startswith(("jump=", "jcnd=")):
                often, target = line[5:].split()[:2]
                jump = int(often.split("/")[0]), number(target, address)
            elif line[:1] and line[0] in "0123456789+-*":
                words = line.split()
                address = number(words[0], address)
                if jump:
                    if here and jump[0]:
                        jumps[address, jump[1]] += jump[0]
                elif here and not called:
                    counts[address] += int(words[2])
                called, jump = False, None
    return counts, jumps


def callgrind(b, *command, status=0):
    out = b.path("callgrind.out")
    b.run("valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
          "--callgrind-out-file=" + out, *command, status=status)
    return executed(out, os.path.realpath(command[0]))


# ---- both ----

def check_blocks(recovered, counts):
    """Every executed instruction is in a block. Gives how many were seen."""
    seen = 0
    for address, count in counts.items():
        f = recovered.at(address)
        if f is None or f.refused:  # PLT and start files have no frames
            continue
        expect(address in f.insns, "%s: 0x%x was executed %d times and is in no block" % (f.name, address, count))
        seen += 1
    return seen


def check_jumps(recovered, jumps):
    seen = 0
    for (source, target), count in jumps.items():
        f = recovered.at(source)
        if f is None or f.refused or source == target or recovered.at(target) is not f:
            continue
        block, to = f.insns[source], f.insns.get(target)
        what = "%s: jump 0x%x to 0x%x, taken %d times," % (f.name, source, target, count)
        expect(f.blocks[block][1] == source, what + " does not end its block")
        expect(to is not None and f.blocks[to][0] == target, what + " does not lead to a block")
        expect(to in f.following(block), what + " is no edge")
        seen += 1
    return seen


def check_even(recovered, counts, excused):
    """Counts only fall within a block, and only behind calls that did not come back: in few blocks."""
    uneven = []
    for f in recovered.functions:
        members = collections.defaultdict(list)
        for address, block in sorted(f.insns.items()):
            members[block].append(counts.get(address, 0))
        for block, found in members.items():
            plain = [count for count in found if count <= found[0]]  # not those of rep
            expect(len(found) - len(plain) <= max(2, len(found) // 8), "%s: block %d: %s" % (f.name, block, found))
            if plain[-1] != plain[0]:
                uneven.append((f.name, block))
            expect(plain == sorted(plain, reverse=True), "%s: block %d: %s" % (f.name, block, found))
    expect(len(uneven) <= excused, "%d blocks were left in their middle" % len(uneven), uneven[:9])


def check(b, program, *words, status=0, excused=3):
    recovered = Recovered(b, os.path.realpath(program))
    counts, jumps = callgrind(b, program, *words, status=status)
    expect(check_blocks(recovered, counts) > 100, "hardly anything was executed")
    expect(check_jumps(recovered, jumps) > 10, "hardly any jump was taken")
    check_even(recovered, counts, excused)
    return recovered


# ---- programs whose shapes are known ----

def shapes(b, compiler, *flags):
    needs("valgrind", "strip", compiler)
    plain, stripped = b.path("jumps"), b.path("stripped")
    b.run(compiler, *flags, os.path.join(HERE, "jumps.cc"), "-x", "c", os.path.join(HERE, "labeljumps.c"), "-o", plain)
    b.run("strip", "-o", stripped, plain)
    known = Recovered(b, plain)
    # longjmp leaves jumper() in its middle, exceptions leave thrower() and rethrower()
    recovered = check(b, stripped, excused=12)
    equal([f.name + ": " + f.refused for f in recovered.functions if f.refused], [], "refused")
    check_known(known, stripped, recovered)


def only(recovered, name):
    found = recovered.named(name)
    equal(len(found), 1, "functions named " + name)
    return found[0]


def check_known(known, stripped, recovered):
    expect(only(known, r"dense").kinds()[SWITCH] >= 7, "the switch of dense() has its cases")
    cases = only(known, r"holes").kinds()[SWITCH]
    expect(cases == 0 or cases >= 5, "the switch of holes() has its cases, if it has a table")
    labels = only(known, r"8threaded")
    reached = labels.kinds()[SWITCH] + sum(1 for src, _, _ in labels.edges if labels.blocks[src][0] == 0)
    expect(reached >= 5, "threaded() has its labels")
    expect(only(known, r"7catcher").kinds()[UNWIND] >= 2, "exceptions land in catcher()")
    equal(only(known, r"13returns_twice").kinds()[TWICE], 1, "calls of setjmp")
    starts = {f.start for f in recovered.functions}
    for f in known.functions:  # stripped or not, the same functions with the same graphs
        if f.refused or re.search(r"odd|even", f.name):
            continue
        expect(f.start in starts, f.name + " is found in the stripped file")
        other = [g for g in recovered.functions if g.start == f.start][0]
        equal(sorted(other.insns), sorted(f.insns), "instructions of " + f.name)
        equal(sorted(other.edges), sorted(f.edges), "edges of " + f.name)


def add_cases():
    for level in ("O0", "O1", "O2", "O3", "Os"):
        for pie, flags in (("pie", ["-fPIE", "-pie"]), ("fixed", ["-fno-pie", "-no-pie"])):
            globals()["case_gcc_%s_%s" % (level, pie)] = \
                lambda b, level=level, flags=flags: shapes(b, "g++", "-" + level, *flags)
            globals()["case_clang_%s_%s" % (level, pie)] = \
                lambda b, level=level, flags=flags: shapes(b, "clang++-" + b.args.llvm, "-" + level, *flags)


add_cases()


def case_gcc_O2_cet(b):
    shapes(b, "g++", "-O2", "-fcf-protection=full")


def case_gcc_O2_frame_pointers(b):
    shapes(b, "g++", "-O2", "-fno-omit-frame-pointer")


def case_static(b):
    """Everything is in one stripped file: setjmp has no name, and assembler of libc is refused."""
    needs("valgrind", "g++", "strip")
    for link in ("-static", "-static-pie"):
        b.run("g++", "-O2", link, os.path.join(HERE, "jumps.cc"), "-x", "c", os.path.join(HERE, "labeljumps.c"), "-o", "plain")
        b.run("strip", "-o", "stripped", "plain")
        start = only(Recovered(b, b.path("plain")), "13returns_twice").start
        recovered = check(b, b.path("stripped"), excused=20)
        twice = [f for f in recovered.functions if f.start == start]
        equal([f.kinds()[TWICE] for f in twice], [1], "calls of setjmp, " + link)
        refused = [f for f in recovered.functions if f.refused]
        expect(len(refused) < len(recovered.functions) / 20, "%d functions are refused" % len(refused))


def case_library(b):
    """Functions of a stripped shared library."""
    needs("valgrind", "gcc", "strip")
    b.write("lib.c", "int pick(int n) { switch (n) { case 0: return 3; case 1: return n * 9; case 2: return 7; case 3: return 12;\n"
            " case 4: return 5; case 5: return n ^ 3; } return n > 9 ? pick(n / 2) + 1 : n; }\n"
            "static int step(int n) { return n & 1 ? n * 3 : n / 2; }\n"
            "int walk(int n) { int k = 0; while (n > 1 && k < 100) n = step(n), k++; return k; }\n")
    b.write("main.c", "int pick(int), walk(int); int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += pick(i) + walk(i);\n"
            " return s & 1; }\n")
    b.run("gcc", "-O2", "-shared", "-fPIC", "-s", "lib.c", "-o", "libit.so")
    b.run("gcc", "main.c", "-o", "main", "-L.", "-lit", "-Wl,-rpath," + b.folder)
    out = b.path("callgrind.out")
    b.run("valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file=" + out,
          b.path("main"), status=None)
    recovered = Recovered(b, b.path("libit.so"))
    counts, jumps = executed(out, b.path("libit.so"))
    equal([f.name for f in recovered.functions if f.refused], [], "refused")
    expect(check_blocks(recovered, counts) > 30 and check_jumps(recovered, jumps) > 3, "the library was executed")


# ---- what must be refused ----

REFUSED = {
    "jump into an instruction": ("f: .cfi_startproc; jmp 1f+1; 1: movl $0xc3, %eax; ret; .cfi_endproc", "it jumps into an instruction"),
    "no instruction": ("f: .cfi_startproc; .byte 0x06; ret; .cfi_endproc", "it has bytes that are no instruction"),
    "off its end": ("f: .cfi_startproc; nop; movl $1, %eax; .cfi_endproc", "it runs off its end"),
    "its own middle": ("f: .cfi_startproc; call 1f; 1: pop %rax; ret; .cfi_endproc", "its middle is called"),
    "xbegin": ("f: .cfi_startproc; xbegin 1f; xend; 1: ret; .cfi_endproc", "it has transactions (xbegin)"),
    "another's middle": ("f: .cfi_startproc; movl $1, %eax; 2: ret; .cfi_endproc; g: .cfi_startproc; call *%rdi; jmp 2b; .cfi_endproc",
                         "others jump into its middle"),
    "called middle": ("f: .cfi_startproc; movl $1, %eax; 2: ret; .cfi_endproc; g: .cfi_startproc; call 2b; ret; .cfi_endproc",
                      "its middle is called"),
    "unknown places": ("f: .cfi_startproc; subq $8, %rsp; .cfi_adjust_cfa_offset 8; jmp *(%rdi); .cfi_endproc",
                       "an indirect jump leads to unknown places"),
    "code that nothing leads to": ("f: .cfi_startproc; jmp *(%rdi); movl $1, %eax; ret; .cfi_endproc", "it has code that nothing leads to"),
    "a pointer": ("f: .cfi_startproc; movl $1, %eax; 2: ret; .cfi_endproc; .data; .quad 2b; .text", "a pointer leads into its middle"),
    "read": ("f: .cfi_startproc; movl 2f(%rip), %eax; 2: ret; nop; nop; nop; .cfi_endproc", "its code is read as data"),
    "no frame": ("f: ret; .size f, 1", "it has no frame information"),
}


def case_refused(b):
    needs("gcc")
    for name, (code, reason) in REFUSED.items():
        text = ".text; .globl f, h; .type f, @function; .type h, @function; h: .cfi_startproc; ret; .cfi_endproc; " + code
        b.write("bad.s", text.replace("; ", "\n") + '\n.section .note.GNU-stack,"",@progbits\n')
        b.run("gcc", "-shared", "-nostdlib", "bad.s", "-o", "bad.so")
        recovered = Recovered(b, b.path("bad.so"))
        equal([f.refused for f in recovered.named("^f$")], [reason], name)
        equal([f.refused for f in recovered.named("^h$")], [""], "a good function beside: " + name)


FIXED = """
        .text
        .globl  _start
_start: .cfi_startproc
        call    f
        call    g
        hlt
        .cfi_endproc
f:      .cfi_startproc
        cmpl    $2, %edi
        ja      9f
        movl    %edi, %eax
        jmp     *table(,%rax,8)
1:      movl    $1, %eax
        ret
9:      xorl    %eax, %eax
        ret
        .cfi_endproc
apart:  .cfi_startproc
2:      movl    $2, %eax
        ret
3:      movl    $3, %eax
        ret
        .cfi_endproc
g:      .cfi_startproc
        movl    $5, %eax
4:      ret
        .cfi_endproc
h:      .cfi_startproc
        movl    $6, %eax
        ret
        .cfi_endproc
        .section .rodata
table:  .quad   1b, 2b, 3b
        .data
        .quad   0, 4b, 0, h, 0
        .section .note.GNU-stack,"",@progbits
"""


def case_fixed_parts(b):
    """At fixed addresses, a part whose start only a jump table has is one; and a number that looks like an address is none."""
    needs("gcc", "strip")
    b.write("fixed.s", FIXED)
    b.run("gcc", "-nostdlib", "-static", "-no-pie", "fixed.s", "-o", "fixed")
    b.run("strip", "fixed")
    recovered = Recovered(b, b.path("fixed"))
    equal([f.refused for f in recovered.functions], [""] * 4, "refused")
    equal([len(f.ranges) for f in recovered.functions], [1, 2, 1, 1], "parts")
    equal(recovered.functions[1].kinds()[SWITCH], 3, "cases")


def case_no_frames(b):
    """Without .eh_frame nothing is known."""
    needs("gcc")
    b.write("bare.s", '.text\n.globl f\nf: ret\n.section .note.GNU-stack,"",@progbits\n')
    b.run("gcc", "-shared", "-nostdlib", "bare.s", "-o", "bare.so")
    done = b.run(b.args.list_functions, b.path("bare.so"), status=1)
    expect("has no .eh_frame" in done.stderr, done.stderr)


def case_non_call_exceptions(b):
    """Division may throw here: only calls are followed, so that the function is refused."""
    needs("g++")
    b.write("trap.cc", "int f(int a, int b) { try { return a / b; } catch (...) { return 7; } }\n"
            "int g(int (*h)(int), int b) { try { return h(b); } catch (...) { return 7; } }\n")
    b.run("g++", "-O1", "-fnon-call-exceptions", "-shared", "-fPIC", "trap.cc", "-o", "trap.so")
    recovered = Recovered(b, b.path("trap.so"))
    equal(only(recovered, "_Z1fii").refused, "exceptions land in it that no call throws", "f()")
    equal(only(recovered, "_Z1gPFiiEi").refused, "", "g()")


# ---- liveness ----

RSI, RDX, RCX, R8 = 1 << 6, 1 << 2, 1 << 1, 1 << 8


def case_ipa(b):
    """gcc keeps values in caller-saved registers over calls of functions that do not write them: those are live there."""
    needs("gcc")
    b.write("ipa.c", "volatile int g; static __attribute__((noinline)) int leaf(int a) { if (a & 1) { g = a; return a * 3; } return a + 7; }\n"
            "__attribute__((noinline)) int caller(int a, int b, int c) { int r = leaf(a); return r + b * c; }\n"
            "int main(int n, char **v) { (void)v; int s = 0; for (int i = 0; i < 9; i++) s += caller(i, n + i, n + 2 * i); return s; }\n")
    b.run("gcc", "-O2", "ipa.c", "-o", "ipa")
    live = {}
    name = ""
    for line in b.run(b.args.list_functions, "-l", b.path("ipa")).stdout.splitlines():
        words = line.split()
        if words[0] == "F":
            name = words[1]
        elif words[0] == "L":
            live.setdefault(name, []).append((words[1], int(words[2], 16), words[4]))
    returns = [before for _, before, kind in live["leaf"] if kind == "return"]
    expect(returns, "leaf() returns")
    for before in returns:
        equal(before & (RSI | RDX | RCX | R8), RSI | RDX | RCX | R8, "live at a return of leaf()")
    flags = [before >> 16 for _, before, kind in live["leaf"] if kind == "branch"]
    expect(flags and all(flags), "a branch reads flags")
    expect(all(not before >> 16 for before in returns), "no flags are live at a return")


# ---- what a moved function leaves behind ----

def code_of(b, path):
    """Address -> bytes of all code, by objdump."""
    code = {}
    for line in b.run("objdump", "-d", "-w", path).stdout.splitlines():
        found = re.match(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)(.*)", line)
        if found:
            start = int(found.group(1), 16)
            padding = re.match(r"\s*(data16 |cs |xchg +%ax,%ax|nop)", found.group(3)) is not None
            for k, byte in enumerate(bytes.fromhex(found.group(2))):
                code[start + k] = byte, padding
    return code


def check_moving(b, path):
    """Jumps lie on bytes of blocks or on padding, apart from each other; they reach; endbr64s stay."""
    code, recovered = code_of(b, path), Recovered(b, path, "-m")
    taken, seen = set(), 0
    for f in recovered.functions:
        if not f.moves:
            continue
        free = {address + k for address, length in f.lengths.items() for k in range(length)}
        pointed = {f.start}
        for src, dst, kind in f.edges:
            if kind == SWITCH or f.blocks[src] == (0, 0) and any(e[1] == src and e[2] == INDIRECT for e in f.edges):
                pointed.add(f.blocks[dst][0])
        equal({target for target, _, _ in f.jumps}, pointed - {0}, f.name + ": what has jumps")
        for target, at, slot in f.jumps:
            endbr = bytes(code[target + k][0] for k in range(4) if target + k in code) == b"\xf3\x0f\x1e\xfa"
            equal(at, target + 4 if endbr else target, f.name + ": place of the jump")
            expect(not slot or -128 <= slot - (at + 2) <= 127, "%s: 0x%x reaches 0x%x" % (f.name, at, slot))
            used = {target + k for k in range(at - target)}
            used |= {at + k for k in range(2 if slot else 5)} | {slot + k for k in range(5) if slot}
            expect(not used & taken, "%s: the jump at 0x%x lies on another" % (f.name, at))
            odd = [hex(byte) for byte in used if byte not in free and not code.get(byte, (0, False))[1]]
            equal(odd, [], "%s: bytes of the jump at 0x%x that are not free" % (f.name, at))
            taken |= used
            seen += 1
    return seen


def case_moving(b):
    needs("g++", "objdump")
    for flags in (["-O2"], ["-Os", "-fcf-protection=full"], ["-O2", "-fno-pie", "-no-pie", "-falign-functions=1"]):
        b.run("g++", *flags, os.path.join(HERE, "jumps.cc"), "-x", "c", os.path.join(HERE, "labeljumps.c"), "-o", "plain")
        expect(check_moving(b, b.path("plain")) > 30, "jumps are left behind")
    for name in ("bash", "perl"):
        path = shutil.which(name, path="/usr/bin:/bin")
        expect(not path or check_moving(b, os.path.realpath(path)) > 1000, "jumps are left behind in " + name)


# ---- stock programs ----

STOCK = ["gzip", "bzip2", "xz", "mawk", "perl", "bash", "dash", "git", "sqlite3", "tar", "grep", "sed", "sort", "make", "as", "cmake", "ninja"]


def case_stock(b):
    """Of the programs that are installed, no function is refused."""
    for name in STOCK:
        path = shutil.which(name, path="/usr/bin:/bin")
        if not path:
            continue
        total = b.run(b.args.list_functions, os.path.realpath(path)).stdout.splitlines()[-1]
        expect(", 0 refused" in total, total)


def workload(b, name, *words, **how):
    path = shutil.which(name, path="/usr/bin:/bin")
    if not path:
        raise harness.Skipped("needs " + name)
    needs("valgrind")
    b.write("text", "".join("line %d alpha %d beta\n" % (i, i * 7919 % 1000) for i in range(300)))
    recovered = check(b, path, *words, **{"excused": 30, **how})
    equal([f.name for f in recovered.functions if f.refused], [], "refused")


def case_run_gzip(b):
    workload(b, "gzip", "-9c", "text")


def case_run_sort(b):
    workload(b, "sort", "-k4n", "-r", "text")


def case_run_sed(b):
    workload(b, "sed", "-n", r"s/\(al\)pha/\1X/gp;/9/{h;G;x;p};y/abc/xyz/;$!N;P;D", "text")


def case_run_grep(b):
    workload(b, "grep", "-E", "-n", "a(l|p)+h.*(9|7)[0-9]", "text")


def case_run_bash(b):
    workload(b, "bash", "-c", 'f() { case $1 in a*) echo ${1#a};; [b-d]) return 3;; *) ((x = $2 ** 2)); echo $x;; esac; }; '
             'f abc 1; f c 2 || f z 7; while read -r a b; do set -- $a; done < text; echo "${1//l/m}"; exit 0')


if __name__ == "__main__":
    harness.main(__doc__, ("--list-functions", {"metavar": "PROGRAM", "help": "that prints what was recovered"}))
