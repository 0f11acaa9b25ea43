#!/usr/bin/env python3
"""Mutates real files (profiles, programs, combined profiles, guides, plans, samples, legacy
files) and runs every command of footpath over them.

    cli.py --bin BUILD/bin --seeds FOLDER [--runs N] [--jobs J] [--seed S] [--keep FOLDER]

FOLDER is what seeds.py writes. A run is bad when the command dies by a signal, when a
sanitizer speaks, or when it takes more than 500 MB of memory or 5 s of processor time; every
file is below 5 MB. With tools that were built with sanitizers (make sanitize) limits of
memory do not apply. Bad inputs are kept.
"""
import collections
import concurrent.futures
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "hostile")]
import formats  # noqa: E402
import harness  # noqa: E402

MOST_MB, MOST_SECONDS, LARGEST = 500, 5, 5 << 20
EXPORTS = ["json", "lcov", "callgrind", "speedscope", "collapsed", "guide", "legacy", "llvm-sample", "gcc-afdo", "pprof", "gcov-json"]
ON_PROFILE = [["show"], ["show", "--json"], ["show", "--functions"], ["show", "--edges"], ["show", "--blocks"], ["info"],
              ["info", "--json"], ["stats"], ["coverage", "--functions"], ["coverage", "--json"], ["annotate"], ["dot"],
              ["dot", "--dag", "--values"], ["verify"], ["report", "-o", "html"], ["merge", "-o", "merged.prof"],
              ["combine", "-o", "combined.cp"], ["compare", "SEED"], ["diff", "SEED"], ["gap", "SEED"], ["gap", "--format", "sarif", "SEED"], ["plan", "--guide"]]
