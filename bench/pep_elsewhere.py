"""Sampled paths on another machine, one with cores to spare and perhaps no compiler: what bench/pep_cost.py times there.

    python3 bench/pep_cost.py pack FOLDER [--programs bzip2,lua] [--kinds plain,off,body,exact,perf]
    FOLDER/run.sh [--rounds 11] [--seconds 36] [--limit 200] [--at-once 8] > FILE
    python3 bench/pep_cost.py --times FILE

pack lays programs, inputs, libraries, the loader and perf into FOLDER, as bench/elsewhere.py does. run.sh, there, runs the kinds
of a program in turn, on a core of its own; up to --at-once programs at the same time. After ROUNDS of all kinds more runs of
`body` follow, until the runs of `body` took SECONDS of CPU time together: too few ticks would make samples look less accurate than they are.
It prints one object of JSON: commit, day, machine, and by program the CPU seconds (user and system) of every run by kind, of
the runs that follow (`more`), and three profiles, packed by zlib and base64: of the first run of `exact`, of the first run
of `body`, and of all runs of `body`. A kind that fails is told in `failed`, and left out from then on.
"""
import argparse
import base64
import concurrent.futures
import datetime
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import elsewhere

RUN = """#!/bin/sh
# times what bench/pep_cost.py packed here; JSON on standard output
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/pep_elsewhere.py" "$here" "$@"
"""
# Programs start by themselves, not as an argument of the loader: the runtime looks for the map in the file that was started.
START, BARE = "LD_LIBRARY_PATH=$HERE/lib $HERE/bin/", "$HERE/bin/"
USUAL, HERES = b"/lib64/ld-linux-x86-64.so.2\0", b"/tmp/footpath-lib/ld.so\0"


# ---- here ----


def copy_program(folder, exe, name, strip=True):
    for library, path in elsewhere.libraries(exe).items():
        shutil.copy(path, os.path.join(folder, "lib", "ld.so" if library == elsewhere.LOADER else library))
    out = os.path.join(folder, "bin", name)
    subprocess.run(["strip", "-o", out, exe] if strip else ["cp", exe, out], check=True)
    with open(out, "rb") as f:
        content = f.read()
    assert USUAL in content, "%s asks for another loader" % exe
    with open(out, "wb") as f:
        f.write(content.replace(USUAL, HERES.ljust(len(USUAL), b"\0")))


def empty_files(path):
    """A folder of inputs with empty files deeper in it (ninja's): their names. They are made there."""
    found = [os.path.relpath(os.path.join(at, n), path) for at, _, names in os.walk(path) for n in names if at != path]
    return [n for n in found if not os.path.getsize(os.path.join(path, n))]


def copy_inputs(folder, made, commands):
    """What the commands name; gives the empty files, by folder."""
    empty = {}
    for name in os.listdir(made):
        if re.search(r"\$HERE/inputs/%s(\s|$|;)" % re.escape(name), " ".join(commands)):
            elsewhere.copy_files(os.path.join(made, name), os.path.join(folder, "inputs", name))
            if os.path.isdir(os.path.join(made, name)):
                empty[name] = empty_files(os.path.join(made, name))
    return empty


def finish(folder, plan):
    with open(os.path.join(folder, "plan.json"), "w") as f:
        json.dump(plan, f, indent=1)
    for script in (__file__, elsewhere.__file__):
        shutil.copy(os.path.abspath(script), folder)
    with open(os.path.join(folder, "run.sh"), "w") as f:
        f.write(RUN)
    os.chmod(os.path.join(folder, "run.sh"), 0o755)


# ---- there ----


def cpu_seconds(item, kind, here, profile):
    folder = tempfile.mkdtemp()
    env = {k: v for k, v in os.environ.items() if not k.startswith("FOOTPATH")}
    env.update(kind["env"], HERE=here, HOME=folder, LC_ALL="C", FOOTPATH_OUT=profile or os.path.join(folder, "run.prof"))
    try:
        with open(os.path.join(folder, "stderr"), "w+b") as said:
            child = subprocess.Popen(["sh", "-c", kind["command"]], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=said)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read().decode(errors="replace")
    finally:
        shutil.rmtree(folder)
    if child.returncode not in item["ends"] or "footpath:" in text:
        raise RuntimeError("%s: status %d: %s" % (kind["command"], child.returncode, text[-300:]))
    return round(usage.ru_utime + usage.ru_stime, 5)


