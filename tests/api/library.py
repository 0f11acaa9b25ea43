#!/usr/bin/env python3
"""libfootpath as others use it: installed, through pkg-config, from C, C++ and Python.

    library.py --bin BUILD/bin --llvm 19

What the library gives is compared with what `footpath show --json` prints.
"""
import contextlib
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import PROGRAMS, ROOT, TESTS, equal, expect, needs, preloaded, run, sanitizers  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "examples", "library"))
sys.dont_write_bytecode = True
import footpath  # noqa: E402
from footpath import ENDS, EVENTS, NO_ID, NONE, STARTS, text  # noqa: E402

LIBRARIES = {
    "one.c": "int one(int x) { int s = 0; for (int i = 0; i < x; i++) s += i % 3 ? i : 2; return s; }\n",
    "two.c": "int two(int x) { switch (x % 4) { case 0: return 1; case 1: return 7; default: return 9; } }\n",
    "main.c": "int one(int), two(int);\n"
              "int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += one(i) + two(i); return s == 3; }\n",
}


@contextlib.contextmanager
def opened(b, *names, **options):
    os.environ["FOOTPATH_LIBRARY"] = os.path.join(b.args.bin, "..", "lib", "libfootpath.so.0")
    profile = footpath.Profile(*[b.path(name) for name in names], **options)
    yield profile
    profile.close()


def install(b):
    """Into a folder, which is moved then: footpath.pc must not name the first one."""
    needs("cmake", "pkg-config", "cc", "c++")
    run("cmake", "--install", os.path.dirname(b.args.bin), "--prefix", b.path("first"))
    os.rename(b.path("first"), b.path("moved"))
    folder = b.path("moved", "lib", "pkgconfig")
    words = run("pkg-config", "--cflags", "--libs", "footpath", env=dict(os.environ, PKG_CONFIG_PATH=folder)).stdout.split()
    for word in words:
        if word.startswith(("-I", "-L")):
            real = os.path.realpath(word[2:])
            expect(real.startswith(os.path.realpath(b.path("moved"))), "footpath.pc names " + word)
    return words + sanitizers(b.args.bin), b.path("moved", "lib")


def profile_of_libraries(b):
    for name, content in LIBRARIES.items():
        b.write(name, content)
    for name in ("one", "two"):
        b.cc("-O1", "-g", "-shared", "-fPIC", name + ".c", "-o", "lib%s.so" % name)
    b.cc("-O1", "-g", "main.c", "-o", "main", "-L.", "-lone", "-ltwo", "-Wl,-rpath," + b.folder)
    b.run("./main", env={"FOOTPATH_MAP": "0"})  # maps are in the modules alone


def as_json(profile, function):
    """A function as footpath show --json has it."""
    shown = {"name": profile.name(function), "linkage_name": text(function.linkage_name),
             "file": text(function.file), "line": function.line}
    if function.not_measured:
        return dict(shown, not_measured=text(function.not_measured))
    shown.update(num_paths=function.possible_paths, executed_paths=function.executed_paths, calls=function.calls,
                 cuts=function.cuts, doors=function.doors, laps=function.laps, paths=[path_as_json(profile, p) for p in profile.paths(function)])
    edges = profile.edges(function)
    if edges is not None:
        shown["edges"] = [edge_as_json(profile, function, i, e) for i, e in enumerate(edges)]
    shown.update(inclusive_cost=round(profile.inclusive(function), 3), callees=[call_as_json(c) for c in profile.callees(function)])
    return shown


def call_as_json(call):
    shown = {} if call.callee_name is None else {"name": text(call.callee_name)}
    shown.update(measured=bool(call.callee), count=call.count, cost=round(call.cost, 3), recursive=bool(call.recursive))
    return dict(shown, line=call.line) if call.line else shown


def place_as_json(place):
    shown = {"file": text(place.file), "line": place.line} if place.line else {}
    return dict(shown, column=place.column) if place.column else shown


NO_SENSE, TRUE, FALSE, CASE, DEFAULT = range(5)  # enum footpath_sense


def branch_as_json(profile, function, edge, branch):
    meaning, written = profile.meaning(function, edge), profile.condition(function, edge)
    shown = {"branch": branch} if written is None else {"branch": branch, "text": written}
    if meaning.construct:
        shown["kind"] = ("if", "loop", "choice", "value", "switch")[meaning.construct - 1]
    if meaning.sense == NO_SENSE:
        return shown
    if meaning.is_part:
        shown["part"] = True
    if meaning.sense in (TRUE, FALSE):
        shown["sense"] = meaning.sense == TRUE
    if meaning.sense == CASE:
        shown["value"] = meaning.value
    return shown


def edge_as_json(profile, function, index, edge):
    shown = {"from": edge.start, "to": edge.end, "count": edge.count}
    if sum(e.start == edge.start for e in profile.edges(function)) > 1:
        shown.update(place_as_json(profile.blocks(function)[edge.start].last))
        shown.update(branch_as_json(profile, function, index, profile.branch(function, index)))
    return shown


