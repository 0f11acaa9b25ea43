#!/usr/bin/env python3
"""export --format gcda and footpath-gcc: gcc builds by a profile of footpath's.

    gcda.py --bin BUILD/bin

Programs are built by footpath-cc and by gcc -fprofile-generate, and run. The counts that are made of footpath's profile and
gcc's notes are compared with gcc's own; gcc must take them without a word.
"""
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

# no line has code of two blocks that ran differently: the counts must be gcc's to the last one
PLAIN = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) long step(long s, int i)
{
    if (i % 3 == 0)
        s += i;
    else
        s ^= i;
    switch (i % 7) {
    case 0:
        s += 5;
        break;
    case 1:
        s -= 3;
        /* falls through */
    case 4:
        s *= 3;
        break;
    default:
        s++;
    }
    return s;
}
__attribute__((noinline)) long never(long s)
{
    if (s > 3)
        s = 2;
    return s;
}
int main(int argc, char **argv)
{
    long s = argc;
    int i = 0;
    int n = atoi(argv[1]);
    while (i < n) {
        s = step(s, i);
        i++;
    }
    if (s == 77)
        s = never(s);
    printf("%ld\\n", s);
    return 0;
}
"""
# several blocks of a line, a macro, inlined copies, a static function that is inlined and called
LINES = """
#include <stdio.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static int small(int x) { if (x % 5) return x + 1; return x / 5; }
static int calls(int x, int y) { for (int i = 0; i < x && y > 3; i++) y -= i & 1 ? 2 : 1; return MIN(x, y) + small(y); }
int main(void)
{
    long s = 0;
    for (int i = 0; i < 3000; i++) { s += small(i) > 7 ? calls(i % 11, i) : 1; if (i % 100 == 0 || s % 7 == 0) s--; }
    printf("%ld\\n", s);
    return 0;
}
"""
# a macro with branches, an inlined call of a loop that runs once, code that becomes conditional moves
SORTED = """
#include <stdio.h>
#include <stdlib.h>
#define PUT(x) do { if ((x) % 16) few += (x) & 3; else { more(&many, (x)); few--; } } while (0)
static long many, few;
__attribute__((noinline)) static void more(long *sum, long x) { *sum += x > 40 ? x : 1; }
static void sift(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i], k = i;
        while (k > 0 && a[k - 1] > x) {
            a[k] = a[k - 1];
            k--;
        }
        a[k] = x;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), *a = malloc((unsigned long)n * sizeof *a);
    for (int i = 0; i < n; i++) a[i] = (int)(i * 7919L % 10007);
    if (argc > 2) puts("never");
    sift(a, n);
    for (int i = 0; i < n; i++) PUT(a[i]);
    printf("%ld %ld\\n", many, few);
    return 0;
}
"""
CXX = """
#include <cstdio>
#include <stdexcept>
#include <vector>
struct A { virtual int f(int x) { return x; } virtual ~A() {} };
struct B : A { int f(int x) override { if (x % 7 == 0) throw std::runtime_error("seven"); return x * 2; } };
template <class T> T most(const std::vector<T> &v) { T m = v[0]; for (const T &x : v) if (x > m) m = x; return m; }
int main()
{
    long s = 0;
    std::vector<A *> v{new A, new B, new B};
    std::vector<long> all;
    for (int i = 0; i < 3000; i++) {
        try { s += v[i % 3]->f(i); } catch (const std::exception &) { s ^= 5; }
        all.push_back(s % 1000);
    }
    std::printf("%ld %ld\\n", s, most(all));
}
"""

# the condition of a loop in two lines: of each line gcc has other blocks than clang, and the way back has no line
CONDITION = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int chain(const unsigned char *next, unsigned at, unsigned limit, int most)
{
    int found = 0;
    do {
        if (at % 3 != 0)
            continue;
        found++;
    } while ((at = next[at & 255]) > limit
             && --most != 0);
    return found;
}
int main(int argc, char **argv)
{
    unsigned char next[256];
    long n = atol(argv[1]), s = argc;
    for (int i = 0; i < 256; i++)
        next[i] = (unsigned char)(i * 37 + 11);
    while (n-- > 0)
        s += chain(next, (unsigned)n & 255, 3, 100);
    printf("%ld\\n", s);
    return 0;
}
"""
# a loop that is inlined twice: a statement in it is left in the copy that never runs alone
COPIES = """
#include <stdio.h>
#include <stdlib.h>
static unsigned all[64], rest;
static inline void tree(unsigned bits, unsigned symbol)
{
    unsigned index = 1;
    do {
        const unsigned bit = (symbol >> (--bits & 31)) & 1;
        all[index & 63] += bit;
        rest += !__builtin_constant_p(symbol);
        index = index * 2 + bit;
    } while (bits != 0);
}
__attribute__((noinline)) static void both(unsigned n, unsigned m)
{
    for (unsigned i = 0; i < n; i++) {
        if (m > 70)
            tree(m, i);
        tree(40, 12345);
    }
}
int main(int argc, char **argv)
{
    unsigned n = (unsigned)atoi(argv[1]);
    both(n, (unsigned)argc);
    printf("%u %u\\n", all[3], rest);
    return 0;
}
"""
# instances of a template: the same lines, and counts that are far apart; called and inlined
TEMPLATES = """
#include <cstdio>
#include <cstdlib>
template <class T> __attribute__((noinline)) T last(T n)
{
    T s = 0;
    for (T i = 0; i < n; i++)
        s = s * 3 + i;
    return s;
}
template <class T> static inline T larger(T a, T b)
{
    if (a < b)
        return b;
    return a;
}
__attribute__((noinline)) static long often(long n)
{
    long s = 0;
    while (n-- > 0)
        s += larger<long>(n, 5);
    return s;
}
__attribute__((noinline)) static int seldom(int n)
{
    int s = 0;
    while (n-- > 0)
        s ^= larger<int>(n, 1000);
    return s;
}
int main(int argc, char **argv)
{
    long n = std::atol(argv[1]);
    std::printf("%ld %d %d\\n", last<long>(n) + often(n), last<short>(3), seldom(7) + argc);
    return 0;
}
"""


