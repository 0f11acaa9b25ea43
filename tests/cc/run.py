#!/usr/bin/env python3
"""footpath-cc used in the ways that build systems and people use compilers.

    run.py --bin BUILD/bin --llvm 19 [--case NAME]...

Each case_NAME is a use: it must succeed without a word on standard error (unless it
says otherwise), leave what clang would leave, and where a program comes of it, that
program must do what it should and its profile must hold what it did.
"""
import glob
import json
import os
import shutil
import stat
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, Skipped, equal, expect  # noqa: E402

MAIN = """#include <stdio.h>
int part(int);
int main(void) { int sum = 0; for (int i = 0; i < 10; i++) sum += part(i) ? 1 : 2; printf("%d\\n", sum); return 0; }
"""
PART = "int part(int x) { if (x % 3) return x; return 0; }\n"
PLUS = """#include <map>
#include <stdexcept>
#include <string>
#include <iostream>
template <class T> T pick(T a, T b) { if (a < b) throw std::out_of_range("less"); return a; }
int main()
{
    std::map<std::string, int> seen;
    for (int i = 0; i < 6; i++) {
        try { seen["ok"] += pick(i, 3); } catch (const std::exception &e) { seen[e.what()]++; }
    }
    std::cout << seen["ok"] << " " << seen["less"] << "\\n";
}
"""
THREADS = """#include <pthread.h>
#include <stdio.h>
static int step(int x) { return x % 2 ? 3 : 4; }
static void *work(void *out) { for (int i = 0; i < 20000; i++) *(int *)out += step(i); return 0; }
int main(void)
{
    pthread_t threads[4];
    int sums[4] = {0}, all = 0;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, &sums[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0), all += sums[i];
    printf("%d\\n", all);
    return 0;
}
"""


STD_THREADS = """#include <cstdio>
#include <thread>
#include <vector>
static int step(int x) { return x % 2 ? 3 : 4; }
int main()
{
    int sums[4] = {}, all = 0;
    std::vector<std::thread> threads;
    for (int &sum : sums) threads.emplace_back([&sum] { for (int i = 0; i < 20000; i++) sum += step(i); });
    for (auto &thread : threads) thread.join();
    for (int sum : sums) all += sum;
    std::printf("%d\\n", all);
}
"""


class Bench(harness.Bench):
    """Two sources, and calls that must be silent unless they say otherwise."""

    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.write("main.c", MAIN)
        self.write("part.c", PART)
        self.clang = "/usr/lib/llvm-%s/bin/clang" % args.llvm
        if not os.path.exists(self.clang):
            self.clang = "clang-" + args.llvm
        self.linker = "lld" if os.path.exists("/usr/lib/llvm-%s/bin/ld.lld" % args.llvm) else "gold"

    def call(self, command, stdin=None, env=None, ok=True, quiet=True):
        """ok: True succeeds, False fails, None either."""
        done = self.run(*command, input=stdin, env=env, status=0 if ok else None, silent=quiet)
        if ok is False:
            expect(done.returncode, "should have failed: %s" % (command,))
        return done

    def cc(self, *words, plus=False, **how):
        return self.call([self.bin("footpath-c++" if plus else "footpath-cc"), "--fp-llvm=" + self.args.llvm, *words], **how)

    def has(self, name, content=None):
        expect(os.path.exists(self.path(name)), "no %s was made" % name)
        expect(not content or content in self.read(name), "%s is not what it should be" % name)

    def counts(self, program, output, functions=("main",), profile="run.prof"):
        """Runs a program; its profile must have calls of these functions (None: there is no profile)."""
        if os.path.exists(self.path(profile)):
            os.unlink(self.path(profile))
        done = self.call([self.path(program)], env={"FOOTPATH_OUT": self.path(profile)})
        equal(done.stdout, output, program)
        if functions is None:
            expect(not os.path.exists(self.path(profile)), "%s counted something" % program)
            return None
        shown = self.json("show", "--json", profile)
        calls = {f["name"]: f.get("calls", 0) for f in shown["functions"]}
        for name in functions:
            expect(calls.get(name), "%s: no calls of %s in %s" % (program, name, calls))
        return shown


BOTH = ("main", "part")


def case_two_sources(b):
    b.cc("main.c", "part.c", "-o", "prog")
    shown = b.counts("prog", "14\n", BOTH)
    lines = [p["lines"] for f in shown["functions"] for p in f["paths"]]
    if not any(lines):
        raise Failure("no source lines without -g")


def case_objects(b):
    b.cc("-c", "main.c", "part.c")
    b.has("main.o", b"fpm")
    b.cc("main.o", "part.o", "-o", "prog")
    b.counts("prog", "14\n", BOTH)


def case_static_library(b):
    b.cc("-O2", "-c", "part.c")
    b.call(["ar", "rcs", "libpart.a", "part.o"])
    b.cc("-O2", "main.c", "-L.", "-lpart", "-o", "prog")
    b.counts("prog", "14\n", BOTH)
    b.cc("-O2", "main.c", "-L", ".", "-l", "part", "-o", "prog")
    b.counts("prog", "14\n", BOTH)


def case_shared_library(b):
    b.cc("-shared", "-fPIC", "part.c", "-o", "libpart.so")
    b.cc("main.c", "libpart.so", "-Wl,-rpath," + b.folder, "-o", "prog")
    b.counts("prog", "14\n", BOTH)


def case_shared_library_without_startfiles(b):
    """Of what stands behind the runtime, libc alone: no libgcc, and no files that begin and end a library."""
    for words in ["-nostartfiles"], ["-nostartfiles", "-fuse-ld=" + b.linker], ["-nostdlib", "-lc"]:
        b.cc("-fPIC", "-shared", words[0], "part.c", "-o", "libpart.so", *words[1:])
        b.call([b.clang, "main.c", b.path("libpart.so"), "-o", "plain"])
        b.counts("plain", "14\n", ("part",))
        b.cc("main.c", b.path("libpart.so"), "-o", "prog")
        b.counts("prog", "14\n", ("main",))


def case_shared_library_of_a_plain_program(b):
    b.cc("-shared", "-fPIC", "part.c", "-o", "libpart.so")
    b.call([b.clang, "main.c", "libpart.so", "-Wl,-rpath," + b.folder, "-o", "prog"])
    b.counts("prog", "14\n", ("part",))


def case_shared_library_names_no_exit(b):
    """What comes with every library names no function that ends the process: libpq's own check fails on such names."""
    b.cc("-shared", "-fPIC", "--fp-exits", "part.c", "-o", "libpart.so")
    b.cc("-shared", "-fPIC", "--fp-mode=pep", "part.c", "-o", "libpep.so")
    for library in ("libpart.so", "libpep.so"):
        for line in b.call(["nm", "-u", library]).stdout.splitlines():
            name = line.split()[-1].split("@")[0]
            if ("exit" in name and name != "__cxa_atexit") or name in ("abort", "raise", "kill"):
                raise Failure("%s names %s" % (library, name))


QUICK = """#include <stdlib.h>
int part(int);
int main(void) { quick_exit(part(3)); }
"""


def case_runtime_names_nothing_checked(b):
    """Whatever flags a distribution builds with: libc's checked functions (_FORTIFY_SOURCE) and stack protectors end the process."""
    harness.needs("nm")
    for name in ("libfootpath-rt.a", "footpath-interpose.o"):
        named = b.call(["nm", "--undefined-only", b.bin("../lib/footpath/" + name)], quiet=False).stdout.split()
        expect("U" in named, "no names in " + name)
        equal([n for n in named if n.endswith("_chk") or n.startswith("__stack_chk")], [], name)


