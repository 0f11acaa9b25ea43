"""What sampled paths cost in CPU time, beside exact paths and perf, and how accurate the same runs are.

    python3 bench/pep_cost.py [--programs bzip2,lua] [--rounds 11] [--kinds plain,off,body]
                              [--what time,accuracy,build] [--only-docs]
    python3 bench/pep_cost.py pack FOLDER          to run them on another machine: pep_elsewhere.py
    python3 bench/pep_cost.py --times FILE         what was found there

Runs of about a second (FOOTPATH_SHORT_RUNS=1: the corpus's large runs), in turns, least CPU time (user and system) of --rounds:

    plain  clang -O2                        exact  --fp-mode=path
    off    pep, FOOTPATH_SAMPLES=0          trap   pep, --fp-pep=trap
    simple as body, FOOTPATH_SAMPLING=simple
    body   pep at the default rate          perf   clang -O2 under perf record, as many samples a second

Accuracy is of the profile that all rounds of `body` have written, and of that of the first round,
against an exact profile of the same command. On another machine more runs of `body` follow, as few ticks say little. `build` has instructions (cachegrind, small input,
without samples), CPU time of the compiler, and sizes. Results are kept in .cache/bench/pep_cost.json and
written into docs/pep.md as they come, each with commit, day and machine; rows of programs that are
not measured stay.
"""
import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import zlib

import corpus
import inputs
import marks
import measure
import pep
import pep_elsewhere

DOCUMENT = os.path.join(measure.ROOT, "docs", "pep.md")
RESULTS = os.path.join(measure.WORK, "pep_cost.json")
FIFTEEN = "bzip2,minigzip,mawk,lua,zstd,sqlite,gnugo,hmmer,libquantum,ninja,pocketsphinx,x264,tcl,xz,minisat"
RATE = 6400  # samples a second of CPU time at the default rate: 64 every 10 ms
# kind: variant, variables, command in front of the program
KINDS = {
    "plain": ("clang", {}, ""),
    "off": ("pep", {"FOOTPATH_SAMPLES": "0"}, ""),
    "simple": ("pep", {"FOOTPATH_SAMPLING": "simple"}, ""),
    "body": ("pep", {"FOOTPATH_SAMPLING": "full"}, ""),  # the default
    "trap": ("pep-trap", {}, ""),
    "exact": ("path", {}, ""),
    "perf": ("clang", {}, "perf record -q -N -e cpu-clock -F %d -o perf.data " % RATE),
}
SHORT = os.environ.get("FOOTPATH_SHORT_RUNS")  # the corpus's large runs as they are
# Where the large run is much shorter or longer than a second.
COMMANDS = {
    "bzip2": "{exe} -kc9 {in}/mix-16m",
    "minigzip": "{exe} -9 < {in}/mix-16m",
    "mawk": "{exe} -f {in}/words.awk {in}/text-8m {in}/text-8m {in}/text-8m {in}/text-8m",
    "lua": "{exe} {in}/bench.lua 600",
    "sqlite": "{exe} --memdb --size 45 --testset main",
    "gnugo": "{exe} --quiet --mode gtp --level 1 < {in}/go-large.gtp",
    "ninja": "for i in 1 2 3 4 5 6 7 8; do {exe} -n -C {in}/ninja-large; done",
    "x264": "{exe} --quiet --threads 1 --preset slower --frames 60 --input-res 176x144 -o /dev/null {in}/video.yuv",
    "tcl": "TCL_LIBRARY={src}/library {exe} {in}/bench.tcl 200",
    "xz": "{exe} -6 -c {in}/mix-1m",
    "minisat": "for i in 1 2 3; do {exe} -verb=0 {in}/sat-large.cnf; done",
}


def line_of(program, variant, exe, tool=""):
    src = os.path.join(measure.WORK, "build", variant, program.name)
    folder = inputs.make(os.path.join(measure.ROOT, ".cache", "inputs"))
    form = program.large if SHORT else COMMANDS.get(program.name, program.large)
    return form.format_map({"exe": tool + exe, "in": folder, "src": src, "bench": corpus.HERE})


