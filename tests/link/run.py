#!/usr/bin/env python3
"""How programs are linked: every way must leave exact counts.

    run.py --bin BUILD/bin [--llvm 19] [--opt=-O2] [--keep] [--case NAME]...

A scenario builds the sources of src/ twice, with clang and with footpath-cc
--fp-mode=check, runs both, wants the same output and status, `footpath verify`
identical, and the calls of the functions that it names, no more and no less.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, Skipped, equal, expect  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src")


class Build:
    """One compiler in one folder; commands run there."""

    def __init__(self, test, name, instrumented):
        self.test, self.folder = test, os.path.join(test.folder, name)
        self.instrumented = instrumented
        os.makedirs(self.folder)

    def words(self, cxx=False, instrumented=None):
        args = self.test.args
        if self.instrumented if instrumented is None else instrumented:
            return [os.path.join(args.bin, "footpath-c++" if cxx else "footpath-cc"), "--fp-llvm=" + args.llvm,
                    "--fp-mode=check"]
        return ["clang%s-%s" % ("++" if cxx else "", args.llvm)]

    def run(self, *command, status=None, **more):
        return harness.run(*command, status=status, cwd=self.folder, **more)

    def must(self, *command):
        self.run(*command, status=0, silent=True)

    def cc(self, *flags, cxx=False, instrumented=None):
        flags = [os.path.join(SOURCE, f) if os.path.exists(os.path.join(SOURCE, f)) else f for f in flags]
        self.must(*self.words(cxx, instrumented), self.test.args.opt, *flags)

    def objects(self, *names, flags=(), cxx=False):
        for name in names:
            self.cc("-c", *flags, name, "-o", os.path.splitext(name)[0] + ".o", cxx=cxx)
        return [os.path.splitext(name)[0] + ".o" for name in names]


class Test(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.builds = [Build(self, "plain", False), Build(self, "check", True)]

    def each(self, steps):
        for build in self.builds:
            steps(build)

    def both(self, *command, status=0):
        """Runs it in both folders; gives the profile."""
        results = []
        for build in self.builds:
            env = dict(os.environ, FOOTPATH_OUT=os.path.join(build.folder, "out.prof"), LD_LIBRARY_PATH=build.folder)
            done = build.run(*command, env=env)
            results.append((done.returncode, done.stdout, done.stderr))
        equal(results[1], results[0], " ".join(command))
        equal(results[0][0], status, " ".join(command))
        return os.path.join(self.builds[1].folder, "out.prof")

    def counts(self, profile, expected, absent=()):
        """expected: (function, file) -> calls, of every function but those that start with _."""
        shown = self.json("show", "--json", "--top", "0", profile)
        got = {(f["name"].split("(")[0], os.path.basename(f["file"])): f["calls"] for f in shown["functions"]}
        for key, calls in expected.items():
            expect(got.get(key) == calls, "%s of %s: expected %s calls, got %s; all: %s" % (*key, calls, got.get(key), got))
        for name in absent:
            expect(all(name != function for function, _ in got), "%s was dropped by the linker but is reported" % name)
        whole = [(f["name"], f["file"], f["line"]) for f in shown["functions"]]  # overloads have parameters and const
        expect(len(whole) == len(set(whole)), "reported twice: %s" % [f for f in whole if whole.count(f) > 1])

    def exact(self, profile, expected, absent=()):
        self.verify(profile)
        self.counts(profile, expected, absent)


PARTS = {("one", "one.c"): 1000, ("two", "two.c"): 300, ("helper", "one.c"): 989, ("helper", "two.c"): 600,
         ("main", "main.c"): 1}
WORK = {("work", "plug1.c"): 100, ("step", "plug1.c"): 100}


def each_linker(case):
    """Makes a case of each linker."""
    for linker in ("bfd", "gold", "lld"):
        def one(t, linker=linker):
            harness.needs("ld." + linker, llvm=t.args.llvm)
            case(t, linker)
        globals()["case_%s_%s" % (case.__name__, linker)] = one
    return case


# ---- the scenarios ----

def case_same_names(t):
    """two static functions of one name"""
    t.each(lambda b: b.cc("main.c", "one.c", "two.c", "-o", "prog"))
    t.exact(t.both("./prog"), PARTS)


def case_static_library(t):
    """an archive; the member that nobody needs stays out"""
    def steps(b):
        b.must("ar", "rcs", "libparts.a", *b.objects("one.c", "two.c", "unused.c"))
        b.cc("main.c", "-L.", "-lparts", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), PARTS, absent=["unused", "unused_too"])


@each_linker
def gc_sections(t, linker):
    """-ffunction-sections and --gc-sections"""
    for build in t.builds:
        parts = build.objects("one.c", "two.c", "unused.c", "main.c", flags=["-ffunction-sections", "-fdata-sections"])
        build.cc(*parts, "-Wl,--gc-sections", "-fuse-ld=" + linker, "-o", "prog")
    profile = t.both("./prog")
    # GNU ld keeps what the marks of calls refer to; what it drops must not be reported
    symbols = t.builds[1].run("nm", "prog").stdout.split()
    dropped = [name for name in ("unused", "unused_too") if name not in symbols]
    expect(linker != "lld" or dropped, "nothing was dropped")
    t.exact(profile, PARTS, absent=dropped)


def case_relocatable(t):
    """ld -r, by the compiler and by the linker itself"""
    def steps(b):
        b.cc("-r", *b.objects("one.c", "two.c"), "-o", "both.o")
        b.must("ld", "-r", "both.o", *b.objects("main.c"), "-o", "all.o")
        b.cc("all.o", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), PARTS)


def case_relocatable_inline(t):
    """ld -r of objects that share an inline function, and one object more"""
    def steps(b):
        parts = b.objects("inline_first.cc", "inline_second.cc", cxx=True)
        b.must("ld", "-r", *parts, "-o", "both.o")
        b.cc("both.o", *b.objects("inline_main.cc", cxx=True), "-o", "prog", cxx=True)
    t.each(steps)
    t.exact(t.both("./prog"), {("clamp", "shared_inline.h"): 300})


def case_stripped(t):
    """strip leaves what the tools need"""
    def steps(b):
        b.cc("-g", "main.c", "one.c", "two.c", "-o", "prog")
        b.must("strip", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), PARTS)


def case_stripped_object(t):
    """strip --strip-debug on objects"""
    def steps(b):
        parts = b.objects("main.c", "one.c", "two.c", flags=["-g"])
        b.must("strip", "--strip-debug", *parts)
        b.cc(*parts, "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), PARTS)


def case_inline_many(t):
    """an inline function in three objects is one function"""
    t.each(lambda b: b.cc("inline_main.cc", "inline_first.cc", "inline_second.cc", "-o", "prog", cxx=True))
    t.exact(t.both("./prog"), {("clamp", "shared_inline.h"): 300})


def case_thin_lto(t):
    """-flto=thin"""
    t.each(lambda b: b.cc("-flto=thin", "-fuse-ld=lld", "main.c", "one.c", "two.c", "-o", "prog"))
    t.exact(t.both("./prog"), PARTS)


def case_full_lto(t):
    """-flto, with an archive of bitcode"""
    def steps(b):
        parts = b.objects("one.c", "two.c", "unused.c", flags=["-flto"])
        b.must("llvm-ar-" + t.args.llvm, "rcs", "libparts.a", *parts)
        b.cc("-flto", "-fuse-ld=lld", "main.c", "libparts.a", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), PARTS, absent=["unused", "unused_too"])


def case_lto_inline(t):
    """an inline function in many objects, -flto=thin and -flto"""
    for kind in ("thin", "full"):
        t.each(lambda b: b.cc("-flto=" + kind, "-fuse-ld=lld", "inline_main.cc", "inline_first.cc", "inline_second.cc",
                              "-o", "prog-" + kind, cxx=True))
        profile = t.both("./prog-" + kind)
        t.exact(profile, {("clamp", "shared_inline.h"): 300})
        os.unlink(profile)


def case_lto_handler(t):
    """a handler that counts what it interrupts, -flto=thin and -flto: the linker keeps no counter in a register"""
    for kind in ("thin", "full"):
        t.each(lambda b: b.cc("-flto=" + kind, "-fuse-ld=lld", "handler.c", "-o", "prog-" + kind))
        profile = t.both("./prog-" + kind)
        t.verify(profile)
        os.unlink(profile)


def case_bitcode_handler(t):
    """the same in bitcode that is optimised behind `footpath instrument`"""
    def steps(b):
        b.cc("-c", "-emit-llvm", "handler.c", "-o", "handler.bc", instrumented=False)
        if b.instrumented:
            b.must(t.bin("footpath"), "instrument", "--llvm", t.args.llvm, "--mode", "check", "handler.bc", "-o", "handler.bc")
        b.cc("handler.bc", "-o", "prog")
    t.each(steps)
    t.verify(t.both("./prog"))


def plain_links(t, *flags):
    """GNU ld needs a plugin of LLVM for bitcode, which not every system has."""
    build = t.builds[0]
    return not build.run(*build.words(), *flags, os.path.join(SOURCE, "debug.c"), "-o", "try").returncode


def debug_information(t, linker, lto):
    if not plain_links(t, linker, lto):
        raise Skipped("no %s with %s on this system" % (lto, linker))
    for source, function, calls in (("debug.c", "ways", 40), ("debug_cxx.cc", "get", 60)):
        t.each(lambda b: b.cc("-g", lto, linker, source, "-o", "prog", cxx=source.endswith("cc")))
        profile = t.both("./prog")
        t.exact(profile, {(function, source): calls})
        os.unlink(profile)


for linker in ("bfd", "lld"):
    for name, lto in (("plain", "-fno-lto"), ("lto", "-flto"), ("thinlto", "-flto=thin")):
        globals()["case_debug_information_%s_%s" % (linker, name)] = \
            lambda t, linker=linker, lto=lto: debug_information(t, "-fuse-ld=" + linker, lto)


def case_shared_library(t):
    """a shared library: its counts and the program's in one profile"""
    def steps(b):
        b.cc("-shared", "-fPIC", "plug1.c", "-o", "libplug1.so")
        b.cc("user.c", "-L.", "-lplug1", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), {**WORK, ("main", "user.c"): 1})


