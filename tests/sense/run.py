"""What branches say: true where the condition as written held, at every level and point.

    run.py --bin BUILD/bin [--llvm 19] [--case NAME]...

forms.c tells for each line how often each of its conditions held and did not. A branch that
was optimised away or merged with another may say nothing; none may say anything else. joined.c
has conditions that optimisation merges, unrolled.c loops that it copies.
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
JOINED = os.path.join(HERE, "joined.c")
UNROLLED = os.path.join(HERE, "unrolled.c")
LINES = os.path.join(HERE, "lines.c")


def pairs_of(text):
    return [tuple(int(n) for n in pair.split("/")) for pair in text.split()]


def expected():
    """line -> (list of (true, false), that of the whole, may it say nothing), and line -> {case: count}
    of switches."""
    conditions, switches = {}, {}
    with open(FORMS, encoding="ascii") as source:
        for number, line in enumerate(source, 1):
            comment = re.search(r"/\* (.*) \*/$", line.rstrip("\\\n ").rstrip())
            if not comment:
                continue
            if re.fullmatch(r"\d+/\d+( \d+/\d+)*( whole \d+/\d+| or nothing)?", comment[1]):
                sides, _, whole = comment[1].replace(" or nothing", "").partition(" whole ")
                conditions[number] = pairs_of(sides), pairs_of(whole), "nothing" in comment[1]
            elif re.match(r"(case \d+|default): ", comment[1]):
                switches[number] = {name: int(count) for name, count in re.findall(r"(case \d+|default): (\d+)", comment[1])}
    return conditions, switches


def edges_of(b, *flags):
    b.cc(*flags, FORMS, "-o", "forms", silent=True)
    shown = b.json("show", "--json", b.profile("forms", "forms.prof"))
    return [edge for function in shown["functions"] for edge in function.get("edges", [])]


def measured(b, *flags):
    """The same by footpath: line -> column of a part, or 0 -> [true, false], and line -> {label: count}."""
    conditions, labels = defaultdict(lambda: defaultdict(lambda: [0, 0])), defaultdict(lambda: defaultdict(int))
    for edge in edges_of(b, *flags):
        if "sense" in edge:
            column = edge["column"] if "part" in edge else 0
            conditions[edge["line"]][column][0 if edge["sense"] else 1] += edge["count"]
        elif edge.get("branch"):
            labels[edge["line"]][edge["branch"]] += edge["count"]
    return conditions, labels


def at_most(got, most, where):
    """Where a condition is known its branch is gone."""
    expect(got[0] <= most[0] and got[1] <= most[1], "%s: %d/%d, expected %d/%d" % (where, *got, *most))


def check(b, silent, *flags):
    """`silent`: how many of the lines with one condition may say nothing."""
    conditions, switches = expected()
    said, labels = measured(b, *flags)
    expect(len(conditions) > 30, "forms.c tells what it does")
    mute = []
    for line, (sides, whole, joined) in conditions.items():
        parts = [tuple(said[line][column]) for column in sorted(said[line]) if column]
        got, where = said[line].get(0), "line %d, %s" % (line, " ".join(flags))
        if len(sides) == 1:
            whole, got = sides, tuple(map(sum, zip(*said[line].values())))
            if not got and not joined:
                mute.append(line)
            if "-O0" in flags:
                equal(got or sides[0], sides[0], where)
        elif len(sides) == len(parts):
            equal(parts, sides, where)
        if got and whole:
            at_most(got, whole[0], where)
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


def joined_lines():
    """line -> ((true, false), how many ways must have a label at -O2)."""
    with open(JOINED, encoding="ascii") as source:
        found = {n: re.search(r"/\* (\d+)/(\d+) (one|both|any) \*/", line) for n, line in enumerate(source, 1)}
    return {n: ((int(f[1]), int(f[2])), {"any": 0, "one": 1, "both": 2}[f[3]]) for n, f in found.items() if f}


def case_joined(b):
    """A branch on several conditions says what is certain, and never more."""
    expect(len(joined_lines()) > 7, "joined.c tells what it does")
    for flags in (("-O0",), ("-O1",), ("-O2",), ("-O3",), ("-O2", "--fp-at=early"), ("-O2", "-flto", "-fuse-ld=lld")):
        b.cc(*flags, JOINED, "-o", "joined", silent=True)
        said = defaultdict(lambda: [0, 0, set()])
        for function in b.json("show", "--json", b.profile("joined", "joined.prof"))["functions"]:
            for edge in function.get("edges", []):
                if "sense" in edge and "part" not in edge:
                    said[edge["line"]][0 if edge["sense"] else 1] += edge["count"]
                    said[edge["line"]][2].add(edge["sense"])
        for line, (counts, least) in joined_lines().items():
            where = "line %d, %s" % (line, " ".join(flags))
            at_most(said[line][:2], counts, where)
            if flags == ("-O2",):
                expect(len(said[line][2]) >= least, "%s: %d of 2 ways say something" % (where, len(said[line][2])))
            if flags == ("-O0",) and least < 2:
                equal(tuple(said[line][:2]), counts, where)


def said_of_sides(b, *flags):
    """(line, column) of a side of && or || -> [true, false]."""
    b.cc(*flags, JOINED, "-o", "joined", silent=True)
    said = defaultdict(lambda: [0, 0])
    for function in b.json("show", "--json", b.profile("joined", "joined.prof"))["functions"]:
        for edge in function.get("edges", []):
            if "sense" in edge and "part" in edge:
                said[edge["line"], edge["column"]][0 if edge["sense"] else 1] += edge["count"]
    return said


def case_sides(b):
    """A branch on two sides of several says of neither what is true of both only."""
    with open(JOINED, encoding="ascii") as source:
        lines = {n: pairs_of(f[1]) for n, f in
                 ((n, re.search(r"/\* sides ([\d/ ]+) \*/", line)) for n, line in enumerate(source, 1)) if f}
    plain = said_of_sides(b, "-O0")
    for line, sides in lines.items():
        equal([tuple(plain[key]) for key in sorted(plain) if key[0] == line], sides, "line %d, -O0" % line)
    for flags in (("-O1",), ("-O2",), ("-O3",), ("-Os",), ("-O2", "--fp-at=early"), ("-O2", "-flto", "-fuse-ld=lld")):
        for key, counts in said_of_sides(b, *flags).items():
            if key[0] in lines:
                at_most(counts, plain[key], "line %d column %d, %s" % (*key, " ".join(flags)))


SWITCH = """
void use(int);
__attribute__((noinline)) void f(int a, int b, int c)
{
    switch (b) {
    case 6: use(90); break;
    case 4: for (int i = 0; i < a; i++) { } break;
    default: for (int i = 0; i < c; i++) { }
    }
    use(100);
}
"""
SWITCH_MAIN = "int n; void use(int x) { n += x; } void f(int, int, int); int main(void) { f(6, 4, 3); f(6, 4, 3); f(1, 6, 3); f(1, 7, 3); }"


def case_cases(b):
    """Where the loops of other cases are gone, a way that they share with a case is not that case."""
    b.write("switch.c", SWITCH)
    b.write("main.c", SWITCH_MAIN)
    for flags in ("-O0",), ("-O1",), ("-O2",), ("-O3",), ("-O2", "--fp-at=early"):
        b.cc(*flags, "switch.c", "main.c", "-o", "switch")
        said = defaultdict(int)
        for function in b.json("show", "--json", b.profile("switch", "switch.prof"))["functions"]:
            for edge in function.get("edges", []):
                if edge.get("branch", "").startswith("case "):
                    said[edge["branch"]] += edge["count"]
        for name, count in said.items():
            expect(count <= {"case 6": 1, "case 4": 2}[name], "%s: %s %d times" % (flags, name, count))


def case_texts(b):
    """A condition in brackets of its own is told with both of them."""
    b.write("texts.c", """int n; void use(int x) { n += x; }
