#!/usr/bin/env python3
"""A program that has used up its address space (ulimit -v) counts its first paths nevertheless.

    narrow.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Counts in hash tables need memory while the program runs. The first of it is there from the start. Test suites look for
the least limit that their program runs in, and then run it so: the one of coreutils does.
"""
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal  # noqa: E402

FUNCTIONS, LIMIT = 12, 64 << 20
MAIN = r"""
__attribute__((no_profile_instrument_function)) int main(void)
{
    int sum = 0;
    void *first = NULL;
    /* nothing is left, and what was taken first is given back for the profile */
    for (size_t size = 1 << 22; size >= 4096; size /= 2)
        for (void *p; (p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED;)
            if (!first) first = p;
    for (unsigned i = 0; i < 9; i++) sum += %s;
    munmap(first, 1 << 22);
    return !sum;
}
"""


def source():
    text = "#include <stddef.h>\n#include <sys/mman.h>\n"
    for i in range(FUNCTIONS):
        turns = "".join("    if (x >> %d & 1) s += %d;\n" % (k, k + i) for k in range(18))
        text += "static __attribute__((noinline)) int f%d(unsigned x)\n{\n    volatile int s = 0;\n%s    return s;\n}\n" % (i, turns)
    return text + MAIN % " + ".join("f%d(i * 40503u)" % i for i in range(FUNCTIONS))


def narrow():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def case_narrow(b):
    b.write("prog.c", source())
    for flags in (["--fp-mode=check"], ["--fp-mode=check", "--fp-threads=shared"]):
        b.cc(*flags, "--fp-array-paths=16", "--fp-cuts=few", "-O1", "prog.c", "-o", "prog")
        env = harness.environment(FOOTPATH_OUT=b.path("out.prof"))
        done = subprocess.run([b.path("prog")], preexec_fn=narrow, env=env, capture_output=True, text=True)
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "status, and what was said")
        b.verify("out.prof")
        os.unlink(b.path("out.prof"))


if __name__ == "__main__":
    harness.main(__doc__)
