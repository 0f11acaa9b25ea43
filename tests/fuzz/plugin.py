#!/usr/bin/env python3
"""The compiler plugin under ASan and UBSan: random programs, then damaged guides and plans.

    plugin.py --bin BUILD/bin [--llvm 19] [--programs N] [--damaged N] [--seed S] [--jobs J] [--keep FOLDER]

BUILD is configured with -DFOOTPATH_SANITIZE_PLUGIN=ON. The runtime of the sanitizer is loaded into clang
before everything else. A compilation is bad when a sanitizer speaks, when the compiler dies, or when it
fails without a message of footpath. Some damaged files must be refused and some must pass.
"""
import collections
import concurrent.futures
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

import cli

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import formats  # noqa: E402
import harness  # noqa: E402
import limits  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
VARIANTS = ["--fp-mode=path", "--fp-mode=edge", "--fp-mode=edge-min", "--fp-mode=check", "--fp-mode=path --fp-exits",
            "--fp-mode=path --fp-at=early --fp-values", "--fp-mode=path --fp-metric=cycles --fp-callees", "--fp-mode=pep",
            "--fp-mode=path --fp-threads=atomic", "--fp-mode=path --fp-array-paths=2 --fp-threads=shared",
            "--fp-mode=path --fp-weights=static --fp-hits"]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
CSMITH = ["--no-packed-struct", "--max-funcs", "6", "--max-block-depth", "5", "--max-expr-complexity", "6"]
BAD = (b"Sanitizer", b"runtime error:", b"PLEASE submit a bug report", b"Stack dump:", b"Assertion ")
CPU_SECONDS = 300


