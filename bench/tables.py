"""The tables of docs/performance.md, and its chart, from what measure.py left.

    python3 bench/tables.py [--results FILE] [--into docs/performance.md] [--chart docs/pictures/performance.svg] [--where MACHINE]

Means are of the programs of corpus.PROGRAMS, and of those that constants were tuned on and the others apart; corpus.MORE has
rows but is in no mean. A program that has no figure for a variant has a dash. Rows of programs that are not in the
results stay as they are (marks.py). Ratios, the comparison with other profilers and the
chart are made from the tables as they then are.
"""
import argparse
import os

import corpus
import marks
import measure

MAIN = ["clang-edges", "path", "path-few", "path-exits", "path-guided", "edge-min"]
EARLY = ["clang-edges", "path-early", "path-early-small"]
OTHERS = ["clang-pgo", "clang-front", "gcc-pgo", "path-shared"]
TIMED = ["clang-edges", "path", "path-exits", "edge-min"]
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


def extra_whole(result, variant):
    return extra_of("instructions_small")(result, variant)


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
    "whole": ("instructions", MAIN, extra_whole),
    "early": ("instructions", EARLY, extra_instructions),
    "instructions-others": ("instructions", OTHERS, extra_instructions),
    "time": ("time", TIMED, extra_of("times", min)),
    "spread": ("time", ["clang"] + TIMED, spread),
    "compiler": ("build", ["clang-edges", "path", "path-loops"], extra_of("build_cpu")),
    "text": ("build", MAIN, extra_of("text")),
    "memory": ("time", TIMED, extra_of("memory_kb")),
}


def group_names():
    """Label of a mean to the programs that it is of."""
    everything = [p.name for p in corpus.PROGRAMS]
    return {"": everything, ", tuned on": [n for n in everything if n in corpus.TUNED],
            ", only measured": [n for n in everything if n not in corpus.TUNED]}


def row_stamp(result, what, variants):
    """Where and when the figures of a row were taken. Where only commits differ: the commonest, and in parentheses the others."""
    ours = [v for v in variants if measure.VARIANTS[v]["cc"].startswith(measure.BIN)]
    at = lambda names: {v: result[v]["at"][what] for v in names if result.get(v, {}).get("at", {}).get(what)}
    found = at(ours) or at(variants)
    stamps = list(found.values())
    if len({s.partition(", ")[2] for s in stamps}) > 1 or not stamps:
        return " and ".join(sorted(set(stamps)))
    common = max(sorted(set(stamps)), key=stamps.count)
    others = ["%s %s" % (v, s.partition(", ")[0].split()[1]) for v, s in found.items() if s != common]
    return common + (" (%s)" % ", ".join(others) if others else "")


def write_table(into, name, results):
    what, variants, of = TABLES[name]
    rows, stamps = {}, {}
    order = [p.name for p in corpus.PROGRAMS + corpus.MORE]
    for program in order:
        result = results.get(program, {})
        values = [of(result, v) for v in variants]
        at = row_stamp(result, what, variants)
        if at and any(v is not None for v in values[1:]):  # clang's edges alone say nothing of the others
            rows[program], stamps[program] = [percent(v) for v in values], at
    if rows:
        marks.write(into, name, ["program"] + variants, rows, stamps, marks.geomean, order, True, group_names())


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


RATIOS = {"instructions": ("instructions", MAIN), "whole": ("instructions, whole process,", MAIN), "early": ("instructions", EARLY),
          "time": ("time", TIMED)}


def ratio_row(table, variant, names):
    """A variant beside clang's edges, over the programs that have both, and which are dearer than clang's."""
    both = [(p, table.value(p, variant), table.value(p, "clang-edges")) for p in names if p in table.rows]
    both = [b for b in both if None not in b]
    if len(both) < 2:
        return None, None
    a, b = measure.geomean([x for _, x, _ in both]), measure.geomean([y for _, _, y in both])
    above = [p for p, x, y in both if x > y]
    return [str(len(both)), percent(a), percent(b), "**%.2f**" % (a / b), ", ".join(above) or "none"], \
        together([of_variant(table.stamps[p], variant) for p, _, _ in both])


def of_variant(stamp, variant):
    """Of a row's notes in parentheses, which name variants of other commits, those of this one."""
    bare, _, notes = stamp.partition(" (")
    named = [n for n in notes.rstrip(")").split(", ") if n.split(" ")[0] == variant]
    return bare + (" (%s)" % ", ".join(named) if named else "")


def ratio_rows(text):
    rows, stamps = {}, {}
    for name, (what, variants) in RATIOS.items():
        t = Written(text, name)
        for variant in variants[1:]:
            # of CPU time the parts are too small to say anything
            for label, names in group_names().items() if name == "instructions" else [("", group_names()[""])]:
                row, at = ratio_row(t, variant, names)
                if row:
                    rows["%s of `%s`%s" % (what, variant, label)] = row
                    stamps["%s of `%s`%s" % (what, variant, label)] = at
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
    rows = [(p.name, [table.value(p.name, v) for v, _, _ in shown]) for p in corpus.PROGRAMS]
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
    marks.write(args.into, "ratios", ["", "programs", "extra", "of clang-edges", "quotient", "dearer than clang-edges"], *ratio_rows(text),
                right=True)
    marks.write(args.into, "beside", ["", "geomean", "worst", "CPU time", "compiler", "text"], *beside_rows(text), right=True)
    chart(text, args.chart)


if __name__ == "__main__":
    main()
