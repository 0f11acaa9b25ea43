#!/usr/bin/env python3
"""--fp-use with the profile of an earlier version of the source.

    stale.py --bin BUILD/bin --llvm 19

A program is counted, edited and built by the profile of before. What the edit left as it was must be
told as a profile of the edited program tells it: every branch that both weigh goes the same way.
The share of the counts that found a place is said. Where too little is left, the function is
compiled without a profile.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import equal, expect  # noqa: E402

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static int log_lines;
__attribute__((noinline)) static void note(const char *what) { log_lines += what[0]; }
__attribute__((noinline)) static int parse(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 16 == 3) {
            note("third");
            sum += 3;
        } else if (i % 5 == 1) {
            sum ^= i << 2;
        }
        switch (i % 7) {
        case 0: sum += 1; break;
        case 1: sum -= i; break;
        case 2: note("two"); break;
        default: sum ^= 1;
        }
        if (sum > 100000000) {
            note("large");
            abort();
        }
    }
    return sum;
}
int main(void)
{
    int total = 0;
    for (int i = 0; i < 500; i++) total += parse(i);
    printf("%d %d\\n", total, log_lines);
    return 0;
}
"""
HEAD = "__attribute__((noinline)) static int parse(int n)\n{\n"


def edited(*changes):
    text = SOURCE
    for old, new in changes:
        expect(text.count(old) == 1, "the source has %r once" % old)
        text = text.replace(old, new)
    return text


def counted(b, text, profile, name="prog.c"):
    b.write(name, text)
    b.cc("-O2", "--fp-at=early", name, "-o", "counted")
    done = b.run(b.path("counted"), env={"FOOTPATH_OUT": profile})
    return done.stdout


def used(b, text, profile, name="prog.c"):
    """What the compiler said, the IR, and what the program prints."""
    b.write(name, text)
    said = b.cc("-O2", "--fp-use=" + profile, "--fp-remarks", name, "-o", "used").stderr
    b.cc("-O1", "--fp-paths=no", "--fp-use=" + profile, name, "-S", "-emit-llvm", "-o", "used.ll")
    return said, b.read("used.ll").decode(), b.run(b.path("used")).stdout


def share(said, function="parse"):
    found = re.search(r"remark: %s: changed since the profile was made; ([\d.]+)%% of its counts placed" % function, said)
    return float(found.group(1)) if found else None


def body(ir, function):
    return re.search(r"^define [^\n]*@%s\(.*?^}" % function, ir, re.M | re.S).group(0)


def branches(ir, function):
    """Of each conditional branch and switch of a function, in order: its weights, or None."""
    weights = dict(re.findall(r'^(!\d+) = !\{!"branch_weights", (.*)\}', ir, re.M))
    found = []
    for line in body(ir, function).splitlines():
        if re.match(r"\s+(br i1|switch) ", line) or line.startswith("  ]"):
            at = re.search(r"!prof (!\d+)", line)
            found.append([int(n) for n in re.findall(r"i32 (-?\d+)", weights[at.group(1)])] if at else None)
    return found


def way(weights):
    return weights.index(max(weights))


def agrees(b, text, least, function="parse"):
    """The old profile tells of the edited program what its own does."""
    counted(b, SOURCE, b.path("old.prof"))
    expected = counted(b, text, b.path("new.prof"))
    said, stale, output = used(b, text, b.path("old.prof"))
    fresh = used(b, text, b.path("new.prof"))[1]
    equal(output, expected, "output")
    expect(share(said, function) is not None and share(said, function) >= least, "counts found a place", said)
    expect("functions changed since the profile was made;" in said and "% of their counts found a place" in said, "it is said", said)
    ours, theirs = branches(stale, function), branches(fresh, function)
    equal(len(ours), len(theirs), "branches of %s" % function)
    both = [(x, y) for x, y in zip(ours, theirs) if x and y and sum(y) > 100]
    expect(len(both) >= 3, "branches that both weigh", (ours, theirs))
    for mine, other in both:
        equal(way(mine), way(other), "the hotter way, of %s and %s" % (mine, other))
    entry = r"define [^\n]*@%s\([^\n]*!prof (!\d+)" % function
    counts = [dict(re.findall(r'^(!\d+) = !\{!"function_entry_count", i64 (\d+)\}', ir, re.M))[re.search(entry, ir).group(1)]
              for ir in (stale, fresh)]
    equal(counts[0], counts[1], "calls of " + function)


def case_early_return(b):
    agrees(b, edited(("    int sum = 0;\n", "    int sum = 0;\n    if (n < 0) return -1;\n")), 99)


def case_branch_added(b):
    agrees(b, edited(("            sum += 3;\n", "            sum += 3;\n            if (sum & 1) note(\"odd\");\n")), 95)


def case_branch_removed(b):
    agrees(b, edited(("""        if (sum > 100000000) {
            note("large");
            abort();
        }
""", "")), 80)


def case_case_added(b):
    agrees(b, edited(("        default: sum ^= 1;\n", "        case 5: sum += 7; break;\n        default: sum ^= 1;\n")), 70)


def case_loop_around(b):
    agrees(b, edited(("    return sum;\n", "    for (int k = 0; k < 3; k++) note(\"end\");\n    return sum;\n")), 95)