class Campaign:
    def __init__(self, args, folder):
        self.args, self.folder, self.lock, self.bad = args, folder, threading.Lock(), 0
        self.counts = collections.Counter()
        asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
        clang = os.path.join(folder, "clang")
        with open(clang, "w") as f:
            f.write("#!/bin/sh\nLD_PRELOAD=%s exec clang-%s \"$@\"\n" % (asan, args.llvm))
        os.chmod(clang, 0o755)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH")}
        self.env.update(FOOTPATH_CLANG=clang, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1", LC_ALL="C",
                        FOOTPATH_VERIFY_IR="1")

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, *words):
        """(exit status, what was said) of footpath-cc."""
        compiler = os.path.join(self.args.bin, "footpath-cc")
        done = limits.run([compiler, "--fp-llvm=" + self.args.llvm, "-w", *words], CPU_SECONDS, env=self.env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def judge(self, what, status, said, refusable, inputs):
        """Counts a compilation; notes a bad one and keeps its files."""
        bad = any(word in said for word in BAD) or status not in (0, 1, 2)
        if status and not (refusable and b"footpath" in said):
            bad = True
        with self.lock:
            self.counts[what.split()[0] + (" refused" if status else " passed")] += 1
            if not bad:
                return
            self.bad += 1
            kept = os.path.join(self.args.keep, "plugin-%d-%d" % (self.args.seed, self.bad))
            os.makedirs(kept, exist_ok=True)
            for path in inputs:
                shutil.copy(path, kept)
            print("%s: %s: exit status %d: %s" % (kept, what, status, said.decode(errors="replace")[:3000]), flush=True)

    # ---- random programs ----

    def program(self, number):
        source = self.path("random%d.c" % number)
        with open(source, "wb") as f:
            f.write(subprocess.run(["csmith", *CSMITH, "--seed", str(self.args.seed * 100000 + number)], cwd=self.folder,
                                   capture_output=True, check=True).stdout)
        dice = random.Random(number)
        variants = [VARIANTS[(number + i * 4) % len(VARIANTS)] for i in range(3)]
        for variant in variants:
            level = dice.choice(LEVELS)
            status, said = self.compile(level, *variant.split(), "-I/usr/include/csmith", "-c", source, "-o", source[:-1] + "o")
            self.judge("program %s %s" % (level, variant), status, said, False, [source])
        os.unlink(source)

    # ---- damaged guides and plans ----

    def train(self):
        """Source files with a guide and a plan each."""
        tool = os.path.join(self.args.bin, "footpath")
        self.trained = []
        for name in ("control_flow.c", "many_paths.c", "exit_deep.c"):
            source, exe = os.path.join(PROGRAMS, name), self.path(name[:-2])
            for at in ("late", "early"):
                profile, guide, plan = (exe + at + end for end in (".prof", ".guide", ".plan"))
                more = ["--fp-values"] if at == "early" else ["--fp-callees"]
                status, said = self.compile("-O1", "-pthread", "--fp-at=" + at, *more, source, "-o", exe)
                if status:
                    raise SystemExit("%s: %s" % (source, said.decode(errors="replace")))
                subprocess.run([exe], env=dict(self.env, FOOTPATH_OUT=profile), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                subprocess.run([tool, "export", "--format", "guide", "-o", guide, profile], check=True)
                self.trained.append((source, guide, ["--fp-at=" + at, "--fp-guide="], "guide"))
                if at == "early":
                    self.trained.append((source, guide, ["--fp-use="], "use"))
                    continue
                for strategy in ("p3", "cuts", "invocations"):
                    subprocess.run([tool, "plan", "-k", "3", "--strategy", strategy, "--guide", profile, "-o", plan + strategy, exe],
                                   check=True, stdout=subprocess.DEVNULL)
                    self.trained.append((source, plan + strategy, ["--fp-mode=path", "--fp-callees", "--fp-plan="], "plan"))

    def damaged(self, number):
        dice = random.Random(self.args.seed * 1000003 + number)
        source, file, flags, what = dice.choice(self.trained)
        with open(file, "rb") as f:
            data = cli.mutate(dice, f.read())
        if dice.random() < 0.9:
            data = repair(what, data)
        path = self.path("%s%d" % (what, number))
        with open(path, "wb") as f:
            f.write(data)
        words = [dice.choice(LEVELS), *flags[:-1], flags[-1] + path]
        if what == "plan":
            words += ["--fp-copy=%d" % dice.randrange(3)]
            words[0] = "-O1" # the functions are those of the plan
        status, said = self.compile(*words, "-pthread", "-c", source, "-o", path + ".o")
        self.judge("%s %s" % (what, " ".join(words + [source])), status, said, True, [path])
        for made in (path, path + ".o"):
            if os.path.exists(made):
                os.unlink(made)


def repair(what, data):
    """The file with its checksum, and its length where it has one, made right."""
    if what == "plan" and len(data) >= 32:
        return data[:16] + struct.pack("<QQ", len(data) - 32, formats.checksum(data[32:])) + data[32:]
    return cli.repair("guide", data) if what != "plan" else data


def check_sanitized(args):
    plugin = os.path.join(os.path.dirname(args.bin), "lib", "footpath", "footpath-llvm-%s.so" % args.llvm)
    with open(plugin, "rb") as f:
        if b"__asan_init" not in f.read():
            raise SystemExit("%s: no sanitizer; configure with -DFOOTPATH_SANITIZE_PLUGIN=ON" % plugin)


def main():
    args = harness.parse(harness.arguments(
        __doc__,
        ("--programs", {"type": int, "default": 100}),
        ("--damaged", {"type": int, "default": 300}),
        ("--seed", {"type": int, "default": 1}),
        ("--jobs", {"type": int, "default": os.cpu_count()}),
        ("--keep", {"type": os.path.abspath, "default": "bad-inputs"})))
    check_sanitized(args)
    with tempfile.TemporaryDirectory(prefix="footpath-plugin-") as folder:
        campaign = Campaign(args, folder)
        campaign.train()
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(campaign.program, range(args.programs)))
            list(pool.map(campaign.damaged, range(args.damaged)))
    print("%s; %d bad" % (", ".join("%s %d" % pair for pair in sorted(campaign.counts.items())), campaign.bad))
    idle = args.damaged >= 100 and not all(campaign.counts[what + how] for what in ("guide", "use", "plan")
                                           for how in (" refused", " passed"))
    return 1 if campaign.bad or idle else 0


if __name__ == "__main__":
    sys.exit(main())
