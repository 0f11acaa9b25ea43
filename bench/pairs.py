"""Pairs of sampled paths and their callers: how well they tell what an exact trace tells, and what they cost.

    python3 bench/pairs.py [--programs bzip2,lua,mawk,minigzip,minisat] [--samples 64000] [--rounds 11]

The exact trace is of the same run in a build with --fp-pep=flag in which every path end is a sample: FOOTPATH_SAMPLES beyond
all path ends of a tick, and a stride of 1. Then each path end has the one before it, but for the first ones of each tick. The
samples are of runs of the default build at the default rate, repeated into one profile until there are enough.

Relative overlap: for each path that was followed by others, what both have in common of the distribution of what came next,
weighted by how often the trace has the path. A path that the samples do not have counts as 0. The same for the callers of a
function. Cost: CPU time, kernel included, of runs with FOOTPATH_HISTORY=1 and =0 in turns, the least of ROUNDS each.
"""
import argparse
import collections
import json
import os
import subprocess

import corpus
import measure
import pep

EVERY = {"FOOTPATH_SAMPLES": "16000000", "FOOTPATH_STRIDE": "1", "FOOTPATH_TICK_MS": "20"}


def history(profile):
    tool = os.path.join(measure.BIN, "footpath")
    shown = subprocess.run([tool, "show", "--json", profile], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["history"]


def next_of(past):
    """(function, path before) -> path -> count."""
    found = collections.defaultdict(collections.Counter)
    for pair in past["pairs"]:
        found[pair["linkage_name"], os.path.basename(pair["file"]), pair["before"]][pair["id"]] += pair["count"]
    return found


def callers_of(past):
    """function -> caller as function and line -> count. Addresses differ between the two builds."""
    found = collections.defaultdict(collections.Counter)
    for site in past["callers"]:
        where = (site.get("caller"), site.get("caller_line"))
        found[site["linkage_name"], os.path.basename(site["file"])][where] += site["count"]
    return found


def overlap(actual, estimate):
    common = weights = 0
    for key, exact in actual.items():
        guess, all_exact = estimate.get(key, {}), sum(exact.values())
        all_guess = sum(guess.values())
        weights += all_exact
        if all_guess:
            common += all_exact * sum(min(n / all_exact, guess.get(x, 0) / all_guess) for x, n in exact.items())
    return common / weights if weights else 1


def samples_of(past):
    return sum(site["count"] for site in past["callers"])


def sampled(program, least):
    """The history of so many samples, and how many runs that took."""
    profile, runs = pep.fresh(program, "pairs"), 0
    while True:
        pep.run(program, "pep", {}, profile)
        runs += 1
        past = history(profile)
        if samples_of(past) >= least:
            return past, runs


def cost(program, rounds):
    least = {}
    for _ in range(rounds):
        for setting in ("1", "0"):
            spent = pep.run(program, "pep", {"FOOTPATH_HISTORY": setting}, pep.fresh(program, "cost"))
            least[setting] = min(spent, least.get(setting, spent))
    return least["1"] / least["0"] - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="bzip2,lua,mawk,minigzip,minisat")
    parser.add_argument("--samples", type=int, default=64000)
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    programs = [p for p in corpus.PROGRAMS if p.name in args.programs.split(",")]
    corpus.fetch(programs)
    print("| program | samples | runs | pairs of the trace | dropped | pairs: relative overlap | callers: relative overlap | CPU time |")
    print("|---|---|---|---|---|---|---|---|")
    for program in programs:
        trace = pep.fresh(program, "trace")
        pep.run(program, "pep-flag", EVERY, trace)
        exact = history(trace)
        guess, runs = sampled(program, args.samples)
        print("| %s | %d | %d | %d | %d | %.3f | %.3f | %+.2f%% |" % (
            program.name, samples_of(guess), runs, len(exact["pairs"]), exact["dropped"], overlap(next_of(exact), next_of(guess)),
            overlap(callers_of(exact), callers_of(guess)), 100 * cost(program, args.rounds)), flush=True)


if __name__ == "__main__":
    main()
