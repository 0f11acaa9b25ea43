#!/usr/bin/env python3
"""Combining on the command line, checked against frequencies that this script
computes by itself from single profiles.

    cli.py --bin BUILD/bin [--llvm 19] [--mpirun MPIRUN] [--case NAME]...

Paper 000, Figure 9: three runs, combined with 100 bins; three more, combined with
the first result and 15 bins. Then other kinds of profile, mixtures, bad inputs,
runs that write into a combined profile by themselves, and MPI.
"""
import json
import math
import os
import pty
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = [("1", "one two 3"), ("2", "alpha beta gamma"), ("3", "1 2 3 4 ! ?"),
          ("1", "a"), ("40", "mixed 12 text, with marks."), ("2", "")]
MODES = {"path": "--fp-mode=path", "edge": "--fp-mode=edge", "edge_min": "--fp-mode=edge-min"}


def near(a, b, scale=None):
    return abs(a - b) <= 1e-8 * max(abs(a), abs(b), scale or 0, 1e-12)


class Session(harness.Bench):
    """The example in three modes, each built and run on all inputs when a case asks for it."""

    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.built, self.dominators = {}, {}

    def exe(self, mode):
        self.build(mode)
        return self.path("example." + mode)

    def profile(self, mode, number):
        self.build(mode)
        return "o%d.%s" % (number, mode)

    def profiles(self, mode, count=len(INPUTS)):
        return [self.profile(mode, i % len(INPUTS) + 1) for i in range(count)]

    def build(self, mode):
        if mode in self.built:
            return
        self.built[mode] = None
        self.cc(MODES[mode], "-O1", "-g", os.path.join(HERE, "example.c"), "-o", self.exe(mode))
        for i, (rounds, text) in enumerate(INPUTS):
            # without maps: what is said where there is no program is tested too
            env = {"FOOTPATH_OUT": self.path(self.profile(mode, i + 1)), "FOOTPATH_MAP": "0"}
            self.run(self.exe(mode), rounds, text, env=env, silent=True)

    def singles(self, mode):
        """What each run counted."""
        self.build(mode)
        if self.built[mode] is None:
            self.built[mode] = [frequencies(self.json("show", "--json", p), self.dominators) for p in self.profiles(mode)]
        return self.built[mode]

    def mixed(self):
        """A profile of paths, and of edges of other runs."""
        self.tool("combine", "-o", "min.cp", *self.profiles("edge_min"))
        self.tool("combine", "-o", "mixed.cp", *self.profiles("path"), "min.cp")
        return "mixed.cp"

    def events(self, name, *options):
        data = self.json("show", "--json", *options, name)
        return data, {(e["function"], e["kind"], e.get("id", 0), e.get("stopped_in")): e for e in data["events"]}


# ---- frequencies, from single profiles ----

def reachable(edges, without):
    """Edges that can be come to from block 0 when one of them is taken away."""
    blocks, found = [0], set()
    seen = {0}
    while blocks:
        block = blocks.pop()
        for e, (src, dst) in enumerate(edges):
            if src == block and e != without:
                found.add(e)
                if dst not in seen:
                    seen.add(dst)
                    blocks.append(dst)
    return found


def nearest_dominators(edges):
    dominates = {d: set(range(len(edges))) - reachable(edges, d) - {d} for d in range(len(edges))}
    nearest = []
    for e in range(len(edges)):
        above = [d for d in dominates if e in dominates[d]]
        # the nearest is dominated by all the others
        nearest.append(max(above, key=lambda d: sum(d in dominates[o] for o in above)) if above else None)
    return nearest


def frequencies(data, dominators):
    values = {}
    for f in data["functions"]:
        calls = f["calls"]
        if calls:
            values[f["name"], "calls", 0, None] = (calls, calls)
        edges = [(e["from"], e["to"]) for e in f["edges"]]
        if f["name"] not in dominators:
            dominators[f["name"]] = nearest_dominators(edges)
        for e, one in enumerate(f["edges"]):
            above = dominators[f["name"]][e]
            to = calls if above is None else f["edges"][above]["count"]
            if one["count"]:
                values[f["name"], "edge", e, None] = (one["count"] / to, one["count"])
        for p in f["paths"]:
            values[f["name"], "path", p["id"], None] = (p["count"] / calls, p["count"])
    return values


