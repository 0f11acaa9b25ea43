"""What builds by sampled profiles gain, against builds by exact ones (paper 002, section 6).

    python3 bench/pep_use.py [--programs bzip2,lua] [--rounds 0]

Of clang -O2 and of --fp-use by: a perfect profile (exact, of the input that is measured), an exact
one of another input, sampled ones of that other input (PEP(64,17), 20 runs: continuous; one run of
the trivial input: one-time). Instructions (cachegrind) on the small input; with --rounds also CPU
time on the large one, interleaved, the least. Results go to .cache/bench/pep_use.json.
"""
import argparse
import json
import os
import sys

import corpus
import measure

TRAIN = ("--fp-at=early", "--fp-inline=small", "--fp-cuts=few")
EIGHT = "bzip2,minigzip,mawk,lua,sqlite,xz,minisat,zstd"
measure.VARIANTS.update({
    "pep-train": measure.footpath("--fp-mode=pep", *TRAIN),
    "pep-once": measure.footpath("--fp-mode=pep", *TRAIN),
    "path-perfect": measure.footpath("--fp-mode=path", *TRAIN, "--fp-values"),
    "use-pep": dict(measure.footpath(), train="pep-train", guide="--fp-use=", times=20),
    "use-once": dict(measure.footpath(), train="pep-once", guide="--fp-use="),
    "use-perfect": dict(measure.footpath(), train="path-perfect", guide="--fp-use="),
})
INPUTS = {"pep-once": "trivial", "path-perfect": "small"}  # others: the program's training input
ORDER = ("clang", "use-perfect", "use", "use-pep", "use-once")
usual_command = measure.run_command


def command(program, variant, which, exe):
    """As measure.run_command; training runs have the input of their variant."""
    return usual_command(program, variant, INPUTS.get(variant, which), exe)


def measure_one(program, rounds):
    found = {v: {"instructions": measure.instructions(program, v, "small")} for v in ORDER}
    times = {v: [] for v in ORDER}
    for _ in range(rounds):
        for v in ORDER:
            times[v].append(measure.cpu_time(program, v)[0])
    for v in ORDER if rounds else ():
        found[v]["seconds"] = min(times[v])
    return found


def show(name, found):
    for key in [k for k in ("instructions", "seconds") if k in found["clang"]]:
        gains = {v: 100 * (found[v][key] / found["clang"][key] - 1) for v in ORDER[1:]}
        print("%s %s: %s" % (name, key, ", ".join("%s %+.2f%%" % item for item in gains.items())), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=EIGHT)
    parser.add_argument("--rounds", type=int, default=0, help="of CPU times (%(default)s)")
    args = parser.parse_args()
    measure.run_command = command
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    results = os.path.join(measure.WORK, "pep_use.json")
    known = measure.load(results)
    for program in programs:
        known[program.name] = measure_one(program, args.rounds)
        show(program.name, known[program.name])
        os.makedirs(measure.WORK, exist_ok=True)
        with open(results, "w") as f:
            json.dump(known, f, indent=1)


if __name__ == "__main__":
    sys.exit(main())
