#!/usr/bin/env python3
"""A server under load with sampled paths on and a store that fills: what is seen of a change of its load.

    bench/redis_store.py [--bin BUILD/bin] [--minutes 30] [--dump 10] [--mode pep] [--work FOLDER]

redis is fetched as a Debian source package and built twice, by clang and by footpath-cc --fp-mode=pep. Both servers get
the same load from redis-benchmark, one after the other in short turns, for the cost in CPU time. Then the server that
samples gets a load of one kind for the first half of the time and of another kind for the second; it dumps every few
seconds into the spool of a store, which `footpath collect` takes in. In the end the store is asked: what it holds, how far
the paths of each half agree (footpath compare), and whether its sums are those of the server's own last dump. Where
`footpath watch` knows --against, it runs beside the second half and tells the drift from a profile of the first.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOADS = (["set,get", "lpush,lrange_100,zadd,zpopmin"])


def run(*command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(command), done.stdout[-3000:]))
    return done.stdout


def build(args, name, compiler, flags):
    """The folder of redis built by this compiler."""
    source, folder = os.path.join(args.work, "sources", "redis"), os.path.join(args.work, name)
    if not os.path.isdir(source):
        run(os.path.join(HERE, "fetch"), os.path.join(args.work, "sources"), "redis")
    if not os.path.exists(os.path.join(folder, "src", "redis-server")):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, symlinks=True)
        env = dict(os.environ, CC=compiler, FOOTPATH_CC_FLAGS=flags, FOOTPATH_OUT="/dev/null")
        run("make", "-s", "-j2", "CC=" + compiler, "CFLAGS=-w", "MALLOC=libc", "redis-server", "redis-benchmark", "redis-cli",
            cwd=os.path.join(folder, "src"), env=env)
    return os.path.join(folder, "src")


class Server:
    """One redis-server on a unix socket, in a folder of its own."""

    def __init__(self, args, src, env):
        self.src, self.socket = src, os.path.join(args.work, "redis-%d.sock" % os.getpid())
        if os.path.exists(self.socket):
            os.unlink(self.socket)  # of a server that was killed
        self.child = subprocess.Popen([os.path.join(src, "redis-server"), "--port", "0", "--unixsocket", self.socket, "--save", "",
                                       "--appendonly", "no"], cwd=args.work, env=dict(os.environ, **env), stdout=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            if self.child.poll() is not None:
                sys.exit("redis-server ended with %d" % self.child.returncode)
            time.sleep(0.05)

    def load(self, tools, tests, requests):
        return run(os.path.join(tools, "redis-benchmark"), "-s", self.socket, "-q", "-n", str(requests), "-c", "20", "-t", tests, "-r", "10000")

    def cpu(self):
        with open("/proc/%d/stat" % self.child.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()


def cost(args, plain, counted, turns=5):
    """CPU time for the same requests, the least of some turns, plain and with samples in turn."""
    least = {}
    for _ in range(turns):
        for name, src in (("plain", plain), (args.mode, counted)):
            server = Server(args, src, {"FOOTPATH_OUT": "/dev/null"})
            server.load(plain, LOADS[0], 50000)
            used = server.cpu()
            server.stop()
            least[name] = min(least.get(name, used), used)
    print("CPU time of the server for 2 x 50,000 requests (%s), least of %d: plain %.2f s, %s %.2f s, %+.1f%%"
          % (LOADS[0], turns, least["plain"], args.mode, least[args.mode], 100 * (least[args.mode] / least["plain"] - 1)), flush=True)


def footpath(args, *words):
    return run(os.path.join(args.bin, "footpath"), *words)


def watched(args, store, first):
    """footpath watch --against beside the second half, where this footpath has it."""
    if "--against" not in footpath(args, "watch", "--help"):
        print("this footpath has no watch --against; the halves are compared in the end")
        return None
    profile = os.path.join(args.work, "first.prof")
    footpath(args, "merge", "-o", profile, first)
    log = open(os.path.join(args.work, "watch.log"), "w")
    return subprocess.Popen([os.path.join(args.bin, "footpath"), "watch", store, "--against", profile], stdout=log, stderr=log)


def shares(args, name, top=6):
    """The functions that cost most."""
    lines = footpath(args, "show", "--functions", "--top", str(top), name).split("\n")
    return "\n".join("    " + line for line in lines if line.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(HERE, "..", "build", "bin"))
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--dump", type=float, default=10, help="seconds between two dumps")
    parser.add_argument("--mode", default="pep", choices=["pep", "path"])
    parser.add_argument("--work", type=os.path.abspath, default=os.path.join(HERE, "..", ".cache", "redis"))
    parser.add_argument("--no-cost", action="store_true", help="leave out the comparison of CPU time")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    cc = os.path.join(args.bin, "footpath-cc")
    plain = build(args, "plain", cc, "--fp-mode=none")
    counted = build(args, args.mode, cc, "--fp-mode=" + args.mode)
    if not args.no_cost:
        cost(args, plain, counted)
    path = os.path.join(args.work, "redis.store")
    for name in (path, path + "-wal", path + "-shm"):
        if os.path.exists(name):
            os.unlink(name)
    shutil.rmtree(path + ".spool", ignore_errors=True)
    store = "store:" + path + "?program=redis-server"
    collector = subprocess.Popen([os.path.join(args.bin, "footpath"), "collect", "--quiet", path])
    server = Server(args, counted, {"FOOTPATH_OUT": "store:" + path, "FOOTPATH_DUMP_SECONDS": str(args.dump)})
    marks, requests, watcher = [time.time()], 0, None
    for half, tests in enumerate(LOADS):
        end = time.time() + 30 * args.minutes
        while time.time() < end:
            server.load(plain, tests, 20000)
            requests += 20000 * len(tests.split(","))
        time.sleep(2 * args.dump)  # what was counted is in a dump
        marks.append(time.time())
        print("half %d: %s, until %s UTC" % (half + 1, tests, time.strftime("%H:%M:%S", time.gmtime(marks[-1]))), flush=True)
        if half == 0:
            first = store + "&until=" + time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(marks[-1]))
            watcher = watched(args, store, first)
    used = server.cpu()
    server.stop()
    time.sleep(1)
    collector.send_signal(signal.SIGTERM)
    collector.wait()
    if watcher:
        watcher.send_signal(signal.SIGTERM)
        watcher.wait()
        print(open(os.path.join(args.work, "watch.log")).read()[-4000:])
    print("%d requests in %.1f minutes; the server took %.1f s of CPU time" % (requests, (marks[-1] - marks[0]) / 60, used))
    print(footpath(args, "store", "list", path))
    middle = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(marks[1]))
    halves = [store + "&until=" + middle, store + "&since=" + middle]
    for number, half in enumerate(halves):
        print("half %d\n%s" % (number + 1, shares(args, half)))
    print("paths of the two halves: " + footpath(args, "compare", *halves, "--metric", "overlap").strip())
    thirds = [marks[0] + (marks[1] - marks[0]) * k / 2 for k in (0, 1, 2)]
    same = ["%s&since=%s&until=%s" % (store, *(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) for t in pair)) for pair in zip(thirds, thirds[1:])]
    print("the two quarters of the first half: " + footpath(args, "compare", *same, "--metric", "overlap").strip())
    print(footpath(args, "store", "check", path).strip())
    print(footpath(args, "report", store, "-o", os.path.join(args.work, "report")).strip())


if __name__ == "__main__":
    main()
