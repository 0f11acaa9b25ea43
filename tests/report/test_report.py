#!/usr/bin/env python3
"""coverage, stats, diff, annotate, export and completion on small programs, against
what is known about them, what can be counted by hand from `show --json`, and the
tools that read the exports.

    test_report.py --bin BUILD/bin [--tools FOLDER] [--case NAME]...
"""
import gzip
import json
import os
import re
import shutil
import xml.etree.ElementTree

from common import HERE, OPTIONS, WALK, Failure, Tester, harness


def line_of(text):
    with open(WALK) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def lcov_lines(text):
    counts, name = {}, None
    for line in text.splitlines():
        if line.startswith("SF:"):
            name = line[3:]
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            counts[(os.path.basename(name), int(number))] = int(count)
    return counts


def case_lines(t):
    counts = lcov_lines(t.tool("coverage", "--format", "lcov", t.a))
    # 100 numbers, 50 odd, 50 large; digits: 10 + 2 * 90 - 1 (0 has no round), of which 20 are 7
    expected = {"odd = 1;": 50, "large = 2;": 50, "if (n % 2)": 100, "sum += 100;": 20, "sum += n % 10;": 169,
                "while (n > 0) {": 289, 'return "even";': 25, "case 9:": 0, "return n > 3 ?": 0, "int k = kind(i);": 100,
                "for (int i = 0;": 101}
    for text, count in expected.items():
        t.equal(counts.get(("walk.c", line_of(text))), count, text)


def case_coverage(t):
    data = t.json("coverage", "--json", t.a)
    t.equal(data["format_version"], 1, "format_version")
    by_name = {f["name"]: f for f in data["functions"]}
    t.equal(by_name["kind"]["paths"], {"covered": 4, "total": 4, "percent": 100}, "paths of kind")
    t.equal(by_name["kind"]["independent_paths"]["total"], 3, "basis of kind")
    t.equal(by_name["kind"]["independent_paths"]["covered"], 3, "basis of kind")
    t.equal(by_name["unused"]["edges"]["covered"], 0, "edges of unused")
    t.equal(by_name["name"]["paths"]["covered"], 4, "paths of name")
    t.equal(data["total"]["functions"], {"covered": 4, "total": 5, "percent": 80}, "functions")
    for f in data["functions"]:
        t.check(f["paths"]["covered"] <= f["paths_within_edges"] <= f["paths"]["total"], "order of paths in " + f["name"])
        t.check(f["independent_paths"]["covered"] <= f["paths"]["covered"], "independent paths in " + f["name"])
    t.tool("coverage", "--fail-under", "99", t.a, status=3)
    t.tool("coverage", "--fail-under", "10", t.a)
    t.tool("coverage", "--fail-under", "80", "--metric", "functions", t.a)
    t.tool("coverage", "--fail-under", "80.5", "--metric", "functions", t.a, status=3)
    t.tool("coverage", "--metric", "nonsense", t.a, status=2)
    text = t.tool("coverage", "--functions", t.a)
    t.check(re.search(r"100\.0% +100\.0% +3/3 +4 / 4 +kind", text), "table of functions:\n" + text)
    root = xml.etree.ElementTree.fromstring(t.tool("coverage", "--format", "cobertura", t.a))
    hits = {int(line.get("number")): int(line.get("hits")) for line in root.iter("line")}
    t.equal(hits[line_of("odd = 1;")], 50, "cobertura")