def read_counts(data):
    """{(ident, line checksum, cfg checksum): counts of arcs} of a .gcda."""
    counts, function, at = {}, None, 16
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == 0x01000000:
            function = struct.unpack_from("<III", data, at)
        elif tag == 0x01a10000:  # a negative size: all are 0
            counts[function] = [0] * (-size // 8) if size < 0 else list(struct.unpack_from("<%dQ" % (size // 8), data, at))
        at += max(size, 0)
    return counts


class Gcda(harness.Bench):
    def gcc(self, name):
        return "g++" if name.endswith(".cc") else "gcc"

    def compile(self, name, folder, *flags):
        """In a folder, since the name of an object is part of what identifies static functions."""
        os.makedirs(self.path(folder), exist_ok=True)
        return self.run(self.gcc(name), "-O2", *flags, "-c", "../" + name, "-o", "prog.o", cwd=self.path(folder))

    def counted(self, name, source, *arguments):
        """The profile of footpath-cc's program, and gcc's own counts."""
        harness.needs("gcc", "g++")
        self.write(name, source)
        self.cc("--fp-at=early", "-O2", "-g", name, "-o", "counted", silent=True)
        ours = self.run(self.path("counted"), *arguments, env={"FOOTPATH_OUT": "ours.prof"})
        self.compile(name, "own", "-fprofile-generate")
        self.run(self.gcc(name), "-fprofile-generate", "own/prog.o", "-o", "own/prog")
        equal(self.run(self.path("own/prog"), *arguments).stdout, ours.stdout, "what the program prints")
        return read_counts(self.read("own/prog.gcda"))

    def exported(self, name):
        """What is made of the profile and the notes."""
        self.compile(name, "use", "-fprofile-use", "-ftest-coverage", "-Wno-missing-profile")
        self.tool("export", "--format", "gcda", "--notes", "use", "ours.prof")
        return read_counts(self.read("use/prog.gcda"))

    def used(self, name):
        """gcc takes the counts, and says nothing."""
        said = self.compile(name, "use", "-fprofile-use", "-Wmissing-profile", "-Wcoverage-mismatch")
        equal(said.stderr, "", "what gcc says of the profile")
        self.run(self.gcc(name), "use/prog.o", "-o", "used")


def overlap(a, b):
    """Of two sets of counts, as shares of their sums."""
    whole = [sum(sum(counts) for counts in side.values()) for side in (a, b)]
    return sum(min(x / whole[0], y / whole[1]) for f in a for x, y in zip(a[f], b[f]))


def case_exact(b):
    """Where lines tell blocks apart, the counts are gcc's own."""
    own = b.counted("prog.c", PLAIN, "5000")
    ours = b.exported("prog.c")
    equal(ours, own, "counts")
    expect(sum(map(sum, own.values())) > 10000, "the program ran")
    b.used("prog.c")


def case_lines(b):
    """Where a line has several blocks: gcc's functions, and nearly its counts."""
    own = b.counted("prog.c", LINES)
    ours = b.exported("prog.c")
    equal(sorted(ours), sorted(own), "functions and checksums")
    equal([len(ours[f]) for f in sorted(ours)], [len(own[f]) for f in sorted(own)], "numbers of counts")
    expect(overlap(ours, own) > 0.9, "overlap with gcc's own", overlap(ours, own))
    b.used("prog.c")


def case_cxx(b):
    own = b.counted("prog.cc", CXX)
    ours = b.exported("prog.cc")
    known = {f: counts for f, counts in ours.items() if f in own}
    expect(len(known) == len(ours) and len(known) > 5, "functions that gcc knows", (len(known), len(ours), len(own)))
    ran = sum(sum(own[f]) for f in known) / sum(map(sum, own.values()))
    expect(ran > 0.9, "part of gcc's counts in functions that have ours", ran)
    b.compile("prog.cc", "use", "-fprofile-use", "-Wcoverage-mismatch", "-Wno-missing-profile")


def case_templates(b):
    """Instances of a template have the same lines, and each its own counts."""
    own = b.counted("prog.cc", TEMPLATES, "5000")
    ours = b.exported("prog.cc")
    equal(sorted(ours), sorted(f for f in own if f in ours), "functions and checksums")
    # of own's functions only those have no record that the profile does not have: of the C++ library's start
    expect(sum(sum(own[f]) for f in own if f not in ours) <= 4, "what has no counts of ours", {f: own[f] for f in own if f not in ours})
    equal(ours, {f: own[f] for f in ours}, "counts")
    b.used("prog.cc")


def case_condition(b):
    """A condition in two lines: counts follow from the blocks around it."""
    own = b.counted("prog.c", CONDITION, "500")
    equal(b.exported("prog.c"), own, "counts")
    b.used("prog.c")


def case_machine(b):
    """A profile of gcc's own optimised code: nearly gcc's counts, also where blocks share a line."""
    harness.needs("gcc", "valgrind")
    b.write("prog.c", SORTED)
    b.run(b.bin("footpath-gcc"), "-O2", "prog.c", "-o", "plain", env={"FOOTPATH_CC_FLAGS": "--fp-sampled"})
    b.run("gcc", "-O2", "prog.c", "-o", "bare")
    code = [b.run("objdump", "-d", "--no-show-raw-insn", name).stdout.split("Disassembly", 1)[1] for name in ("plain", "bare")]
    equal(code[0], code[1], "--fp-sampled does not change the code")
    b.run("valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
          "--callgrind-out-file=counts.callgrind", "./plain", "500")
    b.tool("import", "--format", "callgrind", "--binary", "plain", "-o", "ours.prof", "counts.callgrind")
    b.compile("prog.c", "own", "-fprofile-generate")
    b.run("gcc", "-fprofile-generate", "own/prog.o", "-o", "own/prog")
    b.run(b.path("own/prog"), "500")
    own = read_counts(b.read("own/prog.gcda"))
    shares = {}
    for name, flags in (("lines", []), ("places", ["-fdump-ipa-profile-lineno-details-asmname"])):
        b.compile("prog.c", "use", "-fprofile-use", "-ftest-coverage", "-Wno-missing-profile", "-no-integrated-cpp", *flags)
        b.tool("export", "--format", "gcda", "--notes", "use", "ours.prof")
        ours = read_counts(b.read("use/prog.gcda"))
        expect(set(ours) <= set(own), "functions and checksums by %s" % name, (ours, own))
        shares[name] = overlap(ours, own)
    equal(sorted(ours), sorted(own), "all functions by places")
    expect(shares["places"] > 0.95, "overlap with gcc's own by places", shares)
    expect(shares["places"] > shares["lines"], "the dump says more than the notes", shares)
    b.used("prog.c")
    b.run(b.bin("footpath-gcc"), "--fp-use=ours.prof", "-O2", "-c", "prog.c", "-o", "wrapped.o")
    cold = b.run("objdump", "-h", "wrapped.o").stdout
    b.run("objdump", "-t", "wrapped.o")
    expect("text.unlikely" in cold, "cold code is apart", cold)
    said = b.run(b.bin("footpath-gcc"), "--fp-sampled", "--fp-use=ours.prof", "-c", "prog.c", status=1).stderr
    expect("leave out one" in said, "both at once", said)


def case_copies(b):
    """A statement that one inlined copy has, and that never ran there, says nothing of the others."""
    harness.needs("gcc", "valgrind")
    b.write("prog.c", COPIES)
    b.run("gcc", "-O2", "-g", "-no-integrated-cpp", "prog.c", "-o", "plain")
    b.run("valgrind", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no",
          "--callgrind-out-file=counts.callgrind", "./plain", "500")
    b.tool("import", "--format", "callgrind", "--binary", "plain", "-o", "ours.prof", "counts.callgrind")
    b.compile("prog.c", "own", "-fprofile-generate")
    b.run("gcc", "-fprofile-generate", "own/prog.o", "-o", "own/prog")
    b.run(b.path("own/prog"), "500")
    own = read_counts(b.read("own/prog.gcda"))
    b.compile("prog.c", "use", "-fprofile-use", "-ftest-coverage", "-Wno-missing-profile", "-no-integrated-cpp",
              "-fdump-ipa-profile-lineno-details-asmname")
    b.tool("export", "--format", "gcda", "--notes", "use", "ours.prof")
    ours = read_counts(b.read("use/prog.gcda"))
    expect(overlap(ours, own) > 0.8, "overlap with gcc's own", (overlap(ours, own), ours, own))


def case_wrapper(b):
    """footpath-gcc: the same object as by hand, several files at once, and commands that compile nothing."""
    b.counted("prog.c", PLAIN, "5000")
    b.exported("prog.c")
    b.used("prog.c")
    flags = {"FOOTPATH_CC_FLAGS": "--fp-use=ours.prof"}
    b.run(b.bin("footpath-gcc"), "-O2", "-c", "prog.c", "-o", "wrapped.o", env=flags)
    b.run("objcopy", "--strip-all", "wrapped.o", "wrapped.text")
    b.run("objcopy", "--strip-all", "use/prog.o", "used.text")
    expect(b.read("wrapped.text") == b.read("used.text"), "the object that gcc makes by hand")
    b.run(b.bin("footpath-gcc"), "wrapped.o", "-o", "wrapped", env=flags)
    plain = b.run(b.path("used"), "5000").stdout
    equal(b.run(b.path("wrapped"), "5000").stdout, plain, "what the program prints")
    b.write("a b.c", "int more(int x) { return x + 1; }\n")
    b.write("main.c", "int more(int); int main(void) { return more(-1); }\n")
    b.run(b.bin("footpath-gcc"), "--fp-use=ours.prof", "-O2", "a b.c", "main.c", "-o", "two")
    b.run(b.path("two"))
    expect("gcc" in b.run(b.bin("footpath-gcc"), "--version", env=flags).stdout, "--version")
    b.run(b.bin("footpath-gcc"), "-x", "c", "-", "-c", "-o", "in.o", env=flags, input="int f(void) { return 1; }\n")
    b.write("bad.c", "int main(void) { return x; }\n")
    said = b.run(b.bin("footpath-gcc"), "-c", "bad.c", env=flags, status=1).stderr
    equal(said.count("error:"), 1, "an error is told once")
    warned = b.run(b.bin("footpath-gcc"), "-Wall", "-O2", "-c", b.write("warns.c", "int f(int x) { int y; return x; }\n"), "-o", "w.o",
                   env=flags).stderr
    equal(warned.count("unused variable"), 1, "a warning is told once")
    said = b.run(b.bin("footpath-gcc"), "-c", "prog.c", status=1).stderr
    expect("no profile" in said, "without a profile", said)
    said = b.run(b.bin("footpath-gcc"), "--fp-use=gone.prof", "-c", "prog.c", status=1).stderr
    expect("gone.prof" in said, "a profile that is not there", said)


def case_wrapper_words(b):
    """footpath-gcc: the profile is used whatever words say how gcc reports, and wherever the object goes."""
    b.counted("prog.c", PLAIN, "5000")

    def text(name, *words, folder="."):
        os.makedirs(b.path(folder), exist_ok=True)
        profile = os.path.relpath(b.path("ours.prof"), b.path(folder))
        source = os.path.relpath(b.path("prog.c"), b.path(folder))
        b.run(b.bin("footpath-gcc"), "--fp-use=" + profile, "-O2", *words, "-c", source, "-o", name, cwd=b.path(folder))
        out = b.path("code")
        b.run("objcopy", "-O", "binary", "--only-section=.text*", name, out, cwd=b.path(folder))
        return b.read("code")

    wanted = text("prog.o")
    for words in (["-w"], ["-fdiagnostics-color=always"], ["-fmessage-length=20"], ["-fdiagnostics-format=json"], ["-pipe"],
                  ["-w", "-Werror=unused-variable"], ["-save-temps"], ["-no-integrated-cpp"]):
        expect(text("prog.o", *words) == wanted, "by the profile with %s" % " ".join(words))
    expect(text(b.path("full.o")) == wanted, "by the profile with the full name of the object")
    expect(text("prog.o", folder="it's \"here\"") == wanted, "by the profile in a folder with quotes")
    b.write("warns.c", "int f(int x) { int y; return x; }\n")
    b.run(b.bin("footpath-gcc"), "--fp-use=ours.prof", "-Wall", "-Werror", "-O2", "-c", "warns.c", "-o", "warns.o", status=1)
    expect(not os.path.exists(b.path("warns.o")), "no object of a compilation that failed")


def case_wrapper_programs(b):
    """footpath-gcc: a profile with runs of two programs is used for the files of both, by their last builds."""
    def compiled():
        b.run(b.bin("footpath-gcc"), "--fp-use=ours.prof", "-O2", "-c", "prog.c", "-o", "prog.o")
        return b.run("objdump", "-d", "prog.o").stdout

    b.counted("prog.c", PLAIN, "5000")
    alone = compiled()
    b.write("later.c", LINES)
    b.cc("--fp-at=early", "-O2", "-g", "later.c", "-o", "later", silent=True)
    b.run(b.path("later"), env={"FOOTPATH_OUT": "ours.prof"})
    equal(compiled(), alone, "the program that ran first")
    once = b.exported("later.c")
    b.cc("--fp-at=early", "-O2", "-g", "later.c", "-Wl,--build-id=0x1234", "-o", "later", silent=True)
    for _ in range(3):
        b.run(b.path("later"), env={"FOOTPATH_OUT": "ours.prof"})
    said = b.tool("export", "--format", "gcda", "--notes", "use", "ours.prof").stderr
    expect("another build of later (1 run)" in said, "the older build is left out, and told", said)
    for function, counts in read_counts(b.read("use/prog.gcda")).items():
        pairs = list(zip(counts, once[function]))
        expect(all(abs(now - 3 * before) <= 3 for now, before in pairs), "the three runs of the last build, rounded", pairs)


def case_wrapper_files(b):
    """footpath-gcc: what gcc writes beside an object, and says of what it does not compile, is as without it."""
    b.counted("prog.c", PLAIN, "5000")
    wrapper, flags = b.bin("footpath-gcc"), {"FOOTPATH_CC_FLAGS": "--fp-use=%s" % b.path("ours.prof")}
    beside = ["-O2", "-g", "-MMD", "-gsplit-dwarf", "-fstack-usage", "-c"]
    for words in ([], ["-o", "sub/it.o"], ["-o", "../by ours/sub/it.o"]):
        listed = []
        for name, compiler in (("by gcc", "gcc"), ("by ours", wrapper)):
            shutil.rmtree(b.path(name), ignore_errors=True)
            os.makedirs(b.path(name + "/sub"))
            b.run(compiler, *beside, "../prog.c", *(w.replace("by ours", name) for w in words), cwd=b.path(name), env=flags)
            listed.append(sorted(os.path.join(os.path.relpath(at, b.path(name)), f) for at, _, found in os.walk(b.path(name)) for f in found))
        equal(listed[1], listed[0], "files with %s" % words)
        notes = os.path.splitext(words[1] if words else "prog.o")[0] + ".dwo"
        named = b.run("readelf", "--debug-dump=info", words[1] if words else "prog.o", cwd=b.path("by ours")).stdout
        expect(": " + notes in named, "the object names the .dwo beside it", named)
    b.run(wrapper, "-O2", "-c", "prog.c", "-o", "wrapped.o", env=flags)
    b.run("gcc", "-O2", "-c", "prog.c", "-o", "plain.o")
    expect(b.read("wrapped.o") != b.read("plain.o"), "the profile changes the object")
    b.run(wrapper, "-O2", "-S", "prog.c", "-o", "-", env=flags)
    equal(b.run(wrapper, "-O2", "-S", "prog.c", "-o", "-", env=flags).stdout.count(".file"), 1, "output is written once")
    b.write("warns.c", "#warning careful\nint a;\n")
    for words in (["-E"], ["-fsyntax-only"], ["-E", "-o", "out.i"]):
        expect("careful" in b.run(wrapper, *words, "warns.c", env=flags).stderr, "a warning with %s" % words)
        b.run(wrapper, "-Werror", *words, "warns.c", env=flags, status=1)
    for words, why in ((["--coverage", "-c", "prog.c"], "--coverage"), (["-MD", "-c", "prog.c", "warns.c"], "one file at a time")):
        said = b.run(wrapper, *words, env=flags, status=1).stderr
        expect(why in said, "refused", said)


def case_bad_notes(b):
    """Notes that are cut, changed, of an older gcc, or none."""
    b.counted("prog.c", PLAIN, "50")
    b.exported("prog.c")
    said = b.tool("export", "--format", "gcda", "--notes", "use", "ours.prof").stderr
    expect(" 1 file: " in said, "one file", said)
    notes = b.read("use/prog.gcno")
    for name, data, words in (("cut", notes[:len(notes) // 2 | 1], "offset"), ("empty", b"", "not notes of gcc|offset"),
                              ("other", b"\x7fELF" + notes[4:], "not notes of gcc"),
                              ("older", notes[:4] + b"*10B" + notes[8:], "gcc 12 and newer"),
                              ("twice", notes + struct.pack("<III", 0x01410000, 4, 2), "twice")):
        b.write("bad/prog.gcno", data)
        said = b.tool("export", "--format", "gcda", "--notes", "bad", "ours.prof", status=1).stderr
        expect(any(word in said for word in words.split("|")), name, said)
        expect(not os.path.exists(b.path("bad/prog.gcda")), "%s: nothing is written" % name)
    os.makedirs(b.path("none"))
    said = b.tool("export", "--format", "gcda", "--notes", "none", "ours.prof", status=1).stderr
    expect("-ftest-coverage" in said, "a folder without notes", said)
    said = b.tool("export", "--format", "gcda", "--notes", "gone", "ours.prof", status=1).stderr
    expect("gone" in said, "no folder", said)
    said = b.tool("export", "--format", "gcda", "--notes", "use", "-o", "x", "ours.prof", status=1).stderr
    expect("no -o" in said, "-o", said)


harness.main(__doc__, bench=Gcda)
