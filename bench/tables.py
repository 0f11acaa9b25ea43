"""The tables of docs/performance.md, and its chart, from what measure.py left.

    python3 bench/tables.py [--results FILE] [--into docs/performance.md] [--chart docs/pictures/performance.svg] [--where MACHINE]

A program that has no figure for a variant has a dash. Rows of programs that are not in the
results stay as they are (marks.py). Ratios, the comparison with other profilers and the
chart are made from the tables as they then are.
"""
import argparse
import os

import corpus
import marks
import measure

MAIN = ["clang-edges", "path", "path-loops", "path-exits", "path-guided", "edge-min"]
OTHERS = ["clang-pgo", "clang-front", "gcc-pgo", "path-early", "path-shared"]
TIMED = ["clang-edges", "path", "path-loops", "path-exits", "edge-min"]
BASES = ("clang", "gcc")


def base_of(variant):
    return measure.VARIANTS[variant]["base"]


def net(facts):
    if "instructions_small" not in facts or "instructions_trivial" not in facts:
        return None
    return facts["instructions_small"] - facts["instructions_trivial"]


def extra_instructions(result, variant):
    mine, plain = net(result.get(variant, {})), net(result.get(base_of(variant), {}))
    return None if mine is None or not plain else mine / plain - 1


def extra_of(key, reduce=lambda x: x):
    def extra(result, variant):
        mine, plain = result.get(variant, {}).get(key), result.get(base_of(variant), {}).get(key)
        return None if not mine or not plain else reduce(mine) / reduce(plain) - 1
    return extra


def spread(result, variant):
    times = result.get(variant, {}).get("times")
    return max(times) / min(times) - 1 if times else None


def percent(value):
    return "–" if value is None else "%+.1f%%" % (100 * value)


# name of the table: what measure.py calls it, columns, figure
TABLES = {
    "instructions": ("instructions", MAIN, extra_instructions),
    "instructions-others": ("instructions", OTHERS, extra_instructions),
    "time": ("time", TIMED, extra_of("times", min)),
    "spread": ("time", ["clang"] + TIMED, spread),
    "compiler": ("build", ["clang-edges", "path", "path-loops"], extra_of("build_cpu")),
    "text": ("build", MAIN, extra_of("text")),
    "memory": ("time", TIMED, extra_of("memory_kb")),
}


def row_stamp(result, what, variants):
    """Where and when the figures of a row were taken: one, or all that differ."""
    ours = [v for v in variants if measure.VARIANTS[v]["cc"].startswith(measure.BIN)]
    found = {result.get(v, {}).get("at", {}).get(what) for v in ours if result.get(v)} or \
        {result.get(v, {}).get("at", {}).get(what) for v in variants}
    return " and ".join(sorted(s for s in found if s))


def write_table(into, name, results):
    what, variants, of = TABLES[name]
    rows, stamps = {}, {}
    for p in corpus.PROGRAMS:
        result = results.get(p.name, {})
        values = [of(result, v) for v in variants]
        at = row_stamp(result, what, variants)
        if at and any(v is not None for v in values):
            rows[p.name], stamps[p.name] = [percent(v) for v in values], at
    if rows:
        marks.write(into, name, ["program"] + variants, rows, stamps, marks.geomean, [p.name for p in corpus.PROGRAMS], right=True)


class Written:
    """A table of the document."""

    def __init__(self, text, name):
        columns, self.rows, self.stamps = marks.read(marks.around(text, name)[1])
        self.columns = columns[1:]

    def value(self, program, variant):
        if program not in self.rows or variant not in self.columns:
            return None
        found = marks.numbers([self.rows[program][self.columns.index(variant)]])
        return found[0] / 100 if found else None