def brute_stats(show):
    """Tables 2 of paper 001 from paths as lists of blocks."""
    out = {"paths": 0, "flow": 0, "edges": 0, "instructions": 0, "longest": 0, "correct": 0, "correct_flow": 0, "predicted": 0}
    for f in show["functions"]:
        if "not_measured" in f:
            continue
        counts = {}
        for e in f["edges"]:
            counts.setdefault(e["from"], {}).setdefault(e["to"], 0)
            counts[e["from"]][e["to"]] += e["count"]
        parallel = {(e["from"], e["to"]) for e in f["edges"]}
        if len(parallel) != len(f["edges"]):
            raise Failure("parallel edges in %s: this test cannot tell them apart" % f["name"])
        for p in f["paths"]:
            blocks, steps = p["block_ids"], []
            for a, b in zip(blocks, blocks[1:]):
                steps.append((a, b))
            if p["ends_at"] in ("edge", "lap"):
                steps.append((blocks[-1], p["next_block"]))
            right = 0
            for a, b in steps:
                if counts[a][b] < max(counts[a].values()):
                    break
                right += 1
            out["paths"] += 1
            out["flow"] += p["count"]
            out["edges"] += len(steps) * p["count"]
            out["instructions"] += p["instructions"] * p["count"]
            out["longest"] = max(out["longest"], len(steps))
            out["predicted"] += right * p["count"]
            if right == len(steps):
                out["correct"] += 1
                out["correct_flow"] += p["count"]
    return out


def case_stats(t):
    for profile in (t.a, t.b):
        show, stats = t.json("show", "--json", profile), t.json("stats", "--json", profile)
        brute = brute_stats(show)
        t.equal(stats["paths"], brute["paths"], "paths")
        t.equal(stats["flow"], brute["flow"], "flow")
        t.equal(stats["predicted_paths"], brute["correct"], "paths predicted")
        t.equal(stats["predicted_flow"], brute["correct_flow"], "flow predicted")
        t.equal(stats["lengths"]["longest_edges"], brute["longest"], "longest path")
        t.check(abs(stats["lengths"]["average_edges"] - brute["edges"] / brute["flow"]) < 1e-6, "average edges")
        t.check(abs(stats["lengths"]["average_instructions"] - brute["instructions"] / brute["flow"]) < 1e-5, "average instructions")
        t.check(abs(stats["predicted_lengths"]["average_edges"] - brute["predicted"] / brute["flow"]) < 1e-6, "average predicted")
        t.equal(stats["potential_paths"], sum(f.get("num_paths", 0) for f in show["functions"]), "potential paths")
        t.equal(stats["routines"], 4, "routines")
    common = t.json("stats", "--json", t.a, t.b)["common"]
    ids = [{(f["name"], p["id"]): p for f in t.json("show", "--json", x)["functions"] for p in f.get("paths", [])} for x in (t.a, t.b)]
    both = ids[0].keys() & ids[1].keys()
    t.equal(common["paths"], len(both), "common paths")
    t.equal(common["flow"], sum(ids[0][k]["count"] for k in both), "common flow")
    t.check(abs(common["instructions"] - sum(ids[0][k]["count"] * ids[0][k]["instructions"] for k in both)) < 1, "common instructions")


def case_diff(t):
    data = t.json("diff", "--json", t.a, t.b)
    ids = [{(f["name"], p["id"]): p["count"] for f in t.json("show", "--json", x)["functions"] for p in f.get("paths", [])} for x in (t.a, t.b)]
    changed = {(c["function"], c["id"]): (c["count_before"], c["count_after"]) for c in data["changed"] if c["kind"] == "path"}
    expected = {k: (ids[0].get(k, 0), ids[1].get(k, 0)) for k in ids[0].keys() | ids[1].keys() if ids[0].get(k, 0) != ids[1].get(k, 0)}
    t.equal(changed, expected, "changed paths")
    costs = [abs(c["cost_after"] - c["cost_before"]) for c in data["changed"]]
    t.equal(costs, sorted(costs, reverse=True), "order")
    same = t.json("diff", "--json", t.a, t.a)
    t.equal(same["changed"], [], "a profile against itself")
    # another build: the same functions in other shapes still compare as wholes
    other = t.json("diff", "--json", t.a, t.fast_prof)
    t.check(any(c["kind"] == "function" for c in other["changed"]), "functions of another shape")
    # several runs: what varies less than it differs is sure
    t.runs("r1.prof", 60, 62, 61)
    t.runs("r2.prof", 90, 91, 92)
    sure = t.json("diff", "--json", "--edges", "r1.prof", "r2.prof")["changed"]
    t.check(any(c.get("confidence", 0) > 0.99 for c in sure), "confidence")
    t.check(all(0 <= c["confidence"] <= 1 for c in sure), "confidences are shares")


