"""Sampled paths on real programs: what they cost and how accurate they are (paper 002,
figures 6, 8 and 9).

    python3 bench/pep.py [--programs bzip2,lua] [--configurations 64/17,1/1] [--seconds 5] [--docs]

For each program an exact path profile of a run, and sampled ones of the same run with
several settings; `footpath compare` says how well they agree. A run that is too short
for SECONDS is repeated into the same profile. CPU times of runs with and without
samples are taken in turns. Extra instructions come from cachegrind, without samples;
those of samples too, where --sampling-instructions asks for it (a run that takes
samples in cachegrind is slow, and more samples are taken in it: what one takes is
known then, and how many there are in a second of CPU time).

Results go to .cache/bench/pep.json as they come, and are kept for programs that are not
measured again. --docs writes the tables into docs/pep.md, --only-docs does nothing else.
"""
import argparse
import json
import os
import re
import shutil
import subprocess

import corpus
import inputs
import measure

CONFIGURATIONS = ["1/1", "64/17", "256/17", "1024/17", "64/17/full"]
DOCUMENT = os.path.join(measure.ROOT, "docs", "pep.md")
BEGIN, END = "<!-- bench/pep.py: begin -->\n", "<!-- bench/pep.py: end -->\n"


def run(program, variant, settings, repeat):
    """Runs into one fresh profile; gives it and the CPU seconds of all runs."""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "pep", variant, program.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    profile = os.path.join(folder, "run.prof")
    env = dict(os.environ, LC_ALL="C", FOOTPATH_OUT=profile, **settings)
    line = measure.run_command(program, variant, "large", exe)
    seconds = 0.0
    for _ in range(repeat):
        child = subprocess.Popen(["sh", "-c", line], cwd=folder, env=env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        seconds += usage.ru_utime + usage.ru_stime
    return profile, seconds


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
    truth, spent = run(program, "path", {}, 1)
    repeat = max(1, int(-(-seconds // max(spent, 0.01))))
    for configuration in configurations:
        _, off = run(program, variant, {"FOOTPATH_SAMPLES": "0"}, repeat)
        profile, cpu = run(program, variant, settings_of(configuration), repeat)
        rows[configuration] = dict(compare(truth, profile), cpu=cpu, cpu_off=off, repeat=repeat,
                                   samples=samples_in(profile))
        print("%-10s %-12s %s" % (program.name, configuration,
                                  " ".join("%s %.3f" % item for item in sorted(rows[configuration].items()))), flush=True)
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
    """Instructions of a small run in cachegrind, which must notice that code changes."""
    tool = "valgrind --smc-check=all --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null %s" % exe
    env = dict(measure.environment(folder), **settings)
    done = subprocess.run(["sh", "-c", line.replace(exe, tool, 1)], cwd=folder, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=1800)
    return int(re.search(rb"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(b",", b""))


def measure_sampling(program, variant):
    """Instructions that samples add to a second of CPU time, as a part of those it has."""
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "pep", "counted", program.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    line = measure.run_command(program, variant, "small", exe)
    off = counted(line, exe, folder, {"FOOTPATH_SAMPLES": "0"})
    os.unlink(os.path.join(folder, "run.prof"))
    # rarely, for there a tick may be shorter than the samples it asks for
    on = counted(line, exe, folder, {"FOOTPATH_TICK_MS": "200"})
    each = (on - off) / max(1, samples_in(os.path.join(folder, "run.prof")))
    seconds = min(measure.cpu_time(program, variant, "small")[0] for _ in range(5))
    return {"instructions_per_sample": each, "sampling": each * 64 * 100 * seconds / off}


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
            mean = "%+.1f%%" % (100 * measure.geomean([float(c.rstrip("%")) / 100 for c in known]))
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
    sampling = lambda r, _: part(r.get("counted", {}).get("sampling"))

    def cpu(r, c):
        row = r.get("accuracy", {}).get(c)
        return part(row["cpu"] / row["cpu_off"] - 1) if row else None

    parts = [table(results, "extra instructions, no samples (figure 6)", [("pep", "pep"), ("pep-guided", "pep, guided by a pep profile")], cost)]
    if any("counted" in r for r in results.values()):
        parts.append(table(results, "extra instructions of samples", [("64/17", name_of("64/17"))], sampling))
    parts += [table(results, "extra CPU time of samples", rows, cpu),
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
        mine["extra"] = measure_instructions(program, ["pep", "pep-guided"])
        save()
    if args.sampling_instructions:
        mine["counted"] = measure_sampling(program, args.variant)
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