def compare(session, name, runs, edge_runs=None):
    """A combined profile against the frequencies of all runs at once."""
    data, events = session.events(name)
    expect(data["runs"] == len(runs) + len(edge_runs or []), "%s: %d runs" % (name, data["runs"]))
    keys = {k for run in runs + (edge_runs or []) for k in run}
    expect(set(events) == keys, "%s: other events: %s" % (name, sorted(map(str, set(events) ^ keys))[:5]))
    for key in keys & set(events):
        trials = runs + (edge_runs or []) if key[1] in ("calls", "edge") else runs
        values = [run.get(key, (0, 0))[0] for run in trials]
        counts = [run.get(key, (0, 0))[1] for run in trials]
        event, n = events[key], len(trials)
        mean = math.fsum(values) / n
        variance = math.fsum((v - mean) ** 2 for v in values) / n
        expect(near(event["mean"], mean), "%s %s: mean %r, expected %r" % (name, key, event["mean"], mean))
        expect(near(event["variance"], variance, mean * mean), "%s %s: variance %r, expected %r" % (name, key, event["variance"], variance))
        expect(near(event["min"], min(values)) and near(event["max"], max(values)), "%s %s: range" % (name, key))
        expect(event["count"] == sum(counts) and event["most"] == max(counts) and event["least"] == min(counts), "%s %s: counts" % (name, key))
        expect(event["seen"] == sum(c > 0 for c in counts) and event["runs"] == n, "%s %s: seen" % (name, key))
        expect(sum(event["histogram"]["weights"]) == n, "%s %s: weight of the histogram" % (name, key))
        expect(event["histogram"]["width"] >= 0.01 and event["histogram"]["lower"] >= 0, "%s %s: bins" % (name, key))
    return data, events


def figure_9(s, mode):
    singles = s.singles(mode)
    first = [s.profile(mode, i) for i in (1, 2, 3)]
    more = [s.profile(mode, i) for i in (4, 5, 6)]
    s.tool("combine", *first, "-o", "edge1.cp", "--bins=100")
    data, _ = compare(s, "edge1.cp", singles[:3])
    expect(data["bins"] == 100, "100 bins")
    s.tool("combine", *more, "edge1.cp", "-o", "edge2.cp", "--bins=15")
    data, events = compare(s, "edge2.cp", singles)
    expect(data["bins"] == 15, "15 bins")
    expect(all(len(e["histogram"]["weights"]) <= 15 for e in events.values()), "at most 15 bins are used")
    s.tool("combine", "edge1.cp", *more, "-o", "as-before.cp")
    expect(s.events("as-before.cp")[0]["bins"] == 100, "as many bins as before")
    s.tool("combine", *first, *more, "-o", "at-once.cp")
    _, at_once = s.events("at-once.cp")
    for key in at_once:
        expect(at_once[key]["histogram"] == events[key]["histogram"], "%s: one histogram by both ways" % (key,))
    text = s.tool("show", "edge2.cp", "--edges").stdout
    expect(text.startswith("6 runs of example"), "show says how many runs: " + text[:60])
    expect("|" in text and "one_round" in text, "show draws histograms")


def case_mixtures(s):
    singles, edge_singles = s.singles("path"), s.singles("edge")
    s.mixed()
    compare(s, "min.cp", [], edge_singles)
    compare(s, "mixed.cp", singles, edge_singles)
    s.tool("combine", "-o", "mixed2.cp", "min.cp", s.profile("edge", 1), *s.profiles("path"))
    compare(s, "mixed2.cp", singles, edge_singles + edge_singles[:1])
    for jobs in ("1", "2"):
        s.tool("combine", "-o", "jobs%s.cp" % jobs, "--jobs", jobs, *s.profiles("path", 50))
    same_bytes(s, "jobs1.cp", "jobs2.cp")