def ratio_rows(text):
    """Each variant beside clang's edges, over the programs that have both."""
    rows, stamps = {}, {}
    for name, what in (("instructions", "instructions"), ("time", "time")):
        t = Written(text, name)
        for variant in ("path", "path-loops", "path-exits", "path-guided", "edge-min"):
            both = [(p, t.value(p, variant), t.value(p, "clang-edges")) for p in t.rows]
            both = [b for b in both if None not in b]
            if len(both) < 2:
                continue
            a, b = measure.geomean([x for _, x, _ in both]), measure.geomean([y for _, _, y in both])
            row = "%s of `%s`" % (what, variant)
            rows[row] = [str(len(both)), percent(a), percent(b), "**%.2f**" % (a / b)]
            stamps[row] = together([t.stamps[p] for p, _, _ in both])
    return rows, stamps


def together(stamps):
    """One stamp for figures that come from several."""
    return " and ".join(sorted({part for s in stamps for part in s.split(" and ")}))


# Path profilers measured before footpath, on the same five programs (the notes that the project started from): geomean
# and worst program. They do not build on a current system, so they are not measured again.
FIVE = ["bzip2", "minigzip", "mawk", "lua", "zstd"]


def five(table, variant):
    values = [table.value(p, variant) for p in FIVE]
    return None if None in values else values


def beside_rows(text):
    """Extra instructions on the five programs, and what else they cost."""
    tables = {name: Written(text, name) for name in TABLES}
    rows, stamps = {}, {}
    for variant in OTHERS[:3] + MAIN[:1] + OTHERS[3:] + MAIN[1:]:
        t = tables["instructions" if variant in MAIN else "instructions-others"]
        values = five(t, variant)
        if not values:
            continue
        more = [five(tables[name], variant) for name in ("time", "compiler", "text")]
        rows[variant] = [percent(measure.geomean(values)), percent(max(values))] + [percent(measure.geomean(m) if m else None) for m in more]
        stamps[variant] = together([t.stamps[p] for p in FIVE])
    return rows, stamps


def chart(text, path):
    """Extra instructions as bars: clang's edge counters beside ours."""
    shown = [("clang-edges", "clang, edges", "#b0b7c3"), ("path", "footpath, paths", "#2f6fde"),
             ("edge-min", "footpath, edges", "#39a275")]
    table = Written(text, "instructions")
    rows = [(p, [table.value(p, v) for v, _, _ in shown]) for p in table.rows]
    rows = [r for r in rows if None not in r[1]]
    if not rows:
        return
    top = max(0.05, max(max(r[1]) for r in rows))
    left, width, bar, gap = 110, 560, 9, 12
    height = 56 + len(rows) * (bar * len(shown) + gap)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 %d" font-family="sans-serif" font-size="12">' % height,
           '<rect width="760" height="%d" fill="#fff"/>' % height]
    for i, (_, label, colour) in enumerate(shown):
        out.append('<rect x="%d" y="12" width="12" height="12" fill="%s"/><text x="%d" y="22" fill="#222">%s</text>' % (
            left + i * 150, colour, left + 18 + i * 150, label))
    y = 40
    for name, values in rows:
        out.append('<text x="%d" y="%d" text-anchor="end" fill="#222">%s</text>' % (left - 8, y + 18, name))
        for value, (_, _, colour) in zip(values, shown):
            out.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
                left, y, max(0, value) / top * width, bar - 1, colour))
            out.append('<text x="%.1f" y="%d" fill="#555" font-size="9">%s</text>' % (
                left + 4 + max(0, value) / top * width, y + 8, percent(value)))
            y += bar
        y += gap
    out.append("</svg>")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Tables for docs/performance.md.")
    docs = os.path.join(corpus.ROOT, "docs")
    parser.add_argument("--results", default=os.path.join(measure.WORK, "results.json"))
    parser.add_argument("--into", default=os.path.join(docs, "performance.md"))
    parser.add_argument("--chart", default=os.path.join(docs, "pictures", "performance.svg"))
    args = parser.parse_args()
    results = measure.load(args.results)
    for name in TABLES:
        write_table(args.into, name, results)
    with open(args.into) as f:
        text = f.read()
    marks.write(args.into, "ratios", ["", "programs", "extra", "of clang-edges", "quotient"], *ratio_rows(text), right=True)
    marks.write(args.into, "beside", ["", "geomean", "worst", "CPU time", "compiler", "text"], *beside_rows(text), right=True)
    chart(text, args.chart)


if __name__ == "__main__":
    main()
