#!/usr/bin/env python3
"""Tables 2 and 3 of paper 001 for the bench programs, by `footpath stats`.

    stats_table.py [--programs bzip2,lua] [-o docs/stats.md]

Each is built by footpath-cc at -O2 (the variant `path` of measure.py), run on its large input
(the reference) and its small one (the training input). What was measured before is kept in .cache/stats/results.json and stays in
the tables; --again measures anew.
"""
import argparse
import json
import os
import subprocess
import sys

import corpus
import inputs
import marks
import measure

WORK = os.path.join(corpus.ROOT, ".cache", "stats")


def stats(program):
    exe, facts = measure.build(program, "path")
    profiles = []
    for which in ("large", "small"):
        profile = os.path.join(WORK, "%s.%s.prof" % (program.name, which))
        if os.path.exists(profile):
            os.unlink(profile)
        subprocess.run(measure.run_command(program, "path", which, exe), shell=True, cwd=WORK, check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=900, env=dict(os.environ, FOOTPATH_OUT=profile))
        profiles.append(profile)
    out = subprocess.run([os.path.join(measure.BIN, "footpath"), "stats", "--json", *profiles], check=True, capture_output=True)
    return dict(json.loads(out.stdout), at=marks.stamp(commit=facts.get("commit")))


def short(n):
    return "%d" % n if n < 1e7 else "%.1e" % n


PATHS = ["program", "paths taken", "possible", "longest, edges", "average", "longest, instructions", "average", "predicted right: paths",
         "flow", "predicted length, edges", "instructions", "routines", "most paths", "average"]
COMMON = ["program", "common paths", "of the paths (static)", "of their executions (dynamic)", "of the instructions"]


def paths_row(s):
    l, p = s["lengths"], s["predicted_lengths"]
    return ["%d" % s["paths"], short(s["potential_paths"]), "%d" % l["longest_edges"], "%.1f" % l["average_edges"],
            "%d" % l["longest_instructions"], "%.1f" % l["average_instructions"], "%.1f%%" % s["predicted_paths_percent"],
            "%.1f%%" % s["predicted_flow_percent"], "%.1f" % p["average_edges"], "%.1f" % p["average_instructions"],
            "%d" % s["routines"], "%d" % s["most_paths_in_a_routine"], "%.1f" % s["paths_per_routine"]]


def common_row(s):
    c = s["common"]
    return ["%d" % c["paths"], "%.1f%%" % c["static_percent"], "%.2f%%" % c["dynamic_percent"], "%.2f%%" % c["instructions_percent"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("BENCH"))
    parser.add_argument("--again", action="store_true", help="measure what was measured before")
    parser.add_argument("-o", "--output", default=os.path.join(corpus.ROOT, "docs", "stats.md"), help="the document with the tables")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    known, path = {}, os.path.join(WORK, "results.json")
    if os.path.exists(path):
        with open(path) as f:
            known = json.load(f)
    programs = corpus.names(options.programs)
    corpus.fetch(programs)
    inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs"))
    for program in programs:
        if program.name in known and not options.again:
            continue
        try:
            known[program.name] = stats(program)
        except Exception as error:
            print("%s: %s" % (program.name, str(error)[-300:]), file=sys.stderr)
            continue
        with open(path, "w") as f:
            json.dump(known, f)
        print(program.name, file=sys.stderr)
    order = [p.name for p in corpus.PROGRAMS]
    for name, columns, row in (("stats-paths", PATHS, paths_row), ("stats-common", COMMON, common_row)):
        marks.write(options.output, name, columns, {n: row(s) for n, s in known.items()}, {n: s["at"] for n, s in known.items()},
                    marks.average, order)


if __name__ == "__main__":
    main()