def case_partings(t):
    """Where a path parts from the other side's path that goes with it longest; of several, the most frequent one."""
    ways = t.build(os.path.join(HERE, "programs", "ways.c"), "ways", "-O0")
    before = t.profile(ways, "before.prof", *["yy"] * 3 + ["ny"] * 2 + ["nn"] * 10)
    after = t.profile(ways, "after.prof", *["yn"] * 20 + ["nn"] + ["ny"] * 2)
    items = [c for c in t.json("diff", "--json", before, after)["changed"] if c["function"] == "both"]
    found = {(c["count_before"], c["count_after"]): c["parting"] for c in items}
    place = {"file": os.path.join(HERE, "programs", "ways.c"), "column": 16}
    t.equal(found, {
        # new: with yy up to the second condition
        (0, 20): {**place, "other_side": "before", "line": 11, "branch": "false", "other_branch": "true", "other_count": 3, "text": "second == 'y'"},
        # gone: with yn likewise
        (3, 0): {**place, "other_side": "after", "line": 11, "branch": "true", "other_branch": "false", "other_count": 20, "text": "second == 'y'"},
        # less: itself is not what it parts from, nor is the more frequent yn, which parts earlier
        (10, 1): {**place, "other_side": "after", "line": 11, "branch": "false", "other_branch": "true", "other_count": 2, "text": "second == 'y'"},
    }, "partings")
    text = t.tool("diff", before, after)
    t.check(re.search(r"^ +parts at ways.c:11: second == 'y' no; before: yes, 3 x$", text, re.M), text)
    # a function that one side never called: nothing begins as its path does
    more = t.profile(ways, "more.prof", *["yy"] * 3 + ["ny"] * 2 + ["nn"] * 10 + ["r2"])
    items = [c for c in t.json("diff", "--json", before, more)["changed"] if c["function"] == "never_tested"]
    t.check(items and all("branch" not in c["parting"] for c in items), "no path begins there: %s" % items)
    t.check("before: no path does" in t.tool("diff", before, more), "and the text says so")


def case_combined(t):
    """A combined profile shows the counts of all its runs, in every command."""
    t.runs("many.prof", 20, 35, 35, 90)
    t.runs("r1.prof", 60, 62, 61)
    t.runs("r2.prof", 90, 91, 92)
    t.tool("combine", "-o", "many.cp", "many.prof")
    for command in (("coverage", "--json"), ("stats", "--json"), ("export", "--format", "lcov"), ("export", "--format", "callgrind"),
                    ("annotate", "--top", "0")):
        one, other = t.tool(*command, "many.prof"), t.tool(*command, "many.cp")
        t.equal([line for line in other.splitlines() if not line.startswith("cmd")],
                [line for line in one.splitlines() if not line.startswith("cmd")], " ".join(command) + " of a combined profile")
    t.tool("report", "many.cp", "-o", "combined-report")
    index = open(os.path.join(t.folder, "combined-report", "data", "index.js")).read()
    t.equal(json.loads(index[len("footpath.index("):].rstrip()[:-1])["runs"], 4, "runs of a combined profile")
    t.equal(t.json("diff", "--json", "many.prof", "many.cp")["changed"], [], "the same runs, combined")
    t.tool("combine", "-o", "r1.cp", "r1.prof")
    t.tool("combine", "-o", "r2.cp", "r2.prof")
    changed = t.json("diff", "--json", "r1.cp", "r2.cp")["changed"]
    t.check(changed and all(0 <= c["confidence"] <= 1 for c in changed), "confidence between combined profiles")
    t.check(any(c["confidence"] > 0.99 for c in changed), "what differs for sure")