def path_as_json(profile, path):
    route = profile.decode(path)
    steps = [route.steps[i] for i in range(route.nsteps)]
    shown = {"id": None if path.id == NO_ID else path.id, "count": path.count, "branches": path.branches,
             "instructions": path.instructions, "starts_at": STARTS[route.start], "ends_at": ENDS[route.end],
             "lines": profile.route_text(route), "block_ids": [route.blocks[i] for i in range(route.nblocks)]}
    if path.cycles:
        shown["cycles"] = path.cycles
    if route.end_edge != NONE:
        shown["next_block"] = profile.edges(profile.functions[path.function])[route.end_edge].end
    function = profile.functions[path.function]
    shown["blocks"] = [dict(place_as_json(s.place),
                            **(branch_as_json(profile, function, s.edge, text(s.branch)) if s.branch is not None else {}))
                       for s in steps]
    return shown


def same_as_show(b, source, *flags):
    b.cc(*flags, os.path.join(PROGRAMS, source), "-o", "program")
    b.run("./program", status=None)
    expected = b.json("show", "--json", "footpath.prof")
    with opened(b, "footpath.prof") as profile:
        equal(profile.status, 0, "status")
        equal(profile.summary().runs, expected["runs"], "runs")
        for function in expected["functions"]:
            for costs in [function] + function.get("callees", []):
                costs.update((key, round(costs[key], 3)) for key in ("cost", "inclusive_cost") if key in costs)
        equal([as_json(profile, f) for f in profile.functions], expected["functions"], source)
        for function in profile.functions:
            for call in profile.callers(function):
                expect(call.count and (not call.caller or call.caller.contents.index < len(profile.functions)), "a caller")
    return expected


def case_same_as_show(b):
    same_as_show(b, "control_flow.c", "-O2", "-g")


def case_same_as_show_edges(b):
    same_as_show(b, "control_flow.c", "-O2", "-g", "--fp-mode=edge-min")


def case_partial_paths(b):
    shown = same_as_show(b, "exit_deep.c", "-O1", "-g", "--fp-exits")
    left = [p for f in shown["functions"] for p in f.get("paths", []) if p["ends_at"] == "left"]
    expect(left, "no path that never ended")


def case_places(b):
    """Columns, inlined functions, and blocks that agree with the edges."""
    b.write("inlined.c", "static inline __attribute__((always_inline)) int small(int x)\n{\n    return x > 3 ? 5 : x;\n}\n"
                         "int main(int argc, char **argv)\n{\n    return small(argc) + argv[0][0] == 0;\n}\n")
    b.cc("-O1", "-g", "-gcolumn-info", "inlined.c", "-o", "inlined")
    b.run("./inlined")
    with opened(b, "footpath.prof") as profile:
        f = next(f for f in profile.functions if profile.name(f) == "main")
        places = [p for block in profile.blocks(f) for p in (block.first, block.last)]
        expect(any(p.function == b"small" and p.line == 3 for p in places), "no place in the inlined function")
        expect(any(p.column > 0 for p in places), "no columns")
        equal(profile.blocks(f)[0].count, f.calls, "entries of block 0")


def case_missing_library(b):
    """What is there is opened; what is missing is a warning."""
    profile_of_libraries(b)
    with opened(b, "footpath.prof") as whole:
        equal(whole.warnings, [], "warnings")
        names = sorted(whole.name(f) for f in whole.functions)
        equal(names, ["main", "one", "two"], "functions")
        equal([footpath.build_id(m) != "" for m in whole.modules], [True] * 3, "build-ids")
    os.remove(b.path("libtwo.so"))
    with opened(b, "footpath.prof") as rest:
        equal(rest.status, 0, "status")
        equal(sorted(rest.name(f) for f in rest.functions), ["main", "one"], "functions without libtwo.so")
        expect(len(rest.warnings) == 1 and "libtwo.so" in rest.warnings[0], "warnings", rest.warnings)
        problems = [text(m.path) for m in rest.modules if m.problem]
        equal([os.path.basename(p) for p in problems], ["libtwo.so"], "modules with a problem")


def case_errors(b):
    """Every failure is a status and a text: nothing is printed, nothing exits."""
    profile_of_libraries(b)
    b.write("bad", "no profile")
    for names, options, status in ((["nowhere"], {}, 1), (["bad"], {}, 1), ([], {}, 3),
                                   (["footpath.prof"], {"binary": b.path("bad")}, 2)):
        with opened(b, *names, **options) as profile:
            equal(profile.status, status, "status of %s" % names)
            expect(profile.error, "no text for %s" % names)
            equal((profile.functions, profile.hottest(5), profile.events()), ([], [], []), "nothing is there")
    with opened(b, "footpath.prof", "bad", "nowhere") as profile:
        equal((profile.status, len(profile.warnings)), (0, 2), "bad files beside a good one")
        equal(profile.files, [b.path("footpath.prof")], "files that were read")
    with opened(b, "footpath.prof", function="on") as profile:
        equal([profile.name(f) for f in profile.functions], ["one"], "functions whose name contains 'on'")
        found = footpath.POINTER(footpath.Function)()
        find = [b"one", b"/elsewhere/one.c", footpath.byref(found)]
        equal(profile.call("find", *find), 1, "find one")
        equal(found.contents.linkage_name, b"one", "found")
        equal(profile.call("find", b"none", None, footpath.byref(found)), 0, "find none")


