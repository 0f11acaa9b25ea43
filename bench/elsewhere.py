"""CPU time on another machine, one with cores to spare and perhaps no compiler.

    python3 bench/elsewhere.py pack FOLDER [--programs bzip2,lua] [--variants clang,path]
    python3 FOLDER/elsewhere.py run FOLDER [--rounds 7]

pack builds every variant statically and lays programs, inputs and this script into
FOLDER; run, there, times them interleaved, one program at a time, and prints minimum
CPU seconds and ratios to the first variant.
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile


def pack(args):
    import corpus
    import inputs
    import measure
    os.makedirs(os.path.join(args.folder, "bin"), exist_ok=True)
    made = inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs"))
    plan = []
    for program in corpus.names(args.programs):
        for variant in args.variants.split(","):
            spec = measure.VARIANTS[variant]
            work = os.path.join(measure.WORK, "static", variant)
            os.makedirs(work, exist_ok=True)
            exe = os.path.join(args.folder, "bin", "%s.%s" % (program.name, variant))
            if not os.path.exists(exe):
                corpus.build(program, work, spec["cc"], spec["cxx"], spec["flags"] + " -static", env=spec.get("env"),
                             log=os.path.join(work, program.name + ".log"))
                shutil.copy(os.path.join(work, program.name, program.exe), exe)
                subprocess.run(["strip", "--strip-debug", exe])
            plan.append({"program": program.name, "variant": variant, "command": corpus.command(
                program, "large", "$HERE/bin/" + os.path.basename(exe), "$HERE/inputs", os.path.join(work, program.name))})
            print(program.name, variant, flush=True)
    needed = " ".join(p["command"] for p in plan)
    os.makedirs(os.path.join(args.folder, "inputs"), exist_ok=True)
    for name in os.listdir(made):
        if "/inputs/" + name in needed:
            shutil.copy(os.path.join(made, name), os.path.join(args.folder, "inputs", name))
    with open(os.path.join(args.folder, "plan.json"), "w") as f:
        json.dump(plan, f, indent=1)
    shutil.copy(os.path.abspath(__file__), os.path.join(args.folder, "elsewhere.py"))


def cpu_seconds(command, here):
    folder = tempfile.mkdtemp()
    env = dict(os.environ, HERE=here, LC_ALL="C", FOOTPATH_OUT=os.path.join(folder, "run.prof"),
               LLVM_PROFILE_FILE=os.path.join(folder, "run.profraw"))
    with open(os.devnull, "w") as null:
        child = subprocess.Popen(["sh", "-c", command], cwd=folder, env=env, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    shutil.rmtree(folder)
    if status:
        raise RuntimeError("%s: status %d" % (command, status))
    return usage.ru_utime + usage.ru_stime


def run(args):
    here = os.path.abspath(args.folder)
    with open(os.path.join(here, "plan.json")) as f:
        plan = json.load(f)
    programs, results = [], {}
    for item in plan:
        if item["program"] not in programs:
            programs.append(item["program"])
    for program in programs:
        items = [i for i in plan if i["program"] == program]
        times = {i["variant"]: [] for i in items}
        for _ in range(args.rounds):
            for item in items:
                times[item["variant"]].append(cpu_seconds(item["command"], here))
        results[program] = times
        base = min(times[items[0]["variant"]])
        print(program, "%.2fs" % base, "  ".join("%s %+.1f%% (spread %.1f%%)" % (
            v, 100 * (min(t) / base - 1), 100 * (max(t) / min(t) - 1)) for v, t in times.items()), flush=True)
    print("machine:", platform.processor() or platform.machine(), os.cpu_count(), "cores")
    if args.results:
        with open(args.results, "w") as f:
            json.dump(results, f)


def main():
    parser = argparse.ArgumentParser(description="CPU time of the bench programs on another machine.")
    commands = parser.add_subparsers(dest="what", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("folder")
    packing.add_argument("--programs")
    packing.add_argument("--variants", default="clang,clang-edges,path,path-exits,edge-min")
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--rounds", type=int, default=7)
    running.add_argument("--results")
    args = parser.parse_args()
    return pack(args) if args.what == "pack" else run(args)


if __name__ == "__main__":
    sys.exit(main())
