#!/usr/bin/env python3
"""Profiles used from the tools: bitcode, the whole cycle, several runs, the library.

    workflows.py --bin BUILD/bin --llvm 19 --build BUILD [--case NAME]...
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, expect  # noqa: E402

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int step(int i, int odd) {
  int s = 0;
  if (odd) s = i * 3; else printf("%s", "");
  for (int k = 0; k < 7; k++) if ((k ^ i) & 1) s += k; else s -= 1;
  if (odd) s ^= 5; else s += 2;
  return s;
}
int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1000, every = argc > 2 ? atol(argv[2]) : 2, t = 0;
  for (long i = 0; i < n; i++) t += step((int)i, i % every == 0);
  printf("%ld\\n", t);
  return 0;
}
"""


class Workflows(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.footpath = self.bin("footpath")
        self.source = self.write("prog.c", SOURCE)
        self.clang("-O2", "-w", self.source, "-o", "plain")
        self.expected = self.run("./plain").stdout

    def build(self, *words):
        return self.cc("-O2", "-w", *words)

    def train(self, exe, profile, *words):
        """One run more."""
        self.run(exe, *words, env={"FOOTPATH_OUT": profile})
        return profile

    def case_bitcode(self):
        clang, bc = "clang-" + self.args.llvm, self.path("prog.bc")
        self.run(clang, "-O1", "-c", "-emit-llvm", "-g", self.source, "-o", bc)
        self.run(self.footpath, "instrument", bc, "-o", self.path("pp.bc"), "--llvm", self.args.llvm)
        self.build(self.path("pp.bc"), "--fp-mode=none", "-o", self.path("pp"))
        profile = self.train(self.path("pp"), self.path("bc.prof"))
        done = self.run(self.footpath, "optimize", bc, "--profile", profile, "-o", self.path("opt.bc"), "--remarks", "--llvm",
                   self.args.llvm)
        expect("2 functions by the profile, 0 stale" in done.stderr, "every function is used", done.stderr)
        self.run(clang, self.path("opt.bc"), "-o", self.path("opt"))
        expect(self.run(self.path("opt")).stdout == self.expected, "optimised bitcode does the same")

    def case_cycle(self):
        folder = self.path("cycle")
        os.makedirs(folder)
        done = self.run(self.footpath, "pgo", "--folder", folder, "--flags=--fp-llvm=" + self.args.llvm, "--build",
                   "$CC -O2 -w %s -o %s/prog" % (self.source, folder), "--train", folder + "/prog 5000 3", "--by", "mean")
        expect("[4/4] Building by the profile" in done.stderr, "four steps", done.stderr)
        expect(self.run(folder + "/prog").stdout == self.expected, "the result does the same")
        with open(folder + "/prog", "rb") as f:
            expect(b"footpath_cnt" not in f.read(), "the result does not count")
        bad = self.run(self.footpath, "pgo", "--folder", folder, "--build", "false", "--train", "true", status=1)
        expect("status 1" in bad.stderr, "a build that fails", bad.stderr)

    def pgo(self, build, *words, **how):
        return self.tool("pgo", "--flags=--fp-llvm=" + self.args.llvm, "--build", build, "--train", "./prog 5000 3",
                         *words, **how).stderr

    def optimised(self, what):
        """The program is there, does the same, and counts nothing."""
        expect(self.run(self.path("prog")).stdout == self.expected, what + ": does the same")
        expect("has no footpath map" in self.tool("info", "prog", status=1).stderr, what + ": has no counters")

    def case_cycle_of_make(self):
        """make finds everything up to date, before the first build and before the second."""
        self.write("Makefile", "prog: main.o lib.a\n\t$(CC) -o prog main.o lib.a\nlib.a: lib.o\n\tar rc lib.a lib.o\n"
                   "%.o: %.c\n\t$(CC) -O2 -w -c $<\nclean:\n\trm -f prog lib.a *.o\n")
        at = SOURCE.index("int main")
        self.write("lib.c", SOURCE[:at].replace("static int", "int"))
        self.write("main.c", SOURCE[:SOURCE.index("__attribute__")] + "int step(int i, int odd);\n" + SOURCE[at:])
        before = os.stat(self.path("lib.c")).st_mtime_ns
        said = self.pgo("make")
        expect("cleaning" not in said, "a first build is not cleaned", said)
        self.optimised("first")
        expect(os.stat(self.path("lib.c")).st_mtime_ns == before, "sources have their times back")
        said = self.pgo("make")
        expect("cleaning by make clean" in said, "nothing to compile", said)
        self.optimised("up to date")
        os.utime(self.path("main.c"))
        said = self.pgo("make -C . prog")
        expect("cleaning by make -C . clean" in said, "a part to compile", said)
        self.optimised("up to date in part")
        said = self.pgo("make && true", status=1)
        expect("nothing was compiled" in said, "a command that is not understood", said)
        os.utime(self.path("main.c"))
        said = self.pgo("make && true")
        expect("lib.a is older than this build" in said, "an old library is told", said)
        self.optimised("cleaned by hand" if self.pgo("make && true", "--clean", "make clean") else "")

    def case_cycle_that_cannot(self):
        """A build that does not compile its source again leaves a program that counts."""
        self.write("Makefile", "prog:\n\t$(CC) -O2 -w prog.c -o prog\n")
        expect("prog still counts" in self.pgo("make", status=1), "told, and an error")
        expect(self.pgo("make", "--clean", "rm -f prog"), "with --clean")
        self.optimised("with --clean")

    def case_several(self):
        exe, profile, combined = self.path("counted"), self.path("runs.prof"), self.path("runs.combined")
        self.build("--fp-at=early", self.source, "-o", exe)
        self.train(exe, profile, "10000", "1000")  # long, and hardly ever odd
        self.train(exe, profile, "10", "1")        # short, and always
        self.run(self.footpath, "combine", profile, "-o", combined)
        weights = {}
        for by, name in (("sum", profile), ("mean", profile), ("worst", profile), ("mean", combined)):
            out = self.path("used.ll")
            self.build("--fp-use=" + name, "--fp-by=" + by, "--fp-paths=no", "-fno-inline", "-S", "-emit-llvm", self.source, "-o", out)
            with open(out) as f:
                text = f.read()
            weights[by, name] = text[text.index("!llvm.module.flags"):]
        expect(weights["sum", profile] != weights["mean", profile], "mean differs from sum")
        expect(weights["worst", profile] != weights["mean", profile], "worst differs from mean")
        expect(weights["mean", combined] == weights["mean", profile], "a combined profile gives its mean")

    def case_library(self):
        prefix, example = self.path("prefix"), os.path.join(ROOT, "examples", "correlation", "correlation.c")
        self.run("cmake", "--install", self.args.build, "--prefix", prefix)
        for name in ("share/bash-completion/completions/footpath", "share/bash-completion/completions/footpath-cc",
                     "share/zsh/site-functions/_footpath", "share/fish/vendor_completions.d/footpath.fish",
                     "share/footpath/schemas/show.schema.json", "share/man/man1/footpath-show.1"):
            expect(os.path.getsize(os.path.join(prefix, name)), name + " is installed")
        lib = next(os.path.join(prefix, d) for d in os.listdir(prefix) if d.startswith("lib") and
                   os.path.exists(os.path.join(prefix, d, "pkgconfig"))) if not os.path.exists(
                       os.path.join(prefix, "lib", "pkgconfig")) else os.path.join(prefix, "lib")
        pc = [os.path.join(at, "pkgconfig") for at, folders, _ in os.walk(lib) if "pkgconfig" in folders]
        flags = self.run("pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "footpath",
                    env={"PKG_CONFIG_PATH": pc[0]}).stdout.split()
        self.run("cc", "-Wall", "-Wextra", "-Werror", example, *flags, *harness.sanitizers(self.args.bin), "-o",
                 self.path("correlation"))
        self.build("--fp-at=early", self.source, "-o", self.path("counted"))
        profile = self.train(self.path("counted"), self.path("library.prof"), "1000", "2")
        done = self.run(self.path("correlation"), profile, env={"LD_LIBRARY_PATH": os.path.dirname(pc[0])})
        expect(done.stderr == "", "the library opens it", done.stderr)
        bad = self.run(self.path("correlation"), self.source, env={"LD_LIBRARY_PATH": os.path.dirname(pc[0])}, status=1)
        expect("prog.c" in bad.stderr, "a file that is no profile", bad.stderr)


if __name__ == "__main__":
    harness.main(__doc__, ("--build", {"help": "the build to install, for the library"}), bench=Workflows,
                 cases={name[5:]: case for name, case in vars(Workflows).items() if name.startswith("case_")})
