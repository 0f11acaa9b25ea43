#!/usr/bin/env python3
"""Stores: what is added is what is read, once each, by every command; retention keeps sums; writers that are killed lose
nothing that they acknowledged. With SQLite and with PostgreSQL.

    run.py --bin BUILD/bin --build BUILD [--db sqlite|postgresql] [--case NAME]...
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import common
from common import Bench, with_server
from harness import equal, expect, main


@with_server
def case_same_as_file(b):
    """A store shows what the file shows that was added to it, in every form, and no matter how often it was added."""
    b.program()
    for n in 10, 1000, 100000:
        b.run("./p", str(n))
    done = b.add("footpath.prof")
    equal(done.stdout, "added 3 records\n", "added")
    equal(b.add("footpath.prof").stdout, "added 0 records; 3 known already\n", "added again")
    for words in (["show"], ["show", "--json", "--top", "0"], ["show", "--functions"], ["annotate"], ["coverage"], ["stats"],
                  ["export", "--format", "callgrind", "-o", "-"], ["export", "--format", "lcov", "-o", "-"],
                  ["dot", "--function", "kind"]):
        equal(b.tool(*words, b.store(), silent=True).stdout, b.tool(*words, "footpath.prof").stdout, " ".join(words))
    expect("/index.html" in b.tool("report", b.store(), "-o", "site").stdout, "report")
    equal(b.tool("compare", b.store(), "footpath.prof", "--metric", "overlap").stdout, "overlap 1.000000\n", "compare")
    expect("0 changed" in b.tool("diff", b.store(), "footpath.prof").stdout, "diff")
    b.tool("gap", b.store(), "footpath.prof")
    b.tool("merge", "-o", "merged.prof", b.store())
    equal(b.counts("merged.prof"), b.counts("footpath.prof"), "merge")
    b.tool("combine", "-o", "all.cp", b.store())
    b.tool("combine", "-o", "file.cp", "footpath.prof")
    equal(b.tool("show", "all.cp").stdout, b.tool("show", "file.cp").stdout, "combine")
    equal(len(b.json("info", "--json", b.store())["runs"]), 3, "runs in info")
    b.tool("store", "check", b.store())


@with_server
def case_watch(b):
    """watch waits for what is added, and shows that alone."""
    b.program()
    b.run("./p", "1000", env={"FOOTPATH_OUT": "one.prof"})
    b.run("./p", "70", env={"FOOTPATH_OUT": "two.prof"})
    b.add("one.prof")
    with common.going(b, b.bin("footpath"), "watch", "--json", "--every", "0.1", "--looks", "2", b.store()) as watching:
        text = watching.stdout.readline()  # the first look
        time.sleep(0.5)  # looks at a store that gets nothing
        b.add("two.prof")
        text += watching.stdout.read()
        watching.wait()
    equal(watching.returncode, 0, "status of watch")
    looks, decoder = [], json.JSONDecoder()
    while text.strip():
        look, end = decoder.raw_decode(text.lstrip())
        looks.append({f["name"]: f["calls"] for f in look["functions"]})
        text = text.lstrip()[end:]
    equal([look["kind"] for look in looks], [1000, 70], "calls of each look")


@with_server
def case_builds(b):
    """Of several builds the one that ran last is shown, and a line names the others."""
    for version in 1, 2, 3:
        b.program("p", version)
        b.run("./p", str(version * 100), env={"FOOTPATH_OUT": "v%d.prof" % version})
    b.program("other", 9)
    b.run("./other", "50", env={"FOOTPATH_OUT": "other.prof"})
    b.add("v2.prof", "v1.prof", "v3.prof")
    listed = b.list()["builds"]
    equal(len(listed), 3, "builds")
    newest = b.tool("show", b.store())
    equal(newest.stdout, b.tool("show", "v3.prof").stdout, "the newest build")
    expect("also has build " in newest.stderr and "build=all" in newest.stderr, "says what else there is:", newest.stderr)
    ids = {b.json("info", "--json", "v%d.prof" % v)["modules"][0]["build_id"]: v for v in (1, 2, 3)}
    equal({one["build_id"] for one in listed}, set(ids), "build-ids")
    for build, version in ids.items():
        equal(b.tool("show", b.store("build=" + build[:8])).stdout, b.tool("show", "v%d.prof" % version).stdout, build)
        equal(b.tool("show", "--program", build[:8], b.store()).stdout, b.tool("show", "v%d.prof" % version).stdout, build)
    b.tool("merge", "-o", "all.prof", "v1.prof", "v2.prof", "v3.prof")
    b.tool("merge", "-o", "store.prof", b.store("build=all"), silent=False)
    equal(b.tool("show", "--program", "all", "store.prof").stdout, b.tool("show", "--program", "all", "all.prof").stdout, "build=all")
    b.add("other.prof")
    equal(b.tool("show", b.store("program=other")).stdout, b.tool("show", "other.prof").stdout, "program=other")
    equal(b.tool("show", b.store("program=p")).stdout, b.tool("show", "v3.prof").stdout, "program=p")
    equal(b.tool("show", "--program", "p", b.store()).stdout, b.tool("show", "v3.prof").stdout, "--program p")
    equal(b.tool("show", "--program", "p", b.store("build=all")).stdout, b.tool("show", "v3.prof").stdout, "--program p of all")


@with_server
def case_filters(b):
    """By host and time; what matches nothing says what there is; mistakes in a name are told."""
    b.program()
    b.run("./p", "500")
    day = 86400
    now = int(time.time())
    files, _ = b.records("made", 240, 24, 4, 10, b.path("footpath.prof"), end=now)
    b.add(*files)
    everything = b.counts(b.store("by=record"))
    equal(b.list()["builds"][0]["records"], 240, "records")
    hosts = b.list()["hosts"]
    equal(hosts, ["host00", "host01", "host02", "host03"], "hosts")
    sums, runs = {}, 0
    for host in hosts:
        some, counts = b.counts(b.store("host=" + host))
        runs += some
        for name, paths in counts.items():
            for path, count in paths.items():
                sums.setdefault(name, {}).setdefault(path, 0)
                sums[name][path] += count
    equal((runs, sums), everything, "the sum over hosts")
    recent = b.counts(b.store("since=5d"))[0]
    before = b.counts(b.store("until=5d"))[0]
    expect(100 < recent < 140, "since=5d", recent)
    equal(recent + before, 240, "since and until")
    date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now - 5 * day))
    expect(abs(b.counts(b.store("since=" + date))[0] - recent) <= 1, "since a date")
    for filter, said in (("since=tomorrow", "expected an age"), ("host=nowhere", "nothing matches"), ("by=week", "by=week"),
                         ("program=q", "the store has p "), ("build=zz", "nothing matches")):
        done = b.tool("show", b.store(filter), status=1)
        expect(said in done.stderr, filter, done.stderr)
    hour = b.counts(b.store("by=hour"))
    equal(hour, everything, "by=hour")
    equal(b.counts(b.store("by=day")), everything, "by=day")


@with_server
def case_errors(b):
    """No store, an empty one, a newer schema, a damaged record, a combined profile, a file that is no store."""
    done = b.tool("show", "store:" + b.path("none.store"), status=1)
    expect("none.store: cannot open" in done.stderr, "no store:", done.stderr)
    expect(not os.path.exists(b.path("none.store")), "reading makes no store")
    b.program()
    b.run("./p", "10")
    b.add("footpath.prof")
    b.write("bad.prof", b.read("footpath.prof")[:80] + b"xx" + b.read("footpath.prof")[82:])
    done = b.tool("store", "add", "--store", b.store(), "footpath.prof", "bad.prof", status=1)
    expect("bad.prof" in done.stderr and "nothing was added" in done.stderr, "a bad file:", done.stderr)
    b.tool("combine", "-o", "c.cp", "footpath.prof")
    expect("combined" in b.tool("store", "add", "--store", b.store(), "c.cp", status=1).stderr, "combined")
    execute(b, "UPDATE fp_records SET counts = " + ("'\\x0001'" if b.args.db == "postgresql" else "x'0001'"))
    expect("record 1" in b.tool("store", "check", b.store(), status=1).stderr, "check finds it")
    b.tool("show", b.store(), status=1)
    execute(b, "UPDATE fp_meta SET value = 7")
    for words in (["show", b.store()], ["store", "add", "--store", b.store(), "footpath.prof"]):
        done = b.tool(*words, status=1)
        expect("needs a newer footpath" in done.stderr, "newer schema:", done.stderr)
    if b.args.db == "sqlite":
        done = b.tool("store", "list", "footpath.prof", status=1)
        expect("not a database" in done.stderr, "no database:", done.stderr)
    b.tool("store", status=2)
    b.tool("store", "burn", status=2)


def execute(b, sql):
    if b.args.db == "postgresql":
        b.private.sql(b.store(), sql)
        return
    import sqlite3
    with sqlite3.connect(b.path("s.store")) as base:
        base.execute(sql)
    base.close()


@with_server
def case_refused(b):
    """A record that the database refuses fails the command, first or last; the store is as it was."""
    b.program()
    b.run("./p", "5")
    b.add("footpath.prof")
    before = b.counts(b.store())
    execute(b, "CREATE UNIQUE INDEX refuse ON fp_records (program)")
    for n in 6, 7, 8:  # of one new record, of two, of three: none is the last chance to fail
        b.run("./p", str(n))
        done = b.tool("store", "add", "--store", b.store(), "footpath.prof", status=1)
        expect("unique" in done.stderr.lower(), "what the database said:", done.stderr)
        equal(b.counts(b.store()), before, "the store after it")
    execute(b, "DROP INDEX refuse")
    b.add("footpath.prof")
    equal(b.counts(b.store()), b.counts("footpath.prof"), "added when it was allowed")


@with_server
def case_rm(b):
    """What is removed is gone, and may be added again."""
    b.program()
    for n in 5, 6, 7:
        b.run("./p", str(n))
    b.add("footpath.prof")
    b.tool("store", "rm", b.store(), status=2)
    equal(b.tool("store", "rm", b.store("program=none")).stdout, "deleted 0 records\n", "none")
    equal(b.tool("store", "rm", b.store("program=p&since=1d")).stdout, "deleted 3 records\n", "all of p")
    expect("the store is empty" in b.tool("show", b.store(), status=1).stderr, "empty")
    b.add("footpath.prof")
    equal(b.counts(b.store()), b.counts("footpath.prof"), "added again")


@with_server
def case_retain(b):
    """Runs become hours, hours days; every sum stays, also when it is done again, and nothing counts twice."""
    b.program()
    b.run("./p", "500")
    files, _ = b.records("made", 3000, 30, 3, 20, b.path("footpath.prof"))
    b.add(*files)
    before = b.counts(b.store("by=record"))
    equal(before[0], 3000, "runs")
    old = b.counts(b.store("until=10d"))
    done = b.tool("store", "retain", b.store(), "--runs", "3d", "--hours", "8d").stdout
    summed, into = (int(n.replace(",", "")) for n in re.findall(r"[\d,]+", done)[:2])
    expect(summed > into > 0, "summed", done)
    equal(b.counts(b.store("by=record")), before, "the same sums")
    left = b.list()["builds"][0]["records"]
    expect(left < 1800, "fewer records", left)
    equal(b.add(*files).stdout, "added 0 records; 3,000 known already\n", "known after retention")
    b.tool("store", "retain", b.store(), "--runs", "3d", "--hours", "8d")
    equal(b.counts(b.store("by=record")), before, "again")
    b.tool("store", "retain", b.store(), "--runs", "0s", "--hours", "0s")
    equal(b.counts(b.store("by=record")), before, "all days")
    b.tool("store", "check", b.store())
    b.tool("store", "retain", b.store(), "--delete", "10d")
    kept = b.counts(b.store("by=record"))
    expect(1300 < kept[0] < 1700, "half of it is left", kept[0])
    expect(old[0] > 0, "there were old ones")
    b.tool("store", "retain", b.store(), status=2)


@with_server
def case_pieces(b):
    """A program that dumps while it runs is added in pieces; their sum is what it counted. A reset begins anew."""
    b.write("d.c", "#include <footpath/runtime.h>\n#include <unistd.h>\n#include <string.h>\n"
            "__attribute__((noinline)) static int f(int x) { return x % 3 ? x % 5 ? 1 : 2 : 3; }\n"
            "int main(int argc, char **argv)\n{\n    int sum = 0;\n    char c;\n"
            "    for (int i = 0; i < 4; i++) {\n        for (int k = 0; k < 1000; k++) sum += f(k + i);\n"
            "        if (i == 1 && argc > 1) footpath_reset();\n        footpath_dump();\n"
            "        write(1, \"d\", 1);\n        if (read(0, &c, 1) != 1) return 1;\n    }\n"
            "    return sum == 0;\n}\n")
    b.cc("-O2", "-g", "--fp-exits", "d.c", "-o", "d")
    for words in [], ["reset"]:
        out = b.path("d%d.prof" % len(words))
        child = subprocess.Popen([b.path("d"), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 env=dict(os.environ, FOOTPATH_OUT=out))
        for _ in range(4):
            equal(child.stdout.read(1), b"d", "a dump")
            b.add(out)
            b.add(out)
            child.stdin.write(b"g")
            child.stdin.flush()
        equal(child.wait(), 0, "status")
        child.stdout.close()
        child.stdin.close()
        b.add(out)
        equal(b.counts(b.store("program=d")), b.counts(out), "the sum of pieces")
        pieces = b.list()["builds"][0]
        equal(pieces["runs"], 1, "one run")
        expect(2 <= pieces["records"] <= 5, "pieces", pieces["records"])
        equal(b.counts(b.store("program=d&by=record"))[1], b.counts(out)[1], "by=record")
        b.tool("store", "retain", b.store(), "--runs", "0s")
        b.tool("store", "rm", b.store("program=d"))


@with_server
def case_libraries(b):
    """Records of an executable and of its libraries stay together, whichever comes first."""
    b.write("lib.c", "int twice(int x) { return x % 2 ? 2 * x : x + x + KIND; }\n")
    b.write("use.c", "#include <stdlib.h>\nint twice(int);\nint main(int c, char **v) { int s = 0; "
            "for (int i = 0; i < atoi(v[1]); i++) s += twice(i); return s == 1; }\n")
    whole = []
    for kind in 1, 2:
        b.cc("-O2", "-g", "-fPIC", "-shared", "-DKIND=%d" % kind, "lib.c", "-o", "libtwice.so")
        b.cc("-O2", "-g", "-DKIND=%d" % kind, "use.c", "-L.", "-ltwice", "-Wl,-rpath," + b.folder, "-Wl,--build-id=0x%040x" % kind,
             "-o", "use")
        out = "k%d.prof" % kind
        b.run("./use", str(100 * kind), env={"FOOTPATH_OUT": out})
        whole.append(out)
    b.add(whole[0])
    b.add(whole[1])
    equal(b.tool("show", b.store()).stdout, b.tool("show", whole[1]).stdout, "the newest")
    equal(b.tool("show", b.store("build=%039d1" % 0)).stdout, b.tool("show", whole[0]).stdout, "the one before")
    expect("twice" in b.tool("show", b.store()).stdout, "has the library")


@with_server
def case_concurrent(b):
    """Eight writers at a time, some with the same files: each run counts once."""
    b.program()
    b.run("./p", "300")
    files, _ = b.records("made", 800, 5, 7, 3, b.path("footpath.prof"))
    b.add("footpath.prof")
    groups = [files[i::4] for i in range(4)] * 2
    children = [subprocess.Popen([b.bin("footpath"), "store", "add", "--at-once", "3", "--store", b.store(), *group],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for group in groups]
    added = 0
    for child in children:
        out = child.communicate()[0]
        equal(child.returncode, 0, out)
        added += int(re.match(r"added ([\d,]+)", out)[1].replace(",", ""))
    equal(added, 800, "added by all")
    b.tool("merge", "-o", "all.prof", "footpath.prof", *files)
    equal(b.counts(b.store()), b.counts("all.prof"), "sums")


@with_server
def case_killed(b):
    """Writers that are killed at random moments: what they had acknowledged is there, nothing is there twice, and the
    store can be read at any time."""
    b.program()
    b.run("./p", "300")
    files, _ = b.records("made", 600, 2, 5, 3, b.path("footpath.prof"))
    rng, spool = random.Random(7), b.path("spool")
    os.mkdir(spool)
    collect = [b.bin("footpath"), "collect", "--once", "--spool", spool, b.store()]

    def fill(which):
        for i in which:
            shutil.copy(files[i], os.path.join(spool, "%05d.prof" % i))

    fill(range(len(files)))
    b.tool("store", "add", "--store", b.store(), files[0])
    kills, takes = 0, 0.1  # how long an undisturbed one takes: found here, since it depends on the machine
    for rounds in range(200):
        if kills == 12:
            break
        child = subprocess.Popen(collect, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            said = child.communicate(timeout=rng.random() * takes)[1]
            takes *= 0.8
        except subprocess.TimeoutExpired:
            child.kill()
            said = child.communicate()[1]
            takes *= 1.1
        kills += child.returncode == -signal.SIGKILL
        expect(child.returncode in (0, -signal.SIGKILL), "ends well or killed:", said)
        # acknowledged is what has left the spool
        waiting = {int(name[:5]) for name in os.listdir(spool)}
        gone = set(range(len(files))) - waiting
        have = sum(one["records"] for one in b.list()["builds"])
        expect(have >= 2 * len(gone), "%d records of %d files that are gone" % (have, len(gone)))
        if len(waiting) < len(files) // 4:  # more to do: what is known already counts once
            fill(sorted(gone)[:len(files) // 2])
    equal(kills, 12, "killed in %d rounds" % rounds)
    equal(subprocess.run(collect, stdout=subprocess.DEVNULL).returncode, 0, "the last one")
    equal(os.listdir(spool), [], "the spool")
    b.tool("store", "check", b.store())
    b.tool("merge", "-o", "all.prof", *files)
    equal(b.counts(b.store()), b.counts("all.prof"), "sums")


@with_server
def case_killed_adding(b):
    """The same with `store add`, one commit per file: a writer says at its end what it added."""
    b.program()
    b.run("./p", "300")
    files, _ = b.records("made", 300, 3, 5, 3, b.path("footpath.prof"))
    rng, kills, takes = random.Random(11), 0, 0.02  # how long an undisturbed one takes: found here, as above
    for at, path in enumerate(files):
        while True:
            child = subprocess.Popen([b.bin("footpath"), "store", "add", "--at-once", "1", "--store", b.store(), path],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            disturbed = rng.random() < 0.4
            if disturbed:
                time.sleep(rng.random() * takes)
                child.kill()
            said = child.communicate()[1]
            expect(child.returncode in (0, -signal.SIGKILL), "ends well or killed:", said)
            if disturbed:
                takes *= 0.8 if child.returncode == 0 else 1.1
            if child.returncode == 0:
                break
            kills += 1
        if at % 20 == 0:
            have = sum(one["records"] for one in b.list()["builds"])
            equal(have, 3 * (at + 1), "acknowledged")
    b.tool("merge", "-o", "all.prof", *files)
    equal(b.counts(b.store()), b.counts("all.prof"), "sums")
    expect(kills > 3, "some were killed", kills)


@with_server
def case_use(b):
    """A build by what the store holds: footpath-cc --fp-use and footpath pgo --from."""
    b.write("work.c", common.PROGRAM.replace("__attribute__((noinline)) static ", "static "))
    b.cc("-O2", "-g", "--fp-at=early", "--fp-inline=small", "--fp-cuts=few", "-DVERSION=1", "work.c", "-o", "prod")
    b.run("./prod", "100000")
    b.add("footpath.prof")
    b.cc("-O2", "-DVERSION=1", "--fp-use=footpath.prof", "-S", "work.c", "-o", "file.s")
    b.cc("-O2", "-DVERSION=1", "--fp-use=" + b.store("since=1d"), "-S", "work.c", "-o", "store.s", env={"TMPDIR": b.folder})
    b.cc("-O2", "-DVERSION=1", "--fp-mode=none", "-S", "work.c", "-o", "plain.s")
    equal(b.read("store.s"), b.read("file.s"), "code by the store and by the file")
    expect(b.read("store.s") != b.read("plain.s"), "the profile was used")
    done = b.cc("-O2", "-DVERSION=1", "--fp-use=store:" + b.path("none"), "-S", "work.c", "-o", "x.s", status=2, env={"TMPDIR": b.folder})
    expect("none" in done.stderr, "says why", done.stderr)
    b.write("build.sh", '"$CC" -O2 -g -DVERSION=1 work.c -o fast\n')
    done = b.tool("pgo", "--build", "sh build.sh", "--from", b.store("since=1d"))
    expect("[2/2] Building by the profile" in done.stderr, "two steps", done.stderr)
    equal(b.run("./fast", "1000").stdout, b.run("./prod", "1000", env={"FOOTPATH_OUT": "/dev/null"}).stdout, "does the same")
    expect(not os.path.exists(b.path("footpath-pgo", "train.prof")), "nothing was trained")
    b.tool("pgo", "--build", "sh build.sh", status=2)
    b.tool("pgo", "--build", "sh build.sh", "--train", "true", "--from", b.store(), status=2)


if __name__ == "__main__":
    main(__doc__, *common.OPTIONS, bench=Bench)
