#!/usr/bin/env python3
"""Live counters: servers that are killed under load, what FOOTPATH_LIVE=1 costs, and what it does to a process to be read.

    bench/live.py [--bin BUILD/bin] [--parts redis,nginx,cost,looks] [--programs bzip2,lua,minisat,zstd] [--kills 5] [--looks 1000] [--docs]
    bench/live.py pack FOLDER           CPU time on another machine (elsewhere.py); FOLDER/run.sh > FILE there
    bench/live.py --times FILE [--docs]     the table of what run.sh printed

redis: redis-server, built by footpath-cc, gets requests by redis-benchmark and is killed by SIGKILL in the midst of them. It counts
its commands itself; its last answer before the kill is compared with the calls of the function `call` in the profile that is left.

nginx: a master with two workers; all of them are killed under load. Lines of the access log, which a worker writes when a request
is done, are compared with the calls of ngx_http_log_handler: of each worker at most one may be under way.

cost: instructions (cachegrind) of programs with FOOTPATH_LIVE=1 and without, on small inputs. CPU time (user and system, interleaved) is
measured by pack, with inputs that take a second or more: what is added is added once per process. The profile lies on the disk of the
folder, or on a tmpfs. zstd has 16 threads there and all cores; each of the others has a core for itself.

looks: pauses.c, with 2 threads that count all the time, is read by footpath show --pid many times, and then it counts for a minute
without being read. The process is niced, so that the looks come fast. It says how often its threads waited for anything, and how much CPU time a round of some ten microseconds took at most.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import corpus
import elsewhere
import inputs
import marks
import redis_store

DOCUMENT = os.path.join(corpus.ROOT, "docs", "live.md")
PROGRAMS = ["bzip2", "lua", "minisat", "zstd"]
WAYS = {"off": {"FOOTPATH_LIVE": "0"}, "live": {"FOOTPATH_LIVE": "1"}}
PLACES = {"disk": "on a disk", "memory": "on a tmpfs"}
LONG = {"bzip2": "%(exe)s -kc9 %(in)s/mix-16m", "lua": "%(exe)s %(in)s/bench.lua 1200", "minisat": "%(exe)s -verb=0 %(in)s/sat-live-250.cnf",
        "zstd": "%(exe)s -9 -T16 -B524288 -c" + 4 * " %(in)s/mix-16m"}


def calls(args, folder, function):
    """Calls of a function in what was left in the folder, and the number of runs."""
    shown = json.loads(redis_store.footpath(args, "show", "--json", "--top", "0", "--function", function, os.path.join(folder, "out.prof")))
    return sum(f["calls"] for f in shown["functions"] if f["name"] == function), shown["runs"]


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


# ---- redis ----

def redis(args):
    src = redis_store.build(args, "live", os.path.join(args.bin, "footpath-cc"), "")
    for kill in range(args.kills):
        folder = empty(os.path.join(args.work, "killed"))
        server = redis_store.Server(args, src, {"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": os.path.join(folder, "out.prof")})
        load = subprocess.Popen([os.path.join(src, "redis-benchmark"), "-s", server.socket, "-q", "-n", "10000000", "-c", "20", "-t",
                                 "set,get,lpush"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, FOOTPATH_OUT="/dev/null"))
        time.sleep(random.uniform(1, 3))
        load.send_signal(signal.SIGSTOP)  # so that the last answer is the last command
        time.sleep(0.3)
        told = redis_store.run(os.path.join(src, "redis-cli"), "-s", server.socket, "info", "stats", env=dict(os.environ, FOOTPATH_OUT="/dev/null"))
        commands = int(re.search(r"total_commands_processed:(\d+)", told).group(1))
        server.child.send_signal(signal.SIGKILL)
        server.child.wait()
        load.kill()
        load.wait()
        counted, runs = calls(args, folder, "call")
        print("redis, kill %d: %d commands by redis's own count, %d calls counted (one more is the question itself); %d run"
              % (kill + 1, commands, counted, runs), flush=True)


# ---- nginx ----

CONF = """
worker_processes 2;
user root;
pid %(folder)s/pid;
error_log %(folder)s/errors;
daemon off;
events { worker_connections 64; }
http {
    access_log %(folder)s/access;
    client_body_temp_path %(folder)s/a; proxy_temp_path %(folder)s/b; fastcgi_temp_path %(folder)s/c;
    uwsgi_temp_path %(folder)s/d; scgi_temp_path %(folder)s/e;
    server { listen 127.0.0.1:%(port)d; root %(folder)s; }
}
"""


def build_nginx(args):
    folder = os.path.join(args.work, "nginx")
    exe = os.path.join(folder, "objs", "nginx")
    if not os.path.exists(exe):
        redis_store.run(os.path.join(corpus.HERE, "fetch"), corpus.CACHE, "nginx")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(corpus.CACHE, "nginx"), folder, symlinks=True)
        env = dict(os.environ, FOOTPATH_OUT="/dev/null")
        redis_store.run("./configure", "--with-cc=" + os.path.join(args.bin, "footpath-cc"), "--with-cc-opt=-w", "--without-http_rewrite_module",
                        "--without-http_gzip_module", cwd=folder, env=env)
        redis_store.run("make", "-s", "-j2", "build", cwd=folder, env=env)
    return exe


def ask(port, requests):
    """Requests one after the other on connections that stay open, until the server is gone."""
    import http.client
    done = 0
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for _ in range(requests):
            connection.request("GET", "/page")
            connection.getresponse().read()
            done += 1
    except (OSError, http.client.HTTPException):
        pass
    return done


def nginx(args):
    exe = build_nginx(args)
    for kill in range(args.kills):
        folder, port = empty(os.path.join(args.work, "killed")), random.randint(20000, 30000)
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "page"), "w") as f:
            f.write("yes")
        with open(os.path.join(folder, "conf"), "w") as f:
            f.write(CONF % {"folder": folder, "port": port})
        master = subprocess.Popen([exe, "-e", os.path.join(folder, "errors"), "-p", folder, "-c", os.path.join(folder, "conf")], start_new_session=True,
                                  env=dict(os.environ, FOOTPATH_LIVE="1", FOOTPATH_OUT=os.path.join(folder, "out.prof")))
        time.sleep(2)
        clients = []
        for _ in range(4):
            child = os.fork()
            if not child:
                ask(port, 1 << 30)
                os._exit(0)
            clients.append(child)
        time.sleep(random.uniform(1, 3))
        os.killpg(master.pid, signal.SIGKILL)
        master.wait()
        for child in clients:
            os.waitpid(child, 0)
        time.sleep(0.5)
        with open(os.path.join(folder, "access")) as f:
            lines = sum(1 for _ in f)
        counted, runs = calls(args, folder, "ngx_http_log_handler")
        print("nginx, kill %d: %d lines in the log, %d calls counted, %d processes" % (kill + 1, lines, counted, runs), flush=True)
        if not lines <= counted <= lines + 2:
            sys.exit("nginx: %d calls for %d lines" % (counted, lines))


# ---- cost ----

def instructions(line, exe, folder, env, ends):
    log = os.path.join(folder, "cachegrind.log")
    line = line.replace(exe, "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=%s %s" % (log, exe))
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=dict(os.environ, LC_ALL="C", **env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode not in ends:
        sys.exit("%s: status %d" % (line, done.returncode))
    with open(log) as f:
        return int(re.search(r"I\s+refs:\s+([\d,]+)", f.read()).group(1).replace(",", ""))


def build(args, program):
    corpus.fetch([program])
    return corpus.build(program, os.path.join(args.work, "cost"), os.path.join(args.bin, "footpath-cc"), os.path.join(args.bin, "footpath-c++"), "-O2")


def cost(args):
    rows = {}
    for program in corpus.names(args.programs):
        built, folder, counted = build(args, program), empty(os.path.join(args.work, "runs")), {}
        line = corpus.command(program, "small", built, inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs")), os.path.dirname(built))
        for name, env in WAYS.items():
            counted[name] = instructions(line, built, folder, dict(env, FOOTPATH_OUT="%s/%s.prof" % (folder, name)), program.ends)
        more = counted["live"] - counted["off"]
        rows[program.name] = ["{:,}".format(counted["off"]), "{:+,} ({:+.2f}%)".format(more, 100 * more / counted["off"])]
        print(program.name, *rows[program.name], flush=True)
    if args.docs:
        marks.write(DOCUMENT, "live-instructions", ["program", "instructions", "live"], rows, marks.stamp(), None, PROGRAMS)


def pack(args, folder):
    made, runs = inputs.make(os.path.join(corpus.ROOT, ".cache", "inputs")), []
    for program in corpus.names(args.programs):
        start = elsewhere.pack_exe(folder, "live-" + program.name, build(args, program))
        line = LONG[program.name] % {"exe": start, "in": "$HERE/inputs"}
        for place in PLACES:
            runs += [{"program": "live %s %s" % (program.name, place), "variant": way, "command": line, "ends": program.ends, "env": env,
                      "place": place, "all_cores": program.name == "zstd"} for way, env in WAYS.items()]
    for name in re.findall(r"/inputs/(\S+)", " ".join(r["command"] for r in runs)):
        target = os.path.join(folder, "inputs", name)
        if name.startswith("sat-live"):
            with open(target, "w") as f:
                f.write(inputs.sat(random.Random(name), 250, 4.26))
        else:
            elsewhere.copy_files(os.path.join(made, name), target)
    elsewhere.pack_plan(folder, marks.tree(), runs)


def told(args):
    """The table of what elsewhere.py printed."""
    with open(args.times) as f:
        given = json.load(f)
    rows, at = {}, {}
    for name in PROGRAMS:
        cells = []
        for place in PLACES:
            by = given["times"].get("live %s %s" % (name, place))
            if by:
                off, live = min(by["off"]), min(by["live"])
                cells += ["%.3f" % off, "%.3f (%+.2f%%)" % (live, 100 * (live / off - 1))]
        if len(cells) == 2 * len(PLACES):
            rows[name] = cells
            at[name] = marks.stamp(where=given["machine"], when=given["date"], commit=given["commits"]["live %s disk" % name])
            print(name, *cells)
    print("rounds: %d; the disk: %s; kernel %s; failed: %s" % (given["rounds"], given["disk"], given["kernel"], given["failed"] or "none"))
    if args.docs:
        columns = ["program"] + [head % where for where in PLACES.values() for head in ("%s, s", "%s, live, s")]
        marks.write(DOCUMENT, "live-time", columns, rows, at, None, PROGRAMS)


# ---- looks ----

def looks(args):
    folder = empty(os.path.join(args.work, "looks"))
    exe = os.path.join(folder, "pauses")
    redis_store.run(os.path.join(args.bin, "footpath-cc"), "-O2", "-pthread", os.path.join(corpus.HERE, "pauses.c"), "-o", exe)
    for place in (folder, "/dev/shm"):
        took = 0
        for times in (args.looks, 0):
            out = os.path.join(place, "pauses.%d.prof" % os.getpid())
            process = subprocess.Popen(["nice", "-n", "10", exe, "2"], stdout=subprocess.PIPE, text=True, env=dict(os.environ, FOOTPATH_LIVE="1", FOOTPATH_OUT=out))
            time.sleep(3)
            begin = time.monotonic()
            for _ in range(times):
                redis_store.footpath(args, "show", "--json", "--pid", str(process.pid))
            time.sleep(0 if times else min(took, 60))
            took = time.monotonic() - begin
            process.terminate()
            rounds, longest, above, waits = map(int, process.communicate()[0].split())
            os.remove(out)
            print("%s, read %d times in %.0f s: %d rounds, threads waited %d times, most CPU time of a round %.3f ms, %d rounds above 1 ms"
                  % ("a disk" if place == folder else "memory", times, took, rounds, waits, longest / 1e6, above), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["pack"])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(corpus.ROOT, "build", "bin"))
    parser.add_argument("--parts", default="redis,nginx,cost,looks")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--times", help="what run.sh printed on another machine; nothing is measured here")
    parser.add_argument("--docs", action="store_true", help="put the rows into docs/live.md")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--looks", type=int, default=1000)
    parser.add_argument("--work", type=os.path.abspath, default=os.path.join(corpus.ROOT, ".cache", "live"))
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    if args.what and not args.folder:
        parser.error("pack needs a folder")
    if args.what:
        return pack(args, args.folder)
    if args.times:
        return told(args)
    for part in args.parts.split(","):
        {"redis": redis, "nginx": nginx, "cost": cost, "looks": looks}[part](args)


if __name__ == "__main__":
    main()