def case_annotate(t):
    text = t.tool("annotate", "--function", "kind", "--paths", "2", t.a)
    line = next(line for line in text.splitlines() if "if (n % 2)" in line)
    t.check(re.match(r" +100 50%% 50%% +AB +%d " % line_of("if (n % 2)"), line), "annotated line: " + line)
    moved = os.path.join(t.folder, "elsewhere")
    os.makedirs(moved, exist_ok=True)
    copy = os.path.join(t.folder, "gone.c")
    shutil.copy(WALK, copy)
    exe = t.build(copy, "gone", "-O0")
    profile = t.profile(exe, "gone.prof", "5")
    os.rename(copy, os.path.join(moved, "gone.c"))
    t.check("not found; say where" in t.tool("annotate", "--function", "kind", profile), "missing source")
    for option in (("--source-root", moved), ("--map", t.folder + "=" + moved)):
        t.check("if (n % 2)" in t.tool("annotate", *option, "--function", "kind", profile), "source by " + option[0])


def case_shares(t):
    """--function shows less, but each share is still of the whole program."""
    whole = re.findall(r"^(\S+)  \S+  ([0-9.]+)% of the cost", t.tool("annotate", "--top", "0", t.a), re.M)
    t.check(len(whole) > 2 and 99 < sum(float(share) for _, share in whole) < 101, "shares of all: %s" % whole)
    for name, share in whole:
        t.check("%s%% of the cost" % share in t.tool("annotate", "--top", "0", "--function", name, t.a), name + " alone")
        alone = re.findall(r"^ *([0-9.]+)% +\d+ +(\S.*)", t.tool("show", "--top", "0", "--function", name, t.a), re.M)
        among = re.findall(r"^ *([0-9.]+)% +\d+ +(\S.*)", t.tool("show", "--top", "0", t.a), re.M)
        t.check(alone and all(line in among for line in alone), "paths of %s: %s" % (name, alone))


def case_changed_source(t):
    """Counts never stand beside lines of another version of the file."""
    for name, flags in (("sum", ()), ("time", ("-gdwarf-4", "-g"))):  # DWARF 4 has no sums: by time then
        source = os.path.join(t.folder, name + ".c")
        old = os.path.join(t.folder, "old-" + name)
        os.makedirs(old, exist_ok=True)
        shutil.copy(WALK, source)
        exe = t.build(source, name, "-O0", *flags)
        profile = t.profile(exe, name + ".prof", "5")
        annotate = ("annotate", "--function", "kind", profile)
        t.check("if (n % 2)" in t.tool(*annotate), name + ": as compiled")
        shutil.copy2(source, os.path.join(old, name + ".c"))
        with open(source) as f:
            text = f.read()
        with open(source, "w") as f:
            f.write("\n" + text)
        os.utime(source, (4e9, 4e9))
        now = t.tool(*annotate)
        t.check("if (n % 2)" not in now and "has changed since it was compiled" in now, name + ": edited")
        t.check("if (n % 2)" in t.tool(*annotate, "--source-root", old), name + ": the old one elsewhere")
        t.check("if (n % 2)" not in t.tool("annotate", "--json", "--function", "kind", profile), name + ": json")
        t.tool("report", "-o", name + ".html", profile)
        pages = "".join(open(os.path.join(folder, file)).read()
                        for folder, _, files in os.walk(os.path.join(t.folder, name + ".html", "data")) for file in files)
        t.check("if (n % 2)" not in pages and "has changed since" in pages, name + ": report")
    # a file that was only touched is the one that was compiled
    source = os.path.join(t.folder, "sum.c")
    shutil.copy(WALK, source)
    os.utime(source, (4e9, 4e9))
    t.check("if (n % 2)" in t.tool("annotate", "--function", "kind", "sum.prof"), "touched")