def run(program, kind, profile):
    """Runs once; gives the CPU seconds of the program, and of perf where it is run by perf."""
    variant, settings, tool = KINDS[kind]
    exe, _ = measure.build(program, variant)
    folder = os.path.join(measure.WORK, "cost", kind, program.name)
    os.makedirs(folder, exist_ok=True)
    env = {k: v for k, v in os.environ.items() if k not in ("FOOTPATH_SAMPLES", "FOOTPATH_TICK_MS", "FOOTPATH_STRIDE")}
    env.update(settings, LC_ALL="C", FOOTPATH_OUT=profile)
    child = subprocess.Popen(["sh", "-c", line_of(program, variant, exe, tool)], cwd=folder, env=env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in program.ends:
        raise RuntimeError("%s, %s: status %d" % (program.name, kind, child.returncode))
    return usage.ru_utime + usage.ru_stime


def fresh(program, name):
    path = path_of(program, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    return path


def clock(program, kinds, rounds):
    """{kind: CPU seconds of its rounds}; all samples of `body` go into one profile, those of its first round into one more."""
    sampled, first, other = fresh(program, "sampled"), fresh(program, "first"), fresh(program, "other")
    times = {kind: [] for kind in kinds}
    for turn in range(rounds):
        for kind in kinds:
            times[kind].append(run(program, kind, sampled if kind == "body" else other))
        if not turn and os.path.exists(sampled):
            shutil.copyfile(sampled, first)
    return times


def path_of(program, name):
    return os.path.join(measure.WORK, "cost", "%s.%s.prof" % (program.name, name))


def compared(program, seconds):
    """What the profiles of the first run and of all runs with samples, which took so long, have in common with the exact one."""
    truth = path_of(program, "exact")
    return dict({name: dict(pep.compare(truth, path_of(program, name))) for name in ("first", "sampled")}, seconds=seconds)


def accuracy(program, seconds):
    run(program, "exact", fresh(program, "exact"))
    return compared(program, seconds)


def sections(exe):
    told = subprocess.run(["size", "-A", exe], capture_output=True, text=True, check=True).stdout
    found = {m.group(1): int(m.group(2)) for m in re.finditer(r"^(\S+)\s+(\d+)\s+\d+$", told, re.M)}
    body = [".text.footpath_body", ".eh_frame.footpath", ".gcc_except_table.footpath", ".footpath_steps"]
    return {"text": found.get(".text", 0), "body": found.get(body[0], 0), "tables": sum(found.get(n, 0) for n in body[1:])}


def measure_build(program):
    facts = {}
    for variant in ("clang", "pep"):
        exe, told = measure.build(program, variant)
        net = measure.instructions(program, variant, "small") - measure.instructions(program, variant, "trivial")
        facts[variant] = dict(sections(exe), cpu=told["build_cpu"], instructions=net)
    return facts


def percent(value, places=1):
    return "–" if value is None else "%+.*f%%" % (places, 100 * value)


def kilobytes(size):
    return "{:,}".format(round(size / 1024))


SHOWN = ("off", "body", "exact", "perf")  # in the table


def cells_of_time(known):
    best = {kind: min(t) for kind, t in known["times"].items() if t}
    part = lambda kind: best[kind] / best["plain"] - 1 if kind in best else None
    return ["%.2f s" % best["plain"]] + [percent(part(k)) for k in SHOWN] + [str(known["rounds"])]


def cells_of_accuracy(known):
    of = known["accuracy"]
    return ["%.3f" % of[name][metric] for name in ("sampled", "first") for metric in ("wall", "relative")] + [
        "%.3f" % of["sampled"]["absolute"], "%.1f" % of["seconds"]]


def cells_of_build(known):
    plain, ours = known["build"]["clang"], known["build"]["pep"]
    return [percent(ours["instructions"] / plain["instructions"] - 1), "%.1f s" % plain["cpu"], percent(ours["cpu"] / plain["cpu"] - 1, 0)] + [
        kilobytes(n) for n in (plain["text"], ours["text"], ours["body"], ours["tables"])]


TABLES = {
    "pep-cost": ("times", cells_of_time, ["program", "plain", "off", "body", "exact paths", "perf record", "rounds"], marks.geomean),
    "pep-accuracy": ("accuracy", cells_of_accuracy, ["program", "Wall", "relative", "Wall, one run", "relative, one run",
                                                     "absolute", "CPU seconds"], marks.average),
    "pep-build": ("build", cells_of_build, ["program", "instructions", "compiler, plain", "pep", "text, plain, KB", "text, pep",
                                            "second body", "its tables"], None),
}


def write(results):
    for name, (key, cells, columns, mean) in TABLES.items():
        rows = {n: cells(known) for n, known in results.items() if key in known}
        at = {n: results[n]["at"][key] for n in rows}
        marks.write(DOCUMENT, name, columns, rows, at, mean, FIFTEEN.split(","), right=True)


def measure_one(program, args, known):
    # a profile of several runs of one build: the commit is that of the build
    at = marks.stamp(commit=measure.build(program, "pep")[1].get("commit"))
    if "time" in args.what:
        known["times"], known["rounds"] = clock(program, args.kinds, args.rounds), args.rounds
        known.setdefault("at", {})["times"] = at
    if "accuracy" in args.what:
        known["accuracy"] = accuracy(program, sum(known["times"]["body"]))
        known.setdefault("at", {})["accuracy"] = at
    if "build" in args.what:
        known["build"] = measure_build(program)
        known.setdefault("at", {})["build"] = at


# ---- another machine ----


def command_there(program, kind):
    """As line_of, of what pack lays into the folder."""
    variant, settings, tool = KINDS[kind]
    form = COMMANDS.get(program.name, program.large)
    name = "%s.%s" % (program.name, variant)
    exe = pep_elsewhere.START + (tool + pep_elsewhere.BARE if tool else "") + name
    line = form.format_map({"exe": exe, "in": "$HERE/inputs", "src": "$HERE/src/" + program.name, "bench": "$HERE"})
    return {"command": line, "env": settings}


def pack_one(folder, program, kinds):
    """Gives the commit of its builds, and its kinds of runs."""
    commit = None
    for variant in dict.fromkeys(KINDS[k][0] for k in kinds):
        exe, facts = measure.build(program, variant)
        commit = facts.get("commit") if variant == "pep" else commit
        pep_elsewhere.copy_program(folder, exe, "%s.%s" % (program.name, variant))
    for needed in re.findall(r"\{src\}/([^\s;]+)", COMMANDS.get(program.name, program.large)):
        source = os.path.join(measure.WORK, "build", "clang", program.name, needed)
        pep_elsewhere.elsewhere.copy_files(source, os.path.join(folder, "src", program.name, needed))
    return commit, {"ends": program.ends, "kinds": {k: command_there(program, k) for k in kinds}}


def pack(folder, programs, kinds):
    for name in ("bin", "lib", "inputs"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    if "perf" in kinds:
        pep_elsewhere.copy_program(folder, shutil.which("perf"), "perf", strip=False)
    plan = {"commit": None, "programs": {}}
    for program in programs:
        commit, plan["programs"][program.name] = pack_one(folder, program, kinds)
        plan["commit"] = commit or plan["commit"]
        print(program.name, commit, file=sys.stderr, flush=True)
    commands = [k["command"] for p in plan["programs"].values() for k in p["kinds"].values()]
    made = inputs.make(os.path.join(measure.ROOT, ".cache", "inputs"))
    pep_elsewhere.finish(folder, dict(plan, empty=pep_elsewhere.copy_inputs(folder, made, commands)))


def unpack_profiles(program, packed):
    for name, text in packed.items():
        with open(fresh(program, name), "wb") as f:
            f.write(zlib.decompress(base64.b64decode(text)))


def take(told, results, programs):
    """The runs that were made on another machine; accuracy is worked out here, from the profiles of these runs."""
    at = marks.stamp(where=told["machine"], when=told["date"], commit=told["commit"])
    for program in [p for p in programs if p.name in told["programs"]]:
        found, known = told["programs"][program.name], results.setdefault(program.name, {})
        for kind, why in found["failed"].items():
            print("%s, %s: %s" % (program.name, kind, why), file=sys.stderr)
        known["times"], known["rounds"] = found["times"], told["rounds"]
        known.setdefault("at", {})["times"] = at
        unpack_profiles(program, found["profiles"])
        if set(found["profiles"]) >= {"exact", "sampled"}:
            known["accuracy"] = compared(program, sum(found["times"]["body"]) + sum(found["more"]))
            known["at"]["accuracy"] = at
        tell(program, known)


# ---- arguments ----


def tell(program, known):
    print(program.name, {k: round(min(t), 3) for k, t in known.get("times", {}).items() if t}, known.get("accuracy", ""), flush=True)


def kinds_of(text):
    kinds = text.split(",")
    if "perf" in kinds and not shutil.which("perf"):
        print("bench/pep_cost.py: perf is not installed (Debian: linux-perf); that column stays empty", file=sys.stderr)
        kinds.remove("perf")
    return kinds


def keep(results):
    with open(RESULTS + ".new", "w") as f:
        json.dump(results, f, indent=1, sort_keys=True)
    os.replace(RESULTS + ".new", RESULTS)


def measure_all(programs, args, results):
    if args.rebuild:
        measure.forget(programs, ["path", "pep", "pep-trap"])
    for program in programs:
        known = results.setdefault(program.name, {})
        try:
            measure_one(program, args, known)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print("%s: %s" % (program.name, str(error)[-600:]), file=sys.stderr)
        keep(results)
        tell(program, known)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", nargs="*", help="pack FOLDER: measures nothing")
    parser.add_argument("--programs", default=os.environ.get("BENCH") or FIFTEEN)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--kinds", type=kinds_of, default="plain,off,body,exact,perf", help="(%(default)s); trap, simple")
    parser.add_argument("--what", default="time,accuracy,build", help="(%(default)s); accuracy needs time with body")
    parser.add_argument("--rebuild", action="store_true", help="build again what was built by footpath before")
    parser.add_argument("--times", help="what run.sh of a folder that was packed has printed; nothing is measured here")
    parser.add_argument("--only-docs", action="store_true", help="from earlier results")
    args = parser.parse_args()
    if args.pack and (len(args.pack) != 2 or args.pack[0] != "pack"):
        parser.error("pack FOLDER, or options alone")
    return args


def main():
    args = arguments()
    results, programs = measure.load(RESULTS), corpus.names(args.programs)
    os.makedirs(measure.WORK, exist_ok=True)
    if not args.only_docs and not args.times:
        corpus.fetch(programs)
    if args.pack:
        return pack(args.pack[1], programs, args.kinds)
    if args.times:
        with open(args.times) as f:
            take(json.load(f), results, programs)
        keep(results)
    elif not args.only_docs:
        measure_all(programs, args, results)
    write(results)


if __name__ == "__main__":
    main()
