"""Sampled paths on real programs: what they cost and how accurate they are (paper 002,
figures 6, 8 and 9).

    python3 bench/pep.py [--programs bzip2,lua] [--configurations 64/17,1/1] [--seconds 5] [--docs]

For each program an exact path profile of a run, and sampled ones of the same run with
several settings; `footpath compare` says how well they agree. A run that is too short
for SECONDS is repeated into the same profile. Runs with samples, without, and of the
uninstrumented program take turns; of their CPU times the least is compared. Extra instructions come
from cachegrind, without samples. Those of samples too (--sampling-instructions): a run in
cachegrind with ticks of some length and one with ticks four times as long show what a sample
takes, ticks included, and what is done once; then a run of SECONDS has 100 ticks in each, and
as many instructions as the program executes in that time outside of cachegrind.

Results go to .cache/bench/pep.json as they come, and are kept for programs that are not
measured again. --docs writes the tables into docs/pep.md, --only-docs does nothing else.
"""
import argparse
import json
import os
import re
import subprocess

import corpus
import inputs
import measure

ROUNDS = 3  # at least, of CPU times
MOST_PER_SECOND = 4e9  # instructions: cachegrind counts every byte of a string instruction
CONFIGURATIONS = ["1/1", "64/17", "256/17", "1024/17", "64/17/full"]
DOCUMENT = os.path.join(measure.ROOT, "docs", "pep.md")
BEGIN, END = "<!-- bench/pep.py: begin -->\n", "<!-- bench/pep.py: end -->\n"


def run(program, variant, settings, profile):
    """Runs once; gives the CPU seconds."""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "pep", variant, program.name)
    os.makedirs(folder, exist_ok=True)
    env = dict(os.environ, LC_ALL="C", FOOTPATH_OUT=profile, **settings)
    line = measure.run_command(program, variant, "large", exe)
    with open(os.path.join(folder, "stderr"), "w+") as errors:
        child = subprocess.Popen(["sh", "-c", line], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = [line for line in errors if line.startswith("footpath:")]
    if child.returncode not in program.ends or said:
        raise RuntimeError("%s %s: %d %s" % (program.name, variant, child.returncode, "".join(said)))
    return usage.ru_utime + usage.ru_stime


def fresh(program, name):
    path = os.path.join(measure.WORK, "pep", "%s.%s.prof" % (program.name, name.replace("/", "-")))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    return path


def settings_of(configuration):
    parts = configuration.split("/")
    return {"FOOTPATH_SAMPLES": parts[0], "FOOTPATH_STRIDE": parts[1],
            "FOOTPATH_SAMPLING": "full" if len(parts) > 2 else "simple"}


def name_of(configuration):
    parts = configuration.split("/")
    return "PEP(%s,%s)%s" % (parts[0], parts[1], ", full Arnold-Grove" if len(parts) > 2 else "")


def compare(actual, estimate):
    tool = os.path.join(measure.BIN, "footpath")
    shown = subprocess.run([tool, "compare", actual, estimate], capture_output=True, text=True)
    if shown.returncode:
        raise RuntimeError(shown.stderr)
    return {name: float(value) for name, value in (line.split() for line in shown.stdout.splitlines())}


def samples_in(profile):
    tool = os.path.join(measure.BIN, "footpath")
    shown = subprocess.run([tool, "show", profile], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"taken, (\d+) times", shown).group(1))