def case_quick_exit(b):
    """quick_exit leaves profiles: of static programs, dynamic ones, and libraries of plain programs."""
    b.write("quick.c", QUICK)
    for flags in ([], ["-static"], ["-static-pie"]):
        b.cc(*flags, "quick.c", "part.c", "-o", "quick")
        b.counts("quick", "", BOTH)
    b.cc("-shared", "-fPIC", "part.c", "-o", "libpart.so")
    b.call([b.clang, "quick.c", "./libpart.so", "-o", "plain"])
    b.counts("plain", "", ("part",))


ENDS = """#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stdio.h>
#include <pthread.h>
static void *leave(void *unused) { (void)unused; _exit(0); }
int main(int argc, char **argv)
{
    pthread_t threads[8];
    if (argc > 1 && !strcmp(argv[1], "_exit")) _exit(0);
    if (argc > 1 && !strcmp(argv[1], "_Exit")) _Exit(0);
    if (argc > 1 && !strcmp(argv[1], "exec")) execl("/bin/true", "true", (char *)0);
    if (argc > 1 && !strcmp(argv[1], "fails")) execl("/none", "none", (char *)0);
    if (argc > 1 && !strcmp(argv[1], "race"))
        for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, leave, 0);
    if (argc > 1 && !strcmp(argv[1], "race")) pause();
    return 0;
}
"""


def case_how_a_run_ended(b):
    """`info` tells a run that ended from one that went on, and a run is there once."""
    b.write("ends.c", ENDS)
    b.cc("-pthread", "ends.c", "-o", "ends")
    for how, leaving in (("_exit", False), ("_Exit", False), ("exec", True), ("fails", False), ("none", False),
                         ("race", False)):
        b.call([b.path("ends"), how], env={"FOOTPATH_OUT": b.path(how + ".prof")})
        info = json.loads(b.call([b.bin("footpath"), "info", "--json", how + ".prof"]).stdout)
        states = [(run["unfinished"], run["leaving"], run["signalled"]) for run in info["runs"]]
        if states[-1] != (leaving, leaving, False) or (how != "fails" and len(states) != 1):
            raise Failure("%s: unfinished, leaving, signalled are %s" % (how, states))
        if "still running" in b.call([b.bin("footpath"), "info", how + ".prof"]).stdout:
            raise Failure("still running after " + how)


def case_preprocess(b):
    for words in (["-E", "main.c"], ["-E", "-dM", "main.c"], ["-M", "main.c"], ["-MM", "main.c"], ["-E", "-x", "c", "-"]):
        mine = b.cc(*words, stdin=MAIN).stdout
        theirs = b.call([b.clang, *words], stdin=MAIN).stdout
        if mine != theirs:
            raise Failure("%s: other output than clang's" % words)


def case_dependency_files(b):
    b.cc("-c", "main.c", "-MD", "-MF", "main.d", "-MT", "target", "-o", "main.o")
    b.has("main.d", b"target: main.c")


def case_syntax_only(b):
    b.cc("-fsyntax-only", "main.c", "part.c")
    if os.path.exists(b.path("a.out")):
        raise Failure("linked")


def case_questions(b):
    for words in (["--version"], ["-dumpmachine"], ["-print-search-dirs"], ["-print-prog-name=ld"], ["-dumpversion"]):
        if b.cc(*words).stdout != b.call([b.clang, *words]).stdout:
            raise Failure("%s: other answer than clang's" % words)
    said = b.cc("--help").stdout
    expect("--fp-mode" in said and said.endswith(b.call([b.clang, "--help"]).stdout), "--help: ours, then clang's")
    said = b.cc("-###", "-c", "main.c", quiet=False).stderr
    if "-fpass-plugin" in said:
        raise Failure("-### is a question")
    b.cc("-v", quiet=False)
    b.cc("-Wl,--version", quiet=False)


def case_help(b):
    if "--fp-mode" not in b.cc("--fp-help").stdout:
        raise Failure("no help")


def case_assembly(b):
    b.cc("-S", "part.c", "-o", "part.s")
    b.has("part.s", b"footpath_cnt")
    b.cc("main.c", "part.s", "-o", "prog")
    b.counts("prog", "14\n", BOTH)
    b.write("one.S", "#define VALUE 7\n.globl seven\nseven: mov $VALUE, %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n")
    b.cc("-c", "one.S", "-o", "one.o")
    b.cc("main.c", "part.c", "one.o", "-o", "prog")
    b.counts("prog", "14\n", BOTH)


def case_standard_output(b):
    if "footpath_cnt" not in b.cc("-S", "part.c", "-o", "-").stdout:
        raise Failure("no assembly on standard output")
    if not b.cc("-c", "part.c", "-o", "-").stdout.startswith("\x7fELF"):
        raise Failure("no object on standard output")


def case_standard_input(b):
    b.cc("-x", "c", "-", "-c", "-o", "part.o", stdin=PART)
    b.cc("-x", "c", "-", "-x", "none", "part.o", "-o", "prog", stdin=MAIN)
    b.counts("prog", "14\n", BOTH)
    b.cc("-xc", "-", "part.c", "-o", "prog", stdin=MAIN)
    b.counts("prog", "14\n", BOTH)


def case_response_file(b):
    b.write("words", "-O1 'part.c'\n\"main.c\" -o prog\\ 1\n")
    b.cc("@words")
    b.counts("prog 1", "14\n", BOTH)


def case_flags_in_response_file(b):
    b.write("more", "--fp-mode=check")
    b.write("words", "main.c part.c @more -o prog")
    b.cc("@words")
    b.counts("prog", "14\n", BOTH)
    b.verify("run.prof")


def case_flags_in_environment(b):
    b.cc("main.c", "part.c", "-o", "prog", env={"FOOTPATH_CC_FLAGS": "--fp-mode=check  --fp-threads=atomic"})
    b.counts("prog", "14\n", BOTH)
    b.verify("run.prof")


def case_wrong_flags(b):
    for words in (["--fp-mode=paths"], ["--fp-nonsense"], ["--fp-mode"], ["--fp-allow=/nowhere/at/all"],
                  ["--fp-allow=no_such_file.txt"]):
        done = b.cc("-c", "part.c", *words, ok=False, quiet=False)
        if done.returncode != 2 or "footpath-cc: " not in done.stderr or len(done.stderr.splitlines()) != 1:
            raise Failure("%s: %r" % (words, done.stderr))
    done = b.cc("-c", "part.c", ok=False, quiet=False, env={"FOOTPATH_CC_FLAGS": "-O2"})
    if "FOOTPATH_CC_FLAGS" not in done.stderr:
        raise Failure(done.stderr)


def case_compile_error(b):
    b.write("bad.c", "int f( { }\n")
    done = b.cc("-c", "bad.c", ok=False, quiet=False)
    if "bad.c:1" not in done.stderr:
        raise Failure(done.stderr)