def case_split(b):
    """A part of the function is a function now."""
    text = edited(("""        switch (i % 7) {
        case 0: sum += 1; break;
        case 1: sum -= i; break;
        case 2: note("two"); break;
        default: sum ^= 1;
        }
""", "        sum = part(i, sum);\n"), (HEAD, """__attribute__((noinline)) static int part(int i, int sum)
{
        switch (i % 7) {
        case 0: sum += 1; break;
        case 1: sum -= i; break;
        case 2: note("two"); break;
        default: sum ^= 1;
        }
        return sum;
}
""" + HEAD))
    agrees(b, text, 50)


def case_lines_inserted(b):
    """Lines alone are no change: the same bytes as by the profile of before."""
    counted(b, SOURCE, b.path("old.prof"))
    text = edited(("    int sum = 0;\n", "    /* the sum\n     * of all */\n    int sum = 0;\n\n"))
    expected = counted(b, text, b.path("new.prof"))
    said, stale, output = used(b, text, b.path("old.prof"))
    expect("changed" not in said, "nothing changed", said)
    equal(stale, used(b, text, b.path("new.prof"))[1], "IR")
    equal(output, expected, "output")


def case_renamed(b):
    """Under another name, and in another file: the counts are those of before."""
    counted(b, SOURCE, b.path("old.prof"))
    for name, text in (("prog.c", SOURCE.replace("parse", "scan")), ("other.c", SOURCE.replace("parse", "scan"))):
        expected = counted(b, text, b.path("new.prof"), name)
        said, stale, output = used(b, text, b.path("old.prof"), name)
        expect("remark: scan: changed since the profile was made; 100.0% of its counts placed" in said, "scan is parse", said)
        expect(re.search(r"; [1-9] by an earlier version of theirs, [1-9] of these under another name", said), "under another name", said)
        equal(branches(stale, "scan"), branches(used(b, text, b.path("new.prof"), name)[1], "scan"), "weights")
        equal(output, expected, "output")
        os.remove(b.path("new.prof"))


def case_other_function(b):
    """Another function of the name: no profile is better than that one."""
    counted(b, SOURCE, b.path("old.prof"))
    start, end = SOURCE.index(HEAD), SOURCE.index("int main")
    text = SOURCE[:start] + HEAD + """    char text[40];
    int k = snprintf(text, sizeof text, "%d", n) + 1;
    while (--k >= 0)
        if (text[k] == '7' || text[k] == '1') return k * n + atoi(text);
    return (int)strtol(text, NULL, 8) / (n + 1);
}
""" + SOURCE[end:]
    said, stale, _ = used(b, text, b.path("old.prof"))
    expect("it is not used for parse\n" in said, "parse is named", said)
    expect(not any(branches(stale, "parse")), "no weights", branches(stale, "parse"))
    expect("!prof" not in body(stale, "parse").splitlines()[0], "no entry count")


def case_never_ran(b):
    """What never ran before is cold, also after an edit."""
    text = SOURCE.replace("int main(void)\n{", "__attribute__((noinline)) int idle(int n)\n{\n    if (n > 3) note(\"idle\");\n    return n;\n}\n"
                          "int main(int argc, char **argv)\n{\n    if (argc > 3) idle(argc);")
    counted(b, text, b.path("old.prof"))
    text = text.replace("    if (n > 3) note", "    if (n == 77) abort();\n    if (n > 3) note")
    ir = used(b, text, b.path("old.prof"))[1]
    attributes = re.search(r"define [^\n]*@idle\([^\n]*#(\d+)", ir).group(1)
    expect(re.search(r"^attributes #%s = \{[^\n]*\bcold\b" % attributes, ir, re.M), "idle is cold")


def case_diff(b):
    """Paths of both versions are compared as paths; with the rest they make up all of the difference."""
    b.write("prog.c", SOURCE)
    profiles = []
    for name, text in (("before", SOURCE), ("after", edited(("    int sum = 0;\n", "    int sum = 0;\n    if (n < 0) return -1;\n"),
                                                            ("            sum += 3;\n", "            sum += log_lines & 3;\n")))):
        b.write("prog.c", text)
        b.cc("-O1", "prog.c", "-o", name)
        b.run(b.path(name), env={"FOOTPATH_OUT": b.path(name + ".prof")})
        profiles.append(b.path(name + ".prof"))
    data = b.json("diff", "--json", *profiles)
    equal(data["functions_reshaped"], 1, "functions with another shape")
    expect(0.9 < data["reshaped_placed"] <= 1, "counts in blocks of both", data["reshaped_placed"])
    paths = [c for c in data["changed"] if c["function"] == "parse" and c["kind"] == "path"]
    expect(paths and all(c["in_first"] and c["in_second"] for c in paths), "paths of both versions", data["changed"])
    sums = [sum(c[side] for c in data["changed"]) for side in ("cost_before", "cost_after")]
    equal(round(sums[1] - sums[0]), round(data["cost_after"] - data["cost_before"]), "what changed is all that changed")
    shown = b.tool("diff", *profiles).stdout
    expect("%.1f%% of the counts of functions with another shape are in blocks of both" % (100 * data["reshaped_placed"]) in shown, "the share", shown)
    edges = b.json("diff", "--edges", "--json", *profiles)
    expect(any(c["function"] == "parse" and c["kind"] == "edge" for c in edges["changed"]) or edges["same"] > 20, "edges of both versions", edges)


if __name__ == "__main__":
    harness.main(__doc__)