__attribute__((noinline)) void f(int a, int b)
{
    if (a == 1 || (b)) use(1);
    if ((a) && (b)) use(2);
    if (((b)) || a > 5) use(3);
}
int main(void) { f(0, 1); f(1, 0); f(2, 2); f(0, 0); }
""")
    b.cc("-O0", "texts.c", "-o", "texts", silent=True)
    shown = b.json("show", "--json", b.profile("texts", "texts.prof"))
    told = {(block["line"], block["text"]) for f in shown["functions"] for p in f["paths"] for block in p["blocks"] if "text" in block}
    equal(told, {(4, "a == 1"), (4, "(b)"), (5, "(a)"), (5, "(b)"), (6, "((b))"), (6, "a > 5")}, "texts of conditions")


def case_passed(b):
    """A branch on a range and on what comes behind it says nothing of the range, but on one way of what comes behind it."""
    with open(JOINED, encoding="ascii") as source:
        number, text = next((n, line) for n, line in enumerate(source, 1) if "n <= 5) || n == 7" in line)
    said = {key[1]: counts for key, counts in said_of_sides(b, "-O2", "--fp-at=early").items() if key[0] == number}
    column = text.index("== 7") + 1
    expect(column in said, "n == 7 is told: %s" % said)
    expect(said[column][0] == 0 < said[column][1], "it did not hold: %s" % said)


def loops_of(b, rounds, *flags):
    """Of unrolled.c: line -> [rounds, times left]; the lines of branches that choose between copies of a body; and of branches
    without any label."""
    b.cc(*flags, UNROLLED, "-o", "unrolled", silent=True)
    said, copies, mute = defaultdict(lambda: [0, 0]), [], []
    for function in b.json("show", "--json", b.profile("unrolled", "unrolled.prof", str(rounds)))["functions"]:
        by_block = defaultdict(list)
        for edge in function.get("edges", []):
            by_block[edge["from"]].append(edge)
        for ways in by_block.values():
            for way in ways:
                if way.get("kind") == "loop" and "sense" in way:
                    said[way["line"]][0 if way["sense"] else 1] += way["count"]
            if len(ways) == 2 and not any(way.get("branch") for way in ways):
                (copies if ways[0].get("kind") == "loop" else mute).append(ways[0].get("line"))
    return said, copies, mute


def case_unrolled(b):
    """A test that the compiler made around copies of a loop's body is told as such, and no other is. Each round is told
    once at most, and so is the end, also where a loop has fewer rounds than it has copies."""
    for rounds in (1, 3, 20):
        plain, copies, mute = loops_of(b, rounds, "-O0")
        equal((len(plain), copies, mute), (13, [], []), "at -O0")
        for flags in (("-O2",), ("-O3",), ("-Os",), ("-O2", "-mavx2"), ("-O2", "--fp-at=early"), ("-O2", "-g")):
            for line, counts in loops_of(b, rounds, *flags)[0].items():
                at_most(counts, plain[line], "line %d, up to %d rounds, %s" % (line, rounds, " ".join(flags)))
    _, copies, mute = loops_of(b, 20, "-O2")
    expect(len(copies) >= 5, "branches between copies: %s" % copies)
    expect(len(mute) <= 2, "branches without label at -O2: %s" % mute)
    equal(loops_of(b, 20, "-O2", "-fno-unroll-loops", "-fno-vectorize")[1:], ([], []), "without unrolling there are no copies")


KINDS = (("for", "loop"), ("while", "loop"), ("} while", "loop"), ("switch", "switch"), ("int ", "value"),
         ("return n > 3 ?", "choice"), ("return", "value"), ("else if", "if"), ("if", "if"), ("IF_SMALL", "if"),
         ("ask(", "if"), ("!ask(", "if"))


def check_kinds(b, *flags):
    """What a branch belongs to is seen in the text of its line."""
    with open(FORMS, encoding="ascii") as source:
        lines = [line.strip() for line in source]
    seen = set()
    for edge in edges_of(b, *flags):
        if "kind" not in edge:
            continue
        text = lines[edge["line"] - 1]
        kind = next(kind for start, kind in KINDS if text.startswith(start))
        where = "%s at line %d, %s" % (edge, edge["line"], " ".join(flags))
        equal(edge["kind"], kind, where)
        several = "&&" in text or "||" in text or text.startswith(("ask(", "!ask("))
        expect(several or "part" not in edge, "one condition is no part: " + where)
        if "sense" in edge and kind == "loop" and "part" not in edge:
            equal(edge["branch"], "round" if edge["sense"] else "leaves", where)
        elif "sense" in edge:
            equal(edge["branch"], "true" if edge["sense"] else "false", where)
        seen.add((kind, "part" in edge))
    return seen


def case_kinds(b):
    whole = {("if", False), ("loop", False), ("choice", False), ("switch", False)}
    parts = {("if", True), ("loop", True), ("value", True)}
    equal(check_kinds(b, "-O0"), whole | parts, "kinds at -O0")
    expect(check_kinds(b, "-O2") >= whole | {("if", True)}, "kinds at -O2")
    expect(check_kinds(b, "-O2", "--fp-at=early") >= whole | {("if", True), ("value", True)}, "kinds, early")


def case_columns(b):
    """Sides of && and || are told apart by their columns."""
    b.cc("-O0", FORMS, "-o", "forms", silent=True)
    b.profile("forms", "forms.prof")
    with open(FORMS, encoding="ascii") as source:
        number, text = next((n, line) for n, line in enumerate(source, 1) if "ask(n) > 2 && ask(n) < 6) /*" in line)
    shown = b.tool("show", "--plain", "--function", "both", "forms.prof").stdout
    for side in (">", "<"):
        expect("%d:%d(true)" % (number, text.index(side) + 1) in shown, "%d%s in %s" % (number, side, shown))


def case_texts(b):
    """Conditions in the words of the source, at every level; those of one macro have none."""
    b.write("texts.c", """#include <stdlib.h>
