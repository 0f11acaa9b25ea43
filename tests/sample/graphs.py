#!/usr/bin/env python3
"""The graphs that samples are counted on: all that runs lies in them.

    graphs.py --bin BIN --check check-graphs [--llvm 19] [--case NAME]...

tests/sample/ways.cc goes by tables with holes, exceptions, tail calls and parts that the
compiler put apart, with code behind them that never runs. It is built by clang and by gcc, run
under callgrind, and compared by check-graphs; then once more without its symbols.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import expect  # noqa: E402

SOURCE = os.path.join(HERE, "ways.cc")
CALLGRIND = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no"]


def checked(b, compiler, *flags):
    harness.needs("valgrind", compiler.split("/")[-1])
    # valgrind 3.19 cannot read clang's DWARF 5
    b.run(compiler, "-g", "-gdwarf-4", *flags, SOURCE, "-o", "ways")
    b.run(*CALLGRIND, "--callgrind-out-file=ways.callgrind", "./ways", "3000")
    os.makedirs(b.path("stripped"), exist_ok=True)
    b.run("strip", "-s", "ways", "-o", "stripped/ways")
    for exe in ("ways", "stripped/ways"):
        said = b.run(b.args.check, exe, "ways.callgrind", status=None).stdout
        last = said.strip().split("\n")[-1]
        expect("in no function 0, in no block 0, no edge 0, unbalanced 0," in last, "%s by %s %s" % (exe, compiler, flags), said[-800:])
    return last


def case_clang(b):
    for level in ("-O1", "-O2", "-O3"):
        checked(b, "clang++-" + b.args.llvm, level, "-fno-pie", "-no-pie")
    checked(b, "clang++-" + b.args.llvm, "-O2", "-fPIE", "-pie")


def case_gcc(b):
    for level in ("-O1", "-O2", "-O3"):
        checked(b, "g++", level, "-fno-pie", "-no-pie")
    checked(b, "g++", "-O2", "-fPIE", "-pie")


def case_dead_code(b):
    """Dead code behind a call makes no hub: only what exceptions or unknown jumps lead to does."""
    b.write("dead.c", """
int g(int a);
int __attribute__((noinline)) f(int a)
{
    a = g(a);
    __asm__ volatile("jmp 1f; mov $7, %0; 1:" : "+r"(a));
    return g(a + 1);
}
int __attribute__((noinline)) g(int a) { return a * 3; }
int main(void) { return f(3) & 1; }
""")
    b.run("gcc", "-O1", "-fno-pie", "-no-pie", "dead.c", "-o", "dead")
    b.run(*CALLGRIND, "--callgrind-out-file=dead.callgrind", "./dead", status=None)
    said = b.run(b.args.check, "dead", "dead.callgrind", status=None).stdout
    expect("no edge 0, unbalanced 0, through hubs 0, functions with hubs 0" in said, "no hub", said[-300:])


if __name__ == "__main__":
    harness.main(__doc__, ("--check", {"help": "the program check-graphs"}))
