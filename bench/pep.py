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


def table(results, title, rows, value):
    names = [n for n in results if any(value(results[n], key) is not None for key, _ in rows)]
    lines = ["| %s | %s | average |" % (title, " | ".join(names)), "|---|" + "---|" * (len(names) + 1)]
    for key, label in rows:
        cells = [value(results[n], key) for n in names]
        known = [c for c in cells if c is not None]
        if not known:
            continue
        percent = isinstance(known[0], str)
        if percent:
            digits = len(known[0].rstrip("%").partition(".")[2])
            mean = "%+.*f%%" % (digits, 100 * measure.geomean([float(c.rstrip("%")) / 100 for c in known]))
        else:
            mean = "%.3f" % (sum(known) / len(known))
        shown = ["-" if c is None else c if percent else "%.3f" % c for c in cells]
        lines.append("| %s | %s | **%s** |" % (label, " | ".join(shown), mean))
    return "\n".join(lines) + "\n"


def tables(results):
    rows = [(c, name_of(c)) for c in CONFIGURATIONS]
    metric = lambda name: lambda r, c: r.get("accuracy", {}).get(c, {}).get(name)
    part = lambda x: None if x is None else "%+.1f%%" % (100 * x)
    cost = lambda r, v: part(r.get("extra", {}).get(v))
    fine = lambda x: None if x is None else "%+.2f%%" % (100 * x)
    sampling = lambda r, _: fine(r.get("counted", {}).get("sampling"))

    def cpu(r, c, against="off", which="on"):
        row = r.get("accuracy", {}).get(c)
        return part(row["cpu_" + which] / row["cpu_" + against] - 1) if row else None

    parts = [table(results, "extra instructions, no samples (figure 6)", [("pep", "pep"), ("pep-guided", "pep, guided by a pep profile")], cost)]
    if any("counted" in r for r in results.values()):
        parts.append(table(results, "extra instructions of samples", [("64/17", name_of("64/17"))], sampling))
    total = [("off", "pep, no samples"), ("on", name_of("64/17"))]
    parts += [table(results, "extra CPU time, all in all", total, lambda r, which: cpu(r, "64/17", "plain", which)),
              table(results, "extra CPU time of samples", rows, cpu),
              table(results, "path accuracy: Wall (figure 8)", rows, metric("wall")),
              table(results, "edge accuracy: relative overlap (figure 9)", rows, metric("relative")),
              table(results, "absolute overlap", rows, metric("absolute"))]
    return "\n".join(parts)


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
    parser.add_argument("--instructions", default="pep,pep-guided", help="variants to count instructions of")
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