def case_precompiled_header(b):
    header = "#include <stdio.h>\nstatic inline int twice(int x) { return x > 0 ? 2 * x : 0; }\n"
    user = "#ifndef H\n#include \"head.h\"\n#endif\nint main(void) { printf(\"%d\\n\", twice(3)); return 0; }\n"
    b.write("head.h", header)
    b.write("use.c", user)
    b.cc("-x", "c-header", "head.h", "-o", "head.h.pch")
    b.cc("-DH", "-include", "head.h", "use.c", "-o", "prog", "-H", quiet=False)
    b.counts("prog", "6\n", ("main",))
    os.unlink(b.path("head.h.pch"))
    b.cc("head.h")
    b.has("head.h.pch" if os.path.exists(b.path("head.h.pch")) else "head.h.gch")
    made = "head.h.pch" if os.path.exists(b.path("head.h.pch")) else "head.h.gch"
    b.cc("-include-pch", made, "-DH", "use.c", "-o", "prog")
    b.counts("prog", "6\n", ("main",))
    b.write("head.hpp", header)
    b.cc("-g", "head.hpp", "-o", "head.hpp.pch", plus=True)
    b.has("head.hpp.pch")


def case_save_temps(b):
    b.cc("-save-temps", "main.c", "part.c", "-o", "prog")
    b.has("main.s", b"footpath_cnt")
    b.counts("prog", "14\n", BOTH)


def case_no_integrated_assembler(b):
    b.cc("-fno-integrated-as", "--fp-exits", "main.c", "part.c", "-o", "prog")
    b.counts("prog", "14\n", BOTH)


def case_bitcode(b):
    b.cc("-O1", "-emit-llvm", "-c", "part.c", "-o", "part.bc")
    b.cc("-O1", "main.c", "part.bc", "-o", "prog")
    shown = b.counts("prog", "14\n", BOTH)
    calls = [f["calls"] for f in shown["functions"] if f["name"] == "part"]
    if calls != [10]:
        raise Failure("instrumented twice? %s" % calls)
    b.call([b.clang, "-O1", "-S", "-emit-llvm", "part.c", "-o", "plain.ll"])
    b.cc("-O1", "-c", "plain.ll", "-o", "part.o")
    b.cc("-O1", "main.c", "part.o", "-o", "prog")
    b.counts("prog", "14\n", BOTH)


def case_lto(b):
    for how in ("-flto", "-flto=thin"):
        b.cc("-O2", how, "-fuse-ld=" + b.linker, "main.c", "part.c", "-o", "prog", "--fp-mode=check")
        b.counts("prog", "14\n", ("main",))
        b.verify("run.prof")


# A module with a number of functions that have loops and branches.
MODULE = """int seen%(n)d;
__attribute__((noinline)) static int turn%(n)d(int x, int y) { while (x > 0) { if (x %% 3 == y) x -= 2; else x--; seen%(n)d += x; }
    return seen%(n)d & 7; }
__attribute__((noinline)) int work%(n)d(int x) { int sum = 0; for (int i = 0; i < 20; i++) { sum += turn%(n)d(i, x %% 3); if (sum > 40) sum -= i;
    switch (sum & 3) { case 0: sum++; break; case 2: sum += x; break; default: sum ^= 1; } } return sum; }
"""


def case_plugin_in_threads(b):
    """The linker compiles modules in threads of one process, with the plugin in it."""
    if int(b.args.llvm) < 15:
        raise Skipped("needs a linker of LLVM %s that loads plugins" % b.args.llvm)
    count = 24
    names = ["m%d.c" % n for n in range(count)]
    for n in range(count):
        b.write(names[n], MODULE % {"n": n})
    calls = "".join("int work%d(int); " % n for n in range(count)), " + ".join("work%d(i)" % n for n in range(count))
    b.write("all.c", "#include <stdio.h>\n%s\nint main(void) { int sum = 0; for (int i = 0; i < 9; i++) sum += %s;\n"
            "    printf(\"%%d\\n\", sum); return 0; }\n" % calls)
    b.cc("--fp-mode=none", "-O2", "-flto=thin", "-c", "all.c", *names)
    objects = ["all.o"] + [name[:-1] + "o" for name in names]
    linked = ["-O2", "-flto=thin", "-fuse-ld=" + b.linker, *objects]
    b.cc("--fp-mode=none", *linked, "-o", "plain")
    expected = b.call([b.path("plain")]).stdout
    plugin = os.path.join(b.args.bin, "..", "lib", "footpath", "footpath-llvm-%s.so" % b.args.llvm)
    b.cc("--fp-mode=check", *linked, "-Wl,--load-pass-plugin=" + os.path.realpath(plugin), "-Wl,--thinlto-jobs=16",
         "-o", "prog", env={"FOOTPATH_VERIFY_IR": "1"})
    b.counts("prog", expected, ["main"] + ["work%d" % n for n in range(count)])
    b.verify("run.prof")


def linked_by(b, linker):
    b.cc("-O2", "-fuse-ld=" + linker, "-Wl,--gc-sections", "-ffunction-sections", "main.c", "part.c", "-o", "prog",
         quiet=False)
    b.counts("prog", "14\n", ("main",))


def case_linker_bfd(b):
    harness.needs("ld.bfd")
    linked_by(b, "bfd")


def case_linker_gold(b):
    harness.needs("ld.gold")
    linked_by(b, "gold")


def case_linker_of_llvm(b):
    linked_by(b, b.linker)


def case_relocatable(b):
    b.cc("-c", "main.c", "part.c")
    for words in (["-r"], ["-nostdlib", "-no-pie", "-Wl,-r"], ["-nostdlib", "-no-pie", "-Xlinker", "-r"]):
        b.cc(*words, "main.o", "part.o", "-o", "both.o")
        b.cc("both.o", "-o", "prog")
        b.counts("prog", "14\n", BOTH)


def case_positions(b):
    for words in (["-static"], ["-static-pie", "-fPIE"], ["-no-pie"], ["-pie", "-fPIE"], ["-fno-pic", "-no-pie"],
                  ["-mcmodel=medium"], ["-fno-plt", "-fPIC"], ["-Wl,-static"]):
        if words == ["-Wl,-static"]:
            words = ["-static", "-Wl,-static"]
        b.cc("-O2", *words, "main.c", "part.c", "-o", "prog")
        b.counts("prog", "14\n", ("main",))


def case_strip(b):
    b.cc("-s", "main.c", "part.c", "-o", "prog")
    b.counts("prog", "14\n", BOTH)
    b.cc("-Wl,--build-id=0x1234", "main.c", "part.c", "-o", "prog")
    b.counts("prog", "14\n", BOTH)
    if "1234\n" not in b.call([b.bin("footpath"), "info", "prog"]).stdout:
        raise Failure("the build-id that was asked for is not there")


def case_debug_information(b):
    def sections(name):
        return b.call(["readelf", "-SW", name]).stdout

    for words, wanted in ((["-g"], True), (["--debug"], True), (["-g1"], True), (["-gdwarf-4"], True), (["-g0"], False), ([], False),
                          (["-gz"], False), (["-g", "-g0"], False), (["-gcolumn-info"], False)):
        b.cc("-c", "part.c", "-o", "part.o", *words)
        if (".debug_info" in sections("part.o")) != wanted:
            raise Failure("%s: debug information: %s" % (words, not wanted))
        b.cc("main.c", "part.o", "-o", "prog")
        shown = b.counts("prog", "14\n", BOTH)
        if not all(p["blocks"] for f in shown["functions"] for p in f["paths"]):
            raise Failure("%s: no lines" % words)


