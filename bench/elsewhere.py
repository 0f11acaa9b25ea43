"""CPU time on another machine, one with cores to spare and perhaps no compiler.

    python3 bench/elsewhere.py pack FOLDER [--programs bzip2,lua] [--variants clang,path]
    FOLDER/run.sh [--rounds 11] [--limit SECONDS] [--at-once 8] > FILE

pack builds every variant and lays programs, inputs, the libraries and the loader that the
programs were linked for, and this script into FOLDER. run.sh, there, times the variants of a program in
turn, on a core of its own; up to --at-once programs run at the same time. It prints one
object of JSON: the commit, the day, the machine, and the CPU seconds (user and system) of
every run by program and variant; what is shorter than a second is run several times, and the least
counts as one run. Where cores have two threads, a program has a core for itself. `bench/use.py --times FILE` puts them into docs/use.md.
"""
import argparse
import concurrent.futures
import datetime
import json
import math
import os
import queue
import re
import shutil
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


def pack_one(folder, program, variant):
    """Copies the executable and what it needs; gives its command."""
    import corpus
    import measure
    exe, facts = measure.build(program, variant)
    name = "%s.%s" % (program.name, variant)
    for library, path in libraries(exe).items():
        shutil.copy(path, os.path.join(folder, "lib", library))
    subprocess.run(["strip", "-o", os.path.join(folder, "bin", name), exe], check=True)
    for needed in re.findall(r"\{src\}/(\S+)", program.large):
        copy_files(os.path.join(measure.WORK, "build", variant, program.name, needed), os.path.join(folder, "src", program.name, needed))
    start = "$HERE/lib/%s --library-path $HERE/lib $HERE/bin/%s" % (LOADER, name)
    return corpus.command(program, "large", start, "$HERE/inputs", "$HERE/src/" + program.name), facts


def pack(args):
    import corpus
    import inputs
    import marks
    for name in ("bin", "lib", "inputs"):
        os.makedirs(os.path.join(args.folder, name), exist_ok=True)
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
    with open(os.path.join(args.folder, "plan.json"), "w") as f:
        json.dump({"commit": commit, "runs": plan}, f, indent=1)
    shutil.copy(os.path.abspath(__file__), os.path.join(args.folder, "elsewhere.py"))
    with open(os.path.join(args.folder, "run.sh"), "w") as f:
        f.write(RUN)
    os.chmod(os.path.join(args.folder, "run.sh"), 0o755)


def cpu_seconds(item, here, core):
    folder = tempfile.mkdtemp()
    env = dict(os.environ, HERE=here, LC_ALL="C", FOOTPATH_OUT=os.path.join(folder, "run.prof"),
               LLVM_PROFILE_FILE=os.path.join(folder, "run.profraw"))
    with open(os.devnull, "w") as null:
        child = subprocess.Popen(["taskset", "-c", str(core), "sh", "-c", item["command"]], cwd=folder, env=env, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    shutil.rmtree(folder)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in item["ends"]:
        raise RuntimeError("%s: status %d" % (item["command"], status))
    return usage.ru_utime + usage.ru_stime


def time_program(items, here, rounds, limit, cores):
    """The variants of a program in turn, on a core that no other has meanwhile."""
    core = cores.get()
    try:
        times = {i["variant"]: [] for i in items}
        # a run takes a second at least: short ones are repeated
        repeats = max(1, min(20, math.ceil(1 / max(cpu_seconds(items[0], here, core), 0.01))))
        begin = time.monotonic()
        for done in range(rounds):
            if done and limit and (time.monotonic() - begin) * (done + 1) / done > limit:
                break
            for item in items:
                spent = min(cpu_seconds(item, here, core) for _ in range(repeats))
                times[item["variant"]].append(round(spent, 5))
        return times
    finally:
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


def run(args):
    here = os.path.abspath(args.folder)
    with open(os.path.join(here, "plan.json")) as f:
        plan = json.load(f)
    cores, results, failed = queue.Queue(), {}, {}
    for core in separate_cores()[-args.at_once:]:
        cores.put(core)
    programs = list(dict.fromkeys(i["program"] for i in plan["runs"]))
    with concurrent.futures.ThreadPoolExecutor(cores.qsize()) as pool:
        futures = {p: pool.submit(time_program, [i for i in plan["runs"] if i["program"] == p], here, args.rounds, args.limit, cores)
                   for p in programs}
        for p, future in futures.items():
            try:
                results[p] = future.result()
            except RuntimeError as error:
                failed[p] = str(error)
    json.dump({"commit": plan["commit"], "date": datetime.date.today().isoformat(), "machine": "%s with %d cores" % (model(), os.cpu_count()),
               "rounds": args.rounds, "times": results, "failed": failed}, sys.stdout, indent=1)
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
