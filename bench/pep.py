"""How accurate sampled paths are, on real programs (paper 002, figures 8 and 9).

    python3 bench/pep.py [--programs bzip2,lua] [--configurations 64/17,1/1] [--seconds 5]

For each program an exact path profile of a run, and sampled ones of the same run with
several settings; `footpath compare` says how well they agree. A run that is too short
for SECONDS is repeated into the same profile, for both. CPU time of each run is given
beside. Results go to .cache/bench/pep.json.
"""
import argparse
import json
import os
import shutil
import subprocess

import corpus
import inputs
import measure

CONFIGURATIONS = ["1/1", "64/17", "256/17", "1024/17", "64/17/full"]


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


def compare(actual, estimate):
    tool = os.path.join(measure.BIN, "footpath")
    shown = subprocess.run([tool, "compare", actual, estimate], capture_output=True, text=True)
    if shown.returncode:
        raise RuntimeError(shown.stderr)
    return {name: float(value) for name, value in (line.split() for line in shown.stdout.splitlines())}


def measure_program(program, configurations, seconds, variant):
    truth, spent = run(program, "path", {}, 1)
    repeat = max(1, int(-(-seconds // max(spent, 0.01))))
    rows = {}
    base = run(program, variant, {"FOOTPATH_SAMPLES": "0"}, 1)[1]
    for configuration in configurations:
        profile, cpu = run(program, variant, settings_of(configuration), repeat)
        rows[configuration] = dict(compare(truth, profile), cpu=cpu, repeat=repeat, cpu_off=base * repeat)
        print("%-10s %-12s %s" % (program.name, configuration,
                                  " ".join("%s %.3f" % item for item in sorted(rows[configuration].items()))), flush=True)
    return rows


def print_table(results, configurations, metric):
    names = list(results)
    print("\n| %s | %s | average |\n|---|%s" % (metric, " | ".join(names), "---|" * (len(names) + 1)))
    for c in configurations:
        values = [results[n][c][metric] for n in names if c in results[n]]
        print("| PEP(%s) | %s | **%.3f** |" % (c.replace("/", ",", 1), " | ".join("%.3f" % v for v in values),
                                             sum(values) / len(values)))


def main():
    parser = argparse.ArgumentParser(description="How accurate sampled paths are.")
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--configurations", default=",".join(CONFIGURATIONS))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--variant", default="pep")
    parser.add_argument("--results", default=os.path.join(measure.WORK, "pep.json"))
    args = parser.parse_args()
    programs, configurations = corpus.names(args.programs), args.configurations.split(",")
    corpus.fetch(programs)
    inputs.make(os.path.join(measure.ROOT, ".cache", "inputs"))
    os.makedirs(measure.WORK, exist_ok=True)
    results = measure.load(args.results)
    for program in programs:
        results.setdefault(program.name, {}).update(measure_program(program, configurations, args.seconds, args.variant))
        with open(args.results, "w") as f:
            json.dump(results, f, indent=1, sort_keys=True)
    for metric in ("wall", "relative", "absolute"):
        print_table(results, configurations, metric)


if __name__ == "__main__":
    main()
