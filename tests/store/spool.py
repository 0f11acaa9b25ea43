#!/usr/bin/env python3
"""Programs with FOOTPATH_OUT=store:PATH, and footpath collect: every run comes into the store, once, whatever happens to
programs and collectors.

    spool.py --bin BUILD/bin --build BUILD [--case NAME]...
"""
import os
import random
import shutil
import signal
import subprocess
import time

import common
import harness
import server
from common import Bench, going
from harness import equal, expect, main


PATIENCE = 1800  # seconds: for what is stuck, not for what is slow


def wait_for(what, condition):
    """For what must happen, however busy the machine is."""
    end = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < end, "waited for " + what)
        time.sleep(0.02)


def runs(b):
    return sum(one["runs"] for one in b.list()["builds"])


def spool_of(b):
    return b.path("s.store.spool")


def waiting(b):
    return [name for name in os.listdir(spool_of(b)) if not name.endswith(".map")]


def case_written(b):
    """A run is a file in the spool; whoever reads the store takes it in. The map is there once."""
    b.program()
    env = {"FOOTPATH_OUT": b.store()}
    for n in 10, 20, 30:
        b.run("./p", str(n), env=env, silent=True)
        b.run("./p", str(n))
    names = sorted(os.listdir(spool_of(b)))
    equal([name.split(".")[-1] for name in names].count("prof"), 3, "a file per run: %s" % names)
    equal([name.split(".")[-1] for name in names].count("map"), 1, "one map: %s" % names)
    os.rename(b.path("p"), b.path("moved"))  # the store needs no program
    equal(b.tool("show", b.store()).stdout, b.tool("show", "footpath.prof").stdout, "shown")
    equal(waiting(b), [], "taken in")
    b.run("./moved", "10", env={"FOOTPATH_OUT": "store:s.store"})
    equal(b.counts(b.store("program=p"))[0], 3, "runs of p")
    equal(b.list()["builds"][0]["program"], b.path("moved"), "a relative name")


def case_listed(b):
    """`store list` and `store check` take in what waits, too; that makes the store."""
    b.program()
    for n in 1, 2:
        b.run("./p", "10", env={"FOOTPATH_OUT": b.store()}, silent=True)
        equal(runs(b), n, "runs in the list")
        equal(waiting(b), [], "taken in")
    b.run("./p", "10", env={"FOOTPATH_OUT": b.store()}, silent=True)
    expect("of 3 runs" in b.tool("store", "check", "s.store").stdout, "runs that were checked")


def case_collect(b):
    """footpath collect takes files in as they come, and ends by a signal with all of them committed."""
    b.program()
    with going(b, b.bin("footpath"), "collect", b.store()) as collector:
        wait_for("the spool", lambda: os.path.isdir(spool_of(b)))
        for n in range(20):
            b.run("./p", str(n), env={"FOOTPATH_OUT": b.store()})
        wait_for("an empty spool", lambda: not waiting(b))
        collector.send_signal(signal.SIGTERM)
        equal(collector.wait(PATIENCE), 0, "status")
    equal(runs(b), 20, "runs")


def case_postgresql(b):
    """The same into PostgreSQL: the spool is named."""
    b.program()
    b.run("./p", "50")
    with server.Server() as private:
        url = private.url()
        for _ in range(3):
            b.run("./p", "50", env={"FOOTPATH_OUT": b.store()})
        b.tool("collect", url, status=2)
        done = b.tool("collect", "--once", url, "--spool", spool_of(b))
        equal(done.stdout, "added 3 records of 3 files\n", "collected")
        shown = b.counts(url)
        equal(shown[0], 3, "runs")
        one = b.counts("footpath.prof")[1]
        equal(shown[1], {f: {p: 3 * n for p, n in paths.items()} for f, paths in one.items()}, "counts")


def case_threads_forks(b):
    """Programs with threads and children, in check mode: paths imply the edges in the store as well."""
    source = os.path.join(harness.PROGRAMS, "forks.c")
    expect(os.path.exists(source), "tests/programs/forks.c")
    b.cc("-O2", "-g", "--fp-mode=check", "--fp-exits", source, "-pthread", "-o", "forks")
    b.run("./forks", env={"FOOTPATH_OUT": b.store()}, status=None)
    b.run("./forks", env={"FOOTPATH_OUT": "f.prof"}, status=None)
    expect(len(waiting(b)) >= 2, "a file per process")
    b.verify(b.store())
    equal(b.counts(b.store()), b.counts("f.prof"), "counts")


def case_bad_files(b):
    """Files that are no profiles are put away and told; others beside them are taken. Links and folders are left alone."""
    b.program()
    env = {"FOOTPATH_OUT": b.store()}
    b.run("./p", "10", env=env)
    good = b.read(os.path.join("s.store.spool", waiting(b)[0]))
    for name, content in (("a.prof", b"no profile"), ("b.prof", good[:90] + b"??" + good[92:]), ("c.prof", b""),
                          ("d.map", b"no map"), ("e.txt", b"not ours")):
        b.write(os.path.join("s.store.spool", name), content)
    os.symlink("/etc/passwd", os.path.join(spool_of(b), "link.prof"))
    os.mkdir(os.path.join(spool_of(b), "folder.prof"))
    os.mkfifo(os.path.join(spool_of(b), "pipe.prof"))
    done = b.tool("collect", "--once", b.store())
    expect("a.prof" in done.stderr and "b.prof" in done.stderr and "d.map" in done.stderr, "told", done.stderr)
    equal(runs(b), 1, "the good one")
    left = sorted(name for name in os.listdir(spool_of(b)) if not name.endswith(".map"))
    equal(left, ["a.prof.bad", "b.prof.bad", "d.map.bad", "e.txt", "folder.prof", "link.prof", "pipe.prof"], "what is left")
    equal(b.tool("collect", "--once", b.store(), silent=True).stdout, "", "told once")


