"""What builds by sampled profiles gain, against builds by exact ones (paper 002, section 6).

    python3 bench/pep_use.py [--programs bzip2,lua] [--rounds 0] [--docs] [--only-docs]

Of clang -O2 and of --fp-use by: a perfect profile (exact, of the input that is measured), an exact
one of another input, sampled ones of that other input (PEP(64,17), runs of 10 s of CPU time, 20 at least: continuous; one
run of the trivial input: one-time), and the exact one flipped (flip.py: every branch the other way round).
Instructions (cachegrind) on the small input; with --rounds also CPU time on the large one,
interleaved, the least. Results go to .cache/bench/pep_use.json, and with --docs into docs/pep.md.
"""
import argparse
import json
import os
import sys

import corpus
import flip
import marks
import measure

DOCUMENT = os.path.join(measure.ROOT, "docs", "pep.md")
TRAIN = ("--fp-at=early", "--fp-inline=small", "--fp-cuts=few")
EIGHT = "bzip2,minigzip,mawk,lua,sqlite,xz,minisat,zstd"
measure.VARIANTS.update({
    "pep-train": measure.footpath("--fp-mode=pep", *TRAIN, "--fp-values"),
    "pep-once": measure.footpath("--fp-mode=pep", *TRAIN, "--fp-values"),
    "path-perfect": measure.footpath("--fp-mode=path", *TRAIN, "--fp-values"),
    "use-pep": dict(measure.footpath(), train="pep-train", guide="--fp-use=", times=20, seconds=10),
    "use-once": dict(measure.footpath(), train="pep-once", guide="--fp-use="),
    "use-perfect": dict(measure.footpath(), train="path-perfect", guide="--fp-use="),
    "use-flipped": dict(measure.footpath(), train="path-train", flip="--fp-use="),
})
INPUTS = {"pep-once": "trivial", "path-perfect": "small"}  # others: the program's training input
NOT_FLIPPED = ("sqlite",)  # one pass of LLVM's takes more than 8 minutes for sqlite3.c by such a profile
ORDER = ("clang", "use-perfect", "use", "use-pep", "use-once", "use-flipped")
COLUMNS = ["program", "perfect", "exact", "sampled", "one-time", "flipped", "sampled, of exact's gain"]
usual_command, usual_profile = measure.run_command, measure.with_profile


def command(program, variant, which, exe):
    """As measure.run_command; training runs have the input of their variant."""
    return usual_command(program, variant, INPUTS.get(variant, which), exe)


def with_profile(program, spec):
    """As measure.with_profile; a flipped profile is made of that of the training run."""
    if "flip" not in spec:
        return usual_profile(program, spec)
    profile = measure.train(program, spec["train"])
    out = os.path.join(os.path.dirname(profile), "flipped.guide")
    print("%s: flipped %d of %d functions" % (program.name, *flip.flip(profile, out)), flush=True)
    return dict(spec, env={"FOOTPATH_CC_FLAGS": spec["env"]["FOOTPATH_CC_FLAGS"] + " " + spec["flip"] + out})


def order_of(name):
    return [v for v in ORDER if v != "use-flipped" or name not in NOT_FLIPPED]


def cells(found):
    gain = {v: found[v]["instructions"] / found["clang"]["instructions"] - 1 for v in ORDER[1:] if v in found}
    part = "%.0f%%" % (100 * gain["use-pep"] / gain["use"]) if gain["use"] < -0.001 else "no gain"
    return ["%+.2f%%" % (100 * gain[v]) if v in gain else "–" for v in ORDER[1:]] + [part]


def write(known):
    rows = {n: cells(found) for n, found in known.items() if all(v in found for v in order_of(n))}
    marks.write(DOCUMENT, "pep-use", COLUMNS, rows, {n: known[n]["at"] for n in rows}, None, EIGHT.split(","), right=True)


def measure_one(program, rounds):
    order = order_of(program.name)
    found = {v: {"instructions": measure.instructions(program, v, "small")} for v in order}
    times = {v: [] for v in order}
    for _ in range(rounds):
        for v in order:
            times[v].append(measure.cpu_time(program, v)[0])
    for v in order if rounds else ():
        found[v]["seconds"] = min(times[v])
    found["at"] = marks.stamp(commit=measure.build(program, "use-pep")[1].get("commit"))
    return found


def show(name, found):
    for key in [k for k in ("instructions", "seconds") if k in found["clang"]]:
        gains = {v: 100 * (found[v][key] / found["clang"][key] - 1) for v in found if v in ORDER[1:]}
        print("%s %s: %s" % (name, key, ", ".join("%s %+.2f%%" % item for item in gains.items())), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=EIGHT)
    parser.add_argument("--rounds", type=int, default=0, help="of CPU times (%(default)s)")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/pep.md")
    parser.add_argument("--only-docs", action="store_true", help="from earlier results")
    args = parser.parse_args()
    measure.run_command, measure.with_profile = command, with_profile
    programs = [] if args.only_docs else corpus.names(args.programs)
    corpus.fetch(programs)
    results = os.path.join(measure.WORK, "pep_use.json")
    known = measure.load(results)
    for program in programs:
        known[program.name] = measure_one(program, args.rounds)
        show(program.name, known[program.name])
        os.makedirs(measure.WORK, exist_ok=True)
        with open(results, "w") as f:
            json.dump(known, f, indent=1)
    if args.docs or args.only_docs:
        write(known)


if __name__ == "__main__":
    sys.exit(main())