def measure_accuracy(program, configurations, seconds, variant, rows, save):
    truth, profile, other = fresh(program, "exact"), fresh(program, "sampled"), fresh(program, "other")
    spent = run(program, "path", {}, truth)
    repeat = max(1, int(-(-seconds // max(spent, 0.01))))
    for configuration in configurations:
        if os.path.exists(profile):
            os.unlink(profile)
        times = {"plain": [], "off": [], "on": []}
        for turn in range(max(repeat, ROUNDS)):
            if configuration == "64/17":
                times["plain"].append(run(program, "clang", {}, other))
            times["off"].append(run(program, variant, {"FOOTPATH_SAMPLES": "0"}, other))
            times["on"].append(run(program, variant, settings_of(configuration), profile if turn < repeat else other))
        row = dict(compare(truth, profile), repeat=repeat, samples=samples_in(profile), seconds=sum(times["on"][:repeat]))
        row.update({"cpu_" + which: min(t) for which, t in times.items() if t})
        rows[configuration] = row
        print("%-10s %-12s %s" % (program.name, configuration,
                                  " ".join("%s %.3f" % item for item in sorted(row.items()))), flush=True)
        save()


def measure_instructions(program, variants):
    """Extra instructions of each variant, without samples."""
    results = {}
    for variant in ["clang"] + variants:
        results[variant] = {"instructions_" + which: measure.instructions(program, variant, which)
                            for which in ("trivial", "small")}
    extra = {v: measure.extra({program.name: results}, program.name, v) for v in variants}
    print("%-10s %s" % (program.name, " ".join("%s %+.2f%%" % (v, 100 * x) for v, x in extra.items())), flush=True)
    return extra


def counted(line, exe, folder, settings):
    """Instructions of a small run in cachegrind, which must notice that code changes, and samples."""
    tool = "valgrind --smc-check=all --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null %s" % exe
    profile = os.path.join(folder, "run.prof")
    if os.path.exists(profile):
        os.unlink(profile)
    # cachegrind runs threads one after the other: one would sit in the traps of another
    env = dict(measure.environment(folder), OMP_NUM_THREADS="1", **settings)
    begun = os.times()
    done = subprocess.run(["sh", "-c", line.replace(exe, tool, 1)], cwd=folder, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=1800)
    ended = os.times()
    instructions = int(re.search(rb"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(b",", b""))
    samples = samples_in(profile) if settings["FOOTPATH_SAMPLES"] != "0" else 0
    return instructions, samples, ended.children_user - begun.children_user


def measure_sampling(program, variant, seconds):
    """Instructions that samples add to a run of so many seconds, as a part of those it has."""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "pep", "counted", program.name)
    os.makedirs(folder, exist_ok=True)
    line = measure.run_command(program, variant, "small", exe)
    off, _, slow = counted(line, exe, folder, {"FOOTPATH_SAMPLES": "0"})
    tick = max(20, int(1000 * slow / 40))
    often, many, _ = counted(line, exe, folder, {"FOOTPATH_SAMPLES": "64", "FOOTPATH_TICK_MS": str(tick)})
    rarely, few, _ = counted(line, exe, folder, {"FOOTPATH_SAMPLES": "64", "FOOTPATH_TICK_MS": str(4 * tick)})
    each = (often - rarely) / max(1, many - few)
    once = max(0, rarely - off - each * few)
    fast = min(measure.cpu_time(program, variant, "small")[0] for _ in range(5))
    rate = min(off / fast, MOST_PER_SECOND)
    return {"instructions_per_sample": each, "once": once, "instructions_per_second": rate, "samples": many - few,
            "sampling": (each * 64 * 100 * seconds + once) / (rate * seconds)}


# The columns of the table of programs: title, how it is written, how the programs are taken together, value.
def columns():
    def row(r):
        return r.get("accuracy", {}).get("64/17")

    def total(r):
        return (1 + r["extra"]["pep"]) * (1 + r["counted"]["sampling"]) - 1 if "counted" in r else None

    def cpu(r, which, against):
        return row(r)["cpu_" + which] / row(r)["cpu_" + against] - 1 if row(r) and "cpu_" + against in row(r) else None

    mean = lambda values: sum(values) / len(values)
    return [
        ("instructions: the register", "%+.1f%%", measure.geomean, lambda r: r.get("extra", {}).get("pep")),
        ("samples", "%+.2f%%", measure.geomean, lambda r: r.get("counted", {}).get("sampling")),
        ("in all", "%+.1f%%", measure.geomean, total),
        ("CPU time: the register", "%+.0f%%", measure.geomean, lambda r: cpu(r, "off", "plain")),
        ("in all", "%+.0f%%", measure.geomean, lambda r: cpu(r, "on", "plain")),
        ("path accuracy", "%.3f", mean, lambda r: row(r) and row(r)["wall"]),
        ("edge accuracy", "%.3f", mean, lambda r: row(r) and row(r)["relative"]),
        ("absolute overlap", "%.3f", mean, lambda r: row(r) and row(r)["absolute"]),
        ("runs, of seconds", "%s", None, lambda r: row(r) and "%d of %.1f" % (row(r)["repeat"], row(r)["seconds"] / row(r)["repeat"])),
    ]


def write(form, value):
    if value is None:
        return "-"
    return form % (100 * value if form.endswith("%%") else value)


def table_of_programs(results):
    """What PEP(64,17) costs and how accurate it is."""
    lines = ["| %s | %s |" % (name_of("64/17"), " | ".join(c[0] for c in columns())), "|---|" + "---|" * len(columns())]
    for name in sorted(results):
        lines.append("| %s | %s |" % (name, " | ".join(write(form, value(results[name])) for _, form, _, value in columns())))
    means = []
    for _, form, together, value in columns():
        known = [v for v in (value(r) for r in results.values()) if v is not None]
        means.append("**%s**" % write(form, together(known)) if together and known else "")
    return "\n".join(lines + ["| **average** | %s |" % " | ".join(means)]) + "\n"


def table_of_configurations(results, title, form, value, together):
    """Of the programs that were run with all of them."""
    names = [n for n in sorted(results) if all(c in results[n].get("accuracy", {}) for c in CONFIGURATIONS)]
    lines = ["| %s | %s | average |" % (title, " | ".join(names)), "|---|" + "---|" * (len(names) + 1)]
    for configuration in CONFIGURATIONS if names else []:
        cells = [value(results[n]["accuracy"][configuration]) for n in names]
        lines.append("| %s | %s | **%s** |" % (name_of(configuration), " | ".join(write(form, c) for c in cells),
                                               write(form, together(cells))))
    return "\n".join(lines) + "\n"


def tables(results):
    mean = lambda values: sum(values) / len(values)
    more = lambda title, metric: table_of_configurations(results, title, "%.3f", lambda row: row[metric], mean)
    return "\n".join([
        table_of_programs(results),
        more("path accuracy: Wall (figure 8)", "wall"),
        more("edge accuracy: relative overlap (figure 9)", "relative"),
        more("absolute overlap", "absolute"),
        table_of_configurations(results, "extra CPU time of samples (figure 6)", "%+.0f%%",
                                lambda row: row["cpu_on"] / row["cpu_off"] - 1, measure.geomean)])


def write_docs(results):
    with open(DOCUMENT) as f:
        text = f.read()
    head, rest = text.split(BEGIN)
    with open(DOCUMENT, "w") as f:
        f.write(head + BEGIN + tables(results) + END + rest.split(END)[1])


def measure_program(program, args, results, save):
    mine = results.setdefault(program.name, {})
    if not args.no_instructions:
        mine.setdefault("extra", {}).update(measure_instructions(program, args.instructions.split(",")))
        save()
    if args.sampling_instructions:
        mine["counted"] = measure_sampling(program, args.variant, args.seconds)
        print("%-10s %s" % (program.name, mine["counted"]), flush=True)
        save()
    measure_accuracy(program, args.configurations.split(","), args.seconds, args.variant,
                     mine.setdefault("accuracy", {}), save)


def main():
    parser = argparse.ArgumentParser(description="What sampled paths cost and how accurate they are.")
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--configurations", default=",".join(CONFIGURATIONS))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--variant", default="pep")
    parser.add_argument("--instructions", default="pep", help="variants to count instructions of")
    parser.add_argument("--no-instructions", action="store_true")
    parser.add_argument("--sampling-instructions", action="store_true")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/pep.md")
    parser.add_argument("--only-docs", action="store_true", help="from earlier results")
    parser.add_argument("--results", default=os.path.join(measure.WORK, "pep.json"))
    args = parser.parse_args()
    results = measure.load(args.results)

    def save():
        with open(args.results + ".new", "w") as f:
            json.dump(results, f, indent=1, sort_keys=True)
        os.replace(args.results + ".new", args.results)

    if not args.only_docs:
        programs = corpus.names(args.programs)
        corpus.fetch(programs)
        inputs.make(os.path.join(measure.ROOT, ".cache", "inputs"))
        os.makedirs(measure.WORK, exist_ok=True)
        for program in programs:
            measure_program(program, args, results, save)
    if args.docs or args.only_docs:
        write_docs(results)
    print(tables(results))


if __name__ == "__main__":
    main()
