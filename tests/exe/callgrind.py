"""Counts of a rewritten program against callgrind's counts of the program: every block and every branch.

compare() runs the program under callgrind and its copy that counts under valgrind, at one place and with one environment.
Libraries that are given are rewritten and compared, too. With `twice` the program runs under callgrind once more: what
differs between these two runs depends on chance in the program itself, and is reported apart.
"""
import bisect
import collections
import glob
import json
import os
import re
import shutil
from dataclasses import dataclass, field

from harness import expect

PAGE = 0x1000
CALLGRIND = ["--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--compress-pos=no", "--skip-plt=no"]


class Counts:
    """Executions of instructions and taken branches, by address, of one object in callgrind's file."""

    def __init__(self):
        self.executed, self.taken = collections.Counter(), collections.Counter()


def read_counts(path, objects):
    """Counts of each object, and how often exceptions were thrown."""
    found = {name: Counts() for name in objects}
    names, ours, skip, jumps, thrower, throws = {}, None, False, None, set(), 0
    callee = None
    with open(path, errors="replace") as f:
        for line in f:
            if line[0] == "0":
                words = line.split()
                address = int(words[0], 16)
                if skip:
                    skip = False
                elif jumps is not None:
                    if jumps >= 0 and ours:
                        ours.taken[address] += jumps
                    jumps = None
                elif ours and len(words) > 2:
                    ours.executed[address] += int(words[2])
            elif line.startswith("calls="):
                skip = True
                throws += int(line[6:].split()[0]) if callee in thrower else 0
            elif line.startswith("jcnd="):
                jumps = int(line[5:line.index("/")])
            elif line.startswith("jump="):
                jumps = -1
            elif line.startswith(("fn=", "cfn=")):
                number, _, name = line.split("=", 1)[1].strip().partition(" ")
                if name == "__cxa_throw":
                    thrower.add(number)
                if line[0] == "c":
                    callee = number
            elif line.startswith(("ob=", "cob=")):
                number, _, name = line.split("=", 1)[1].strip().partition(" ")
                if name:
                    names[number] = name
                if line[0] == "o":
                    ours = found.get(names.get(number))
    return found, throws


def read_graphs(path):
    """What --graph wrote: name -> function. Names that are there twice are left out."""
    functions, twice, one = {}, set(), None
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[0] == "F":
                one = {"address": int(words[1], 16), "blocks": {}, "edges": []}
                if words[2] in functions:
                    twice.add(words[2])
                functions[words[2]] = one
            elif words[0] == "B":
                one["blocks"][int(words[1])] = (int(words[2], 16), int(words[3]), int(words[5], 16))
            else:
                one["edges"].append((int(words[1]), int(words[2]), words[3], int(words[4], 16)))
    return {name: f for name, f in functions.items() if name not in twice}


def read_profile(shown, objects):
    """Executions of blocks and edges of each object, by function, from show --json. A function is one of a library if the
    library is its file, else one of the program, which is the first object."""
    counts = {name: (collections.Counter(), collections.Counter()) for name in objects}
    for f in json.loads(shown)["functions"]:
        if "not_measured" in f:
            continue
        name, (blocks, edges) = f["linkage_name"], counts.get(f["file"], counts[objects[0]])
        expect("problem" not in f, "%s: %s" % (name, f.get("problem")))
        blocks[name, 0] += f["calls"]
        for edge in f.get("edges", []):
            blocks[name, edge["to"]] += edge["count"]
            edges[name, edge["from"], edge["to"]] += edge["count"]
    return counts


