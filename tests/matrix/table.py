"""The table of ways to build a program, which rows of it make sense, and which are taken.

A cell gives each column one value. All cells are far too many, so they are covered: any
two values of two columns that can be together are together in some cell. `sample` covers
all columns, the program is one of them; `everything` does so within each mode, with each
LLVM. Both are the same every time.
"""
import itertools
import os
import random
import shutil

PROGRAMS = ["all_paths.c", "contexts.c", "control_flow.c", "control_flow.cc", "coroutines.cc", "dies_by_signal.c",
            "exceptions.cc",
            "exit_deep.c", "exit_in_handler.c", "floats_live.c", "forks.c", "longjmp_frames.c", "loops.c", "many_paths.c",
            "own_handlers.c", "quick_exit.c", "siglongjmp_handler.c", "signal_in_count.c", "threads_cxx.cc",
            "threads_end.c", "threads_many.c"]
MODES = ["none", "path", "edge", "edge-min", "check", "pep", "use"]

COLUMNS = {
    "mode": MODES,
    "exits": [False, True],
    "threads": ["local", "atomic", "shared"],
    "at": ["late", "early"],
    "cuts": ["fit", "few", "paper", "loops"],
    "metric": ["count", "cycles"],
    "level": ["-O0", "-O1", "-O2", "-O3", "-Os"],
    "debug": [False, True],
    "lto": ["none", "full", "thin"],
    "linker": ["bfd", "lld", "gold"],
    "kind": ["pie", "no-pie", "static"],
    "llvm": [],  # those that the plugin was built for
}

# Of these modes the column says nothing; its first value stands for all.
WITHOUT = {
    "none": ["exits", "threads", "at", "cuts", "metric"],
    "use": ["exits", "threads", "at", "cuts", "metric"],  # trained early, built by the profile
    "edge": ["cuts", "metric"],
    "edge-min": ["cuts", "metric"],
    "check": ["metric"],
    "pep": ["exits", "metric", "threads"],  # the runtime counts
}


def has(linker, llvm):
    if linker == "lld":
        return os.path.exists("/usr/lib/llvm-%s/bin/ld.lld" % llvm)
    return shutil.which("ld." + linker)


def sensible(cell):
    """Also of a part of a cell, whose other columns are not known yet."""
    get = cell.get
    for name in WITHOUT.get(get("mode"), []):
        if get(name, COLUMNS[name][0]) != COLUMNS[name][0]:
            return False
    # gcc's linkers need a plugin of LLVM for it, which is in no package of its own
    if get("lto", "none") != "none" and get("linker", "lld") != "lld":
        return False
    if "linker" in cell and "llvm" in cell and not has(cell["linker"], cell["llvm"]):
        return False
    return True


def cover(columns, fixed, rng):
    """Cells in which every sensible pair of values of two columns occurs."""
    names = list(columns)
    wanted = set()
    for a, b in itertools.combinations(names, 2):
        for x, y in itertools.product(columns[a], columns[b]):
            if sensible({**fixed, a: x, b: y}) and completed(columns, {**fixed, a: x, b: y}, wanted, random.Random(0)):
                wanted.add((a, x, b, y))
    cells = []
    while wanted:
        a, x, b, y = min(wanted, key=str)
        tries = (completed(columns, {**fixed, a: x, b: y}, wanted, rng) for _ in range(12))
        best = max((cell for cell in tries if cell), key=lambda cell: len(covered(cell, names, wanted)))
        wanted -= covered(best, names, wanted)
        cells.append(best)
    return cells


def covered(cell, names, wanted):
    pairs = ((a, cell[a], b, cell[b]) for a, b in itertools.combinations(names, 2))
    return {pair for pair in pairs if pair in wanted}


def completed(columns, part, wanted, rng):
    """The part with values for all other columns, in any order; None where there are none."""
    cell = dict(part)
    others = [name for name in columns if name not in cell]
    rng.shuffle(others)
    for name in others:
        values = [v for v in columns[name] if sensible({**cell, name: v})]
        if not values:
            return None
        rng.shuffle(values)
        cell[name] = max(values, key=lambda v: sum((a, x, name, v) in wanted or (name, v, a, x) in wanted
                                                    for a, x in cell.items()))
    return cell


def threads_by_linkers(llvm):
    """Three columns together: each linker has its own way with symbols that no file of a program
    defines, and the runtime has such symbols where threads begin."""
    first = {name: values[0] for name, values in COLUMNS.items() if values}
    ways = [{"mode": "none"}] + [{"mode": "check", "threads": threads} for threads in ("local", "atomic")]
    for linker, kind, way in itertools.product(COLUMNS["linker"], COLUMNS["kind"], ways):
        cell = dict(first, **way, linker=linker, kind=kind, level="-O1", llvm=llvm, program="threads_many.c")
        if sensible(cell):
            yield cell


def coroutines_by_lto(llvms):
    """Each LLVM splits coroutines at another point, with -flto=thin not before it links."""
    first = {name: values[0] for name, values in COLUMNS.items() if values}
    for llvm, lto, at in itertools.product(llvms, ["full", "thin"], COLUMNS["at"]):
        cell = dict(first, mode="check", lto=lto, at=at, linker="lld", level="-O2", llvm=llvm, program="coroutines.cc")
        if sensible(cell):
            yield cell


def sample(llvms):
    covering = cover(dict(COLUMNS, llvm=llvms, program=PROGRAMS), {}, random.Random(1))
    return covering + list(threads_by_linkers(llvms[0])) + list(coroutines_by_lto(llvms))


def everything(llvms, mode):
    columns = dict(COLUMNS, program=PROGRAMS)
    del columns["mode"], columns["llvm"]
    return [cell for llvm in llvms for cell in cover(columns, {"mode": mode, "llvm": llvm}, random.Random(2))]


def some(llvms, mode, count, seed):
    """Cells by chance."""
    columns, rng = dict(COLUMNS, llvm=llvms, program=PROGRAMS), random.Random(seed)
    return [completed(columns, {"mode": mode, "program": rng.choice(PROGRAMS)}, set(), rng) for _ in range(count)]
