#!/usr/bin/env python3
"""footpath divide and footpath p3 on whole programs.

    run.py --bin BUILD/bin [--count N] [--seed S] [--case NAME]...

Random programs: for every strategy the collated profile must be that of the ordinary
build, path by path (footpath p3 --check), and the executed operations those that the
division foresaw. Then everything that must be an error: copies that write, end or count
otherwise, divisions of another program, nonsense on the command line.
"""
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402

STRATEGIES = ("procedures", "p3", "cuts", "invocations")


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


DIVERGES = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int is(const char *s) { return strstr(getenv("FOOTPATH_OUT"), s) != 0; }
__attribute__((noinline)) int work(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++) { if (i & 1) s += x; else s ^= i; if (s % 3) s--; }
    return s;
}
"""


LEFT = """#include <stdlib.h>
static volatile int notes;
__attribute__((noinline)) static void note(int n)
{
    notes += n;
    if (notes > 18) exit(0);
}
__attribute__((noinline)) static void other(int n)
{
    notes += 2 * n;
}
__attribute__((noinline)) static void step(int i)
{
    if (i & 1)
        note(1);
    else
        other(2);
    if (i & 2) note(3);
    note(4);
    other(0);
    if (notes & 1) note(0);
}
int main(void)
{
    for (int i = 0; i < 10; i++) step(i);
    return 1;
}
"""


class Tester(harness.Bench):
    def footpath(self, *words, flags="", stdin=None):
        return self.tool(*words, env={"FOOTPATH_CC_FLAGS": flags}, input=stdin, status=None)

    def p3(self, source, *options, flags="", stdin=None, arguments=()):
        build = "$CC -O2 -w -o prog $FOOTPATH_SOURCE/%s" % source if " " not in source else source
        return self.footpath("p3", "--build", build, *options, "--", "prog", *arguments, flags=flags, stdin=stdin)

    def random_program(self, seed):
        rng = random.Random(seed)
        self.write("prog.c", Maker(rng).program(rng.randint(3, 7)))
        exits = rng.choice(["", "--fp-exits"])
        first = self.p3("prog.c", "-k", "1", "--strategy", "procedures", "--check", "-o", "guide.prof", flags=exits)
        expect("the same as of the ordinary build" in first.stderr, "seed %d: one copy: %s" % (seed, first.stderr))
        for strategy in rng.sample(STRATEGIES, 2):
            copies = rng.choice([2, 3, 4, 5])
            options = ["-k", str(copies), "--strategy", strategy]
            if rng.random() < 0.7:
                options += ["--guide", "guide.prof"]
            if rng.random() < 0.4:
                options += ["--labels", "plain"]
            what = "seed %d, %s %s" % (seed, " ".join(options), exits)
            done = self.p3("prog.c", "--check", "--hits", "--json", *options, flags=exits)
            expect(done.returncode == 0 and "the same as of the ordinary build" in done.stderr, what + ": " + done.stderr)
            if done.returncode == 0:
                self.compare_hits(json.loads(done.stderr[done.stderr.index("{"):]), options, what)

    def compare_hits(self, outcome, options, what):
        division = self.footpath("divide", "footpath-p3/reference/build/prog", "--measure", "guide.prof", "--json",
                                 "-o", "division", *options)
        division = json.loads(division.stdout)
        hits = [copy["hits"] for copy in outcome["copies"]]
        # by turns, what is foreseen is an average
        if division["turns"] == 0:
            expect(hits == division["loads"], "%s: hits %s, foreseen %s" % (what, hits, division["loads"]))

    def code_of(self, *flags):
        """The instructions of each function of prog.c."""
        self.cc(*flags, "-O2", "-w", "-g0", "-ffunction-sections", "-c", "prog.c", "-o", "prog.o")
        shown = self.run("objdump", "-dr", "--no-show-raw-insn", "prog.o").stdout
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
        self.cc("-O2", "-w", "prog.c", "-o", "prog")
        # by the old names, which stay
        done = self.footpath("plan", "prog", "-k", "3", "--strategy", "procedures")
        expect(done.returncode == 0 and "copy 2" in done.stdout, "plan: " + done.stdout + done.stderr)
        copies = [self.code_of("--fp-plan=footpath.plan", "--fp-copy=%d" % i) for i in range(3)]
        expect(len(plain) >= 7, "%d functions in prog.o" % len(plain))
        for name in plain:
            more = [self.additions(plain[name], copy[name]) for copy in copies]
            expect(sum(m == 1 for m in more) == 2, "%s: %s instructions more, expected 1 in two of three copies" % (name, more))

    # ---- what must be said ----

    def fails(self, done, pattern, status=1):
        expect(done.returncode == status and re.search(pattern, done.stderr),
              "expected status %d and /%s/, got %d and: %s" % (status, pattern, done.returncode, done.stderr))

    def diverge(self, more, last, status):
        """A program that may do something else in one of its copies."""
        self.write("diverge.c", DIVERGES + "int main(void) { int s = 0; for (int i = 0; i < 10 + %s; i++) s += work(i); %s return %s; }\n"
                   % (more, last, status))

    def divergence(self):
        self.diverge('is("copy-1")', "", "0")
        self.fails(self.p3("diverge.c", "-k", "2"), r"work: copy 1 called it 11 times, copy 0 10 times")
        self.diverge("0", 'printf("%d\\n", is("copy-2"));', "0")
        self.fails(self.p3("diverge.c", "-k", "3"), r"copy-2/stdout: copy 2 wrote something else than copy 0, from byte 0")
        self.diverge("0", "", 'is("copy-1") ? 3 : 0')
        self.fails(self.p3("diverge.c", "-k", "2"), r"copy 1 ended with status 3, copy 0 with 0")

    def divergence_of(self, strategy):
        """Whichever copy counts work(), and the one that differs does not."""
        for copy in range(3):
            self.diverge('is("copy-%d")' % copy, "", "0")
            self.fails(self.p3("diverge.c", "-k", "3", "--strategy", strategy),
                       r"work: copy \d called it 1[01] times, copy 0 1[01] times")

    def other_programs(self):
        self.write("changed.c", "#ifdef MORE\nint __attribute__((noinline)) more(int x) { return x > 2 ? x : -x; }\n"
                                "#else\n#define more(x) (x)\n#endif\n"
                                "int __attribute__((noinline)) same(int x) { return x > 5 ? x * 2 : x; }\n"
                                "int main(int c, char **v) { return same(c) + more(c) - 2; }\n")
        script = 'case $FOOTPATH_CC_FLAGS in *fp-division*) more=-DMORE;; esac; $CC -O1 $more -o prog $FOOTPATH_SOURCE/changed.c'
        self.fails(self.p3(script, "-k", "2"), r"(copy \d has it and the division has not|copy \d was to count it)")

    def source_around_work(self):
        """The example of the manual: the work folder lies in the source, which may have been built before."""
        self.write("prog.c", Maker(random.Random(7)).program(4))
        self.write("Makefile", "prog: prog.o\n\t$(CC) -o prog prog.o\nprog.o: prog.c\n\t$(CC) -O2 -w -c prog.c\nclean:\n\trm -f prog prog.o\n")
        self.write("deep/er/file", "")
        p3 = ("p3", "-k", "2", "--check", "--source", ".")
        for work, build in (("footpath-p3", "make CC=$CC"), ("footpath-p3", "make CC=$CC"), ("deep/er/work", "make CC=$CC && test -e deep/er/file")):
            done = self.footpath(*p3, "--work", work, "--build", build, "./prog", "input")
            expect(done.returncode == 0 and "the same as of the ordinary build" in done.stderr, done.stderr)
            expect(not os.path.exists(self.path(work, "copy-0", "build", work)), "the work folder is not copied")
        self.fails(self.footpath(*p3, "--work", ".", "--build", "make", "./prog"), "is the source too")
        self.cc("-O2", "-w", "-c", "prog.c", "-o", "prog.o")
        self.fails(self.footpath(*p3, "--build", "make CC=$CC", "./prog"), "has prog.o already.*make clean")
        self.cc("prog.o", "-o", "prog")
        self.fails(self.footpath(*p3, "--build", "make CC=$CC", "./prog"), "has ./prog already.*make clean")
        done = self.footpath(*p3, "--build", "make clean && make CC=$CC", "./prog")
        expect(done.returncode == 0, done.stderr)

    def own_folders(self):
        """Each copy creates a file; standard input goes to all; a private file is changed by each."""
        self.write("folder.c", "#include <stdio.h>\nint main(void) { int c, n = 0; FILE *f = fopen(\"made\", \"ax\");\n"
                               "FILE *p = fopen(\"private\", \"r+\"); if (!f || !p) return 9; while ((c = getchar()) != EOF) n += c;\n"
                               "int old = 0; fscanf(p, \"%d\", &old); rewind(p); fprintf(p, \"%d\\n\", old + 1);\n"
                               "printf(\"%d %d\\n\", n, old); return 5; }\n")
        self.write("private", "41\n")
        done = self.p3("folder.c", "-k", "2", "--private", "private", stdin="ab")
        expect(done.returncode == 5 and done.stdout == "195 41\n", "own folders: %d %s%s" % (done.returncode, done.stdout, done.stderr))
        expect(not os.path.exists(self.path("made")), "a copy wrote to the current folder")
        expect(self.read("private") == b"41\n", "a copy changed a private file here")
        done = self.p3("folder.c", "-k", "2", "--private", "private", "--reuse", "--launcher", "env nice", stdin="b")
        expect(done.returncode == 5 and done.stdout == "98 41\n", "launcher: %d %s%s" % (done.returncode, done.stdout, done.stderr))
        self.fails(self.p3("folder.c", "-k", "2", "--reuse", "--launcher", "no-such-launcher"), r"was not run to its end")

    def left_in_copies(self):
        """Frames are left in copies of blocks, which the program that was divided has, and the copies of P3 not."""
        self.write("left.c", LEFT)
        for strategy in STRATEGIES:
            done = self.p3("left.c", "-k", "2", "--strategy", strategy, "--check", "-o", "left.prof", flags="--fp-exits --fp-copies=all")
            expect(done.returncode == 0 and "6 paths: the same as of the ordinary build" in done.stderr, strategy + ": " + done.stderr)
            shown = self.tool("show", "--function", "step", "left.prof").stdout
            expect("i & 1 no; i & 2 yes; left at line" in shown, strategy + ": " + shown)

    def usage(self):
        for words, status, pattern in (
                (["divide"], 2, "no program given"),
                (["divide", "x", "--strategy", "best"], 2, "--strategy: unknown 'best'"),
                (["divide", "x", "-k", "0"], 2, "-k needs a number from 1"),
                (["divide", "/nonexistent"], 1, "cannot open"),
                (["p3", "--build", "true", "-k", "2"], 2, "no program given"),
                (["p3", "prog"], 2, "no --build command"),
                (["p3", "--build", "exit 3", "prog"], 1, "the build failed with status 3"),
                (["p3", "--build", "true", "prog"], 1, "the build made no such program"),
                (["p3", "--build", "true", "--work", "a b", "prog"], 1, "no spaces")):
            self.fails(self.footpath(*words), pattern, status)
        for command in ("divide", "p3"):
            done = self.footpath(command, "--help")
            expect(done.returncode == 0 and "usage: footpath " + command in done.stdout, command + " --help")
        self.write("plain.c", "int main(void) { return 0; }\n")
        self.cc("plain.c", "-o", "plain")
        self.fails(self.footpath("divide", "plain", "--strategy", "p3"), "build it with --fp-callees")
        expect(self.footpath("divide", "plain", "-o", "division").returncode == 0, "division of a small program")
        for flags, pattern in ((["--fp-division=division"], "--fp-division without the other"),
                               (["--fp-division=division", "--fp-copy=x"], "--fp-copy needs a number"),
                               (["--fp-division=division", "--fp-copy=0", "--fp-mode=edge"], "does not go with --fp-mode=edge"),
                               (["--fp-division=division", "--fp-copy=7"], "has copies 0 to 1, not 7"),
                               (["--fp-division=plain.c", "--fp-copy=0"], "expected a division of footpath")):
            said = self.cc(*flags, "-c", "plain.c", "-o", "plain.o", status=2).stderr
            expect(pattern in said, "%s: %s" % (flags, said))

    def random(self):
        for seed in range(self.args.seed, self.args.seed + self.args.count):
            self.random_program(seed)


CASES = {name: getattr(Tester, name) for name in ("random", "no_code_elsewhere", "divergence", "other_programs", "source_around_work",
                                                "own_folders", "left_in_copies", "usage")}
CASES.update({"divergence_of_" + s: lambda t, s=s: t.divergence_of(s) for s in STRATEGIES})

if __name__ == "__main__":
    harness.main(__doc__, ("--count", {"type": int, "default": 3, "help": "random programs"}),
                 ("--seed", {"type": int, "default": 1}), bench=Tester, cases=CASES)