def bias(functions, executed):
    """Where the object was loaded: the distance at which most blocks have a first and a last instruction that were executed."""
    pairs = [(f["blocks"][edge[0]][0], edge[3]) for f in functions.values() for edge in f["edges"] if f["blocks"][edge[0]][1] > 2]
    if not pairs or not executed:
        return 0
    pairs.sort()
    low, high = (min(executed) - pairs[-1][0]) & -PAGE, max(executed) - pairs[0][0]
    step = max(1, (high - low) // PAGE * len(pairs) // 20000000)
    return max([0] + list(range(max(low, 0), high + PAGE, PAGE)),
               key=lambda at: sum(first + at in executed and last + at in executed for first, last in pairs[::step]))


@dataclass
class Difference:
    function: str
    what: str      # block or branch
    block: int
    address: int
    ours: int
    theirs: int

    def __str__(self):
        return "%s %s %d at %x: %d, callgrind %d" % (self.function, self.what, self.block, self.address, self.ours, self.theirs)


@dataclass
class Comparison:
    ran: int = 0         # blocks that were executed
    blocks: int = 0
    branches: int = 0
    counted: int = 0     # instructions executed in counted functions
    alone: int = 0       # and in what is left alone; stubs of imports are no functions
    throws: int = 0
    differ: list = field(default_factory=list)  # neither of the two below
    chance: list = field(default_factory=list)  # differ between two runs of the program itself
    flown: list = field(default_factory=list)   # in functions of which frames were left for good: paths in flight

    def add(self, other):
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def stubs(b, program):
    """Sections that hold jumps to imported functions."""
    lines = b.run("readelf", "-SW", program, status=None).stdout
    found = re.findall(r"\] \.plt\S*\s+PROGBITS\s+(\w+) \w+ (\w+)", lines)
    return [(int(start, 16), int(start, 16) + int(size, 16)) for start, size in found]


def share_counted(functions, counts, at, outside):
    """Executed instructions in counted functions, and elsewhere."""
    spans = sorted((address, end) for f in functions.values() for address, n, end in f["blocks"].values() if n)
    starts, counted, alone = [span[0] for span in spans], 0, 0
    for address, times in counts.executed.items():
        address -= at
        i = bisect.bisect_right(starts, address) - 1
        if i >= 0 and address < spans[i][1]:
            counted += times
        elif not any(start <= address < end for start, end in outside):
            alone += times
    return counted, alone


def compare_object(functions, ours, counts, again, at, ignore):
    """again: the counts of a second run, or None."""
    c, (blocks, edges) = Comparison(), ours

    def check(name, what, block, address, mine, which):
        theirs = getattr(counts, which)[address + at]
        steady = not again or getattr(again, which)[address + at] == theirs
        if mine != theirs or not steady:
            (c.differ if steady else c.chance).append(Difference(name, what, block, address, mine, theirs))

    for name, f in functions.items():
        if name in ignore:
            continue
        ways = collections.Counter(edge[0] for edge in f["edges"])
        for block, (address, instructions, _) in f["blocks"].items():
            if instructions:
                c.blocks, c.ran = c.blocks + 1, c.ran + (counts.executed[address + at] > 0)
                check(name, "block", block, address, blocks[name, block], "executed")
        for source, target, way, address in f["edges"]:
            if way == "taken" and ways[source] > 1:
                c.branches += 1
                check(name, "branch", source, address, edges[name, source, target], "taken")
    return c


def lost_flow(f, counts, at):
    """How often control came to a call of the function and never came out behind it, nor at a landing pad, by callgrind's counts
    alone: frames that were left for good (exit, longjmp, an exception that goes on). Not all of them are found."""
    executed, taken, blocks = counts.executed, counts.taken, f["blocks"]
    first = {block: executed[address + at] for block, (address, instructions, _) in blocks.items() if instructions}
    ways, ends = collections.Counter(edge[0] for edge in f["edges"]), {edge[0]: edge[3] for edge in f["edges"]}
    pads = {edge[1] for edge in f["edges"] if edge[2] == "unwind"}
    inflow, pool, landings, unknown, lost = collections.Counter(), set(), set(), {0}, 0
    for source, target, way, address in f["edges"]:
        if way == "unwind":
            continue
        if source in pads:
            landings.add(target)
        elif way == "twice":
            unknown.add(target)
        elif way == "table" or source not in first:
            pool.add(target)
        elif way == "taken" and ways[source] > 1:
            inflow[target] += taken[address + at]
        elif way == "not-taken":
            inflow[target] += executed[address + at] - taken[address + at]
        else:
            inflow[target] += executed[address + at]
    jumps = {edge[0]: edge[3] for edge in f["edges"] if edge[2] in ("table", "indirect") and edge[0] in first}
    pooled = sum(executed[address + at] for address in jumps.values())
    for block, times in first.items():
        drop = times - executed[ends.get(block, blocks[block][0]) + at]
        arrived = inflow[block] - times
        lost += drop + (arrived if block not in unknown | pool else 0)
        pooled += arrived if block in pool else 0
    return lost + (0 if pool & (unknown | landings) else pooled)


def preload(b):
    """A library that holds the time, addresses of memory and the list of mappings, for programs that go by them."""
    here = os.path.dirname(os.path.abspath(__file__))
    sources = [os.path.join(os.path.dirname(here), "real", "fixed_heap.c"), os.path.join(here, "src", "steady.c")]
    b.run("cc", "-O2", "-w", "-fno-builtin", "-shared", "-fPIC", *sources, "-o", b.path("steady.so"))
    return b.path("steady.so")


class Runs:
    """A program and its libraries, plain or rewritten, at one place."""

    def __init__(self, b, program, libraries, options):
        self.b, self.files = b, {program: b.path("at", os.path.basename(program))}
        for folder in (b.path("at", "lib"), b.path("cwd")):  # some programs list the folder that they run in
            os.makedirs(folder, exist_ok=True)
        self.files.update({path: b.path("at", "lib", soname) for soname, path in libraries.items()})
        self.rewritten, self.graphs = {}, {}
        for i, path in enumerate(self.files):
            self.rewritten[path], self.graphs[path] = b.path("rewritten%d" % i), b.path("graph%d" % i)
            b.tool("exe", path, "-o", self.rewritten[path], "--graph", self.graphs[path], *options, silent=True)

    def put(self, which):
        for path, place in self.files.items():
            if os.path.exists(place):
                os.unlink(place)
            shutil.copy(path if which == "plain" else self.rewritten[path], place)

    def run(self, which, tool, words, input=None, prepare=None, env=None):
        """Status and output."""
        self.put(which)
        if prepare:
            prepare()
        for old in glob.glob(self.b.path("counts.prof*")):
            os.unlink(old)
        env = {"FOOTPATH_OUT": self.b.path("counts.prof"), **(env or {})}
        if len(self.files) > 1:
            env["LD_LIBRARY_PATH"] = self.b.path("at", "lib")
        with open(input or os.devnull, "rb") as stdin:
            done = self.b.run("valgrind", "-q", *tool, next(iter(self.files.values())), *words, status=None, env=env, stdin=stdin, text=False,
                              cwd=self.b.path("cwd"))
        return done.returncode, done.stdout

    def callgrind(self, name, words, how, last=False):
        """What the program says, and the file of its process. last: of several, that of the process that ended last."""
        for old in glob.glob(self.b.path(name + ".*")):
            os.unlink(old)
        said = self.run("plain", CALLGRIND + ["--callgrind-out-file=" + self.b.path(name + ".%p")], words, **how)
        files = glob.glob(self.b.path(name + ".*"))
        if last:
            files = sorted(files, key=os.path.getmtime)[-1:]
        expect(len(files) == 1, "%d processes: callgrind counts what a parent did in its children, too" % len(files))
        return said, files[0]


def compare(b, program, *words, libraries=None, options=(), twice=False, last=False, ignore=(), **how):
    """Gives a Comparison. libraries: soname -> path. options: of footpath exe. last: counts are those of the process that
    ends last. how: input, prepare (called before each run), env."""
    runs = Runs(b, program, libraries or {}, options)
    places, paths = list(runs.files.values()), list(runs.files)
    plain, file = runs.callgrind("callgrind", words, how, last)
    counts, throws = read_counts(file, places)
    again = read_counts(runs.callgrind("again", words, how)[1], places)[0] if twice else {}
    said = runs.run("rewritten", ["--tool=none"], words, **how)
    expect(plain == said, "output of %s %s: status %d, %d bytes; rewritten %d, %d" % (
        program, " ".join(words), plain[0], len(plain[1]), said[0], len(said[1])))
    ours = read_profile(b.tool("show", "--json", b.path("counts.prof"), silent=True).stdout, paths)
    whole = Comparison(throws=throws)
    for path, place in runs.files.items():
        functions = read_graphs(runs.graphs[path])
        at = bias(functions, counts[place].executed)
        one = compare_object(functions, ours[path], counts[place], again.get(place), at, ignore)
        one.counted, one.alone = share_counted(functions, counts[place], at, stubs(b, path))
        left = {name for name in {d.function for d in one.differ} if lost_flow(functions[name], counts[place], at) > 0}
        one.flown = [d for d in one.differ if d.function in left]
        one.differ = [d for d in one.differ if d.function not in left]
        whole.add(one)
    return whole


def same(b, program, *words, flight=False, **how):
    """flight: paths in flight may differ."""
    c = compare(b, program, *words, **how)
    expect(c.ran > 0, "nothing ran")
    differ = c.differ + ([] if flight else c.flown)
    expect(not differ, "%d of %d blocks and branches of %s differ:\n%s" % (len(differ), c.blocks + c.branches, program,
                                                                         "\n".join(map(str, differ[:20]))))
    return c.ran