def case_progress(s):
    """A line on a terminal, taken away at the end; none elsewhere. An input that is a pipe holds the work up."""
    main, end = pty.openpty()
    os.mkfifo(s.path("pipe"))
    files = s.profiles("path", 60)
    with open(s.path(files[0]), "rb") as f:
        content = f.read()
    done = subprocess.Popen([s.bin("footpath"), "combine", "-o", "p.cp", "pipe", *files], cwd=s.folder, stderr=end)
    os.close(end)
    with open(s.path("pipe"), "wb") as pipe:  # opened by now
        time.sleep(0.5)
        pipe.write(content)
    seen = b""
    while True:
        try:
            piece = os.read(main, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    expect(done.wait() == 0 and b"combining [" in seen and b"of 61" in seen, "progress: %r" % seen[:80])
    expect(seen.endswith(b"\r\x1b[K"), "the line is taken away: %r" % seen[-20:])
    expect(s.events("p.cp")[0]["runs"] == 61, "a pipe is an input as any")
    expect(s.tool("combine", "-o", "p.cp", *files[:6]).stderr == "", "no line where there is no terminal")


def same_bytes(s, a, b):
    with open(s.path(a), "rb") as one, open(s.path(b), "rb") as other:
        expect(one.read() == other.read(), "%s and %s are the same bytes" % (a, b))


def case_questions(s):
    s.mixed()
    _, events = s.events("mixed.cp", "--above", "0.5")
    for key, e in events.items():
        expect(0 <= e["above"] <= 1 and e["min"] <= e["quantiles"]["0.5"] <= e["max"], "%s: questions" % (key,))
    _, unseen = s.events("mixed.cp", "--unseen")
    expect(unseen and all(e["seen"] < e["runs"] for e in unseen.values()), "--unseen")
    _, functions = s.events("mixed.cp", "--functions")
    expect({k[1] for k in functions} == {"calls"}, "--functions")
    order = [e["variation"] for e in json.loads(s.tool("show", "--json", "mixed.cp").stdout)["events"]]
    expect(order == sorted(order, reverse=True), "ranked by variation")
    order = [e["count"] for e in json.loads(s.tool("show", "--json", "--sort=count", "mixed.cp").stdout)["events"]]
    expect(order == sorted(order, reverse=True), "ranked by count")
    shown = s.tool("show", "--top", "2", "mixed.cp").stdout.splitlines()
    rows = [line for line in shown if " |" in line]
    expect(len(rows) == 2 and "more; --top 0" in shown[-1], "--top: %s" % shown)


def case_bad_inputs(s, mode="path"):
    s.mixed()
    good = s.profile(mode, 1)
    with open(s.path(good), "rb") as f:
        whole = f.read()
    with open(s.path("cut"), "wb") as f:
        f.write(whole[:-3])
    with open(s.path("spoiled"), "wb") as f:
        f.write(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    with open(s.path("mixed.cp"), "rb") as f:
        combined = bytearray(f.read())
    combined[len(combined) // 2] ^= 4
    with open(s.path("spoiled.cp"), "wb") as f:
        f.write(combined)
    done = s.tool("combine", "--skip-bad", "-o", "x.cp", good, "spoiled", "missing", "spoiled.cp")
    expect("checksum" in done.stderr and "missing: cannot open" in done.stderr and "skipped 3 of 4" in done.stderr, "bad inputs are told: " + done.stderr)
    expect(s.events("x.cp")[0]["runs"] == 1, "the good one is used")
    s.tool("combine", "-o", "y.cp", good, "spoiled", status=1)
    expect(not os.path.exists(s.path("y.cp")), "nothing is written after a failure")
    done = s.tool("combine", "-o", "x.cp", good, "cut")
    expect("ends in the middle of a record" in done.stderr and s.events("x.cp")[0]["runs"] == 1, "a file cut short: " + done.stderr)
    done = s.tool("combine", "--skip-bad", "-o", "x.cp", good, *["missing%d" % i for i in range(100)])
    expect(len(done.stderr.splitlines()) == 22 and "skipped 100 of 101" in done.stderr, "messages end somewhere: %d" % len(done.stderr.splitlines()))
    os.rename(s.exe(mode), s.path("moved"))
    done = s.tool("combine", "-o", "y.cp", good, status=1)
    expect("--binary FILE" in done.stderr and not os.path.exists(s.path("y.cp")), "no program: " + done.stderr)
    done = s.tool("show", "mixed.cp", "--top", "1")
    expect("--binary FILE" in done.stderr and len(done.stdout.splitlines()) == 5, "show without a program: " + done.stderr)
    s.tool("combine", "--binary", "moved", "-o", "y.cp", good)
    expect(s.events("y.cp", "--binary", "moved")[1] == s.events("x.cp", "--binary", "moved")[1], "a program that moved")
    os.rename(s.path("moved"), s.exe(mode))
    s.tool("combine", "--bins", "0", good, status=2)
    s.tool("combine", "--bins", "256", good, status=2)
    s.tool("combine", status=2)
    s.tool("show", "--sort=size", "x.cp", status=2)
    expect("combined profile" in s.tool("merge", "x.cp", status=1).stderr, "merge refuses a combined profile")
    s.tool("merge", "-o", "sum.prof", good, s.profile(mode, 2))
    done = s.tool("combine", "-o", "x.cp", "sum.prof")
    expect("sums of several runs" in done.stderr, "a merged profile is told: " + done.stderr)


def case_merging(s, mode="path"):
    """footpath merge: bad inputs add nothing, threads make no difference."""
    files = s.profiles(mode, 40)
    s.tool("merge", "--jobs", "1", "-o", "m1.prof", *files)
    s.tool("merge", "--jobs", "3", "-o", "m3.prof", *files)
    one, three = (json.loads(s.tool("show", "--json", name).stdout) for name in ("m1.prof", "m3.prof"))
    expect(one == three and one["runs"] == 40, "merge by threads")
    with open(s.path("several"), "wb") as out:  # two good runs and a bad one
        for rounds in ("1", "2", "3"):
            s.run(s.exe(mode), rounds, "x", env={"FOOTPATH_OUT": s.path("several")})
    with open(s.path("several"), "r+b") as f:
        f.seek(-2, 2)
        last = f.read(1)
        f.seek(-2, 2)
        f.write(bytes([last[0] ^ 1]))
    done = s.tool("merge", "--skip-bad", "-o", "m.prof", files[0], "several", files[1])
    expect("several: at offset" in done.stderr and "skipped 1 of 3" in done.stderr, "merge tells of a bad input: " + done.stderr)
    expect(json.loads(s.tool("show", "--json", "m.prof").stdout)["runs"] == 2, "and takes nothing of it")
    s.tool("merge", "-o", "n.prof", files[0], "several", status=1)
    expect(not os.path.exists(s.path("n.prof")), "merge writes nothing after a failure")


def case_left_frames(s):
    """Paths that frames were left on have rows of their own: the heads count them as well."""
    source = os.path.join(os.path.dirname(HERE), "programs", "exit_deep.c")
    s.cc("-O2", "--fp-exits", source, "-o", s.path("deep"))
    names = ["deep1.prof", "deep2.prof"]
    for name in names:
        s.run(s.path("deep"), env={"FOOTPATH_OUT": s.path(name)}, status=3)
    s.tool("combine", "-o", "deep.cp", *names)
    events = [e for e in json.loads(s.tool("show", "--json", "deep.cp").stdout)["events"] if e["kind"].startswith("path")]
    expect([e for e in events if e["kind"] == "path left"], "frames were left: %s" % events)
    expect(" edges and %d paths taken" % len(events) in s.tool("show", "deep.cp").stdout, "show of %d paths" % len(events))
    expect(" edges, %d paths\n" % len(events) in s.tool("info", "deep.cp").stdout, "info of %d paths" % len(events))
    paths = [p for f in json.loads(s.tool("show", "--json", names[0]).stdout)["functions"] for p in f["paths"]]
    expect(": %d paths taken" % len(paths) in s.tool("show", names[0]).stdout, "show of one run, %d paths" % len(paths))


def case_by_itself(s, mode="path"):
    """FOOTPATH_OUT that ends in .cp."""
    for rounds, text in INPUTS:
        done = s.run(s.exe(mode), rounds, text, env={"FOOTPATH_OUT": s.path("own.cp")})
        expect(done.returncode == 0 and not done.stderr, "a run into own.cp: " + done.stderr)
    s.tool("combine", "-o", "all.cp", *s.profiles(mode))
    expected = s.events("all.cp")
    expect(s.events("own.cp") == expected, "runs in own.cp are seen before it is compacted")
    s.tool("combine", "-o", "own.cp", "own.cp")
    expect(s.events("own.cp") == expected, "and after")
    s.run(s.exe(mode), "1", "more", env={"FOOTPATH_OUT": s.path("own.cp")})
    expect(s.events("own.cp")[0]["runs"] == 7, "a run joins a compacted profile")
    done = s.tool("run", "-o", "own.cp", "--repeat", "3", s.exe(mode), "1", "by footpath run")
    expect(s.events("own.cp")[0]["runs"] == 10 and done.stderr.startswith("10 runs of example"), "footpath run: " + done.stderr)
    with open(s.path("own.cp"), "rb") as f:
        expect(f.read().count(b"FPRC") == 1, "footpath run compacts")
    info = s.tool("info", "own.cp").stdout
    expect("10 runs" in info and "15 bins" in info, "info: " + info)
    expect(json.loads(s.tool("info", "--json", "own.cp").stdout)["combined"][0]["runs"] == 10, "info --json")


def read_packet(data):
    """Types 8 and 9, byte by byte: {(function or None, id): histogram}."""
    at = 0

    def take(format):
        nonlocal at
        values = struct.unpack_from("<" + format, data, at)
        at += struct.calcsize("<" + format)
        return values

    kind, trials, count, bins = take("IdII")
    found = {}
    for _ in range(count):
        function, entries = take("II") if kind == 9 else (None, 1)
        for _ in range(entries):
            total, squares, width, lower, upper, identity, nonzero, used = take("dddddIIB")
            found[function, identity] = dict(sum=total, squares=squares, width=width, lower=lower, upper=upper,
                                             nonzero=nonzero, bins=[take("Bd") for _ in range(used)])
    expect(at == len(data), "legacy: %d bytes, %d understood" % (len(data), at))
    return kind, trials, bins, found


def case_legacy(s):
    """Export of types 8 and 9, and the way back."""
    for what, mode, kind, of in (("edges", "edge", 8, "edge"), ("paths", "path", 9, "path")):
        s.tool("combine", "-o", "l.cp", *s.profiles(mode))
        s.tool("export", "--format", "legacy", "--what", what, "l.cp", "-o", "l.out")
        with open(s.path("l.out"), "rb") as f:
            data = f.read()
        got_kind, trials, bins, found = read_packet(data)
        expect((got_kind, trials, bins) == (kind, 6.0, 15), "legacy %s: head %s" % (what, (got_kind, trials, bins)))
        events = {k: e for k, e in s.events("l.cp")[1].items() if k[1] == of}
        for h in found.values():
            expect(abs(sum(w for _, w in h["bins"]) - 6) < 1e-9, "legacy: weight")
            expect(all(h["lower"] + i * h["width"] < h["upper"] for i, _ in h["bins"]), "legacy: bins within bounds")
        means = sorted(h["sum"] / 6 for h in found.values())
        entries = len(found) - len(events)
        expected = sorted([e["mean"] for e in events.values()] + [1.0] * entries)
        expect(all(near(a, b) for a, b in zip(means, expected)), "legacy %s: means" % what)
        expect(entries == (len({k for k in s.events("l.cp", "--functions")[1]}) if kind == 8 else 0), "legacy %s: entries" % what)
        s.tool("import", "--format", "legacy", "--binary", s.exe(mode), "l.out", "-o", "back.cp")
        back, again = s.events("back.cp")
        expect(back["runs"] == 6 and back["bins"] == 15 and set(again) == set(events), "legacy %s: the same events come back" % what)
        for key in set(again) & set(events):
            for field in ("mean", "variance", "histogram", "seen", "runs"):
                expect(again[key][field] == events[key][field], "legacy %s %s: %s" % (what, key, field))
        hostile(s, mode, data)
    merged = s.tool("combine", "-o", "both.cp", "back.cp", s.profile("path", 1))
    expect(s.events("both.cp")[0]["runs"] == 7, "what was imported combines: " + merged.stderr)


def hostile(s, mode, data):
    """Every cut, and bytes changed: an error or a profile, never a crash."""
    for i in range(0, len(data), max(1, len(data) // 40)):
        for changed in (data[:i], data[:i] + bytes([data[i] ^ 0xff]) + data[i + 1:]):
            with open(s.path("hostile.out"), "wb") as f:
                f.write(changed)
            done = s.tool("import", "--format", "legacy", "--binary", s.exe(mode), "hostile.out", "-o", "hostile.cp", status=None)
            expect(done.returncode in (0, 1), "import of changed byte %d: status %d" % (i, done.returncode))
            if done.returncode == 0:
                s.tool("show", "hostile.cp", status=None)


def case_foreign_histogram(s, mode="path"):
    """Bins that lie off the grid, in fractions, and an integer for the sum (paper 000, Figure 5)."""
    body = struct.pack("<IdII", 9, 10.0, 1, 20) + struct.pack("<II", 1, 1)
    body += struct.pack("<QddddIIB", 5, 1.25, 0.07, 0.1, 1.5, 0, 10, 3)
    body += b"".join(struct.pack("<Bd", i, w) for i, w in ((0, 2.5), (4, 5.25), (19, 2.25)))
    with open(s.path("foreign.out"), "wb") as f:
        f.write(body)
    s.tool("import", "--format", "legacy", "--binary", s.exe(mode), "foreign.out", "-o", "foreign.cp")
    (event,) = s.events("foreign.cp")[1].values()
    expect(near(event["mean"], 0.5) and near(event["variance"], 0.125), "foreign: mean and variance")
    expect(near(sum(event["histogram"]["weights"]), 10), "foreign: weight %r" % sum(event["histogram"]["weights"]))
    expect(0.1 <= event["min"] < 0.11 and 1.49 < event["max"] <= 1.5, "foreign: range %r %r" % (event["min"], event["max"]))
    expect(0.3 < event["quantiles"]["0.5"] < 0.5, "foreign: median %r" % event["quantiles"]["0.5"])


def case_libraries(s):
    """A run has a record per module and is one run."""
    with open(s.path("l.c"), "w") as f:
        f.write("int twice(int x) { return x > 3 ? x * 2 : x; }")
    with open(s.path("m.c"), "w") as f:
        f.write("""#include <unistd.h>
#include <sys/wait.h>
int twice(int);
int main(int c, char **v) { for (int i = 0; i < 4 + c; i++) twice(i); if (c > 2) { fork(); wait(0); } return 0; }
""")
    s.cc("-O1", "-shared", "-fPIC", "l.c", "-o", "libl.so")
    s.cc("-O1", "m.c", "-o", "m", "./libl.so")
    for words in ((), ("1",), ("1", "forks")):
        s.run(s.path("m"), *words, env={"FOOTPATH_OUT": s.path("both.cp")})
        s.run(s.path("m"), *words, env={"FOOTPATH_OUT": s.path("both.prof")})
    data, events = s.events("both.cp")
    expect(data["runs"] == 4, "one run, also with libraries: %d" % data["runs"])
    expect(events["twice", "calls", 0, None]["runs"] == 4, "a library's runs")
    expect(json.loads(s.tool("show", "--json", "both.prof").stdout)["runs"] == 4, "show counts runs, not records")
    s.tool("merge", "-o", "one.prof", "both.prof")
    expect(json.loads(s.tool("show", "--json", "one.prof").stdout)["runs"] == 4, "and of a merged profile")


def case_going_on(s):
    """A run that dumps in mid-run stays what it is through a compaction."""
    source = s.path("dumps.c")
    with open(source, "w") as f:
        f.write("""#include <footpath/runtime.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void work(int i) { if (i % 3) putchar('x'); else putchar('y'); }
int main(int argc, char **argv) {
    for (int i = 0; i < 9; i++) work(i);
    if (argc > 1) { fflush(stdout); _exit(0); }
    footpath_dump();
    fflush(stdout);
    getchar();
    for (int i = 0; i < 9; i++) work(i);
}
""")
    s.cc("-O1", source, "-o", "dumps")
    run = subprocess.Popen([s.path("dumps")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=s.folder,
                           env=dict(os.environ, FOOTPATH_OUT=s.path("going.cp")))
    run.stdout.read(9)
    s.run(s.path("dumps"), "by _exit", env={"FOOTPATH_OUT": s.path("going.cp")})
    calls = ("work", "calls", 0, None)
    expect([s.events("going.cp")[1][calls][k] for k in ("count", "runs")] == [18, 2], "a dump counts as it is")
    s.tool("combine", "-o", "going.cp", "going.cp")
    expect([s.events("going.cp")[1][calls][k] for k in ("count", "runs")] == [18, 2], "also after a compaction")
    run.communicate(b"\n")
    expect([s.events("going.cp")[1][calls][k] for k in ("count", "runs")] == [27, 2], "and is replaced at the end")
    s.tool("combine", "-o", "going.cp", "going.cp")
    expect([s.events("going.cp")[1][calls][k] for k in ("count", "runs")] == [27, 2], "for good")


def case_mpi(s):
    if not s.args.mpirun:
        raise Skipped("needs MPI")
    files = s.profiles("path", 70) + [s.mixed()]
    s.tool("combine", "-o", "alone.cp", *files)
    mpirun = [s.args.mpirun, "--allow-run-as-root", "--oversubscribe", "-n"]
    for ranks in ("1", "2", "3"):
        s.run(*mpirun, ranks, s.bin("footpath"), "combine", "--mpi", "-o", "ranks.cp", *files)
        same_bytes(s, "alone.cp", "ranks.cp")
    s.run(*mpirun, "2", s.bin("footpath"), "combine", "--mpi", "-o", "no.cp", *files, "missing", status=1)
    expect(not os.path.exists(s.path("no.cp")), "mpirun with a bad input wrote something")


for kind in MODES:
    globals()["case_figure_9_" + kind] = lambda s, kind=kind: figure_9(s, kind)

if __name__ == "__main__":
    harness.main(__doc__, ("--mpirun", {"default": ""}), bench=Session)