#define BOTH(a, b) ((a) > 1 && (b) > 2)
#define ONE(a) ((a) % 3)
static volatile int sink;
__attribute__((noinline)) int f(int n, int m)
{
    if (BOTH(n, m) && ONE(m)) sink = 1;
    if (n > 3 /* ( */ &&
        !(m < 5)) sink = 2;
    for (int i = 0; i < n; i++) sink = n > i ? rand() : 5;
    while (m) m /= 2;
    return sink;
}
int main(void)
{
    for (int i = 0; i < 100; i++) f(i % 7, i % 11);
    return 0;
}
""")
    all_of = {(7, "ONE(m)"), (8, "n > 3"), (9, "!(m < 5)"), (10, "i < n"), (10, "n > i"), (11, "m"), (16, "i < 100")}
    for flags in (("-O0",), ("-O2",), ("-O2", "--fp-at=early"), ("-O0", "-g"), ("-O2", "-gdwarf-4")):
        b.cc(*flags, "texts.c", "-o", "texts", silent=True)
        b.profile("texts", "texts.prof")
        found = {(e["line"], e["text"]) for f in b.json("show", "--json", "texts.prof")["functions"]
                 for e in f["edges"] if "text" in e}
        # whole conditions, where the compiler tests both sides at once
        expect(found <= all_of | {(7, "BOTH(n, m) && ONE(m)"), (8, "n > 3 && !(m < 5)"), (9, "n > 3 && !(m < 5)")},
               "%s: %s" % (flags, sorted(found)))
        if flags == ("-O0",):
            equal(found, all_of, "at -O0")
        expect(bool(found) == ("-gdwarf-4" not in flags), "%s: %d texts" % (flags, len(found)))


def true_counts():
    """line of lines.c -> how often it runs, as it says."""
    with open(LINES, encoding="ascii") as source:
        found = {number: re.search(r"/\* (\d+) \*/$", line.rstrip()) for number, line in enumerate(source, 1)}
    return {number: int(count[1]) for number, count in found.items() if count}


def line_counts(b, source, *flags):
    """line -> count, by the lcov file."""
    b.cc(*flags, source, "-o", "lines", silent=True)
    lcov = b.tool("export", "--format", "lcov", b.profile("lines", "lines.prof")).stdout
    found = {}
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            here = line == "SF:" + source
        elif line.startswith("DA:") and here:
            number, count = line[3:].split(",")
            found[int(number)] = int(count)
    return found


def case_lines(b):
    """No line has 0 that ran, none has more than it ran, and those of a function that is never called have 0."""
    true = true_counts()
    expect(len(true) > 40, "lines.c tells what it does")
    equal({n: c for n, c in line_counts(b, LINES, "-O0").items() if n in true}, true, "-O0")
    for flags in (("-O1",), ("-O2",), ("-O3",), ("-Os",), ("-O2", "-g"), ("-O2", "--fp-at=early"),
                  ("-O2", "--fp-mode=edge"), ("-O2", "-fno-inline")):
        counts = line_counts(b, LINES, *flags)
        for line, count in true.items():
            got = counts.get(line)
            expect(got is None or (got == 0) == (count == 0), "%s: line %d has %s, ran %d times" % (flags, line, got, count))
            # LLVM 14 leaves the place of one of two instructions that it merged
            expect(got is None or got <= count or b.args.llvm == "14", "%s: line %d has %s, ran %d times" % (flags, line, got, count))
        told = [line for line, count in true.items() if not count and line in counts]
        expect(len(told) >= 3, "%s: of the lines that did not run only %s say so" % (flags, told))


def case_lines_of_programs(b):
    """What has 0 at -O2 has 0 at -O0, in programs of the other tests."""
    for name in ("control_flow.c", "loops.c", "many_paths.c", "select_call.c"):
        source = os.path.join(harness.PROGRAMS, name)
        true = line_counts(b, source, "-O0")
        for flags in (("-O2",), ("-O3", "--fp-at=early")):
            zeros = [line for line, count in line_counts(b, source, *flags).items() if not count]
            equal([line for line in zeros if true.get(line)], [], "%s, %s: lines that ran and have 0" % (name, flags))


def case_lines_shown(b):
    """annotate says ? where lcov leaves a line out; JSON says the same."""
    line_counts(b, LINES, "-O2")
    shown = b.json("annotate", "--json", "--top", "0", "lines.prof")
    unknown = {l["line"] for f in shown["functions"] for l in f["unknown"]}
    expect(unknown, "some lines are not known")
    for function in shown["functions"]:
        expect(not {l["line"] for l in function["lines"]} & {l["line"] for l in function["unknown"]}, "known or not")
    text = b.tool("annotate", "--top", "0", "lines.prof").stdout
    expect(any(re.match(r" +\? ", line) for line in text.splitlines()), text)


def senses_of(shown):
    """Per function, block and line: how often the condition held, and how often not. A switch that was made of several
    conditions has more ways."""
    found = defaultdict(list)
    for function in shown["functions"]:
        for edge in function.get("edges", []):
            found[function["name"], edge["from"], edge.get("line")].append((edge.get("sense"), edge["count"]))
    pairs = {place: dict(ways) for place, ways in found.items() if len(ways) == 2}
    return {place: (ways[True], ways[False]) for place, ways in pairs.items() if set(ways) == {True, False}}


def same_everywhere(b, *flags):
    b.cc(*flags, FORMS, "-o", "forms", silent=True)
    profile = b.profile("forms", "forms.prof")
    shown = b.json("show", "--json", profile)
    senses = senses_of(shown)
    expect(any(held != failed for held, failed in senses.values()), "conditions that are not even")
    by_line = sorted((line, counts) for (_, _, line), counts in senses.items())

    words = {"true": "yes", "false": "no", "round": "yes", "leaves": "no, leaves the loop"}
    edges = re.findall(r"^ +(\d+)  \S+  \S+?:(\d+)(?:: .*?|:\d+)? (yes|no|no, leaves the loop|case -?\d+|default) -> ",
                       b.tool("show", "--edges", "--top", "0", profile).stdout, re.M)
    equal(sorted((int(count), int(line), said) for count, line, said in edges),
          sorted((e["count"], e["line"], words.get(e["branch"], e["branch"])) for f in shown["functions"] for e in f.get("edges", [])
                 if e.get("branch") and e["count"]), "show --edges")

    branches = defaultdict(dict)
    for line, branch, way, taken in re.findall(r"^BRDA:(\d+),(\d+),(\d+),(\S+)", b.tool("export", "--format", "lcov", profile).stdout, re.M):
        branches[int(line), branch][int(way)] = 0 if taken == "-" else int(taken)
    lcov = sorted((line, (ways[0], ways[1])) for (line, _), ways in branches.items() if len(ways) == 2)
    for one in by_line:
        expect(one in lcov, "lcov: line %d %s, not in %s" % (*one, [w for at, w in lcov if at == one[0]]))
        lcov.remove(one)

    for function in shown["functions"]:
        if not function.get("edges"):
            continue
        text = b.tool("dot", "--function", function["name"], profile).stdout
        drawn = re.findall(r'label="(true|false|round|leaves) ([\d,]+)"', text)
        told = [(e["branch"], e["count"]) for e in function["edges"] if "sense" in e]
        equal(sorted((label, int(count.replace(",", ""))) for label, count in drawn), sorted(told), "dot of " + function["name"])


def case_outputs_agree(b):
    """show, lcov and dot tell of every condition what JSON tells."""
    same_everywhere(b, "-O0")
    same_everywhere(b, "-O2")


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