def case_exports(t):
    for name, flags in (("lcov", ()), ("callgrind", ()), ("speedscope", ()), ("collapsed", ()), ("json", ())):
        t.tool("export", "--format", name, "-o", "out." + name, t.a, *flags)
    show = t.json("show", "--json", t.a)
    cost = sum(p["count"] * p["instructions"] for f in show["functions"] for p in f.get("paths", []))
    collapsed = open(os.path.join(t.folder, "out.collapsed")).read().splitlines()
    t.equal(sum(int(line.rsplit(" ", 1)[1]) for line in collapsed), cost, "collapsed stacks")
    if not shutil.which("genhtml"):
        raise Failure("genhtml is not installed (Debian: lcov)")
    t.run("genhtml", "--branch-coverage", "-q", "-o", "html", "out.lcov")
    t.check(os.path.exists(os.path.join(t.folder, "html", "index.html")), "genhtml")
    if not shutil.which("callgrind_annotate"):
        raise Failure("callgrind_annotate is not installed (Debian: valgrind)")
    text = t.run("callgrind_annotate", "out.callgrind")
    total = re.search(r"([\d,]+) \(100\.0%\) +PROGRAM TOTALS", text)
    t.check(total, "callgrind_annotate:\n" + text[-600:])
    t.equal(int(total.group(1).replace(",", "")), cost, "callgrind totals")
    t.check(re.search(r"walk\.c:digits", text), "callgrind functions")


def case_speedscope(t):
    try:
        import jsonschema
    except ImportError:
        raise Failure("python3-jsonschema is not installed")
    from fetch import fetched
    folder = fetched("speedscope", t.args.tools)
    with open(os.path.join(folder, "dist", "release", "file-format-schema.json")) as f:
        schema = json.load(f)
    t.tool("export", "--format", "speedscope", "-o", "s.json", t.a)
    with open(os.path.join(t.folder, "s.json")) as f:
        data = json.load(f)
    jsonschema.validate(data, schema)
    t.equal(len(data["profiles"][0]["samples"]), len(data["profiles"][0]["weights"]), "samples and weights")
    t.check(all(i < len(data["shared"]["frames"]) for s in data["profiles"][0]["samples"] for i in s), "frames")


