#!/usr/bin/env python3
"""Stores, measured: how fast records are added, how fast one program's day is shown, how large a record is on disk.

    bench/store.py --bin BUILD/bin [--records 1000000] [--db sqlite,postgresql] [--work FOLDER]

Ten programs with ten builds each are compiled and run. Their profiles are the templates of the records that make-records
writes: each record is a run with its own id, host, time and counts, over 50 hosts and 30 days. The files are added by
`footpath store add` as a user would, 100 records per file; PostgreSQL is a private server, with fsync. A share, of the last
hour, is added from a spool with one record per file (`footpath collect --once`). Every figure is printed with the command it is of; the
sum of all counters in the store is compared with what was made.
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "store"))
import server  # noqa: E402

DAY = 86400


def source(program, version, functions=40):
    """A program of some functions with branches, of which each input takes a part."""
    rng = random.Random(program * 100)
    text = ["#include <stdlib.h>", "volatile long out;"]
    for f in range(functions):
        tests = "\n".join("    if (x %% %d %s %d) s += %d; else s ^= x;" % (rng.randint(2, 19), rng.choice("<>"), rng.randint(1, 9), k)
                          for k in range(rng.randint(1, 4)))
        text.append("__attribute__((noinline)) static long f%d(long x)\n{\n    long s = %d;\n%s\n"
                    "    for (long i = 0; i < x %% 7; i++) s += i %% 3 ? i : %d;\n    return s;\n}" % (f, version, tests, f))
    calls = "\n".join("        if (i %% %d == 0) s += f%d(i);" % (1 + f % 5, f) for f in range(functions))
    text.append("int main(int c, char **v)\n{\n    long s = 0, n = c > 1 ? atol(v[1]) : 1000;\n    for (long i = 0; i < n; i++) {\n%s\n    }\n"
                "    out = s;\n    return 0;\n}" % calls)
    return "\n".join(text) + "\n"


def build(args, folder, programs=10, versions=10):
    """Profiles of one run each, a template per build."""
    templates = []
    for p in range(programs):
        for v in range(versions):
            name = os.path.join(folder, "service%d" % p)
            out = os.path.join(folder, "t%d-%d.prof" % (p, v))
            templates.append(out)
            if os.path.exists(out):
                continue
            with open(name + ".c", "w") as f:
                f.write(source(p, v + 1))
            subprocess.run([os.path.join(args.bin, "footpath-cc"), "-O1", "-g", name + ".c", "-o", name], check=True)
            subprocess.run([name, "2000"], check=True, env=dict(os.environ, FOOTPATH_OUT=out))
    return templates


def make(args, out, count, per_file, templates, seed, end, days=30):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    made = subprocess.run([os.path.join(args.bin, "..", "make-records"), out, str(count), str(per_file), "50", str(days), str(end),
                           str(seed), *templates], check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted(os.path.join(out, n) for n in os.listdir(out)), int(re.search(r"^all (\d+)$", made, re.M)[1])


def cpu():
    """Of all commands so far; a server is none of them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def footpath(args, *words):
    began = time.monotonic()
    done = subprocess.run([os.path.join(args.bin, "footpath"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(words)[:300], done.stderr))
    return time.monotonic() - began, done.stdout


def join(name, filter):
    return name + ("&" if "?" in name else "?") + filter


def measure(args, db, name, files, total, records, spool, spool_total, spooled, end, size):
    print("\n%s" % db)
    seconds, used = 0, cpu()
    for at in range(0, len(files), 2000):
        seconds += footpath(args, "store", "add", "--store", name, *files[at:at + 2000])[0]
    print("  add: %d records in %.1f s, %.0f a second; CPU time of footpath %.1f s  (footpath store add, %d records per file)"
          % (records, seconds, records / seconds, cpu() - used, args.per_file), flush=True)
    again, out = footpath(args, "store", "add", "--store", name, *files[:200])
    print("  add 200 of the files again: %.2f s, %s" % (again, out.strip()))
    bytes = size()
    print("  size: %d bytes, %.0f a record" % (bytes, bytes / records))
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(end - 10 * DAY))
    until = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(end - 9 * DAY))
    for filter in ("program=service3&since=%s&until=%s" % (since, until), "program=service3&since=%s&until=%s&build=all" % (since, until),
                   "program=service3&since=%s&until=%s&host=host07" % (since, until)):
        if db == "postgresql":
            filter = filter.replace("&host=", "&on=")
        looks = [footpath(args, "show", join(name, filter)) for _ in range(5)]
        print("  show %s: %.2f s (of 5: %s)  %s" % (filter.replace(since, "D").replace(until, "D+1"), min(t for t, _ in looks),
                                                   " ".join("%.2f" % t for t, _ in looks), looks[0][1].split("\n")[0]))
    used = cpu()
    took, _ = footpath(args, "collect", "--once", "--spool", spool, name)
    print("  collect: %d files of one record in %.1f s, %.0f a second; CPU time of footpath %.1f s" % (spooled, took, spooled / took, cpu() - used), flush=True)
    took, out = footpath(args, "store", "check", name)
    have = int(re.search(r"sum to ([\d,]+)", out)[1].replace(",", ""))
    print("  check: %.1f s, %s: %s" % (took, out.strip(), "exact" if have == (total + spool_total) % 2**64 else "WRONG, expected %d" % (total + spool_total)))
    took, out = footpath(args, "store", "retain", name, "--runs", "7d", "--hours", "20d")
    print("  retain --runs 7d --hours 20d: %.1f s, %s" % (took, out.strip()))
    after = int(re.search(r"sum to ([\d,]+)", footpath(args, "store", "check", name)[1])[1].replace(",", ""))
    print("  sums after it: %s" % ("the same" if after == have else "WRONG"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, default=os.path.join(HERE, "..", "build", "bin"))
    parser.add_argument("--records", type=int, default=1000000)
    parser.add_argument("--spooled", type=int, default=20000, help="records that come through a spool, one per file")
    parser.add_argument("--per-file", type=int, default=100)
    parser.add_argument("--db", default="sqlite,postgresql")
    parser.add_argument("--work", type=os.path.abspath, default=os.path.join(HERE, "..", ".cache", "store"))
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    end = int(time.time())
    templates = build(args, args.work)
    files, total = make(args, os.path.join(args.work, "files"), args.records, args.per_file, templates, 1, end)
    raw = sum(os.path.getsize(path) for path in files)
    print("%d records of %d builds, 50 hosts, 30 days; as profile files %d bytes, %.0f a record" % (args.records, len(templates), raw, raw / args.records))
    for db in args.db.split(","):
        spool = os.path.join(args.work, "spool")
        _, spool_total = make(args, spool, args.spooled, 1, templates, 2, end, 1 / 24)
        rest = (args.records, spool, spool_total, args.spooled, end)
        if db == "sqlite":
            path = os.path.join(args.work, "s.store")
            for ending in "", "-wal", "-shm":
                if os.path.exists(path + ending):
                    os.unlink(path + ending)
            measure(args, db, "store:" + path, files, total, *rest,
                    lambda: sum(os.path.getsize(path + e) for e in ("", "-wal") if os.path.exists(path + e)))
        else:
            with server.Server(sync=True) as private:
                url = private.url()
                measure(args, db, url, files, total, *rest, lambda: int(private.sql(url, "SELECT pg_database_size(current_database())")))


if __name__ == "__main__":
    main()
