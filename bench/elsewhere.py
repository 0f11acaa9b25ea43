"""CPU time on another machine, one with cores to spare and perhaps no compiler.

    python3 bench/elsewhere.py pack FOLDER [--programs bzip2,lua] [--variants clang,path]
    python3 bench/live.py pack FOLDER           live counters, added to what is in FOLDER
    python3 bench/training.py pack FOLDER       training with threads, added to what is in FOLDER
    FOLDER/run.sh [--rounds 11] [--limit SECONDS] [--at-once 8] > FILE

pack builds every variant and lays programs, inputs, the libraries and the loader that the
programs were linked for, and this script into FOLDER. run.sh, there, times the variants of a program in
turn, on a core of its own; up to --at-once programs run at the same time. It prints one
object of JSON: the commit, the day, the machine, and the CPU seconds (user and system) of
every run by program and variant; what is shorter than a second is run several times, and the least
counts as one run. Where cores have two threads, a program has a core for itself. A program that needs all
cores runs when the others are done, by itself, and its seconds are told, too, and the sum of what clang's counters
counted. `--times FILE` of bench/use.py, live.py and training.py puts the figures into the documents.
"""
import argparse
import concurrent.futures
import datetime
import glob
import json
import math
import os
import queue
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

LOADER = "ld-linux-x86-64.so.2"
RUN = """#!/bin/sh
# times what bench/elsewhere.py packed here; JSON on standard output
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/elsewhere.py" run "$here" "$@"
"""


