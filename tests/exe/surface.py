#!/usr/bin/env python3
"""What one sees of a rewritten program that has no line information: addresses of the original, which objdump confirms.

    surface.py --bin BUILD/bin [--keep] [--case NAME]...
"""
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "docs"), os.path.join(TESTS, "report")]
import harness  # noqa: E402
import schema  # noqa: E402
from harness import Skipped, equal, expect, needs  # noqa: E402

SOURCE = os.path.join(HERE, "src", "ways.c")
STEP = re.compile(r"([-+])0x([0-9a-f]+) (j\w+|loop\w*) (yes|no|entry \d+)(?:(?: ->|,) (?:([-+])0x([0-9a-f]+)|leaves))?")


class Surface(harness.Bench):
    def build(self, *flags):
        """A program, stripped; and the one that it was made from, for its symbols."""
        needs("objdump", "nm", "strip")
        self.run("cc", "-O2", *flags, SOURCE, "-o", "whole")
        self.run("strip", "whole", "-o", "prog")
        return self.path("prog")

    def count(self, *flags, env=None):
        """The profile of a run of the rewritten program."""
        program = self.build(*flags)
        self.tool("exe", program, "-o", self.path("counting"), silent=True, env=env)
        return self.profile("counting", "run.prof", status=3)

    def instructions(self):
        """Of the original: address -> (name, operands)."""
        text = self.run("objdump", "-d", "--no-show-raw-insn", "prog").stdout
        found = re.findall(r"^ *([0-9a-f]+):\t(?:(?:notrack|bnd|rep|repz|lock|data16|cs) )*(\S+) *(.*)$", text, re.M)
        expect(len(found) > 200, "objdump shows only %d instructions" % len(found))
        return {int(at, 16): (name, operands) for at, name, operands in found}

    def schema(self, name):
        with open(os.path.join(harness.ROOT, "docs", "formats", name + ".schema.json")) as f:
            return json.load(f)


def no_nonsense(text, what):
    for word in ("somewhere", "footpath-cc", "path 0,"):
        expect(word not in text, "%s says %r" % (what, word), text[:1000])
    expect(not re.search(r"\b(prog|counting|\w+\.c):0\b", text), what + " has a line 0", text[:1000])


def problems_of(value, rules):
    return list(schema.problems(value, rules))


def signed(sign, digits):
    return int(sign + digits, 16)


def target(operands):
    return int(operands.split()[0], 16)


def case_show(b):
    """Each step of each sentence is a jump of the original, and leads where the sentence says."""
    profile, code = b.count(), b.instructions()
    text = b.tool("show", "--top", "0", profile, silent=True).stdout
    no_nonsense(text, "show")
    expect("objdump -d --start-address=0x" in text and "prog has no line information" in " ".join(text.split()), "no hint", text[-600:])
    steps = leads = 0
    for line in b.tool("show", "--plain", "--top", "0", profile).stdout.splitlines():
        fields = line.split("\t")
        start = int(fields[-1], 16)
        for sign, at, name, went, to_sign, to in STEP.findall(fields[-2]):
            found, operands = code[start + signed(sign, at)]
            equal(name, found, "the instruction at %s0x%s of %s" % (sign, at, fields[4]))
            steps += 1
            if went == "yes" and to:
                equal(start + signed(to_sign, to), target(operands), "the target of %s %s" % (found, operands))
                leads += 1
            expect(went != "no" or not to, "a jump that is not taken leads nowhere")
    expect(steps > 50 and leads > 10, "only %d steps, %d targets" % (steps, leads))


def case_views(b):
    """The other lists of show, coverage, stats and info."""
    profile = b.count()
    for words in (["show", "--functions"], ["show", "--edges"], ["show", "--blocks"], ["show", "--functions", "--inclusive"],
                  ["coverage", "--functions"], ["stats"], ["info"], ["annotate"]):
        no_nonsense(b.tool(*words, profile).stdout, " ".join(words))
    edges = b.tool("show", "--edges", "--top", "0", profile).stdout
    expect(re.search(r"prog:0x[0-9a-f]+ j\w+ not taken -> prog:0x[0-9a-f]+  edge \d+->\d+", edges), "no edge with addresses", edges[:600])
    expect(re.search(r"prog:0x[0-9a-f]+  block \d+", b.tool("show", "--blocks", profile).stdout), "no block with an address")
    expect("lines              not known" in b.tool("coverage", profile).stdout, "coverage tells lines")


def case_json(b):
    profile, code = b.count(), b.instructions()
    shown = b.json("show", "--json", profile, silent=True)
    equal(problems_of(shown, b.schema("show")), [], "problems of show --json")
    starts = {int(line.split()[0], 16): line.split()[2] for line in b.run("nm", "whole").stdout.splitlines() if line.split()[-2] in "tT"}
    functions = [f for f in shown["functions"] if "paths" in f]
    expect({"collatz", "table"} <= {starts.get(int(f["address"], 16)) for f in functions}, "functions are not at their addresses")
    steps = taken = 0
    for f in functions:
        blocks = [at and int(at, 16) for at in f["block_addresses"]]
        for path in f["paths"]:
            for step in path["blocks"]:
                expect(int(step["address"], 16) in code, "no instruction at a step", step)
                expect("jump" not in step or code[int(step["address"], 16)][0] == step["jump"], "another jump", step)
                steps += 1
        for edge in f.get("edges", []):
            if edge.get("branch") == "taken" and blocks[edge["to"]]:
                equal(blocks[edge["to"]], target(code[int(edge["address"], 16)][1]), "the block that a taken branch leads to")
                taken += 1
    expect(steps > 50 and taken > 20, "only %d steps, %d branches" % (steps, taken))