ON_PROFILE += [["export", "--format", name, "-o", "exported"] for name in EXPORTS]
ON_PROFILE += [["export", "--format", "legacy", "--what", "paths", "-o", "exported"]]
COMMANDS = {
    "profile": ON_PROFILE,
    "combined": ON_PROFILE,
    "program": [["info"], ["info", "--json"], ["plan", "-o", "plan"], ["show", "SEED", "--binary"], ["report", "-o", "html", "SEED", "--binary"],
                ["import", "--format", "legacy", "LEGACY", "-o", "imported.prof", "--binary"],
                ["import", "--format", "callgrind", "CALLGRIND", "-o", "imported.prof", "--binary"]],
    "machine": [["import", "--format", "callgrind", "CALLGRIND", "-o", "imported.prof", "--binary"],
                ["infer", "SAMPLES", "-o", "inferred.prof", "--binary"], ["learn", "--truth", "SEED", "SAMPLES", "--binary"]],
    "perfdata": [["infer", "-o", "inferred.prof"], ["infer", "--costs", "raw", "-o", "inferred.prof"],
                 ["infer", "--no-branches", "-o", "inferred.prof"], ["learn", "--truth", "SEED"],
                 ["learn", "--table", "--truth", "SEED"]],
    "legacy": [["import", "--format", "legacy", "-o", "imported.prof", "--binary", "PROGRAM"]],
    "callgrind": [["import", "--format", "callgrind", "-o", "imported.prof", "--binary", "MACHINE"]],
    "guide": [["info"], ["show"]],
    "division": [["info"], ["show"]],
}
NUMBERS = [0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def mutate(dice, data):
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at, how = dice.randrange(len(data)), dice.choice((0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6))
        if how == 0:
            data[at] ^= 1 << dice.randrange(8)
        elif how == 1:
            data[at] = dice.randrange(256)
        elif how == 2:
            width = dice.choice((1, 2, 4, 8))
            data[at:at + width] = struct.pack("<Q", dice.choice(NUMBERS))[:width]
        elif how == 3:
            data[at:at + 1] = formats.uint(dice.choice(NUMBERS))
        elif how == 4:
            del data[at:at + dice.choice((1, 4, 64))]
        elif how == 5:
            length = dice.choice((1, 8, 64, 512))
            data[at:at] = data[at:at + length]
        else:
            other = dice.randrange(len(data))
            data[at:at + 16] = data[other:other + 16]
    if dice.random() < 0.05:
        del data[dice.randrange(len(data) + 1):]
    return bytes(data)


def repair(kind, data):
    if kind in ("profile", "combined"):
        return formats.repair_profile(data)
    if kind == "program":
        at = data.find(struct.pack("<I", 0x316D7066))
        return data if at < 0 else data[:at] + formats.repair_map_prefix(data[at:])
    if kind == "guide" and len(data) >= 48:
        return data[:40] + struct.pack("<Q", formats.checksum(data[48:])) + data[48:]
    return data


class Campaign:
    def __init__(self, args):
        self.args = args
        self.seeds = {kind: self.files(kind) for kind in COMMANDS}
        self.bad, self.lock, self.statuses = [], threading.Lock(), collections.Counter()
        self.sanitized = b"__asan_init" in open(os.path.join(args.bin, "footpath"), "rb").read()

    def files(self, kind):
        folder = os.path.join(self.args.seeds, kind)
        found = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        found = [path for path in found if os.path.isfile(path) and os.path.getsize(path) < LARGEST]
        if not found:
            raise SystemExit("%s: no seeds; make them by tests/fuzz/seeds.py" % folder)
        return found

    def fitting(self, dice, kind, seed):
        """A seed of that kind, of the same program where there is one: others are refused early."""
        name = os.path.basename(seed)
        same = [path for path in self.seeds[kind] if os.path.basename(path).endswith(name) or name.endswith(os.path.basename(path))]
        return dice.choice(same or self.seeds[kind])

    def words(self, dice, kind, path, seed):
        known = {"MACHINE": self.seeds["machine"][0]}
        for word, other in (("SEED", "profile"), ("PROGRAM", "program"), ("LEGACY", "legacy"), ("CALLGRIND", "callgrind"),
                            ("SAMPLES", "perfdata")):
            known[word] = self.fitting(dice, other, seed)
        if kind in ("profile", "combined"):
            known["SEED"] = seed
        words = [known.get(word, word) for word in dice.choice(COMMANDS[kind])] + [path]
        if words[:2] == ["plan", "--guide"]:
            words += [known["PROGRAM"], "-o", "plan"]
        return [os.path.join(self.args.bin, "footpath")] + words

    def one(self, number):
        dice = random.Random(self.args.seed * 1000003 + number)
        kind = dice.choice(list(COMMANDS) + ["profile", "profile", "combined", "program", "perfdata"])
        seed = dice.choice(self.seeds[kind])
        with open(seed, "rb") as f:
            data = mutate(dice, f.read())
        if dice.random() < 0.9:
            data = repair(kind, data)
        folder = tempfile.mkdtemp(prefix="footpath-mutated-")
        path = os.path.join(folder, "input" + (".cp" if kind == "combined" else ""))
        with open(path, "wb") as f:
            f.write(data)
        words = self.words(dice, kind, path, seed)
        problem = self.run(words, folder)
        if problem:
            self.note(number, words, problem, path)
        shutil.rmtree(folder, ignore_errors=True)

    def run(self, words, folder):
        with open(os.path.join(folder, "said"), "w+b") as said:
            child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                     env=dict(os.environ, NO_COLOR="1", ASAN_OPTIONS="detect_leaks=0"))
            timer = threading.Timer(300, child.kill) # waits for nothing: a hang
            timer.start()
            _, code, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = 0
            said.seek(0)
            text = said.read()
        with self.lock:
            self.statuses[os.WEXITSTATUS(code) if os.WIFEXITED(code) else -os.WTERMSIG(code)] += 1
        if os.WIFSIGNALED(code):
            return "signal %s" % signal.Signals(os.WTERMSIG(code)).name
        for line in text.split(b"\n"):
            if b"runtime error:" in line or b"ERROR: AddressSanitizer" in line:
                return line.decode(errors="replace")[:200]
        if os.WEXITSTATUS(code) > 3:
            return "exit status %d" % os.WEXITSTATUS(code)
        if self.sanitized:
            return None
        if usage.ru_maxrss > MOST_MB * 1024:
            return "%d MB" % (usage.ru_maxrss // 1024)
        seconds = usage.ru_utime + usage.ru_stime
        return "%.1f s" % seconds if seconds > MOST_SECONDS else None

    def note(self, number, words, problem, path):
        os.makedirs(self.args.keep, exist_ok=True)
        kept = os.path.join(self.args.keep, "%d-%d" % (self.args.seed, number))
        shutil.copy(path, kept)
        with self.lock:
            self.bad.append(problem)
            print("%s: footpath %s: %s" % (kept, " ".join(words[1:]), problem), flush=True)


def main():
    args = harness.parse(harness.arguments(
        __doc__,
        ("--seeds", {"type": os.path.abspath, "required": True}),
        ("--runs", {"type": int, "default": 1000}),
        ("--jobs", {"type": int, "default": os.cpu_count()}),
        ("--seed", {"type": int, "default": 1}),
        ("--keep", {"type": os.path.abspath, "default": "bad-inputs"})))
    campaign = Campaign(args)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(campaign.one, range(args.runs)))
    print("%d runs, %d bad; exit statuses %s" % (args.runs, len(campaign.bad), dict(campaign.statuses)))
    return 1 if campaign.bad or not campaign.statuses[0] or not campaign.statuses[1] else 0


if __name__ == "__main__":
    sys.exit(main())
