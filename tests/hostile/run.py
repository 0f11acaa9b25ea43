#!/usr/bin/env python3
"""What a file from a stranger can do: numbers and sizes that no program counts.

    run.py --bin BUILD/bin [--llvm 19] [--case NAME]...

Every command must end by itself, with its own exit status, in little memory; a message
or a report, never a signal.
"""
import os
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import expect  # noqa: E402
import formats  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_MEMORY = 500  # MB
EXPORTS = ["json", "lcov", "callgrind", "speedscope", "collapsed", "guide", "legacy", "llvm-sample", "gcc-afdo", "pprof", "gcov-json"]


class Context(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH")}
        self.env.update(NO_COLOR="1", PATH=args.bin + ":" + os.environ["PATH"], LC_ALL="C",
                        FOOTPATH_CC_FLAGS="--fp-llvm=" + args.llvm,
                        # memory is limited: AddressSanitizer must not keep what was freed
                        ASAN_OPTIONS="quarantine_size_mb=8")

    def bounded(self, *words, status=None, **env):
        """Runs a command; returns (status, output). Fails when it dies or takes much memory."""
        out = self.path("output")
        with open(out, "wb") as to:
            child = subprocess.Popen(words, cwd=self.folder, env=dict(self.env, **env), stdin=subprocess.DEVNULL,
                                     stdout=to, stderr=subprocess.STDOUT)
            _, code, usage = os.wait4(child.pid, 0)
            child.returncode = 0
        text, shown = self.read("output"), " ".join(words[:4])
        expect(os.WIFEXITED(code), "%s: died by signal %d: %r" % (shown, os.WTERMSIG(code), text[-400:]))
        expect(b"Sanitizer" not in text and b"runtime error:" not in text, "%s: %r" % (shown, text[-800:]))
        expect(usage.ru_maxrss < MOST_MEMORY * 1024, "%s: took %d MB" % (shown, usage.ru_maxrss // 1024))
        code = os.WEXITSTATUS(code)
        expect(status is None or code == status, "%s: exit status %d, expected %s: %r" % (shown, code, status, text[-400:]))
        expect(code in (0, 1, 2, 3), "%s: exit status %d: %r" % (shown, code, text[-400:]))
        return code, text

    def write(self, name, data):
        super().write(name, data)
        return name

    def build(self, *flags):
        shutil.copy(os.path.join(os.path.dirname(HERE), "cli", "example.c"), self.folder)
        self.bounded("footpath-cc", "-O0", "-g", *flags, "example.c", "-o", "example", status=0)
        # without its map: the cases are about maps in files
        self.bounded("./example", FOOTPATH_OUT="plain.prof", FOOTPATH_MAP="0")
        return self.read("plain.prof")


def every_command(c, profile):
    """All commands that read a profile."""
    for words in (["show"], ["show", "--json"], ["info"], ["stats"], ["coverage"], ["annotate"], ["dot"], ["verify"],
                  ["report", "-o", "html"], ["merge", "-o", "merged.prof"], ["combine", "-o", "out.cp"],
                  ["compare", profile], ["diff", profile], ["gap", profile]):
        c.bounded("footpath", *words, profile)
    for name in EXPORTS:
        c.bounded("footpath", "export", "--format", name, "-o", "/dev/null", profile)
    c.bounded("footpath", "export", "--format", "legacy", "--what", "paths", "-o", "/dev/null", profile)


def case_largest_counts(c):
    """Counts of 2^64-1, which no sum may take for small ones."""
    for flags in (["--fp-mode=path"], ["--fp-mode=edge"], ["--fp-mode=edge-min"], ["--fp-mode=path", "--fp-exits"],
                  ["--fp-metric=cycles"]):
        def largest(run):
            run.counters = [(index, 2**64 - 1) for index, _ in run.counters]
            run.runs = 2**64 - 1
        c.write("large.prof", formats.rewrite(c.build(*flags), largest))
        every_command(c, "large.prof")
        if flags == ["--fp-mode=path"]:
            c.bounded("footpath", "merge", "large.prof", "plain.prof", "-o", "sum.prof", status=0)
            run = formats.Run(next(p for kind, p in formats.records(c.read("sum.prof")) if kind == formats.RUN))
            expect(all(count == 2**64 - 1 for _, count in run.counters), "a sum wrapped")
            _, text = c.bounded("footpath", "export", "--format", "collapsed", "large.prof")
            expect(all(line.split()[-1] != b"0" for line in text.splitlines()), "a count became 0: %r" % text[:200])


def case_scattered_counters(c):
    """3 MB that claim 4 GB of counters and use one per page."""
    def scatter(run):
        run.size = 2**32 - 8
        run.counters = [(i * 513, 1) for i in range(1000000)]
    c.write("scattered.prof", formats.rewrite(c.build(), scatter))
    expect(os.path.getsize(c.path("scattered.prof")) < 5 << 20, "the test's file is too large")
    for words in (["show"], ["merge", "-o", "merged.prof"], ["combine", "-o", "out.cp"], ["info"]):
        c.bounded("footpath", *words, "scattered.prof")


def case_scattered_tables(c):
    """A million hash tables of one path each."""
    entries = b"".join(formats.uint(i) + b"\1\1" for i in range(1000000))
    def scatter(run):
        run.tables_size = 2**40
        run.rest = formats.uint(1000000) + entries + formats.uint(0)
    c.write("tables.prof", formats.rewrite(c.build(), scatter))
    for words in (["show"], ["merge", "-o", "merged.prof"], ["info"]):
        c.bounded("footpath", *words, "tables.prof")


def case_many_small_runs(c):
    """Runs that each add one counter: their cost may not grow with what is there."""
    (payload,) = [p for kind, p in formats.records(c.build()) if kind == formats.RUN]
    run, out = formats.Run(payload), []
    run.size, run.args, run.rest = 2**40, [], b"\0\0"
    for i in range(20000):
        run.counters = [(1000000 - i, 1)]
        out.append(formats.record(formats.RUN, run.encode()))
    c.write("runs.prof", formats.profile(out))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    c.bounded("footpath", "show", "runs.prof")
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    expect(took < 5, "show took %.1f s of processor time" % took)


def case_refused_map(c):
    """A guide without the counts of a module is none."""
    data = c.build()
    def other(run):
        run.path, run.build_id = b"/nowhere/libgone.so", b"\1" * 20
    more = [formats.record(kind, payload) for kind, payload in formats.records(data)]
    more += [formats.record(kind, payload) for kind, payload in formats.records(formats.rewrite(data, other))]
    c.write("two.prof", formats.profile(more))
    c.bounded("footpath", "show", "two.prof", status=0)
    _, text = c.bounded("footpath", "export", "--format", "guide", "-o", "two.guide", "two.prof", status=1)
    expect(b"libgone.so" in text and not os.path.exists(c.path("two.guide")), "a guide of a part: %r" % text)


def case_large_periods(c):
    """Samples that stand for 2^62 events and more."""
    c.build()
    subprocess.run(["clang-" + c.args.llvm, "-O1", "-g", "-no-pie", "-Wl,-Ttext-segment=0x400000", c.path("example.c"),
                    "-o", c.path("sampled")], check=True)
    body = formats.perf_mapping(c.path("sampled"), 0x100000)
    for k in range(0, 0x4000, 3):
        body += formats.perf_record(9, struct.pack("<QIIQQ", 0x400000 + k, 1, 1, k, (2**64 - 1, 2**62, 2**63)[k % 3]))
    c.write("perf.data", formats.perf_file(formats.IP | formats.TID | formats.TIME | formats.PERIOD, body))
    for costs in ("raw", "levin", "profi", "footpath"):
        _, text = c.bounded("footpath", "infer", "--costs", costs, "-o", "sampled.prof", "perf.data", status=0)
        every_command(c, "sampled.prof")


def case_packed_samples(c):
    """100 KB that unpack to 60 million samples."""
    one = formats.perf_record(9, struct.pack("<Q", 0x400000)) * 4000
    packed, out = formats.compress(one * 1000), b""
    for at in range(0, len(packed), 60000):
        out += formats.perf_record(81, packed[at:at + 60000])
    c.write("bomb.data", formats.perf_file(formats.IP, out * 15))
    expect(os.path.getsize(c.path("bomb.data")) < 1 << 20, "the test's file is too large")
    _, text = c.bounded("footpath", "infer", "-o", "bomb.prof", "bomb.data", status=1)
    expect(b"expected" in text, text)


def small_map(nblocks, edges, number=0):
    return formats.map_record(b"\2\0" + struct.pack("<Q", number) + b"\1\0" + bytes(4) + b"\0\0\0" + formats.uint(nblocks) +
                              bytes(3 * nblocks) + edges)


def case_packed_maps(c):
    """Small files whose packed maps unpack to gigabytes, or to records that take them."""
    def edges(n):
        return small_map(2, formats.uint(n) + b"\2\0" * n + b"\0")
    def claimed(megabytes): # frames behind each other unpack to all of them
        return formats.packed_header(b"", megabytes << 20) + formats.compress(bytes(1 << 20)) * megabytes
    def padded(packed): # by a frame that is skipped: the ratio alone says nothing
        size = struct.unpack_from("<Q", packed, 8)[0] // 150
        return packed + struct.pack("<II", 0x184D2A50, size) + bytes(size)
    maps = [
        ("zeros", lambda: claimed(600)),
        ("edges", lambda: formats.packed_map(edges(10000000))),
        ("several", lambda: formats.packed_map(edges(1000000) * 20)),
        ("records", lambda: formats.packed_map(b"".join(small_map(1, b"\0", i) for i in range(400000)))),
    ]
    c.build("--fp-map=separate")
    whole = c.read("example.fpmap")
    id_end = 16 + struct.unpack_from("<Q", whole, 8)[0]
    for name, make in maps:
        packed = padded(make())
        c.write("example.fpmap", whole[:id_end] + struct.pack("<Q", len(packed)) + packed + struct.pack("<Q", 0))
        expect(os.path.getsize(c.path("example.fpmap")) < 5 << 20, "%s: the test's file is too large" % name)
        for words in (["show"], ["export", "--format", "lcov"], ["report", "-o", "html"]):
            _, text = c.bounded("footpath", *words, "plain.prof")
            expect(b"map: expected at most" in text, "%s: %r" % (name, text[-400:]))


def number36(n):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "" if n == 0 else digits[n - 1] if n <= 36 else digits[(n - 1) // 36] + digits[(n - 1) % 36]


def case_growing_names(c):
    """A C++ name of a few hundred characters that stands for gigabytes."""
    name = "_Z1fSt4pairIiiE"
    for i in range(1, 34):
        name += "S_IS%s_S%s_E" % (number36(i), number36(i))
    c.write("names.c", b"int f(int n) __asm__(\"" + name.encode() + b"\");\n"
                       b"int f(int n) { return n > 1 ? n : 2; }\nint main(int argc, char **argv) { return f(argc) < 0; }\n")
    c.bounded("footpath-cc", "-O0", "-g", "names.c", "-o", "names", status=0)
    c.bounded("./names", FOOTPATH_OUT="names.prof")
    every_command(c, "names.prof")
    _, text = c.bounded("footpath", "show", "--plain", "names.prof", status=0)
    expect(name.encode() in text, "the name: %r" % text)


def case_odd_folders(c):
    """pgo and run in folders with blanks, quotes and per cent signs."""
    source = b"#include <stdio.h>\nint main(int argc, char **argv) { for (int i = 0; i < 50; i++) if (i % 3) puts(argv[0]); return argc > 9; }\n"
    for name in ("with blank", "100%pure", "it's \"odd\" %h\\"):
        os.mkdir(c.path(name))
        c.write(os.path.join(name, "prog.c"), source)
        top, c.folder = c.folder, c.path(name)
        _, text = c.bounded("footpath", "pgo", "--build", "$CC -O2 prog.c -o prog", "--train", "./prog > out", status=0)
        expect(b"not used" not in text and os.path.exists(c.path("footpath-pgo/train.guide")), text)
        c.bounded("footpath", "run", "-o", "50%pid.prof", "./prog")
        c.bounded("footpath-cc", "-O0", "prog.c", "-o", "prog", status=0)
        c.bounded("footpath", "run", "-o", "50%pid.prof", "./prog", status=0)
        expect(os.path.exists(c.path("50%pid.prof")), "no such profile: %s" % os.listdir(c.folder))
        c.folder = top


def case_wrong_binary(c):
    """What --binary names is a program with a map, or said not to be."""
    c.build()
    shutil.copy(c.path("example"), c.path("kept"))
    c.bounded("footpath-cc", "-O0", "-DSOMETHING", "example.c", "-o", "other", status=0)
    for words in (["show"], ["info"], ["export", "--format", "lcov"], ["combine", "-o", "x.cp"], ["report", "-o", "html"]):
        _, text = c.bounded("footpath", *words, "--binary", "/etc/passwd", "plain.prof", status=1)
        expect(b"/etc/passwd" in text, text)
        c.bounded("footpath", *words, "--binary", "kept", "plain.prof", status=0)
    c.write("perf.data", formats.perf_file(formats.IP, formats.perf_record(9, struct.pack("<Q", 0x400000))))
    for words in (["learn", "--truth", "plain.prof", "perf.data"], ["infer", "-o", "x.prof", "perf.data"],
                  ["watch", "--looks", "1", "plain.prof"], ["import", "--format", "callgrind", "plain.prof", "-o", "x.prof"],
                  ["import", "--format", "legacy", "plain.prof", "-o", "x.prof"]):
        _, text = c.bounded("footpath", *words, "--binary", "/etc/passwd", status=1)
        expect(b"/etc/passwd" in text, text)
    _, text = c.bounded("footpath", "learn", "--truth", "plain.prof", "perf.data", "--binary", "other", status=1)
    expect(b"no object of that name" in text, text)
    _, text = c.bounded("footpath", "show", "--binary", "other", "plain.prof", status=0)
    expect(b"another build" in text, text)


def case_named_pipe(c):
    """A profile that names a pipe as its program: a reader must not wait for a writer."""
    os.mkfifo(c.path("pipe"))
    def move(run):
        run.path = c.path("pipe").encode()
    c.write("pipe.prof", formats.rewrite(c.build(), move))
    _, text = c.bounded("footpath", "show", "pipe.prof", status=1)
    expect(b"regular" in text, text)


if __name__ == "__main__":
    harness.main(__doc__, bench=Context)