def case_plain_program(t):
    """an instrumented library in a program that is not"""
    def steps(b):
        b.cc("-shared", "-fPIC", "plug1.c", "-o", "libplug1.so")
        b.cc("user.c", "-L.", "-lplug1", "-o", "prog", instrumented=False)
    t.each(steps)
    t.exact(t.both("./prog"), WORK)


def case_plain_library(t):
    """an instrumented program with a library and an object that are not"""
    def steps(b):
        b.cc("-shared", "-fPIC", "one.c", "-o", "libone.so", instrumented=False)
        b.cc("-c", "two.c", "-o", "two.o", instrumented=False)
        b.cc("main.c", "two.o", "-L.", "-lone", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog"), {("main", "main.c"): 1}, absent=["one", "two"])


def case_static_program(t):
    """-static and -static-pie"""
    for how in ("-static", "-static-pie"):
        t.each(lambda b: b.cc(how, "-fPIE", "main.c", "one.c", "two.c", "-o", "prog" + how))
        profile = t.both("./prog" + how)
        t.exact(profile, PARTS)
        os.unlink(profile)


def case_no_pie(t):
    """-no-pie"""
    t.each(lambda b: b.cc("-no-pie", "-fno-pie", "main.c", "one.c", "two.c", "-o", "prog"))
    t.exact(t.both("./prog"), PARTS)


def case_plugins(t):
    """dlopen and dlclose of two libraries, three times over"""
    def steps(b):
        for n in ("1", "2"):
            b.cc("-shared", "-fPIC", "plug%s.c" % n, "-o", "plug%s.so" % n)
        b.cc("dl_main.c", "-ldl", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog", "./plug1.so", "./plug2.so"),
            {("work", "plug1.c"): 300, ("work", "plug2.c"): 300, ("step", "plug1.c"): 300, ("main", "dl_main.c"): 1})


def case_plugins_of_plain(t):
    """the same from a program that is not instrumented: several runtimes, no main one"""
    def steps(b):
        for n in ("1", "2"):
            b.cc("-shared", "-fPIC", "plug%s.c" % n, "-o", "plug%s.so" % n)
        b.cc("dl_main.c", "-ldl", "-o", "prog", instrumented=False)
    t.each(steps)
    t.exact(t.both("./prog", "./plug1.so", "./plug2.so"), {("work", "plug1.c"): 300, ("step", "plug2.c"): 300})


def thread_locals(t, instrumented):
    def steps(b):
        b.cc("-shared", "-fPIC", "plug_local.c", "-o", "plug.so")
        b.cc("dl_main.c", "-ldl", "-o", "prog", instrumented=None if instrumented else False)
    t.each(steps)
    t.exact(t.both("./prog", "./plug.so"), {("work", "plug_local.c"): 300})


def case_plugin_locals(t):
    """dlopen of a library with 4 KB of thread-local variables"""
    thread_locals(t, True)


def case_plugin_locals_of_plain(t):
    """the same from a program that is not instrumented"""
    thread_locals(t, False)


def case_plugin_reloads(t):
    """three libraries in turn, each closed before it is opened again, 300 times"""
    def steps(b):
        for n in ("1", "2", "_local"):
            b.cc("-shared", "-fPIC", "plug%s.c" % n, "-o", "plug%s.so" % n)
        b.cc("dl_reloads.c", "-ldl", "-o", "prog", instrumented=False)
    t.each(steps)
    t.exact(t.both("./prog", "300", "./plug1.so", "./plug2.so", "./plug_local.so"),
            {("work", "plug%s.c" % n): 1000 for n in ("1", "2", "_local")})


@each_linker
def no_thread_locals(t, linker):
    """a library that has no thread-local variables gets none of ours"""
    build = t.builds[1]
    for mode in ("path", "pep", "check"):
        for name, flags in (("lib.so", ["-shared", "-fPIC", "plug1.c"]), ("prog", ["main.c", "one.c", "two.c"])):
            build.cc("--fp-mode=" + mode, "-fuse-ld=" + linker, *flags, "-o", name)
            shown = build.run("readelf", "-d", "-l", "-W", name, status=0).stdout
            for word in ("STATIC_TLS", " TLS "):
                expect(word not in shown, "%s, --fp-mode=%s: %s in %s" % (name, mode, word, shown))
    build.cc("-shared", "-fPIC", "-fuse-ld=" + linker, "plug_local.c", "-o", "local.so")
    shown = build.run("readelf", "-d", "-l", "-W", "local.so", status=0).stdout
    expect(" TLS " in shown, "the variables of the program are not seen: %s" % shown)
    expect("STATIC_TLS" not in shown, "local.so: STATIC_TLS in %s" % shown)


def case_plugin_threads(t):
    """threads in a library that was loaded after they started"""
    def steps(b):
        b.cc("-shared", "-fPIC", "plug1.c", "-o", "plug1.so")
        b.cc("-pthread", "dl_threads.c", "-ldl", "-o", "prog")
    t.each(steps)
    t.exact(t.both("./prog", "./plug1.so"), {("work", "plug1.c"): 8000, ("step", "plug1.c"): 8000, ("run", "dl_threads.c"): 8})


def case_plugin_threads_of_plain(t):
    """the same from a program that is not instrumented"""
    def steps(b):
        b.cc("-shared", "-fPIC", "plug1.c", "-o", "plug1.so")
        b.cc("-pthread", "dl_threads.c", "-ldl", "-o", "prog", instrumented=False)
    t.each(steps)
    t.exact(t.both("./prog", "./plug1.so"), {("work", "plug1.c"): 8000, ("step", "plug1.c"): 8000})


def rounds(t, instrumented):
    def steps(b):
        b.cc("-shared", "-fPIC", "plug1.c", "-o", "plug1.so")
        b.cc("-shared", "-fPIC", "plug2.c", "many_linked.c", "-o", "plug2.so")
        b.cc("-pthread", "dl_rounds.c", "-ldl", "-o", "prog", instrumented=None if instrumented else False)
    t.each(steps)
    for how, status in (("return", 0), ("quick", 0), ("signal", -15)):
        profile = t.both("./prog", how, "./plug1.so", "./plug2.so", status=status)
        t.counts(profile, {("work", "plug1.c"): 5000, ("step", "plug1.c"): 5000, ("work", "plug2.c"): 5000})
        if status == 0:
            t.verify(profile)
        os.unlink(profile)


def case_plugin_rounds(t):
    """libraries that come and go while threads run"""
    rounds(t, True)


def case_plugin_rounds_of_plain(t):
    """the same in a program that is not instrumented"""
    rounds(t, False)


@each_linker
def many_threads(t, linker, runs=3):
    """16 threads in a program with two libraries and hash tables on either side"""
    flags = ["-fuse-ld=" + linker, "-Wl,--fatal-warnings"]
    for table in ((), ("-DOWN_TABLE",)):
        def steps(b):
            for name in ("many_linked", "many_loaded"):
                b.cc(*flags, "-shared", "-fPIC", name + ".c", "-o", "lib%s.so" % name)
            b.cc(*flags, *table, "-rdynamic", "-pthread", "many_threads.c", "-L.", "-lmany_linked", "-ldl", "-o", "prog")
        t.each(steps)
        for _ in range(runs):
            profile = t.both("./prog", "./libmany_loaded.so")
        calls = 16 * 500 * runs
        t.exact(profile, {("many_linked", "many_linked.c"): calls, ("many_loaded", "many_loaded.c"): calls,
                          ("run", "many_threads.c"): 16 * runs, ("main", "many_threads.c"): runs,
                          **({("many_own", "many_threads.c"): calls} if table else {})})
        os.unlink(profile)


def case_many_threads_1000_long(t):
    """the same 1,000 times"""
    many_threads(t, "bfd", runs=500)


def ours_among(symbols):
    """Those of footpath that another module could be bound to."""
    ours = []
    for line in symbols.splitlines():
        fields = line.split()
        if len(fields) >= 8 and "footpath" in fields[7] and fields[4] != "LOCAL" and fields[5] == "DEFAULT":
            ours.append(fields[7])
    return ours


@each_linker
def hidden_symbols(t, linker):
    """no symbol of ours can be preempted, in a program and in a library"""
    build = t.builds[1]
    kinds = {"prog": ["-rdynamic", "main.c", "one.c", "two.c"], "lib.so": ["-shared", "-fPIC", "one.c", "many_linked.c"]}
    for mode in ("path", "pep"):
        for name, flags in kinds.items():
            build.cc("--fp-mode=" + mode, "-fuse-ld=" + linker, "-Wl,--fatal-warnings", *flags, "-o", name)
            ours = ours_among(build.run("readelf", "--dyn-syms", "-W", name, status=0).stdout)
            equal(ours, [], "exports of %s, --fp-mode=%s" % (name, mode))


def case_drop_in(t):
    """response files, standard input, -S, -E, -M, two steps"""
    def steps(b):
        with open(os.path.join(b.folder, "args"), "w") as out:
            out.write("'%s' \"%s/two.c\"\n -o both.o -r\n" % (os.path.join(SOURCE, "one.c"), SOURCE))
        b.cc("@args")
        b.cc("-S", "main.c", "-o", "main.s")
        b.cc("-c", "-Wno-unused-command-line-argument", "main.s", "-o", "main.o")
        b.cc("-E", "main.c", "-o", "main.i")
        b.cc("-MM", "main.c", "-MF", "main.d")
        b.cc("main.o", "both.o", "-o", "prog")
        with open(os.path.join(SOURCE, "main.c")) as source:
            done = b.run(*b.words(), "-x", "c", "-", "both.o", "-o", "prog-stdin", stdin=source)
        if not done.returncode and not done.stderr:
            raise Failure("both.o is no C: clang should say so")
        with open(os.path.join(SOURCE, "main.c")) as source:
            done = b.run(*b.words(), t.args.opt, "-x", "c", "-", "-x", "none", "both.o", "-o", "prog-stdin", stdin=source)
        if done.returncode or done.stderr:
            raise Failure("standard input: " + done.stderr)
    t.each(steps)
    for name in ("main.d",):
        texts = [open(os.path.join(b.folder, name)).read() for b in t.builds]
        if texts[0] != texts[1]:
            raise Failure("%s differs" % name)
    profile = t.both("./prog")
    t.exact(profile, PARTS)
    os.unlink(profile)
    profile = t.both("./prog-stdin")
    t.verify(profile)


def case_without_runtime(t):
    """linking instrumented objects with clang says what to do"""
    build = t.builds[1]
    parts = build.objects("main.c", "one.c", "two.c")
    done = build.run(*build.words(instrumented=False), *parts, "-o", "prog")
    if not done.returncode or "link_with_footpath_cc" not in done.stderr:
        raise Failure("expected a message that says link_with_footpath_cc, got: " + done.stderr)


if __name__ == "__main__":
    os.environ["FOOTPATH_VERIFY_IR"] = "1"
    harness.main(__doc__, ("--opt", {"default": "-O2"}), bench=Test)
