"""Do the costs that `footpath show` tells of a sampled profile agree with those of an exact one?

    python3 bench/pep_shares.py [--programs bzip2,lua,minigzip] [SOURCE.c WORDS...]

Builds each program twice with --fp-cost=machine, for exact counts and for PEP(64,17), and runs both
on the large input. Prints the share of the cost of the hottest paths in both, and by how much the
shares of all paths and of all functions overlap (1: the same). A single C file may be given in place
of a program.
"""
import argparse
import json
import os
import subprocess

import corpus
import measure

measure.VARIANTS.update({
    "path-machine": measure.footpath("--fp-mode=path", "--fp-cost=machine"),
    "pep-machine": measure.footpath("--fp-mode=pep", "--fp-cost=machine"),
})


def shares(profile):
    """Of paths and of functions: the part of all cost."""
    words = [os.path.join(measure.BIN, "footpath"), "show", "--json", profile]
    shown = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    paths, functions = {}, {}
    for f in shown["functions"]:
        for p in f["paths"]:
            places = [(os.path.basename(b.get("file") or ""), b.get("line")) for b in p["blocks"]]
            cost, key = p["count"] * p["instructions"], (f["name"], str(places))
            paths[key] = paths.get(key, 0) + cost
            functions[f["name"]] = functions.get(f["name"], 0) + cost
    return [{k: v / sum(all.values()) for k, v in all.items()} for all in (paths, functions)]


def profile_of(program, variant, words):
    """One run; gives its profile."""
    folder = os.path.join(measure.WORK, "shares", variant)
    os.makedirs(folder, exist_ok=True)
    profile = os.path.join(folder, os.path.basename(getattr(program, "name", program)) + ".prof")
    if os.path.exists(profile):
        os.unlink(profile)
    if isinstance(program, str):
        spec, exe = measure.VARIANTS[variant], os.path.join(folder, "a.out")
        subprocess.run([spec["cc"], "-O2", program, "-o", exe], check=True, env=dict(os.environ, **spec["env"]))
        line = " ".join([exe, *words])
    else:
        line = measure.run_command(program, variant, "large", measure.build(program, variant)[0])
    subprocess.run(["sh", "-c", line], cwd=folder, env=dict(os.environ, FOOTPATH_OUT=profile, LC_ALL="C"),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return profile


def compare(program, words):
    name = os.path.basename(getattr(program, "name", program))
    (exact, exactly), (sampled, about) = (shares(profile_of(program, v, words)) for v in ("path-machine", "pep-machine"))
    hottest = sorted(exact, key=exact.get, reverse=True)[:3]
    print("%s: %s; overlap of paths %.3f, of functions %.3f" % (
        name, ", ".join("%s %.1f%% %.1f%%" % (k[0], 100 * exact[k], 100 * sampled.get(k, 0)) for k in hottest),
        sum(min(v, sampled.get(k, 0)) for k, v in exact.items()), sum(min(v, about.get(k, 0)) for k, v in exactly.items())),
        flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="bzip2,lua,minigzip")
    parser.add_argument("source", nargs="?", help="a C file")
    parser.add_argument("words", nargs="*", help="its arguments")
    args = parser.parse_args()
    if args.source:
        return compare(os.path.abspath(args.source), args.words)
    programs = corpus.names(args.programs)
    corpus.fetch(programs)
    for program in programs:
        compare(program, [])


if __name__ == "__main__":
    main()