def libraries(exe):
    """The files that the loader would take: {name: path}, the loader included."""
    shown = subprocess.run(["ldd", exe], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", shown, re.M))
    found[LOADER] = re.search(r"^\s*(/\S*%s)" % re.escape(LOADER), shown, re.M).group(1)
    return found


def copy_files(source, target):
    """A file; of a folder the files in it, not what lies deeper."""
    if os.path.isfile(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
        return
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(source):
        if os.path.isfile(os.path.join(source, name)):
            shutil.copy(os.path.join(source, name), os.path.join(target, name))


def pack_exe(folder, name, exe):
    """Copies an executable with its loader and libraries; gives the words that start it there."""
    for inside in ("bin", "lib", "inputs"):
        os.makedirs(os.path.join(folder, inside), exist_ok=True)
    for library, path in libraries(exe).items():
        shutil.copy(path, os.path.join(folder, "lib", library))
    subprocess.run(["strip", "-o", os.path.join(folder, "bin", name), exe], check=True)
    return "$HERE/lib/%s --library-path $HERE/lib $HERE/bin/%s" % (LOADER, name)


def pack_plan(folder, commit, runs):
    """Adds to the plan in the folder, in the place of what it has of these programs."""
    path, kept = os.path.join(folder, "plan.json"), []
    if os.path.exists(path):
        with open(path) as f:
            kept = [r for r in json.load(f)["runs"] if r["program"] not in {n["program"] for n in runs}]
    for r in runs:
        r["commit"] = commit
    with open(path, "w") as f:
        json.dump({"commit": commit, "runs": kept + runs}, f, indent=1)
    shutil.copy(os.path.abspath(__file__), os.path.join(folder, "elsewhere.py"))
    with open(os.path.join(folder, "run.sh"), "w") as f:
        f.write(RUN)
    os.chmod(os.path.join(folder, "run.sh"), 0o755)


def pack_one(folder, program, variant):
    """Copies the executable and what it needs; gives its command."""
    import corpus
    import measure
    exe, facts = measure.build(program, variant)
    start = pack_exe(folder, "%s.%s" % (program.name, variant), exe)
    for needed in re.findall(r"\{src\}/(\S+)", program.large):
        copy_files(os.path.join(measure.WORK, "build", variant, program.name, needed), os.path.join(folder, "src", program.name, needed))
    return corpus.command(program, "large", start, "$HERE/inputs", "$HERE/src/" + program.name), facts


def pack(args):
    import corpus
    import inputs
    import marks
    made = inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs"))
    plan, commit = [], marks.tree()
    for program in corpus.names(args.programs):
        for variant in args.variants.split(","):
            command, facts = pack_one(args.folder, program, variant)
            commit = facts.get("commit", commit)
            plan.append({"program": program.name, "variant": variant, "command": command, "ends": program.ends})
            print(program.name, variant, file=sys.stderr, flush=True)
    needed = " ".join(p["command"] for p in plan)
    for name in os.listdir(made):
        if re.search(r"/inputs/%s(\s|$)" % re.escape(name), needed):
            copy_files(os.path.join(made, name), os.path.join(args.folder, "inputs", name))
    pack_plan(args.folder, commit, plan)


def counted_by_clang(path):
    """The sum of all counters in a file that clang's runtime wrote (LLVM 19, InstrProfData.inc), as llvm-profdata has it."""
    record = 64
    with open(path, "rb") as f:
        data = f.read()
    head = struct.unpack_from("<16Q", data)
    if head[0] != 0xff6c70726f667281 or head[1] & 0xffffff != 10:
        raise RuntimeError(path + ": not a profile of LLVM 19's runtime")
    begin = len(head) * 8 + head[2] + head[3] * record + head[4]
    return sum(struct.unpack_from("<%dQ" % head[5], data, begin))


def run_once(item, here, core):
    """CPU seconds, seconds, and what clang's counters counted."""
    folder = tempfile.mkdtemp(dir={"disk": here, "memory": "/dev/shm"}.get(item.get("place")))
    env = dict(os.environ, HERE=here, LC_ALL="C", FOOTPATH_OUT=os.path.join(folder, "run.prof"),
               LLVM_PROFILE_FILE=os.path.join(folder, "run.%p.profraw"), **item.get("env", {}))
    pinned = ["taskset", "-c", str(core)] if core is not None else []
    begin = time.monotonic()
    with open(os.devnull, "w") as null:
        child = subprocess.Popen(pinned + ["sh", "-c", item["command"]], cwd=folder, env=env, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - begin
    child.returncode = status
    counted = sum(counted_by_clang(path) for path in glob.glob(os.path.join(folder, "*.profraw"))) if core is None else 0
    shutil.rmtree(folder)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in item["ends"]:
        raise RuntimeError("%s: status %d" % (item["command"], status))
    return usage.ru_utime + usage.ru_stime, took, counted


def time_program(items, here, rounds, limit, cores):
    """The variants of a program in turn, on a core that no other has meanwhile; without cores, on all of them. Every other round is
    in the opposite order. Gives what run_once gives, by variant."""
    core = cores.get() if cores else None
    try:
        times = {i["variant"]: [] for i in items}
        # a run takes a second at least: short ones are repeated
        repeats = max(1, min(20, math.ceil(1 / max(run_once(items[0], here, core)[0], 0.01)))) if cores else 1
        begin = time.monotonic()
        for done in range(rounds):
            if done and limit and (time.monotonic() - begin) * (done + 1) / done > limit:
                break
            for item in items[::-1] if done % 2 else items:
                spent = min(run_once(item, here, core) for _ in range(repeats))
                times[item["variant"]].append(spent)
        return times
    finally:
        if cores:
            cores.put(core)


def separate_cores():
    """One processor of each core, by what the kernel says of its siblings."""
    chosen = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu) as f:
                chosen.setdefault(f.read().strip(), cpu)
        except OSError:
            chosen.setdefault(cpu, cpu)
    return sorted(chosen.values())


def model():
    with open("/proc/cpuinfo") as f:
        return next((l.split(":", 1)[1].strip() for l in f if l.startswith("model name")), "unknown")


def file_system(path):
    """The kind of the file system that a folder is in."""
    with open("/proc/self/mounts") as f:
        mounts = [line.split()[1:3] for line in f]
    inside = [m for m in mounts if path == m[0] or path.startswith(m[0].rstrip("/") + "/")]
    return max(inside, key=lambda m: len(m[0]))[1] if inside else "unknown"


def run_plan(plan, here, args):
    """Times and failures by program: of those that need a core at the same time, then of the others one by one."""
    cores, results, failed = queue.Queue(), {}, {}
    for core in separate_cores()[-args.at_once:]:
        cores.put(core)
    programs = {}
    for item in plan["runs"]:
        programs.setdefault(item["program"], []).append(item)
    together = [p for p, items in programs.items() if items[0].get("all_cores")]
    for names, places, workers in (([p for p in programs if p not in together], cores, cores.qsize()), (together, None, 1)):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            futures = {p: pool.submit(time_program, programs[p], here, args.rounds, args.limit, places) for p in names}
            for p, future in futures.items():
                try:
                    results[p] = future.result()
                except RuntimeError as error:
                    failed[p] = str(error)
    return results, failed


def run(args):
    here = os.path.abspath(args.folder)
    with open(os.path.join(here, "plan.json")) as f:
        plan = json.load(f)
    results, failed = run_plan(plan, here, args)
    pick = lambda which, digits: {p: {v: [round(r[which], digits) for r in runs] for v, runs in by.items()} for p, by in results.items()}
    json.dump({"commit": plan["commit"], "commits": {r["program"]: r.get("commit", plan["commit"]) for r in plan["runs"]},
               "date": datetime.date.today().isoformat(), "machine": "%s with %d cores" % (model(), os.cpu_count()),
               "kernel": os.uname().release, "disk": file_system(here), "rounds": args.rounds, "times": pick(0, 5), "wall": pick(1, 5),
               "counted": pick(2, 0), "failed": failed}, sys.stdout, indent=1)
    print()
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="CPU time of the bench programs on another machine.")
    commands = parser.add_subparsers(dest="what", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("folder")
    packing.add_argument("--programs")
    packing.add_argument("--variants", default="clang,clang-edges,path,path-exits,edge-min")
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--rounds", type=int, default=11)
    running.add_argument("--limit", type=float, default=0, help="seconds for a program: no round begins that would take longer")
    running.add_argument("--at-once", type=int, default=8)
    args = parser.parse_args()
    return pack(args) if args.what == "pack" else run(args)


if __name__ == "__main__":
    sys.exit(main())
