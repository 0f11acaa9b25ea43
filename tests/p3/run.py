#!/usr/bin/env python3
"""footpath plan and footpath p3 on whole programs.

    run.py --bin BUILD/bin [--count N] [--seed S]

Random programs: for every strategy the collated profile must be that of the ordinary
build, path by path (footpath p3 --check), and the executed operations those that the
plan foresaw. Then everything that must be an error: copies that write, end or count
otherwise, plans for another program, nonsense on the command line.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

STRATEGIES = ("procedures", "p3", "cuts", "invocations")
failed = passed = 0


def check(condition, what):
    global failed, passed
    if condition:
        passed += 1
    else:
        failed += 1
        print("failed:", what)


# ---- random programs ----

class Maker:
    """A program of functions that branch, loop and call those before them."""

    def __init__(self, rng):
        self.rng, self.lines, self.names = rng, [], []

    def say(self, depth, text):
        self.lines.append("    " * depth + text)

    def condition(self):
        return self.rng.choice(["next() & 1", "x & %d" % self.rng.choice([1, 2, 4]), "next() %% %d" % self.rng.randint(2, 9),
                                "x > y", "(x ^ y) & 3"])

    def statement(self, depth, room):
        kind = self.rng.randrange(9) if room else 0
        if kind < 3:
            self.say(depth, self.rng.choice(["x += y * 3;", "y ^= x >> 2;", "x = x * 5 + next();", "y -= 7;"]))
        elif kind < 5:
            self.say(depth, "if (%s) {" % self.condition())
            self.block(depth + 1, room - 1)
            if self.rng.random() < 0.6:
                self.say(depth, "} else {")
                self.block(depth + 1, room - 1)
            self.say(depth, "}")
        elif kind == 5:
            self.say(depth, "for (unsigned i%d = next() %% %d; i%d; i%d--) {" % (depth, self.rng.randint(2, 12), depth, depth))
            self.block(depth + 1, room - 1)
            if self.rng.random() < 0.3:
                self.say(depth + 1, "if (%s) %s;" % (self.condition(), self.rng.choice(["break", "continue"])))
            self.say(depth, "}")
        elif kind == 6:
            self.say(depth, "switch (next() % 5) {")
            for case in range(self.rng.randint(2, 4)):
                self.say(depth, "case %d:" % case)
                self.block(depth + 1, room - 1)
                if self.rng.random() < 0.8:
                    self.say(depth + 1, "break;")
            self.say(depth, "}")
        elif kind == 7 and self.names:
            self.say(depth, "x += %s(y & 63);" % self.rng.choice(self.names))
        else:
            self.say(depth, "if (x %% 97 == %d) return y;" % self.rng.randrange(97))

    def block(self, depth, room):
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, room)

    def program(self, functions):
        self.say(0, "#include <stdio.h>\nstatic unsigned state = 12345;")
        self.say(0, "static unsigned next(void) { state = state * 1103515245u + 12345u; return state >> 16; }")
        for i in range(functions):
            name = "f%d" % i
            self.say(0, "static __attribute__((noinline)) unsigned %s(unsigned x)\n{\n    unsigned y = x * 3 + 1;" % name)
            for _ in range(self.rng.randint(1, 4)):
                self.statement(1, 3)
            self.say(1, "return x ^ y;\n}")
            self.names.append(name)
        self.say(0, "int main(void)\n{\n    unsigned sum = 0;\n    for (unsigned i = 0; i < 40; i++) {")
        for name in self.names[-4:]:
            self.say(2, "sum += %s(i);" % name)
        self.say(1, "}\n    printf(\"%u\\n\", sum);\n    return 0;\n}")
        return "\n".join(self.lines) + "\n"


class Tester:
    def __init__(self, args, folder):
        self.tool, self.folder, self.args = os.path.join(args.bin, "footpath"), folder, args
        self.base = dict(os.environ, LC_ALL="C")
        self.base.pop("FOOTPATH_CC_FLAGS", None)

    def run(self, *words, flags="", stdin=None):
        env = dict(self.base, FOOTPATH_CC_FLAGS=flags)
        return subprocess.run([self.tool, *words], cwd=self.folder, env=env, input=stdin, capture_output=True, text=True)

    def p3(self, source, *options, flags="", stdin=None, arguments=()):
        build = "$CC -O2 -w -o prog $FOOTPATH_SOURCE/%s" % source if " " not in source else source
        return self.run("p3", "--build", build, *options, "--", "prog", *arguments, flags=flags, stdin=stdin)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as out:
            out.write(text)

    def random_program(self, seed):
        rng = random.Random(seed)
        self.write("prog.c", Maker(rng).program(rng.randint(3, 7)))
        exits = rng.choice(["", "--fp-exits"])
        first = self.p3("prog.c", "-k", "1", "--strategy", "procedures", "--check", "-o", "guide.prof", flags=exits)
        check("the same as of the ordinary build" in first.stderr, "seed %d: one copy: %s" % (seed, first.stderr))
        for strategy in rng.sample(STRATEGIES, 2):
            copies = rng.choice([2, 3, 4, 5])
            options = ["-k", str(copies), "--strategy", strategy]
            if rng.random() < 0.7:
                options += ["--guide", "guide.prof"]
            if rng.random() < 0.4:
                options += ["--labels", "plain"]
            what = "seed %d, %s %s" % (seed, " ".join(options), exits)
            done = self.p3("prog.c", "--check", "--hits", "--json", *options, flags=exits)
            check(done.returncode == 0 and "the same as of the ordinary build" in done.stderr, what + ": " + done.stderr)
            if done.returncode == 0:
                self.compare_hits(json.loads(done.stderr[done.stderr.index("{"):]), options, what)

    def compare_hits(self, outcome, options, what):
        plan = self.run("plan", "footpath-p3/reference/build/prog", "--measure", "guide.prof", "--json", "-o", "plan", *options)
        plan = json.loads(plan.stdout)
        hits = [copy["hits"] for copy in outcome["copies"]]
        # by turns, what is foreseen is an average
        if plan["turns"] == 0:
            check(hits == plan["loads"], "%s: hits %s, foreseen %s" % (what, hits, plan["loads"]))

    def code_of(self, *flags):
        """The instructions of each function of prog.c."""
        words = [os.path.join(self.args.bin, "footpath-cc"), *flags, "-O2", "-w", "-g0", "-ffunction-sections", "-c", "prog.c", "-o", "prog.o"]
        subprocess.run(words, cwd=self.folder, env=self.base, check=True)
        shown = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", "prog.o"], cwd=self.folder, capture_output=True,
                               text=True, check=True).stdout
        return dict(re.findall(r"^0+ <(\w+)>:\n(.*?)(?=\n\n|\Z)", shown, re.M | re.S))

    def additions(self, plain, code):
        """How many instructions the code has more than the plain one."""
        count = [len([line for line in text.splitlines() if re.match(r" +[0-9a-f]+:\t(?!nop|xchg +%ax,%ax|data16|cs nop)[a-z]", line)])
                 for text in (plain, code)]
        return count[1] - count[0]

    def no_code_elsewhere(self):
        """By procedures, a function has the code of a plain compilation and one count of its calls in all copies but one."""
        self.write("prog.c", Maker(random.Random(5)).program(6))
        plain = self.code_of("--fp-mode=none")
        words = ["-O2", "-w", "prog.c", "-o", "prog"]
        subprocess.run([os.path.join(self.args.bin, "footpath-cc"), *words], cwd=self.folder, env=self.base, check=True)
        done = self.run("plan", "prog", "-k", "3", "--strategy", "procedures", "-o", "plan")
        check(done.returncode == 0 and "copy 2" in done.stdout, "plan: " + done.stdout + done.stderr)
        copies = [self.code_of("--fp-plan=plan", "--fp-copy=%d" % i) for i in range(3)]
        check(len(plain) >= 7, "%d functions in prog.o" % len(plain))
        for name in plain:
            more = [self.additions(plain[name], copy[name]) for copy in copies]
            check(sum(m == 1 for m in more) == 2, "%s: %s instructions more, expected 1 in two of three copies" % (name, more))

    # ---- what must be said ----

    def fails(self, done, pattern, status=1):
        check(done.returncode == status and re.search(pattern, done.stderr),
              "expected status %d and /%s/, got %d and: %s" % (status, pattern, done.returncode, done.stderr))

    def divergence(self):
        head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" \
               "static int is(const char *s) { return strstr(getenv(\"FOOTPATH_OUT\"), s) != 0; }\n" \
               "__attribute__((noinline)) int work(int x) { int s = 0; for (int i = 0; i < x; i++) { if (i & 1) s += x; " \
               "else s ^= i; if (s % 3) s--; } return s; }\n"
        calls = "int main(void) { int s = 0; for (int i = 0; i < 10 + %s; i++) s += work(i); %s return %s; }\n"
        self.write("diverge.c", head + calls % ('is("copy-1")', "", "0"))
        self.fails(self.p3("diverge.c", "-k", "2"), r"work: copy 1 called it 11 times, copy 0 10 times")
        for strategy in STRATEGIES:  # whichever copy counts work(), and the one that differs does not
            for copy in range(3):
                self.write("diverge.c", head + calls % ('is("copy-%d")' % copy, "", "0"))
                self.fails(self.p3("diverge.c", "-k", "3", "--strategy", strategy), r"work: copy \d called it 1[01] times, copy 0 1[01] times")
        self.write("diverge.c", head + calls % ("0", 'printf("%d\\n", is("copy-2"));', "0"))
        self.fails(self.p3("diverge.c", "-k", "3"), r"copy-2/stdout: copy 2 wrote something else than copy 0, from byte 0")
        self.write("diverge.c", head + calls % ("0", "", 'is("copy-1") ? 3 : 0'))
        self.fails(self.p3("diverge.c", "-k", "2"), r"copy 1 ended with status 3, copy 0 with 0")

    def other_programs(self):
        self.write("changed.c", "#ifdef MORE\nint __attribute__((noinline)) more(int x) { return x > 2 ? x : -x; }\n"
                                "#else\n#define more(x) (x)\n#endif\n"
                                "int __attribute__((noinline)) same(int x) { return x > 5 ? x * 2 : x; }\n"
                                "int main(int c, char **v) { return same(c) + more(c) - 2; }\n")
        script = 'case $FOOTPATH_CC_FLAGS in *fp-plan*) more=-DMORE;; esac; $CC -O1 $more -o prog $FOOTPATH_SOURCE/changed.c'
        self.fails(self.p3(script, "-k", "2"), r"(copy \d has it and the division has not|copy \d was to count it)")

    def own_folders(self):
        """Each copy creates a file; standard input goes to all; a private file is changed by each."""
        self.write("folder.c", "#include <stdio.h>\nint main(void) { int c, n = 0; FILE *f = fopen(\"made\", \"ax\");\n"
                               "FILE *p = fopen(\"private\", \"r+\"); if (!f || !p) return 9; while ((c = getchar()) != EOF) n += c;\n"
                               "int old = 0; fscanf(p, \"%d\", &old); rewind(p); fprintf(p, \"%d\\n\", old + 1);\n"
                               "printf(\"%d %d\\n\", n, old); return 5; }\n")
        self.write("private", "41\n")
        done = self.p3("folder.c", "-k", "2", "--private", "private", stdin="ab")
        check(done.returncode == 5 and done.stdout == "195 41\n", "own folders: %d %s%s" % (done.returncode, done.stdout, done.stderr))
        check(not os.path.exists(os.path.join(self.folder, "made")), "a copy wrote to the current folder")
        with open(os.path.join(self.folder, "private")) as f:
            check(f.read() == "41\n", "a copy changed a private file here")
        done = self.p3("folder.c", "-k", "2", "--private", "private", "--reuse", "--launcher", "env nice", stdin="b")
        check(done.returncode == 5 and done.stdout == "98 41\n", "launcher: %d %s%s" % (done.returncode, done.stdout, done.stderr))
        self.fails(self.p3("folder.c", "-k", "2", "--reuse", "--launcher", "no-such-launcher"), r"was not run to its end")

    def usage(self):
        for words, status, pattern in (
                (["plan"], 2, "no program given"),
                (["plan", "x", "--strategy", "best"], 2, "unknown strategy best"),
                (["plan", "x", "-k", "0"], 2, "-k needs a number from 1"),
                (["plan", "/nonexistent"], 1, "cannot open"),
                (["p3", "--build", "true", "-k", "2"], 2, "no program given"),
                (["p3", "prog"], 2, "no --build command"),
                (["p3", "--build", "exit 3", "prog"], 1, "the build failed with status 3"),
                (["p3", "--build", "true", "prog"], 1, "the build made no such program"),
                (["p3", "--build", "true", "--work", "a b", "prog"], 1, "no spaces")):
            self.fails(self.run(*words), pattern, status)
        for command in ("plan", "p3"):
            done = self.run(command, "--help")
            check(done.returncode == 0 and "usage: footpath " + command in done.stdout, command + " --help")
        self.write("plain.c", "int main(void) { return 0; }\n")
        cc = os.path.join(self.args.bin, "footpath-cc")
        subprocess.run([cc, "plain.c", "-o", "plain"], cwd=self.folder, env=self.base, check=True)
        self.fails(self.run("plan", "plain", "--strategy", "p3"), "build it with --fp-callees")
        check(self.run("plan", "plain", "-o", "plan").returncode == 0, "plan of a small program")
        for flags, pattern in ((["--fp-plan=plan"], "--fp-plan without the other"),
                               (["--fp-plan=plan", "--fp-copy=x"], "--fp-copy needs a number"),
                               (["--fp-plan=plan", "--fp-copy=0", "--fp-mode=edge"], "does not go with --fp-mode=edge"),
                               (["--fp-plan=plan", "--fp-copy=7"], "has copies 0 to 1, not 7"),
                               (["--fp-plan=plain.c", "--fp-copy=0"], "expected a division of footpath")):
            done = subprocess.run([cc, *flags, "-c", "plain.c", "-o", "plain.o"], cwd=self.folder, env=self.base,
                                  capture_output=True, text=True)
            check(done.returncode == 2 and pattern in done.stderr, "%s: %d %s" % (flags, done.returncode, done.stderr))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    folder = tempfile.mkdtemp(prefix="footpath-p3-")
    try:
        tester = Tester(args, folder)
        for seed in range(args.seed, args.seed + args.count):
            tester.random_program(seed)
        tester.no_code_elsewhere()
        tester.divergence()
        tester.other_programs()
        tester.own_folders()
        tester.usage()
    finally:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
