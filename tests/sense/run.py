"""What branches say: true where the condition as written held, at every level and point.

    run.py --bin BUILD/bin [--llvm 19] [--case NAME]...

forms.c tells for each line how often each of its conditions held and did not. A branch that
was optimised away or merged with another may say nothing; none may say anything else.
"""
import os
import re
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness
from harness import equal, expect

HERE = os.path.dirname(os.path.abspath(__file__))
FORMS = os.path.join(HERE, "forms.c")


def expected():
    """line -> list of (true, false), and line -> {case: count} of switches."""
    conditions, switches = {}, {}
    with open(FORMS, encoding="ascii") as source:
        for number, line in enumerate(source, 1):
            comment = re.search(r"/\* (.*) \*/$", line.rstrip("\\\n ").rstrip())
            if not comment:
                continue
            if re.fullmatch(r"\d+/\d+( \d+/\d+)*", comment[1]):
                conditions[number] = [tuple(int(n) for n in pair.split("/")) for pair in comment[1].split()]
            elif re.match(r"(case \d+|default): ", comment[1]):
                switches[number] = {name: int(count) for name, count in re.findall(r"(case \d+|default): (\d+)", comment[1])}
    return conditions, switches


def measured(b, *flags):
    """The same by footpath: line -> column -> [true, false], and line -> {label: count}."""
    b.cc(*flags, FORMS, "-o", "forms", silent=True)
    conditions, labels = defaultdict(lambda: defaultdict(lambda: [0, 0])), defaultdict(lambda: defaultdict(int))
    for function in b.json("show", "--json", b.profile("forms", "forms.prof"))["functions"]:
        for edge in function.get("edges", []):
            if "sense" in edge:
                conditions[edge["line"]][edge["column"]][0 if edge["sense"] else 1] += edge["count"]
            elif edge.get("branch"):
                labels[edge["line"]][edge["branch"]] += edge["count"]
    return conditions, labels


def check(b, silent, *flags):
    """`silent`: how many of the lines with one condition may say nothing. Others may say less than
    they did: where a condition is known its branch is gone."""
    conditions, switches = expected()
    said, labels = measured(b, *flags)
    expect(len(conditions) > 30, "forms.c tells what it does")
    mute = []
    for line, pairs in conditions.items():
        got = [tuple(said[line][column]) for column in sorted(said[line])]
        where = "line %d, %s" % (line, " ".join(flags))
        if len(pairs) == 1:
            yes, no = map(sum, zip(*got)) if got else (0, 0)
            expect(yes <= pairs[0][0] and no <= pairs[0][1], "%s: %d/%d, expected %d/%d" % (where, yes, no, *pairs[0]))
            if not got:
                mute.append(line)
            if "-O0" in flags:
                equal((yes, no) if got else pairs[0], pairs[0], where)
        elif len(got) == len(pairs):
            equal(got, pairs, where)
    expect(len(mute) <= silent, "lines %s say nothing, %s" % (mute, " ".join(flags)))
    for line, cases in switches.items():
        equal(dict(labels[line]), cases, "switch at line %d, %s" % (line, " ".join(flags)))
    for line in labels:
        expect(line in switches, "line %d has no switch but says %s, %s" % (line, dict(labels[line]), " ".join(flags)))


def case_unoptimised(b):
    check(b, 0, "-O0")


def case_optimised(b):
    for level in ("-O1", "-O2", "-O3", "-Os"):
        check(b, 3, level)


def case_early(b):
    check(b, 2, "-O2", "--fp-at=early")
    check(b, 2, "-O2", "--fp-at=early", "--fp-inline=small")


def case_debug(b):
    """The columns of the user's own debug information are kept: macros then tell less."""
    check(b, 2, "-g", "-O0")
    check(b, 5, "-g", "-O2")


def case_lto(b):
    check(b, 3, "-O2", "-flto", "-fuse-ld=lld")


def case_code_is_the_same(b):
    """Neither the names of blocks nor columns change what is compiled."""
    for level in ("-O0", "-O2"):
        b.clang(level, "-c", FORMS, "-o", "plain.o")
        b.cc("--fp-mode=none", level, "-c", FORMS, "-o", "none.o")
        b.clang(level, "-fno-discard-value-names", "-c", FORMS, "-o", "named.o")
        equal(b.read("plain.o"), b.read("named.o"), "named blocks at " + level)
        equal(b.read("plain.o"), b.read("none.o"), "--fp-mode=none at " + level)


def case_names_do_not_stay(b):
    b.cc("-O2", "-S", "-emit-llvm", FORMS, "-o", "forms.ll")
    expect(b"if.then" not in b.read("forms.ll"), "blocks have no names")


def case_foreign_bitcode(b):
    """Without clang's first IR nothing is claimed."""
    b.clang("-O2", "-g", "-c", "-emit-llvm", FORMS, "-o", "forms.bc")
    b.tool("instrument", "--llvm", b.args.llvm, "forms.bc", "-o", "counted.bc")
    b.cc("--fp-mode=none", "-c", "counted.bc", "-o", "counted.o")
    b.cc("counted.o", "-o", "forms")
    shown = b.json("show", "--json", b.profile("forms", "forms.prof"))
    ways = [edge for function in shown["functions"] for edge in function.get("edges", []) if "branch" in edge]
    expect(ways, "there are branches")
    equal([edge["branch"] for edge in ways if edge["branch"]], [], "labels")


if __name__ == "__main__":
    harness.main(__doc__)
