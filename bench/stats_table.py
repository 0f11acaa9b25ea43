#!/usr/bin/env python3
"""Tables 2 and 3 of paper 001 for the bench programs, by `footpath stats`.

    stats_table.py --bin BUILD/bin [--programs bzip2,lua] [--inputs FOLDER] [-o docs/stats.md]

Each is built by footpath-cc at its own optimisation level, run on its large input (the
reference) and its small one (the training input). What was measured before is kept in
.cache/stats/results.json and stays in the tables; --again measures anew.
"""
import argparse
import json
import os
import subprocess
import sys

import corpus

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
WORK = os.path.join(ROOT, ".cache", "stats")


def measure(program, bins, inputs):
    cc, cxx = os.path.join(bins, "footpath-cc"), os.path.join(bins, "footpath-c++")
    exe = corpus.build(program, WORK, cc, cxx, "-O2 -w", log=os.path.join(WORK, program.name + ".log"))
    profiles = []
    for which in ("large", "small"):
        profile = os.path.join(WORK, "%s.%s.prof" % (program.name, which))
        if os.path.exists(profile):
            os.unlink(profile)
        line = corpus.command(program, which, exe, inputs, os.path.join(WORK, program.name))
        subprocess.run(line, shell=True, cwd=WORK, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=500,
                       env=dict(os.environ, FOOTPATH_OUT=profile))
        profiles.append(profile)
    out = subprocess.run([os.path.join(bins, "footpath"), "stats", "--json", *profiles], check=True, capture_output=True)
    return json.loads(out.stdout)


def short(n):
    return "%d" % n if n < 1e7 else "%.1e" % n


def table(results):
    out = ["| program | paths taken | possible | longest, edges | average | longest, instructions | average | predicted right: paths | flow | "
           "predicted length, edges | instructions | routines | most paths | average |", "|---" * 14 + "|"]
    for name, s in results.items():
        l, p = s["lengths"], s["predicted_lengths"]
        out.append("| %s | %d | %s | %d | %.1f | %d | %.1f | %.1f%% | %.1f%% | %.1f | %.1f | %d | %d | %.1f |" % (
            name, s["paths"], short(s["potential_paths"]), l["longest_edges"], l["average_edges"], l["longest_instructions"], l["average_instructions"],
            s["predicted_paths_percent"], s["predicted_flow_percent"], p["average_edges"], p["average_instructions"], s["routines"],
            s["most_paths_in_a_routine"], s["paths_per_routine"]))
    n = len(results)
    mean = lambda get: sum(get(s) for s in results.values()) / n
    out.append("| **average** | %d | | %d | %.1f | %d | %.1f | %.1f%% | %.1f%% | %.1f | %.1f | %d | %d | %.1f |" % (
        mean(lambda s: s["paths"]), mean(lambda s: s["lengths"]["longest_edges"]), mean(lambda s: s["lengths"]["average_edges"]),
        mean(lambda s: s["lengths"]["longest_instructions"]), mean(lambda s: s["lengths"]["average_instructions"]),
        mean(lambda s: s["predicted_paths_percent"]), mean(lambda s: s["predicted_flow_percent"]), mean(lambda s: s["predicted_lengths"]["average_edges"]),
        mean(lambda s: s["predicted_lengths"]["average_instructions"]), mean(lambda s: s["routines"]), mean(lambda s: s["most_paths_in_a_routine"]),
        mean(lambda s: s["paths_per_routine"])))
    second = ["| program | common paths | of the paths (static) | of their executions (dynamic) | of the instructions |", "|---|---|---|---|---|"]
    for name, s in results.items():
        c = s["common"]
        second.append("| %s | %d | %.1f%% | %.2f%% | %.2f%% |" % (name, c["paths"], c["static_percent"], c["dynamic_percent"], c["instructions_percent"]))
    second.append("| **average** | %d | %.1f%% | %.2f%% | %.2f%% |" % (
        mean(lambda s: s["common"]["paths"]), mean(lambda s: s["common"]["static_percent"]), mean(lambda s: s["common"]["dynamic_percent"]),
        mean(lambda s: s["common"]["instructions_percent"])))
    return "\n".join(out), "\n".join(second)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--programs")
    parser.add_argument("--again", action="store_true", help="measure what was measured before")
    parser.add_argument("--inputs", default=os.path.join(ROOT, ".cache", "inputs"))
    parser.add_argument("-o", "--output", help="replace the tables between the marks of this file")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    known, path = {}, os.path.join(WORK, "results.json")
    if os.path.exists(path):
        with open(path) as f:
            known = json.load(f)
    programs = corpus.names(options.programs)
    for program in programs:
        if program.name in known and not options.again:
            continue
        try:
            known[program.name] = measure(program, os.path.abspath(options.bin), os.path.abspath(options.inputs))
        except Exception as error:
            print("%s: %s" % (program.name, str(error)[-300:]), file=sys.stderr)
            continue
        with open(path, "w") as f:
            json.dump(known, f)
        print(program.name, file=sys.stderr)
    # programs measured by an earlier call stay in the tables
    first, second = table({p.name: known[p.name] for p in corpus.names() if p.name in known})
    if not options.output:
        print(first + "\n\n" + second)
        return
    with open(options.output) as f:
        text = f.read()
    for mark, body in (("table 2", first), ("table 3", second)):
        begin, end = "<!-- %s -->" % mark, "<!-- end of %s -->" % mark
        before, rest = text.split(begin)
        text = before + begin + "\n" + body + "\n" + end + rest.split(end)[1]
    with open(options.output, "w") as f:
        f.write(text)


main()