def case_annotate(b):
    """All instructions, as objdump has them."""
    profile, code = b.count(), b.instructions()
    noted = b.json("annotate", "--json", "--top", "0", profile, silent=True)
    equal(problems_of(noted, b.schema("annotate")), [], "problems of annotate --json")
    seen = 0
    for f in noted["functions"]:
        for one in f["instructions"]:
            name = code[int(one["address"], 16)][0]
            same = one["text"].split()[0] == name or (name[:3] == one["text"][:3] and not name.startswith("j"))
            expect(same, "%s: %s is %s in objdump" % (one["address"], one["text"], name))
            seen += 1
    expect(seen > 200, "only %d instructions" % seen)
    text = b.tool("annotate", "--function", "fun.", "--top", "0", profile, silent=True).stdout
    expect(re.search(r"^ +\d+ +A +[0-9a-f]+ +\+0x0  ", text, re.M), "no first instruction with a count and a mark", text[:900])
    expect("instructions that never ran" in text, "nothing is said of code that never ran")


def case_moved(b):
    """The program that ran is not where it was: no disassembly, which is told; --binary helps."""
    profile = b.count()
    os.rename(b.path("counting"), b.path("elsewhere"))
    text = b.tool("annotate", profile).stdout
    expect("no disassembly: " + b.path("counting") in text, "not told", text[-400:])
    expect(re.search(r"\d+ instructions$", text, re.M), "blocks are not listed", text[:400])
    text = b.tool("annotate", "--binary", "elsewhere", profile).stdout
    expect("no disassembly" not in text and "%rsp" in text, "not found by --binary", text[-400:])
    shutil.copy(b.path("prog"), b.path("counting"))
    expect("is of another build" in b.tool("annotate", profile).stdout, "another build is taken for it")


def case_original(b):
    """OUT has the old code in a section that is not loaded, at its old address."""
    b.count()
    lines = lambda words: {line.split("\t")[0].strip(): line.split("\t")[1:] for line in b.run("objdump", *words).stdout.splitlines() if "\t" in line}
    old, kept = lines(["-d", "-j", ".text", "prog"]), lines(["-D", "-j", ".footpath_original", "counting"])
    expect(len(old) > 200, "only %d instructions" % len(old))
    same = sum(kept.get(at) == text or kept.get(at, [""])[0] == text[0] for at, text in old.items())
    expect(same > 0.98 * len(old), "%d of %d instructions are kept" % (same, len(old)))


def case_dot(b):
    profile, code = b.count(), b.instructions()
    largest = max(b.json("show", "--json", profile)["functions"], key=lambda f: len(f.get("edges", [])))
    text = b.tool("dot", "--function", largest["name"], profile, silent=True).stdout
    no_nonsense(text, "dot")
    blocks = re.findall(r'label="\d+(?: \w+)?\\n0x([0-9a-f]+)', text)
    expect(len(blocks) > 10 and all(int(at, 16) in code for at in blocks), "blocks have no addresses", text[:400])
    expect(re.search(r'label="j\w+ taken \d+"', text), "edges have no jumps", text[:900])


def case_exports(b):
    profile = b.count()
    for form in ("callgrind", "speedscope", "collapsed", "lcov", "gcov-json", "json"):
        done = b.tool("export", "--format", form, profile)
        text = done.stdout
        equal("no line information" in done.stderr, form in ("lcov", "gcov-json"), "what %s says of lines" % form)
        expect("somewhere" not in text, form + " says somewhere")
        if form == "callgrind":
            expect("positions: instr" in text and re.search("^0x[0-9a-f]+ [0-9]+$", text, re.M), "callgrind has no addresses", text[:400])
            b.write("grind.out", text)
        if form == "collapsed":
            expect(re.search(r"\+0x[0-9a-f]+ j\w+ (yes|no)", text), "stacks have no jumps", text[:400])
    if shutil.which("callgrind_annotate"):
        expect("PROGRAM TOTALS" in b.run("callgrind_annotate", "grind.out").stdout, "callgrind_annotate cannot read it")