class Program:
    """The runs of one program, on one core."""

    def __init__(self, item, here, folder):
        self.item, self.here = item, here
        self.times = {k: [] for k in item["kinds"]}
        self.failed = {}
        self.path = {n: os.path.join(folder, n + ".prof") for n in ("exact", "first", "sampled")}

    def profile(self, kind):
        if kind == "body":
            return self.path["sampled"]
        return self.path["exact"] if kind == "exact" and not self.times["exact"] else None

    def one(self, kind):
        return cpu_seconds(self.item, self.item["kinds"][kind], self.here, self.profile(kind))

    def turn(self):
        for kind in [k for k in self.times if k not in self.failed]:
            try:
                self.times[kind].append(self.one(kind))
            except (RuntimeError, OSError) as error:
                self.failed[kind] = str(error)
        if not os.path.exists(self.path["first"]) and os.path.exists(self.path["sampled"]):
            shutil.copy(self.path["sampled"], self.path["first"])

    def packed(self, name):
        with open(self.path[name], "rb") as f:
            return base64.b64encode(zlib.compress(f.read(), 9)).decode()


def time_program(item, here, args, cores):
    core, folder, begin = cores.get(), tempfile.mkdtemp(), time.monotonic()
    try:
        os.sched_setaffinity(0, {core})  # of this thread, and so of its children
        program, more = Program(item, here, folder), []
        for done in range(args.rounds):
            if done and args.limit and (time.monotonic() - begin) * (done + 1) / done > args.limit:
                break
            program.turn()
        while "body" in program.times and "body" not in program.failed and sum(program.times["body"]) + sum(more) < args.seconds:
            if args.limit and time.monotonic() - begin > args.limit:
                break
            more.append(program.one("body"))
        profiles = {n: program.packed(n) for n, path in program.path.items() if os.path.exists(path)}
        return {"times": program.times, "more": more, "profiles": profiles, "failed": program.failed}
    finally:
        shutil.rmtree(folder)
        cores.put(core)


def make_empty(plan, here):
    for folder, names in plan["empty"].items():
        for name in names:
            path = os.path.join(here, "inputs", folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if not os.path.exists(path):
                open(path, "w").close()


def put_loader(here):
    """Where the programs look for it."""
    link = os.path.dirname(HERES.decode())
    if os.path.islink(link):
        os.unlink(link)
    os.symlink(os.path.join(here, "lib"), link)


def run(args):
    here = os.path.abspath(args.folder)
    with open(os.path.join(here, "plan.json")) as f:
        plan = json.load(f)
    make_empty(plan, here)
    put_loader(here)
    cores, wanted = queue.Queue(), args.programs.split(",") if args.programs else list(plan["programs"])
    for core in elsewhere.separate_cores()[-args.at_once:]:
        cores.put(core)
    with concurrent.futures.ThreadPoolExecutor(cores.qsize()) as pool:
        futures = {p: pool.submit(time_program, plan["programs"][p], here, args, cores) for p in wanted}
        results = {p: future.result() for p, future in futures.items()}
    json.dump({"commit": plan["commit"], "date": datetime.date.today().isoformat(), "rounds": args.rounds, "programs": results,
               "machine": "%s with %d cores" % (elsewhere.model(), os.cpu_count())}, sys.stdout, indent=1)
    print()
    return 1 if any(found["failed"] for found in results.values()) else 0


def main():
    parser = argparse.ArgumentParser(description="CPU time of programs with sampled paths, on another machine.")
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=36, help="of CPU time, of all runs with samples (%(default)s)")
    parser.add_argument("--limit", type=float, default=200, help="seconds for a program: no run begins later (%(default)s)")
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--programs", help="(all that are there)")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