def case_read_only(b):
    """Who may not write to the store reads it without what waits in the spool, and hears so."""
    if os.geteuid() == 0:
        as_user = {"user": 65534, "group": 65534, "extra_groups": []}
        os.chmod(b.folder, 0o755)
    else:
        as_user = {}
    b.program()
    b.run("./p", "10", env={"FOOTPATH_OUT": b.store()})
    b.tool("collect", "--once", b.store())
    b.run("./p", "10", env={"FOOTPATH_OUT": b.store()})
    shutil.copy(b.bin("footpath"), b.path("footpath"))  # the build may lie where others may not look
    os.chmod(b.path("s.store"), 0o444)
    os.chmod(b.folder, 0o555)
    try:
        done = b.run(b.path("footpath"), "show", b.store(), **as_user)
    finally:
        os.chmod(b.folder, 0o755)
        os.chmod(b.path("s.store"), 0o644)
    expect("1 run of p" in done.stdout and "is left out" in done.stderr, "read", done.stdout + done.stderr)
    equal(b.counts(b.store())[0], 2, "nothing was lost")


def collected(b):
    """Takes in what waits; what the store has of each program then."""
    b.tool("collect", "--once", b.store())
    return {os.path.basename(one["program"]): one for one in b.list()["builds"]}


def case_killed(b):
    """Programs and collectors are killed at random moments: a run that had ended is in the store or in the spool, and in
    the end each counts once. A program that dumps is killed as well: its last dump counts."""
    b.program()
    b.write("slow.c", "#include <stdio.h>\n#include <stdlib.h>\nvolatile long sum;\n"
            "__attribute__((noinline)) static void f(long x) { if (x % 3) sum += x; else sum -= 1; }\n"
            "int main(void) { for (long i = 0;; i++) f(i); }\n")
    b.cc("-O2", "-g", "slow.c", "-o", "slow")
    rng, ended, kills = random.Random(3), 0, 0
    env = harness.environment(FOOTPATH_OUT=b.store())
    slow = [subprocess.Popen([b.path("slow")], env=dict(env, FOOTPATH_DUMP_SECONDS="0.05")) for _ in range(2)]
    try:
        for _ in range(30):
            collector = subprocess.Popen([b.bin("footpath"), "collect", b.store()], stdout=subprocess.DEVNULL)
            for _ in range(4):
                child = subprocess.Popen([b.path("p"), "1000"], env=env, stdout=subprocess.DEVNULL)
                if rng.random() < 0.3:
                    time.sleep(rng.random() * 0.004)
                    child.kill()
                ended += child.wait() == 0
            time.sleep(rng.random() * 0.05)
            collector.kill()
            kills += collector.wait() == -signal.SIGKILL
        def dumped():
            slow = collected(b).get("slow", {"runs": 0})
            return slow["runs"] == 2 and slow["records"] > 4
        wait_for("dumps of both, some in pieces", dumped)
    finally:
        for child in slow:
            child.kill()
            child.wait()
    listed = collected(b)
    have = listed["p"]["runs"]
    # a process that was killed may have written all before it died
    expect(ended <= have <= 120, "%d ended, %d are there" % (ended, have))
    count, paths = b.counts(b.store("program=p"))
    equal(count, have, "runs")
    b.run("./p", "1000")
    one = b.counts("footpath.prof")[1]
    equal(paths, {f: {p: have * n for p, n in of.items()} for f, of in one.items()}, "each run counts once")
    equal(listed["slow"]["runs"], 2, "killed after a dump")
    b.tool("store", "check", b.store())
    expect(kills == 30, "killed", kills)


def case_no_module(b):
    """Without the module of PostgreSQL its form says what to install; all else works."""
    os.makedirs(b.path("alone", "bin"))
    shutil.copy(b.bin("footpath"), b.path("alone", "bin", "footpath"))
    done = b.run(b.path("alone", "bin", "footpath"), "show", "postgresql://nowhere/none", status=1)
    expect("footpath-postgresql" in done.stderr and "libpq-dev" in done.stderr, "what to install:", done.stderr)
    needed = b.run("readelf", "-d", b.bin("footpath")).stdout
    expect("libsqlite3" in needed and "libpq" not in needed, "what the tool links")
    for other in "bin/footpath-cc", "lib/libfootpath.so.0":
        needed = b.run("readelf", "-d", os.path.join(b.args.bin, "..", other)).stdout
        expect("libsqlite3" not in needed and "libpq" not in needed, other + " links no database")


if __name__ == "__main__":
    main(__doc__, *common.OPTIONS, bench=Bench)