def case_compressed_sections(b):
    """What has the name of a debug section is compressed, by linkers and by objcopy."""
    b.write("many.c", "".join("__attribute__((noinline)) int f%d(int x) { return x & %d ? x + 1 : x; }\n" % (i, i) for i in range(200)) +
            "#include <stdio.h>\nint main(void) { int s = 0; %s printf(\"%%d\\n\", s); }\n" % "".join("s += f%d(3);" % i for i in range(200)))
    names = tuple("f%d" % i for i in range(200))
    printed = "%d\n" % sum(3 + (3 & i != 0) for i in range(200))
    for words in ([], ["-fuse-ld=lld"], ["-fuse-ld=gold"], ["--fp-map=separate"]):
        b.cc("-g", "-gz", *words, "many.c", "-o", "prog")
        b.counts("prog", printed, names)
        live = [line for line in b.call(["readelf", "-SW", "prog"]).stdout.splitlines() if ".debug_footpath_live" in line]
        expect(live and " C " in live[0], "the section is compressed with %s: %s" % (words, live))
    b.cc("-g", "many.c", "-o", "prog")
    b.call(["objcopy", "--compress-debug-sections", "prog"])
    b.counts("prog", printed, names)


def case_profiling_by_others(b):
    for words, left in ((["-pg"], "gmon.out"), (["-fprofile-instr-generate"], "default.profraw"),
                        (["-fprofile-generate"], None), (["--coverage"], None)):
        b.cc("-O1", *words, "main.c", "part.c", "-o", "prog", quiet=False)
        b.counts("prog", "14\n", ("main",))
        if left:
            b.has(left)


def sanitized(b, *names):
    b.write("threads.c", THREADS)
    b.write("threads.cc", STD_THREADS)
    for name in names:
        for source in ("threads.c", "threads.cc"):
            b.cc("-O1", "-g", "-fsanitize=" + name, "-pthread", "--fp-mode=check", source, "-o", "prog",
                 plus=source.endswith("cc"))
            b.counts("prog", "280000\n", ("main",))
            b.verify("run.prof")


def case_sanitizers(b):
    sanitized(b, "address", "undefined", "undefined,address", "leak")


def case_sanitizer_of_threads(b):
    if b.args.llvm == "14":
        raise Skipped("the runtime of LLVM 14 does not start on kernels with much address randomisation")
    sanitized(b, "thread")


def case_threads(b):
    b.write("threads.c", THREADS)
    b.write("threads.cc", STD_THREADS)
    for words in (["-pthread"], ["-static", "-pthread"], ["-pthread", "--fp-threads=atomic"]):
        for source in ("threads.c", "threads.cc"):
            b.cc("-O1", "--fp-mode=check", *words, source, "-o", "prog", plus=source.endswith("cc"))
            b.counts("prog", "280000\n", ("main",))
            b.verify("run.prof")


def case_openmp(b):
    b.write("omp.c", "#include <stdio.h>\nint main(void) { long n = 0;\n#pragma omp parallel for reduction(+:n)\n"
                     "for (int i = 0; i < 1000; i++) n += i % 2 ? 1 : 2;\nprintf(\"%ld\\n\", n); return 0; }\n")
    # the libraries of all versions have one interface, and Debian installs one of them at a time
    found = glob.glob("/usr/lib/llvm-*/lib/libomp.so")
    if not found:
        raise Skipped("needs libomp-%s-dev" % b.args.llvm)
    folder = os.path.dirname(found[-1])
    b.cc("-O1", "-fopenmp", "--fp-mode=check", "omp.c", "-o", "prog", "-L" + folder, "-Wl,-rpath," + folder)
    b.counts("prog", "1500\n", ("main",))
    b.verify("run.prof")


def case_templates_and_exceptions(b):
    b.write("plus.cc", PLUS)
    for words in (["-O0"], ["-O2"], ["-O2", "-std=c++20", "--fp-at=early"], ["-O1", "-static"]):
        b.cc(*words, "--fp-mode=check", "plus.cc", "-o", "prog", plus=True)
        b.counts("prog", "12 3\n", ("main",))
        b.verify("run.prof")


def case_modules(b):
    if int(b.args.llvm) < 16:
        raise Skipped("needs clang 16, for modules of C++20")
    b.write("m.cppm", "export module m;\nexport int pick(int x) { if (x > 2) return x; return 2; }\n")
    b.write("use.cc", "import m;\nextern \"C\" int printf(const char *, ...);\n"
                      "int main() { printf(\"%d\\n\", pick(1) + pick(5)); }\n")
    b.cc("-std=c++20", "--precompile", "m.cppm", "-o", "m.pcm", plus=True)
    b.cc("-std=c++20", "-c", "m.pcm", "-o", "m.o", plus=True)
    b.cc("-std=c++20", "-fprebuilt-module-path=.", "use.cc", "m.o", "-o", "prog", plus=True)
    b.counts("prog", "7\n", ("main",))


def case_inline_in_two_objects(b):
    b.write("in.hpp", "template <class T> __attribute__((noinline)) T big(T x) { if (x > 3) return x; return 3; }\n")
    b.write("one.cc", "#include \"in.hpp\"\nint one(int x) { return big(x); }\n")
    b.write("two.cc", "#include \"in.hpp\"\n#include <cstdio>\nint one(int);\n"
                      "int main() { std::printf(\"%d\\n\", one(2) + big(5)); }\n")
    b.cc("-O1", "one.cc", "two.cc", "-o", "prog", plus=True)
    shown = b.counts("prog", "8\n", ("main", "int big<int>(int)"))
    found = [f["calls"] for f in shown["functions"] if f["name"].startswith("int big")]
    if found != [2]:
        raise Failure("calls of the inline function: %s" % found)


def case_mode_none(b):
    b.cc("--fp-mode=none", "main.c", "part.c", "-o", "prog")
    b.counts("prog", "14\n", None)
    if "rt_write" in b.call(["nm", "prog"]).stdout:
        raise Failure("a plain program got the runtime")


def case_lists(b):
    b.write("allow", "# only these\nfun:pa*\n")
    b.cc("--fp-allow=allow", "main.c", "part.c", "-o", "prog")
    shown = b.counts("prog", "14\n", ("part",))
    reasons = {f["name"]: f.get("not_measured") for f in shown["functions"]}
    if "--fp-allow" not in (reasons["main"] or ""):
        raise Failure(str(reasons))
    b.write("deny", "src:*/part.c\n")
    for deny in ("deny", "nobody,src:*/part.c", "pa*,fun:nobody"):
        b.cc("--fp-deny=" + deny, "main.c", "part.c", "-o", "prog")
        reasons = {f["name"]: f.get("not_measured") for f in b.counts("prog", "14\n", ("main",))["functions"]}
        if "--fp-deny" not in (reasons["part"] or "") or reasons["main"]:
            raise Failure("%s: %s" % (deny, reasons))


def case_other_machines(b):
    for words in (["-m32"], ["--target=aarch64-linux-gnu"], ["-target", "i686-linux-gnu"]):
        said = b.cc(*words, "-c", "part.c", "-o", "part.o", quiet=False).stderr
        if "only x86-64 Linux" not in said or len(said.splitlines()) != 1:
            raise Failure("%s: %r" % (words, said))
        b.has("part.o", b"\x7fELF")


def case_missing_clang(b):
    done = b.call([b.bin("footpath-cc"), "--fp-llvm=9", "--fp-mode=none", "-c", "part.c"], ok=False, quiet=False)
    if "clang-9" not in done.stderr or len(done.stderr.splitlines()) != 1:
        raise Failure(done.stderr)
    done = b.call([b.bin("footpath-cc"), "-c", "part.c"], ok=False, quiet=False, env={"FOOTPATH_CLANG": "/no/clang"})
    if "/no/clang" not in done.stderr:
        raise Failure(done.stderr)


