"""Tables and a chart of what was measured, for docs/performance.md.

    python3 bench/tables.py [--results FILE] [--into docs/performance.md] [--chart docs/pictures/performance.svg]

Reads what measure.py left and writes between the two `measured` marks of the document.
Only what was measured appears: a program that has no figure for a variant has a dash.
"""
import argparse
import datetime
import json
import os
import platform

import corpus
import measure

SHOWN = ["clang-pgo", "clang-edges", "clang-front", "gcc-pgo", "path", "path-loops", "path-early", "path-exits", "path-shared",
         "path-guided", "edge", "edge-min"]
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def net(facts):
    if "instructions_small" not in facts or "instructions_trivial" not in facts:
        return None
    return facts["instructions_small"] - facts["instructions_trivial"]


def base_of(variant):
    return measure.VARIANTS[variant]["base"] if variant in measure.VARIANTS else "clang"


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


def geomean(values):
    product = 1.0
    for value in values:
        product *= 1 + value
    return product ** (1 / len(values)) - 1


def percent(value):
    return "–" if value is None else "%+.1f%%" % (100 * value)


def table(title, results, variants, of):
    programs = [p.name for p in corpus.PROGRAMS if p.name in results]
    variants = [v for v in variants if any(of(results[p], v) is not None for p in programs)]
    programs = [p for p in programs if any(of(results[p], v) is not None for v in variants)]
    if not variants or not programs:
        return []
    lines = ["", "### " + title, "", "| | " + " | ".join(variants) + " |", "|---|" + "---:|" * len(variants)]
    for p in programs:
        lines.append("| %s | %s |" % (p, " | ".join(percent(of(results[p], v)) for v in variants)))
    means = []
    for v in variants:
        values = [of(results[p], v) for p in programs]
        # a mean over some of the programs would compare different things
        means.append("–" if None in values else "**%s**" % percent(geomean(values)))
    lines.append("| **geomean of %d** | %s |" % (len(programs), " | ".join(means)))
    return lines


def ratio_lines(results, of, what):
    programs = [p.name for p in corpus.PROGRAMS if p.name in results]
    lines = []
    for variant in ("path", "path-exits", "edge-min", "path-guided"):
        both = [(of(results[p], variant), of(results[p], "clang-edges")) for p in programs]
        both = [(a, b) for a, b in both if a is not None and b is not None]
        if not both:
            continue
        a, b = geomean([x for x, _ in both]), geomean([y for _, y in both])
        lines.append("- %s of `%s` against clang edges, %d programs: %s against %s, **%.2fx**" % (
            what, variant, len(both), percent(a), percent(b), a / b))
    return lines


# Path profilers measured before footpath, on the same five programs (the notes that the project started from): geomean
# and worst program. They do not build on a current system, so they are not measured again.
EARLIER = [("LLVM 3.3 paths, before opt", 0.74, 1.58), ("the same, after opt", 0.82, 3.17),
           ("its AFL port, 8-bit counts", 0.56, 0.92), ("llvm-epp", 7.2, 10.6)]
FIVE = ["bzip2", "minigzip", "mawk", "lua", "zstd"]


def beside_others(results):
    """One table of everybody's extra instructions on the five programs."""
    if not all(p in results for p in FIVE):
        return []
    lines = ["", "### Beside other profilers: extra instructions on bzip2, minigzip, mawk, lua and zstd", "",
             "| | geomean | worst | CPU time | compiler | text |", "|---|---:|---:|---:|---:|---:|"]
    lines += ["| %s (earlier measurement) | %s | %s | | | |" % (name, percent(a), percent(b)) for name, a, b in EARLIER]
    for variant in SHOWN:
        values = [extra_instructions(results[p], variant) for p in FIVE]
        if None in values:
            continue
        cells = [percent(geomean(values)), percent(max(values))]
        for of in (extra_of("times", min), extra_of("build_cpu"), extra_of("text")):
            more = [of(results[p], variant) for p in FIVE]
            cells.append("–" if None in more else percent(geomean(more)))
        lines.append("| %s | %s |" % (variant, " | ".join(cells)))
    return lines


def machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            model = next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return "%s, %d cores, %s; LLVM %s" % (model, os.cpu_count(), datetime.date.today().isoformat(), measure.LLVM)


def chart(results, path):
    """Extra instructions as bars: clang's edge counters beside ours."""
    shown = [("clang-edges", "clang, edges", "#b0b7c3"), ("path", "footpath, paths", "#2f6fde"),
             ("edge-min", "footpath, edges", "#39a275")]
    rows = [(p.name, [extra_instructions(results[p.name], v) for v, _, _ in shown])
            for p in corpus.PROGRAMS if p.name in results]
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
    parser.add_argument("--machine", help="where it was measured, if not here: MODEL, CORES cores, DATE; LLVM N")
    args = parser.parse_args()
    results = measure.load(args.results)
    lines = [BEGIN, "", "Measured on %s." % (args.machine or machine()), ""]
    lines += ratio_lines(results, extra_instructions, "Extra instructions")
    lines += ratio_lines(results, extra_of("times", min), "CPU time")
    lines += table("Extra instructions (cachegrind, less a trivial run)", results, SHOWN, extra_instructions)
    lines += table("CPU time, minimum of interleaved runs", results, SHOWN, extra_of("times", min))
    lines += table("Spread of those runs, slowest over fastest", results, ["clang", "gcc"] + SHOWN, spread)
    lines += table("CPU time of the compiler", results, SHOWN, extra_of("build_cpu"))
    lines += table("Size of the text section", results, SHOWN, extra_of("text"))
    lines += table("Peak memory", results, SHOWN, extra_of("memory_kb"))
    lines += beside_others(results)
    with open(args.into) as f:
        text = f.read()
    head, tail = text.index(BEGIN), text.index(END)
    with open(args.into, "w") as f:
        f.write(text[:head] + "\n".join(lines) + "\n\n" + text[tail:])
    chart(results, args.chart)
    print("\n".join(lines[2:]))


if __name__ == "__main__":
    main()
