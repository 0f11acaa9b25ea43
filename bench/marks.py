"""Measured tables in documents, each between two marks that name it and its generator:

    <!-- table NAME by bench/SCRIPT.py -->
    | program | ... |
    ...

    Commit 3d5af77, 2026-11-16, AMD EPYC with 2 cores, LLVM 19.
    <!-- end of table NAME -->

write() puts rows between them. A row that was not measured now stays as it is, with the commit, day
and machine that it was measured on; so `BENCH=lua make tables` renews lua's rows alone. Where
rows differ in that, there is a line for each commit, day and machine, and it names its rows.
The last row, the mean, is made again from the rows as they are printed; where groups are given, there is a mean
for each. Columns must be the same, otherwise the old rows go.
"""
import datetime
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAMP = re.compile(r"^(?:- )?(Commit [0-9a-f]{7,40}\+?, \d{4}-\d\d-\d\d, [^:]+?)(?:: (.+))?\.$")


def tree():
    """Of the tree that is measured; FOOTPATH_COMMIT where the tools come from elsewhere. +: with changes."""
    given = os.environ.get("FOOTPATH_COMMIT")
    if given:
        return given
    git = lambda *words: subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()
    changed = git("status", "--porcelain", "--", "src", "runtime", "tool", "include", "bench")
    return git("rev-parse", "--short=7", "HEAD") + ("+" if changed else "")


def machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            model = next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return "%s with %d cores" % (model.replace(":", ""), os.cpu_count())


def stamp(where=None, when=None, commit=None):
    """What every measured table ends with. `where`: another machine than this one; `commit`: another than the tree's."""
    return "Commit %s, %s, %s, LLVM %s" % (commit or tree(), when or datetime.date.today().isoformat(), where or machine(),
                                           os.environ.get("FOOTPATH_LLVM", "19"))


def around(text, name):
    """(before, body, after) of a table's marks, which stay with before and after."""
    begin = re.search(r"^<!-- table %s by bench/\S+ -->\n" % re.escape(name), text, re.M)
    end = re.search(r"^<!-- end of table %s -->$" % re.escape(name), text, re.M)
    if not begin or not end or end.start() < begin.end():
        raise SystemExit("bench/marks.py: no marks of table %s" % name)
    return text[:begin.end()], text[begin.end():end.start()], text[end.start():]


def read(body):
    """(columns, {row name: cells}, {row name: stamp}) of what is between the marks."""
    lines = [[c.strip() for c in l.strip().strip("|").split("|")] if l.startswith("| ") else None for l in body.splitlines()]
    cells = [l for l in lines if l]
    if not cells:
        return [], {}, {}
    rows = {c[0]: c[1:] for c in cells[1:] if not c[0].startswith("**")}
    stamps = {}
    for line in body.splitlines():
        found = STAMP.match(line)
        if found:
            names = found.group(2).split("; ") if found.group(2) else [r for r in rows if r not in stamps]
            stamps.update({n: found.group(1) for n in names})
    return cells[0], rows, stamps


def numbers(column):
    found = [re.match(r"^[+-]?\d[\d.,e+]*", cell) for cell in column]
    return [float(f.group(0).replace(",", "")) for f in found] if column and all(found) else None


def geomean(column):
    """Of changes in percent. A dash if a row has none: a mean over some of them would compare different things."""
    values = numbers(column)
    if not values:
        return "–"
    if column[0][0] not in "+-":
        return ""  # no change: a size, a time
    product = 1.0
    for value in values:
        product *= 1 + value / 100
    return "**%+.1f%%**" % (100 * (product ** (1 / len(values)) - 1))


def average(column):
    """In the form of the column's cells."""
    values = numbers(column)
    if not values or any("e+" in cell for cell in column):
        return ""
    places = max(len(c.rstrip("%").partition(".")[2]) for c in column)
    return "**%.*f%s**" % (places, sum(values) / len(values), "%" if column[0].endswith("%") else "")


def stamp_lines(rows, stamps):
    groups = {}
    for name in rows:
        groups.setdefault(stamps.get(name, "Commit unknown"), []).append(name)
    if len(groups) == 1:
        return [next(iter(groups)) + "."]
    return ["- %s: %s." % (at, "; ".join(names)) for at, names in sorted(groups.items(), reverse=True)]


def mean_lines(columns, rows, mean, groups):
    """One of all rows; where there are groups ({label: names}), one of each that has two rows or more."""
    out = []
    for label, names in (groups or {"": list(rows)}).items():
        cells = [rows[n] for n in names if n in rows]
        if len(cells) > 1:
            means = [mean([c[i] for c in cells]) for i in range(len(columns) - 1)]
            out.append("| **%s of %d%s** | %s |" % (mean.__name__, len(cells), label, " | ".join(means)))
    return out


def render(columns, rows, stamps, mean, right, groups=None):
    out = ["| " + " | ".join(columns) + " |", "|---|" + ("---:|" if right else "---|") * (len(columns) - 1)]
    out += ["| %s |" % " | ".join([name] + cells) for name, cells in rows.items()]
    if mean:
        out += mean_lines(columns, rows, mean, groups)
    return "\n".join(out + [""] + stamp_lines(rows, stamps)) + "\n"


def write(path, name, columns, rows, at, mean=None, order=(), right=False, groups=None):
    """Puts rows ({name: cells}) into table `name` of a document. `at`: a stamp, or one for each row. True if it changed."""
    if not rows:
        return False
    with open(path) as f:
        before, body, after = around(f.read(), name)
    old_columns, kept, stamps = read(body)
    if old_columns != columns:
        if kept:
            print("%s: the columns of table %s have changed: its old rows go" % (path, name), file=sys.stderr)
        kept, stamps = {}, {}
    kept.update(rows)
    stamps.update(at if isinstance(at, dict) else {n: at for n in rows})
    place = {n: i for i, n in enumerate(order)}
    kept = {n: kept[n] for n in sorted(kept, key=lambda n: place.get(n, len(place)))}
    new = render(columns, kept, stamps, mean, right, groups)
    with open(path, "w") as f:
        f.write(before + new + after)
    return new != body