def messages(data):
    """A protocol buffer's fields, (number, value) in order: numbers, or bytes."""
    def varint(at):
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at
    at = 0
    while at < len(data):
        key, at = varint(at)
        value, at = varint(at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            harness.equal(key & 7, 0, "wire type of field %d" % (key >> 3))
        yield key >> 3, value


def packed(data):
    """Packed numbers look like fields without keys: each ends with a byte below 128."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    return numbers


def case_pprof(t):
    """Decoded here by profile.proto's field numbers: lines, functions, sums, paths."""
    t.tool("export", "--format", "pprof", "-o", "p.pb.gz", t.a)
    with gzip.open(t.path("p.pb.gz")) as f:
        fields = list(messages(f.read()))
    strings = [value.decode() for number, value in fields if number == 6]
    t.equal(strings[0], "", "the first string")
    kind = dict(messages(next(v for n, v in fields if n == 1)))
    t.equal((strings[kind[1]], strings[kind[2]]), ("instructions", "count"), "type of samples")
    functions = {f[1]: (strings[f[2]], os.path.basename(strings[f[4]])) for f in (dict(messages(v)) for n, v in fields if n == 5)}
    places = {}
    for number, value in fields:
        if number == 4:
            location = list(messages(value))
            lines = [dict(messages(v)) for n, v in location if n == 4]
            places[dict(location)[1]] = [functions[line[1]] + (line.get(2, 0),) for line in lines]
    sums, labels = {}, {}
    for sample in (dict(messages(v)) for n, v in fields if n == 2):
        value, = packed(sample[2])
        for id in packed(sample[1]):
            t.check(places[id], "a location without lines")
        function = places[packed(sample[1])[-1]][-1][0]
        sums[function] = sums.get(function, 0) + value
        label = dict(messages(sample[3]))
        t.equal(strings[label[1]], "path", "label")
        labels[strings[label[2]]] = labels.get(strings[label[2]], 0) + value
    shown = t.json("show", "--json", t.a)["functions"]
    t.equal(sums, {f["name"]: sum(p["count"] * p["instructions"] for p in f["paths"]) for f in shown if f["paths"]}, "instructions")
    t.equal(labels, {"%s #%d" % (f["name"], p["id"]): p["count"] * p["instructions"] for f in shown for p in f["paths"]}, "of paths")
    t.check(any(place == ("kind", "walk.c", line_of("odd = 1;")) for lines in places.values() for place in lines), "a line")


def gcov_facts(data):
    """Counts of lines and of their branches, and calls of functions."""
    lines = {(os.path.basename(f["file"]), line["line_number"]): (line["count"], sorted(b["count"] for b in line["branches"]))
             for f in data["files"] for line in f["lines"]}
    return lines, {(f["name"], f["lineno"]): f["execution_count"] for file in data["files"] for f in file["functions"]}


def case_gcov_json(t):
    """The same lines as lcov's; and gcovr reads it."""
    harness.needs("gcovr")
    t.tool("export", "--format", "gcov-json", "-o", "g.json", t.a)
    with open(t.path("g.json")) as f:
        data = json.load(f)
    ours = {(os.path.basename(f["file"]), line["line_number"]): line["count"] for f in data["files"] for line in f["lines"]}
    t.equal(ours, lcov_lines(t.tool("export", "--format", "lcov", t.a)), "lines")
    branches = sum(len(line["branches"]) for f in data["files"] for line in f["lines"])
    t.equal(branches, t.tool("export", "--format", "lcov", t.a).count("BRDA:"), "branches")
    root = os.path.dirname(WALK)
    t.run("gcovr", "--root", root, "--add-tracefile", "g.json", "--json-summary", "--output", "sum.json")
    with open(t.path("sum.json")) as f:
        summary = json.load(f)
    t.equal((summary["line_total"], summary["line_covered"]), (len(ours), sum(n > 0 for n in ours.values())), "gcovr's lines")
    # and each count as gcovr has read it
    t.run("gcovr", "--root", root, "--add-tracefile", "g.json", "--json", "--output", "read.json")
    with open(t.path("read.json")) as f:
        read = json.load(f)
    t.equal(gcov_facts(read), gcov_facts(data), "what gcovr read")


def case_schemas(t):
    try:
        import jsonschema
    except ImportError:
        raise Failure("python3-jsonschema is not installed")
    formats = os.path.join(HERE, "..", "..", "docs", "formats")
    for name, words in (("coverage", (t.a,)), ("stats", (t.a, t.b)), ("diff", (t.a, t.b)), ("diff", (t.a, t.fast_prof)), ("gap", (t.a, t.b)), ("gap", (t.a, t.fast_prof)), ("annotate", ("--top", "0", t.a))):
        with open(os.path.join(formats, name + ".schema.json")) as f:
            schema = json.load(f)
        try:
            jsonschema.validate(t.json(name, "--json", *words), schema)
        except jsonschema.ValidationError as error:
            raise Failure("%s --json: %s" % (name, error.message))


def case_completion(t):
    for shell in ("bash", "zsh", "fish"):
        text = t.tool("completion", shell)
        t.check("coverage" in text and "fail-under" in text, shell)
    with open(os.path.join(t.folder, "complete.bash"), "w") as f:
        f.write(t.tool("completion", "bash"))
    script = 'source complete.bash; COMP_WORDS=(footpath cov); COMP_CWORD=1; _footpath; echo "${COMPREPLY[@]}"; ' \
             'COMP_WORDS=(footpath coverage --fail); COMP_CWORD=2; _footpath; echo "${COMPREPLY[@]}"'
    t.equal(t.run("bash", "-c", script).split(), ["coverage", "--fail-under"], "bash completes")
    values = "source complete.bash; for words in 'export --format call' 'coverage --format = lc' 'coverage --format =' 'help cov'; do " \
             'COMP_WORDS=(footpath $words); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _footpath; echo "${COMPREPLY[@]}"; done'
    t.equal(t.run("bash", "-c", values).split(), ["callgrind", "lcov", "text", "json", "lcov", "cobertura", "coverage"], "values of options")
    t.check(":(text json lcov cobertura)'" in t.tool("completion", "zsh"), "values in zsh")
    t.check("-a 'text json lcov cobertura'" in t.tool("completion", "fish"), "values in fish")
    t.tool("completion", "cmd.exe", status=2)


def case_help(t):
    for command in ("report", "annotate", "coverage", "stats", "diff", "gap", "export", "completion"):
        t.check("usage: footpath " + command in t.tool(command, "--help"), "help of " + command)
        t.tool(command, "--no-such-option", status=2)


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, bench=Tester)