def case_compare(b):
    """diff, combine and merge keep addresses."""
    one = b.count()
    two = b.profile("counting", "two.prof", "more", status=3)
    b.tool("merge", one, two, "-o", "both.prof")
    equal(b.json("show", "--json", "both.prof")["functions"][0]["address"][:2], "0x", "of a merged profile")
    b.tool("combine", "-o", "runs.cp", one, two)
    no_nonsense(b.tool("show", "runs.cp").stdout, "show of a combined profile")
    events = b.json("show", "--json", "runs.cp")["events"]
    expect(any(re.search("0x[0-9a-f]+", event.get("lines", "")) for event in events), "events have no addresses", events[:2])
    no_nonsense(b.tool("diff", one, two, status=None).stdout, "diff")
    equal(problems_of(b.json("diff", "--json", one, two, status=None), b.schema("diff")), [], "problems of diff --json")
    equal(problems_of(b.json("coverage", "--json", one), b.schema("coverage")), [], "problems of coverage --json")


def case_gap(b):
    """What one call of the program did beyond another."""
    program = b.build()
    b.tool("exe", program, "-o", b.path("counting"), silent=True)
    b.write("less.c", "int main(void) { return 0; }")
    b.run("cc", "-O2", "less.c", "-o", "less")
    much = b.profile("counting", "much.prof", status=3)
    none = b.tool("gap", much, much).stdout
    expect("100.0% of production's instructions" in none, "a run has no gap to itself", none[:300])
    b.tool("exe", b.path("less"), "-o", b.path("other"), silent=True)
    little = b.profile("other", "little.prof")
    no_nonsense(b.tool("gap", much, little).stdout, "gap")
    gaps = b.json("gap", "--format", "json", much, little)["gaps"]
    expect(gaps and all(gap["address"].startswith("0x") for gap in gaps), "gaps have no addresses", gaps[:1])
    sarif = b.json("gap", "--format", "sarif", much, little)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    expect(sarif["address"]["absoluteAddress"] > 0, "SARIF has no address", sarif)


def written(b, folder):
    """What the report's page reads of all functions."""
    found = {}
    for name in sorted(os.listdir(b.path(folder, "data", "f"))):
        text = b.read(os.path.join(folder, "data", "f", name)).decode()
        body = re.sub(r",\s*}\)\s*$", "}", text[text.index("(") + 1:])
        found.update(json.loads(body))
    return found


def case_report(b):
    profile, code = b.count(), b.instructions()
    b.tool("report", profile, "-o", b.path("site"), silent=True)
    functions = [f for f in written(b, "site").values() if "a" in f]
    expect(functions, "no function has instructions")
    seen = 0
    for f in functions:
        for block in f["a"]["b"]:
            for at, text in zip(*[iter(block[2:] if block else [])] * 2):
                name = code[block[0] + at][0]
                expect(text.split()[0] == name or text[:3] == name[:3], "%x: %s is %s in objdump" % (block[0] + at, text, name))
                seen += 1
    expect(seen > 200, "only %d instructions" % seen)
    expect(not os.listdir(b.path("site", "data", "s")), "the program is shown as source")


def case_page(b):
    import browser
    if browser.available():
        raise Skipped(browser.available())
    profile = b.count()
    b.tool("report", profile, "-o", b.path("site"), silent=True)
    with browser.Browser() as page:
        page.open("file://" + b.path("site", "index.html") + "#/f/0/p/0")
        page.wait("document.querySelector('.asm .ln.lit')")
        offsets = page.script("return [...document.querySelectorAll('.asm .no')].map((n) => n.textContent)")
        expect(len(offsets) > 5 and all(re.match(r"[-+]0x[0-9a-f]+$", at) for at in offsets), "instructions have no offsets", offsets[:5])
        expect(page.script("return document.querySelector('.block .lines').textContent").startswith("+0x"), "the graph has no offsets")
        expect(":0x" in page.script("return document.querySelector('.crumbs').textContent"), "the page does not say where the function is")
        equal(page.console(), [], "messages of the browser")


def lines_of(b, **how):
    return b.tool("show", "--top", "0", b.count("-g", **how)).stdout


def case_debug_file(b):
    """Lines from a separate debug file, found by the original's build-id."""
    expect("ways.c:" not in lines_of(b), "lines without debug information")
    build_id = re.search("Build ID: ([0-9a-f]+)", b.run("readelf", "-n", "prog").stdout).group(1)
    debug = b.path("debug", ".build-id", build_id[:2], build_id[2:] + ".debug")
    os.makedirs(os.path.dirname(debug))
    b.run("objcopy", "--only-keep-debug", "whole", debug)
    text = lines_of(b, env={"FOOTPATH_DEBUG_PATH": "/nowhere:" + b.path("debug")})
    expect("collatz  ways.c:" in text and "no line information" not in text, "no lines by build-id", text[:600])
    step = b.json("show", "--json", "--function", "collatz", "run.prof")["functions"][0]["paths"][0]["blocks"][0]
    expect(step["line"] and step["address"], "a step without a line or an address", step)
    b.run("objcopy", "--only-keep-debug", "whole", "prog.debug")
    b.run("objcopy", "--add-gnu-debuglink=prog.debug", "prog", "linked")
    b.tool("exe", b.path("linked"), "-o", b.path("counting"), silent=True)
    text = b.tool("show", b.profile("counting", "linked.prof", status=3)).stdout
    expect("ways.c:" in text, "no lines by .gnu_debuglink", text[:600])


if __name__ == "__main__":
    harness.main(__doc__, bench=Surface)