def case_missing_plugin(b):
    """Told are the package and the versions that are here, whichever tool misses it; a program can still be linked."""
    b.cc("-c", "-emit-llvm", "part.c", "-o", "part.bc")
    for words, choose in ((["footpath-cc", "--fp-llvm=9", "-c", "part.c"], "--fp-llvm"),
                          (["footpath", "instrument", "--llvm", "9", "part.bc", "-o", "out.bc"], "--llvm")):
        done = b.call([b.bin(words[0]), *words[1:]], ok=False, quiet=False)
        for part in ("footpath-llvm-9.so: no plugin for LLVM 9", "install footpath-llvm-9", "by %s one that is here: " % choose):
            expect(part in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
        here = done.stderr.split("here: ")[1].strip().split(", ")
        expect(b.args.llvm in here, "version %s of %s" % (b.args.llvm, here))
        equal(here, sorted(here, key=int), "versions")
        equal([str(n) for n in b.json("info", "--json")["llvm"]], here, "footpath info")


def case_chosen_clang(b):
    log = b.path("log")
    for name in ("clang-mine", "clang++-mine"):
        path = b.write(name, "#!/bin/sh\necho %s >> %s\n" % (name, log))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    b.cc("-c", "part.c", env={"FOOTPATH_CLANG": b.path("clang-mine")})
    b.cc("-c", "part.c", plus=True, env={"FOOTPATH_CLANG": b.path("clang-mine")})
    b.has("log", b"clang-mine\nclang++-mine\n")


def case_link_without_footpath(b):
    b.cc("-c", "main.c", "part.c")
    done = b.call([b.clang, "main.o", "part.o", "-o", "prog"], ok=False, quiet=False)
    if "link_with_footpath_cc" not in done.stderr:
        raise Failure("the linker does not say what to do: " + done.stderr)


def case_make(b):
    b.write("Makefile", "all: prog\nprog: main.o part.o\n\t$(CC) $(LDFLAGS) $^ -o $@\n")
    b.call(["make", "-j2", "CC=footpath-cc --fp-llvm=" + b.args.llvm, "CFLAGS=-O2 -Wall -Werror"])
    b.counts("prog", "14\n", ("main",))


def case_autoconf_probe(b):
    """Probes leave no profile, neither where the program's will be nor where FOOTPATH_OUT says."""
    b.cc("main.c", "part.c", "-o", "prog")
    probes = ("conftest", "conftest.exe", "conftest_1a2b_0", "cmTC_1a2b3", "out/CMakeFiles/CMakeTmp/try", "out/meson-private/tmpx/output.exe",
              "sanitycheckcpp.exe", ".sconf_temp/x", "out/.conf_check_0/testbuild/testprog", "scratch/a.out")
    b.write("scratch/conftest.c", "")
    programs = ("confTest", "conftests", "a.out", "sanitycheck")
    for name in probes + programs:
        os.makedirs(os.path.dirname(b.path(name)), exist_ok=True)
        shutil.copy(b.path("prog"), b.path(name))
        b.call([b.path(name)])
        b.call([b.path(name)], env={"FOOTPATH_OUT": b.path("named.prof")})
        wrote = [n for n in ("footpath.prof", "named.prof") if os.path.exists(b.path(n))]
        if len(wrote) != (0 if name in probes else 2):
            raise Failure("%s wrote %s" % (name, wrote))
        for one in wrote:
            os.unlink(b.path(one))


def case_run_that_counts_nothing(b):
    """An older program's paths are not taken for those of the one that ran."""
    b.cc("main.c", "part.c", "-o", "prog")
    expect("paths taken" in b.tool("run", "./prog").stderr, "what ran is shown")
    said = b.tool("run", "--as-is", "true").stderr
    expect("true counted nothing" in said and "paths taken" not in said, "run --as-is true: " + said)
    expect("paths taken" in b.tool("run", "./prog").stderr, "and again")
    b.tool("run", "-o", "all.cp", "./prog")
    said = b.tool("run", "--as-is", "-o", "all.cp", "true").stderr
    expect("true counted nothing" in said, "run --as-is -o all.cp true: " + said)
    b.write("script", "#!/bin/sh\ntrue\n")
    os.chmod(b.path("script"), 0o755)
    said = b.tool("run", "./script").stderr
    expect("./script is a script and counted nothing" in said, "run ./script: " + said)
    said = b.tool("run", "./none", status=127).stderr
    equal(said.count("\n"), 1, "lines about a program that is not there: " + said)
    said = b.tool("run", "true", env={"XDG_CACHE_HOME": b.path("cache")}).stderr
    expect("1 run of true" in said and "paths taken" in said, "a copy of true counts: " + said)


def case_output_folder(b):
    """The folder of the profile is created, one that lies deeper is not; letters that stand for nothing are told."""
    b.cc("main.c", "part.c", "-o", "prog")
    for name, made, said in (("new/x.prof", "new/x.prof", ""), ("new/y.prof", "new/y.prof", ""), ("no/such/x.prof", None, "cannot write"),
                             ("x%q.prof", "x%q.prof", "%q stands for nothing"), ("x%", "x%", "% stands for nothing"),
                             ("%%q.prof", "%q.prof", "")):
        done = b.run(b.path("prog"), env={"FOOTPATH_OUT": name})
        equal(done.stdout, "14\n", name)
        expect(said in done.stderr if said else not done.stderr, "%s: %s" % (name, done.stderr))
        expect(not made or os.path.getsize(b.path(made)), "%s is written" % made)
    expect(not os.path.exists(b.path("no")), "nothing is created of no/such")
    done = b.run("footpath-cc", "--fp-llvm=" + b.args.llvm, "--fp-out=x%q", "main.c", "part.c", "-o", "bad", status=2)
    expect("%q stands for nothing" in done.stderr, done.stderr)


def case_help_of_the_compiler(b):
    """Ours first, then clang's."""
    text = b.run("footpath-cc", "--fp-llvm=" + b.args.llvm, "--help").stdout
    expect(0 <= text.find("--fp-mode=") < text.find("-fsyntax-only"), "help: " + text[:400])


def baked_in(b, *links):
    """--fp-out goes into the program, however it is linked; the environment overrides it."""
    out = b.path("out/%b.prof")
    os.mkdir(b.path("out"))
    for flags in links:
        b.cc(*flags, "--fp-out=" + out, "main.c", "part.c", "-o", "prog")
        b.call(["env", "-i", b.path("prog")])
        b.has("out/prog.prof")
        os.remove(b.path("out/prog.prof"))
    b.counts("prog", "14\n", BOTH)  # by FOOTPATH_OUT
    equal(os.listdir(b.path("out")), [], "FOOTPATH_OUT overrides --fp-out")


def case_baked_in_output(b):
    baked_in(b, [], ["-static"], ["-static-pie"], ["-O2", "-Wl,--gc-sections,--fatal-warnings"], ["-no-pie", "-s"])


def case_baked_in_output_with_lto(b):
    harness.needs("ld.lld", llvm=b.args.llvm)
    baked_in(b, ["-fuse-ld=lld", "-flto", "-O2"])


def case_baked_in_output_of_libraries(b):
    """A library has its own --fp-out; without one it writes where the program does."""
    out, other = b.path("out/%b.prof"), b.path("out/library.prof")
    os.mkdir(b.path("out"))
    for library, program, files in (([], ["--fp-out=" + out], ["prog.prof"]),
                                    (["--fp-out=" + other], ["--fp-out=" + out], ["library.prof", "prog.prof"]),
                                    (["--fp-out=" + other], ["--fp-mode=none"], ["library.prof"])):
        b.cc("-shared", "-fPIC", *library, "part.c", "-o", "libpart.so")
        b.cc(*program, "main.c", "./libpart.so", "-o", "prog")
        b.call(["env", "-i", b.path("prog")])
        if sorted(os.listdir(b.path("out"))) != files or os.path.exists(b.path("footpath.prof")):
            raise Failure("%s %s: wrote %s" % (library, program, os.listdir(b.path("out"))))
        for name in files:
            os.remove(b.path("out/" + name))


def case_rebuilt_program(b):
    """Builds share a profile. show takes the one that ran last, and says what else is there."""
    b.cc("main.c", "part.c", "-o", "prog")
    b.call([b.path("prog")])
    old = b.call([b.bin("footpath"), "show", "--top", "0"]).stdout
    b.call([b.path("prog")])
    b.cc("-O2", "main.c", "part.c", "-o", "prog")
    b.call([b.path("prog")])
    equal([n for n in os.listdir(b.folder) if n.startswith("footpath.prof")], ["footpath.prof"], "profiles")
    os.remove(b.path("prog"))
    done = b.call([b.bin("footpath"), "show"], quiet=False)
    expect("also has another build of prog (2 runs)" in done.stderr, "what else is there: " + done.stderr)
    expect(done.stdout.startswith("1 run of prog"), done.stdout)
    ids = [m["build_id"] for m in json.loads(b.call([b.bin("footpath"), "info", "--json", "footpath.prof"]).stdout)["modules"]]
    equal(len(ids), 2, "builds")
    done = b.call([b.bin("footpath"), "show", "--program", ids[0][:8]], quiet=False)
    expect(done.stdout.startswith("2 runs of prog"), "by build-id: " + done.stdout)
    done = b.call([b.bin("footpath"), "show", "--program", "all"])
    expect(done.stdout.startswith("3 runs of prog") and not done.stderr, "all: " + done.stdout + done.stderr)
    done = b.call([b.bin("footpath"), "show", "--program", "nobody"], ok=False, quiet=False)
    expect("no runs of 'nobody'; it has runs of prog" in done.stderr, "nobody: " + done.stderr)
    os.rename(b.path("footpath.prof"), b.path("kept"))
    b.cc("main.c", "part.c", "-o", "prog")
    b.call([b.path("prog")])
    equal(b.call([b.bin("footpath"), "show", "--top", "0"]).stdout, old, "the first build again")


LOOPS = ("static volatile int sink;\n"
         "void one(int i) { sink = i; }\nvoid two(int i) { sink = -i; }\nint f(int n, int k) {\n  int s = 0;\n  if (k > 2) s++;\n  for (int i = 0; i < n; i++)\n"
         "    if (i % 3 == k) one(i); else two(i);\n  for (int i = 0; i < n; i++) s += k ^ i;\n  return s;\n}\n"
         "int main(int argc, char **argv) { int s = 0; for (int i = 0; i < 40; i++) s += f(i, i % 5); return s == 1; }\n")
# whether f has cuts, doors, laps
PATH_ENDS = {"fit": (0, False, True), "few": (0, False, True), "paper": (0, False, False), "loops": (0, True, True)}


def ends_of(b, program):
    b.call([b.path(program)], env={"FOOTPATH_OUT": program + ".prof"})
    functions = json.loads(b.call([b.bin("footpath"), "show", "--json", program + ".prof"]).stdout)["functions"]
    f, = [f for f in functions if f["name"] == "f"]
    return f["cuts"], f["doors"] > 0, f["laps"] > 0


def case_cuts(b):
    """Where paths end, by --fp-cuts: told by show, and respected by diff."""
    b.write("loops.c", LOOPS)
    for cuts, ends in PATH_ENDS.items():
        b.cc("-O1", "-fno-inline", "-fno-unroll-loops", "--fp-cuts=" + cuts, "loops.c", "-o", cuts)
        equal(ends_of(b, cuts), ends, "cuts, doors, laps of " + cuts)
    done = b.call([b.bin("footpath"), "diff", "fit.prof", "loops.prof"]).stdout
    expect("end at other places" in done, "diff says that paths differ: " + done)
    equal(json.loads(b.call([b.bin("footpath"), "diff", "--json", "fit.prof", "few.prof"]).stdout)["functions_redefined"], 0, "fit and few")
    edges = json.loads(b.call([b.bin("footpath"), "diff", "--edges", "--json", "fit.prof", "paper.prof"]).stdout)
    equal((edges["functions_redefined"], edges["changed"]), (0, []), "edges are the same whatever paths are")


MANY = """static volatile int sink;
int f(int n) {
  if (n & 1) sink = 1;
  if (n & 2) sink = 2;
  if (__builtin_expect(n > 30, 0)) { if (n & 4) sink = 3; if (n & 8) sink = 4; if (n & 16) sink = 5; }
  if (n & 4) sink = 6;
  if (n & 8) sink = 7;
  return 0;
}
int main(void) { for (int i = 0; i < 40; i++) f(i); return 0; }
"""


def case_info_of_ends(b):
    """info tells what cuts and doors take away: as many paths more than there would be without."""
    b.write("loops.c", LOOPS)
    b.write("many.c", MANY)
    for source, cuts, what, other in (("loops.c", "loops", "doors", "cuts"), ("many.c", "fit", "cuts", "doors")):
        taken = {}
        for name in (cuts, "few"):
            b.cc("-O1", "-fno-inline", "-fno-unroll-loops", "--fp-array-paths=64", "--fp-cuts=" + name, source, "-o", name)
            b.call([b.path(name)], env={"FOOTPATH_OUT": name + ".prof"})
            taken[name], = json.loads(b.call([b.bin("footpath"), "info", "--json", name + ".prof"]).stdout)["modules"]
        ended = taken[cuts]["paths_ended_at_" + what]
        expect(taken[cuts][what] and ended and not taken[cuts][other], "%s of %s: %s" % (what, source, taken[cuts]))
        equal((taken["few"]["cuts"], taken["few"]["doors"], taken["few"]["paths_ended_at_" + what]), (0, 0, 0), "few")
        equal(taken[cuts]["paths_taken"] - ended, taken["few"]["paths_taken"], "paths of " + source)
        said = b.call([b.bin("footpath"), "info", cuts + ".prof"]).stdout
        expect("%d of %d paths taken end there" % (ended, taken[cuts]["paths_taken"]) in said.replace(",", ""), "info: " + said)
        for name in (cuts, "few"):
            os.remove(b.path(name + ".prof"))


def case_unlike_paths(b):
    """Builds whose paths end at other places: no command takes a path of one for a path of the other."""
    b.write("loops.c", LOOPS)
    for cuts in ("fit", "few", "loops"):
        b.cc("-O1", "-fno-inline", "-fno-unroll-loops", "--fp-cuts=" + cuts, "loops.c", "-o", cuts)
        b.call([b.path(cuts)], env={"FOOTPATH_OUT": cuts + ".prof"})

    def tool(*words, status=0):
        done = b.call([b.bin("footpath"), *words], ok=None, quiet=False)
        equal(done.returncode, status, "%s: %s%s" % (" ".join(words), done.stdout, done.stderr))
        return done
    # alike: fit has nothing to cut here, so its paths are those of few
    same = json.loads(tool("compare", "--json", "fit.prof", "few.prof").stdout)
    equal((same["redefined"], same["wall"]), (0, 1), "compare of builds with the same paths")
    # compare
    done = tool("compare", "--json", "fit.prof", "loops.prof")
    values = json.loads(done.stdout)
    equal((values["redefined"], "wall" in values, values["overlap"]), (1, False, 1), "compare: edges alone")
    expect("paths of 1 functions end at other places" in done.stderr, "compare says so: " + done.stderr)
    for gate in (["--metric", "wall"], ["--least", "0"]):
        equal(tool("compare", *gate, "fit.prof", "loops.prof", status=1).stdout, "", "compare refuses")
    tool("compare", "--metric", "overlap", "--least", "1", "fit.prof", "loops.prof")
    wall = float(tool("compare", "--any-ends", "--metric", "wall", "fit.prof", "loops.prof").stdout.split()[1])
    expect(0 < wall < 1, "wall with --any-ends: %f" % wall)
    # stats
    alone, common = (json.loads(tool("stats", "--json", "fit.prof", other).stdout)["common"] for other in ("few.prof", "loops.prof"))
    equal((alone["functions_redefined"], common["functions_redefined"]), (0, 1), "stats")
    expect(common["paths_here"] < alone["paths_here"] and common["static_percent"] == 100, "stats leaves f out: %s" % common)
    expect("their paths end at other places" in tool("stats", "fit.prof", "loops.prof").stdout, "stats says so")
    equal(json.loads(tool("stats", "--json", "loops.prof").stdout)["doors"] > 0, True, "stats tells the doors")
    # coverage
    both = json.loads(tool("coverage", "--json", "fit.prof", "loops.prof").stdout)["total"]
    equal((both["functions_redefined"], "paths" in both, "edges" in both), (1, False, True), "coverage of both")
    expect("end at other places in these builds" in tool("coverage", "fit.prof", "loops.prof").stdout, "coverage says so")
    tool("coverage", "--fail-under", "1", "--metric", "paths", "--program", "all", "fit.prof", "loops.prof", status=1)
    tool("coverage", "--fail-under", "1", "--metric", "edges", "--program", "all", "fit.prof", "loops.prof")
    one = json.loads(tool("coverage", "--json", "loops.prof").stdout)["total"]
    expect(one["doors"] and one["paths"]["covered"], "coverage of one build: %s" % one)
    # combine and merge
    expect("end at other places" in tool("combine", "-o", "no.cp", "fit.prof", "loops.prof", status=1).stderr, "combine")
    expect(not os.path.exists(b.path("no.cp")), "combine wrote something")
    b.call(["cp", "fit", "prog"])
    b.call([b.path("prog")], env={"FOOTPATH_OUT": "first.prof"})
    b.call(["cp", "loops", "prog"])
    b.call([b.path("prog")], env={"FOOTPATH_OUT": "second.prof"})
    expect("prog: 2 builds, kept apart" in tool("merge", "-o", "both.prof", "first.prof", "second.prof").stderr, "merge")
    for cuts in ("fit", "loops"):
        shown = [json.loads(tool("show", "--json", *words).stdout)["functions"] for words in (
            (cuts + ".prof",), ("both.prof", "--program", json.loads(tool("info", "--json", cuts + ".prof").stdout)["modules"][0]["build_id"]))]
        equal(shown[1], shown[0], cuts + " out of the sum")


def case_instrument_cuts(b):
    """The same in bitcode. A word that is not known leaves no output behind."""
    b.write("loops.c", LOOPS)
    b.call([b.clang, "-O1", "-fno-inline", "-fno-unroll-loops", "-c", "-emit-llvm", "loops.c", "-o", "loops.bc"])
    for cuts, ends in PATH_ENDS.items():
        b.call([b.bin("footpath"), "instrument", "--llvm", b.args.llvm, "--cuts", cuts, "loops.bc", "-o", "counted.bc"])
        b.cc("--fp-mode=none", "counted.bc", "-o", cuts)
        equal(ends_of(b, cuts), ends, "cuts, doors, laps of " + cuts)
    for option in ("--mode", "--cuts", "--threads", "--metric"):
        done = b.call([b.bin("footpath"), "instrument", option, "other", "loops.bc", "-o", "no.bc"], ok=False, quiet=False)
        equal((done.returncode, option + " has no 'other'; known: " in done.stderr), (2, True), option + ": " + done.stderr)
        expect(not os.path.exists(b.path("no.bc")), "wrote bitcode after " + option)


def case_stands_alone(b):
    """The profile of any kind of build can be read without the program, libraries included."""
    b.write("lib.c", "int twice(int n) { return n > 3 ? 2 * n : n; }\n")
    b.write("uses.c", "int twice(int); int main(int argc, char **argv) { return twice(argc) > 9; }\n")
    for flags, after in (((), None), (("--fp-map=separate",), None), (("-flto", "-fuse-ld=lld"), None), ((), "strip")):
        b.cc(*flags, "-shared", "-fPIC", "lib.c", "-o", "libtwice.so")
        b.cc(*flags, "uses.c", "libtwice.so", "-Wl,-rpath," + b.folder, "-o", "uses")
        if after:
            b.call([after, b.path("uses"), b.path("libtwice.so")])
        for _ in range(3):
            b.call([b.path("uses")])
        before = b.call([b.bin("footpath"), "show", "--json"]).stdout
        for name in ("uses", "libtwice.so", "uses.fpmap", "libtwice.so.fpmap"):
            if os.path.exists(b.path(name)):
                os.remove(b.path(name))
        equal(b.call([b.bin("footpath"), "show", "--json"]).stdout, before, "without the program %s %s" % (flags, after))
        equal(len(json.loads(before)["functions"]), 2, "functions")
        os.remove(b.path("footpath.prof"))


KIND = """static volatile int sink;
__attribute__((noinline)) int kind(int n)
{
    if (n % 2) sink = 1;
    if (n > 10) sink = 2;
    return sink;
}
int main(void)
{
    for (int i = 0; i < 30; i++) kind(i);
    return 0;
}
"""


def case_edited_and_moved(b):
    """The source is edited and the program built again: show is of what ran. Then the profile is alone in the world."""
    os.mkdir(b.path("work"))
    b.write("work/prog.c", KIND)
    b.cc("-O1", "-g", "work/prog.c", "-o", "work/prog")
    b.call([b.path("work/prog")], env={"FOOTPATH_OUT": b.path("work/footpath.prof")})

    def tool(*words, where="work", quiet=True):
        return b.run(b.bin("footpath"), *words, "footpath.prof", silent=quiet, cwd=b.path(where))
    looks = (("info",), ("coverage", "--functions"), ("stats",), ("export", "--format", "lcov"), ("export", "--format", "callgrind"))

    def seen(where):
        """What ran. The text of conditions is the source's, and may go with it."""
        for how in ((), ("--functions",), ("--edges",)):
            expect("kind" in tool("show", *how, where=where).stdout, "show %s" % (how,))
        functions = json.loads(tool("show", "--json", where=where).stdout)["functions"]
        paths = [(f["name"], f["line"], f["calls"], [(p["id"], p["count"], p["block_ids"]) for p in f["paths"]]) for f in functions]
        return paths, [tool(*look, where=where).stdout for look in looks]
    before = seen("work")
    equal(sorted(name + " %d" % calls for name, _, calls, _ in before[0]), ["kind 30", "main 1"], "calls")
    b.write("work/prog.c", "/* a new line */\n" + KIND.replace("n > 10", "n > 10 && n < 20").replace("sink = 1", "sink = 3"))
    b.cc("-O2", "-g", "work/prog.c", "-o", "work/prog")
    equal(seen("work"), before, "after an edit and a new build")
    os.mkdir(b.path("away"))
    os.rename(b.path("work/footpath.prof"), b.path("away/footpath.prof"))
    for name in os.listdir(b.path("work")):
        os.remove(b.path("work", name))
    os.rmdir(b.path("work"))
    equal(seen("away"), before, "without program and source")
    # what needs the source shows the rest, and says what is missing and what to do
    annotated = tool("annotate", "--function", "kind", where="away").stdout
    expect("prog.c: not found; say where it is by --source-root" in annotated, "annotate says what is missing: " + annotated)
    expect(any(line.split()[:1] == ["30"] and line.split()[-1] == "4" for line in annotated.splitlines()), "annotate has the counts of lines: " + annotated)
    said = tool("report", "-o", "page", where="away", quiet=False).stderr
    expect("1 of 1 source files were not found" in said and "--source-root" in said, "report says what is missing: " + said)
    expect(os.path.exists(b.path("away/page/index.html")), "a page without source")
    # and with the source, wherever it is
    b.write("sources/prog.c", KIND)
    annotated = tool("annotate", "--function", "kind", "--source-root", b.path("sources"), where="away").stdout
    expect("if (n > 10) sink = 2;" in annotated, "annotate with the source: " + annotated)
    tool("report", "-o", "page", "--source-root", b.path("sources"), where="away")


def case_map_once(b):
    """One map per build in a profile; none where each run has a file, unless asked for."""
    b.cc("main.c", "part.c", "-o", "prog")
    sizes = []
    for _ in range(3):
        b.call([b.path("prog")])
        sizes.append(os.path.getsize(b.path("footpath.prof")))
    expect(sizes[1] - sizes[0] == sizes[2] - sizes[1] < sizes[0] - 64, "sizes %s" % sizes)
    for value, alone in (("0", False), ("", False), ("1", True)):
        b.call([b.path("prog")], env={"FOOTPATH_OUT": "run-%p", "FOOTPATH_MAP": value})
        name, = [n for n in os.listdir(b.folder) if n.startswith("run-")]
        equal(os.path.getsize(b.path(name)) == sizes[0], alone, "FOOTPATH_MAP=" + value)
        os.remove(b.path(name))


def case_cmake(b):
    b.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\n"
                              "find_package(Threads REQUIRED)\ninclude(CheckIPOSupported)\n"
                              "add_library(part STATIC part.c)\nadd_library(shared SHARED part.c)\n"
                              "target_precompile_headers(part PRIVATE <stdio.h>)\n"
                              "add_executable(prog main.c)\ntarget_link_libraries(prog part Threads::Threads)\n"
                              "add_executable(dyn main.c)\ntarget_link_libraries(dyn shared)\n")
    b.call(["cmake", "-G", "Ninja", "-B", "out", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=footpath-cc",
            "-DCMAKE_CXX_COMPILER=footpath-c++", "."], env={"FOOTPATH_CC_FLAGS": "--fp-llvm=" + b.args.llvm},
           quiet=False)
    b.call(["ninja", "-C", "out"], env={"FOOTPATH_CC_FLAGS": "--fp-llvm=" + b.args.llvm})
    b.counts("out/prog", "14\n", ("main",))
    b.counts("out/dyn", "14\n", BOTH)