def combined(b):
    b.cc("-O1", "-g", os.path.join(TESTS, "combine", "example.c"), "-o", "example")
    for words in (["1", "one two 3"], ["2", "alpha beta"], ["3", "1 2 3 !"], ["40", "mixed 12 text"]):
        b.run("./example", *words, status=None, env={"FOOTPATH_MAP": "0", "FOOTPATH_OUT": "runs.prof"})
    b.tool("combine", "-o", "all.cp", "runs.prof")
    return b.json("show", "--json", "all.cp")


def case_combined(b):
    expected = combined(b)["events"]
    with opened(b, "all.cp") as profile:
        summary, events = profile.summary(), profile.events()
        equal((summary.combined, summary.runs, profile.files), (1, 4, [b.path("all.cp")]), "combined, runs, files")
        equal(len(events), len(expected), "events")
        for event, shown in zip(events, expected):
            s = profile.statistics(event)
            equal([EVENTS[event.kind], profile.name(event.function.contents)], [shown["kind"], shown["function"]], "event")
            equal([s.runs, s.seen, s.count, s.least, s.most], [shown[k] for k in ("runs", "seen", "count", "least", "most")],
                  "counts")
            got = [s.mean, s.variance, s.deviation, s.variation, s.min, s.max, profile.quantile(event, 0.9)]
            want = [shown[k] for k in ("mean", "variance", "deviation", "variation", "min", "max")] + [shown["quantiles"]["0.9"]]
            expect(all(abs(x - y) <= 1e-8 * max(1, abs(y)) for x, y in zip(got, want)), "statistics", (got, want))
            equal(s.nbins, len(shown["histogram"]["weights"]), "bins")
        calls = {profile.name(f): f.calls for f in profile.functions}
        counted = {e["function"]: e["count"] for e in expected if e["kind"] == "calls"}
        equal({name: n for name, n in calls.items() if n}, counted, "calls over all runs")
        f = max(profile.functions, key=lambda one: one.path_count)
        equal(sum(p.count for p in profile.paths(f)), f.path_count, "paths over all runs")


def case_combined_without_program(b):
    events = combined(b)["events"]
    os.rename(b.path("example"), b.path("elsewhere"))
    with opened(b, "all.cp") as profile:
        equal((profile.status, len(profile.events())), (0, len(events)), "events are there")
        expect(len(profile.warnings) == 1, "a warning", profile.warnings)
    with opened(b, "all.cp", binary=b.path("elsewhere")) as profile:
        equal(profile.warnings, [], "with binary")


def case_threads(b):
    """Handles in four threads at a time give what one gives."""
    profile_of_libraries(b)
    found = []

    def work():
        for _ in range(20):
            with opened(b, "footpath.prof") as profile:
                found.append(str([as_json(profile, f) for f in profile.functions]))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal((len(found), len(set(found))), (80, 1), "results")


def case_symbols(b):
    needs("nm")
    library = os.path.join(b.args.bin, "..", "lib", "libfootpath.so")
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).stdout.splitlines()]
    equal([n for n in names if not n.startswith("footpath_")], [], "other exported names")
    with open(os.path.join(ROOT, "include", "footpath", "footpath.h")) as f:
        header = f.read()
    equal([n for n in names if n + "(" not in header], [], "exported, but not in the header")


def case_installed(b):
    """The examples, built as their documents say; the header in C++; a prefix that was moved."""
    words, lib = install(b)
    profile_of_libraries(b)
    for folder, name in (("library", "hottest"), ("correlation", "correlation")):
        source = os.path.join(ROOT, "examples", folder, name + ".c")
        b.run("cc", "-Wall", "-Wextra", "-Werror", source, *words, "-Wl,-rpath," + lib, "-o", name, silent=True)
        b.run("./" + name, "footpath.prof", silent=True)
        b.run("./" + name, "nowhere", status=1)
    out = b.run("./hottest", "footpath.prof").stdout
    expect("one.c:1:" in out and "one, " in out, "hottest", out)
    b.write("cxx.cc", "#include <footpath/footpath.h>\nint main() { return footpath_api_version() != FOOTPATH_API_VERSION; }\n")
    b.run("c++", "-Wall", "-Wextra", "-Werror", "cxx.cc", *words, "-Wl,-rpath," + lib, "-o", "cxx", silent=True)
    b.run("./cxx")
    combined(b)
    expect("deviation" in b.run("./hottest", "all.cp", silent=True).stdout, "hottest of a combined profile")
    script = os.path.join(ROOT, "examples", "library", "footpath.py")
    env = dict(preloaded(b.args.bin), FOOTPATH_LIBRARY=os.path.join(lib, "libfootpath.so.0"))
    for name, word in (("footpath.prof", "build-id"), ("all.cp", "runs")):
        out = b.run(sys.executable, "-B", script, name, env=env, silent=True).stdout
        expect(word in out, "footpath.py " + name, out)


if __name__ == "__main__":
    harness.main(__doc__, loads=True)
