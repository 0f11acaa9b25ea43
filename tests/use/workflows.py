#!/usr/bin/env python3
"""Profiles used from the tools: bitcode, the whole cycle, several runs, the library.

    workflows.py --bin BUILD/bin --llvm 19 --build BUILD SOURCE-TREE
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

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
passed = failed = 0


def check(what, condition, detail=""):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("failed: %s %s" % (what, detail))


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    check(" ".join(command)[:100], done.returncode == 0, done.stdout + done.stderr)
    return done


class Workflows:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.footpath = os.path.join(args.bin, "footpath")
        self.cc = [os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "-O2", "-w"]
        self.source = self.at("prog.c")
        with open(self.source, "w") as f:
            f.write(SOURCE)
        run("clang-" + args.llvm, "-O2", "-w", self.source, "-o", self.at("plain"))
        self.expected = run(self.at("plain")).stdout

    def at(self, name):
        return os.path.join(self.folder, name)

    def train(self, exe, profile, *args):
        run(exe, *args, env=dict(os.environ, FOOTPATH_OUT=profile))
        return profile

    def bitcode(self):
        clang, bc = "clang-" + self.args.llvm, self.at("prog.bc")
        run(clang, "-O1", "-c", "-emit-llvm", "-g", self.source, "-o", bc)
        run(self.footpath, "instrument", bc, "-o", self.at("pp.bc"), "--llvm", self.args.llvm)
        run(*self.cc, self.at("pp.bc"), "--fp-mode=none", "-o", self.at("pp"))
        profile = self.train(self.at("pp"), self.at("bc.prof"))
        done = run(self.footpath, "optimize", bc, "--profile", profile, "-o", self.at("opt.bc"), "--remarks", "--llvm",
                   self.args.llvm)
        check("every function is used", "2 functions by the profile, 0 stale" in done.stderr, done.stderr)
        run(clang, self.at("opt.bc"), "-o", self.at("opt"))
        check("optimised bitcode does the same", run(self.at("opt")).stdout == self.expected)

    def cycle(self):
        folder = self.at("cycle")
        os.makedirs(folder)
        done = run(self.footpath, "pgo", "--folder", folder, "--flags=--fp-llvm=" + self.args.llvm, "--build",
                   "$CC -O2 -w %s -o %s/prog" % (self.source, folder), "--train", folder + "/prog 5000 3", "--by", "mean")
        check("four steps", "[4/4] Building by the profile" in done.stderr, done.stderr)
        check("the result does the same", run(folder + "/prog").stdout == self.expected)
        with open(folder + "/prog", "rb") as f:
            check("the result does not count", b"footpath_cnt" not in f.read())
        bad = subprocess.run([self.footpath, "pgo", "--folder", folder, "--build", "false", "--train", "true"],
                             capture_output=True, text=True)
        check("a build that fails", bad.returncode == 1 and "status 1" in bad.stderr, bad.stderr)

    def several(self):
        exe, profile, combined = self.at("counted"), self.at("runs.prof"), self.at("runs.combined")
        run(*self.cc, "--fp-at=early", self.source, "-o", exe)
        self.train(exe, profile, "10000", "1000")  # long, and hardly ever odd
        self.train(exe, profile, "10", "1")        # short, and always
        run(self.footpath, "combine", profile, "-o", combined)
        weights = {}
        for by, name in (("sum", profile), ("mean", profile), ("worst", profile), ("mean", combined)):
            out = self.at("used.ll")
            run(*self.cc, "--fp-use=" + name, "--fp-by=" + by, "--fp-paths=no", "-fno-inline", "-S", "-emit-llvm", self.source, "-o", out)
            with open(out) as f:
                text = f.read()
            weights[by, name] = text[text.index("!llvm.module.flags"):]
        check("mean differs from sum", weights["sum", profile] != weights["mean", profile])
        check("worst differs from mean", weights["worst", profile] != weights["mean", profile])
        check("a combined profile gives its mean", weights["mean", combined] == weights["mean", profile])

    def library(self):
        prefix, example = self.at("prefix"), os.path.join(self.args.tree, "examples", "correlation", "correlation.c")
        run("cmake", "--install", self.args.build, "--prefix", prefix)
        lib = next(os.path.join(prefix, d) for d in os.listdir(prefix) if d.startswith("lib") and
                   os.path.exists(os.path.join(prefix, d, "pkgconfig"))) if not os.path.exists(
                       os.path.join(prefix, "lib", "pkgconfig")) else os.path.join(prefix, "lib")
        pc = [os.path.join(at, "pkgconfig") for at, folders, _ in os.walk(lib) if "pkgconfig" in folders]
        flags = run("pkg-config", "--define-variable=prefix=" + prefix, "--cflags", "--libs", "footpath",
                    env=dict(os.environ, PKG_CONFIG_PATH=pc[0])).stdout.split()
        run("cc", "-Wall", "-Wextra", "-Werror", example, *flags, "-o", self.at("correlation"))
        run(*self.cc, "--fp-at=early", self.source, "-o", self.at("counted"))
        profile = self.train(self.at("counted"), self.at("library.prof"), "1000", "2")
        done = run(self.at("correlation"), profile, env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(pc[0])))
        check("the library opens it", done.stderr == "", done.stderr)
        bad = subprocess.run([self.at("correlation"), self.source], capture_output=True, text=True,
                             env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(pc[0])))
        check("a file that is no profile", bad.returncode == 1 and "prog.c" in bad.stderr, bad.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    parser.add_argument("--build", required=True)
    parser.add_argument("tree")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="footpath-")
    w = Workflows(args, folder)
    for part in (w.bitcode, w.cycle, w.several, w.library):
        part()
    shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