def ccache_misses(b):
    stats = dict(line.split("\t") for line in b.call(["ccache", "--print-stats"], env={"CCACHE_DIR": b.path("cache")}).stdout.splitlines())
    return int(stats["cache_miss"])


def check_ccache(b, compile_it, what):
    """Compiled twice: the second time out of the cache. Says whether the first time was."""
    before = ccache_misses(b)
    compile_it()
    between = ccache_misses(b)
    compile_it()
    if ccache_misses(b) != between:
        raise Failure("%s: the same again is not out of the cache" % what)
    return between == before


def case_ccache(b):
    """ccache on either side of footpath-cc sees flags, profiles and lists."""
    harness.needs("ccache")
    llvm, env = "--fp-llvm=" + b.args.llvm, {"CCACHE_DIR": b.path("cache")}
    os.mkdir(b.path("masks"))
    os.symlink(shutil.which("ccache"), b.path("masks/clang-" + b.args.llvm))
    behind = dict(env, FOOTPATH_CLANG=b.path("masks/clang-" + b.args.llvm))
    extra = dict(env, CCACHE_EXTRAFILES=b.path("run.prof") + ":" + b.path("list"))
    orders = (("behind", behind, []), ("in front", extra, ["ccache"]))
    b.cc("--fp-at=early", "-O2", "main.c", "part.c", "-o", "early")
    b.write("list", "fun:other\n")
    b.counts("early", "14\n", BOTH)
    flags = ["--fp-mode=edge"], ["--fp-exits"], ["--fp-use=run.prof"], ["--fp-deny=list"]

    def each(order, must_miss):
        where, variables, prefix = order
        for words in flags:
            command = prefix + [b.bin("footpath-cc"), llvm, *words, "-O2", "-c", "part.c", "-o", "part.o"]
            if check_ccache(b, lambda: b.call(command, env=variables), "%s %s" % (where, words)) == bool(must_miss(words)):
                raise Failure("ccache %s footpath-cc %s: out of the cache or not, wrongly" % (where, words))

    for order in orders:
        each(order, lambda words: True)
    b.call([b.path("early")], env={"FOOTPATH_OUT": b.path("run.prof")})  # another run in the profile
    b.write("list", "fun:part\n")
    each(orders[0], lambda words: "run.prof" in words[0] or "list" in words[0])
    each(orders[1], lambda words: True)  # all compilations depend on the extra files


def case_meson(b):
    harness.needs("meson")
    b.write("meson.build", "project('p', 'c')\nexecutable('prog', 'main.c', 'part.c')\n")
    env = {"CC": "footpath-cc", "FOOTPATH_CC_FLAGS": "--fp-llvm=" + b.args.llvm}
    b.call(["meson", "setup", "out"], env=env, quiet=False)
    b.call(["ninja", "-C", "out"], env=env)
    b.counts("out/prog", "14\n", ("main",))

def case_lines_of_an_included_file(b):
    """A file that is included in the body of a function: its lines are its own, and those behind it are the function's."""
    b.write("part.h", "if (x % 3 == 0)\n    s += 2;\n")
    b.write("m.c", "int f(int x)\n{\n    int s = x;\n#include \"part.h\"\n    if (x > 7)\n        s += 5;\n    return s;\n}\n"
            "int main(void)\n{\n    int t = 0;\n    for (int i = 0; i < 20; i++)\n        t += f(i);\n    return t == 0;\n}\n")
    for level in "-O0", "-O1":
        b.cc(level, "-g", "-fno-inline", "m.c", "-o", "m")
        profile = b.profile("m", "m.prof")
        counts, file = {}, None
        for line in b.tool("export", "--format", "lcov", profile).stdout.splitlines():
            if line.startswith("SF:"):
                file = os.path.basename(line)
            if line.startswith("DA:"):
                counts[file, int(line[3:].split(",")[0])] = int(line.split(",")[1])
        equal([counts.get(("part.h", 1)), counts.get(("m.c", 5))], [20, 20], "the conditions, " + level)
        expect(not any(name == "part.h" and line > 2 for name, line in counts), "lines behind the end of the file", counts)
        shown = b.tool("show", "--function", "f", profile).stdout
        expect("x % 3 == 0 yes; x > 7 no" in shown or level != "-O0", "the words of the source", shown)


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
