"""One program in all modes of footpath-cc: it must do what it does when plain clang builds it, and in check mode
its counts must verify.

A program may use RATIO times the processor time that the plain one took, and never less than LEAST_CPU
seconds. Wall time is limited only to end what waits for ever."""
import collections
import os
import re
import resource
import subprocess
import sys

import suites

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Failure  # noqa: E402

MODES = collections.OrderedDict([
    ("path", ["--fp-mode=path"]),
    ("exits", ["--fp-mode=path", "--fp-exits"]),
    ("check", ["--fp-mode=check", "--fp-exits"]),
    ("edge-min", ["--fp-mode=edge-min"]),
    ("pep", ["--fp-mode=pep"]),
    ("use", None),  # two builds: see Task.use
])
LEAST_CPU = 60
BUILD_CPU = 300  # of a plain build: clang 14 never ends on g++.dg/cpp2a/spaceship-eq11.C
RATIO = 100
WALL = 1800
MOST_OUTPUT = 1 << 20

Result = collections.namedtuple("Result", "status out err cpu")


def limited(command, folder, env=None, cpu=None):
    """Runs a command with a limit of processor time."""
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if cpu:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    out, err = (os.path.join(folder, n) for n in ("stdout", "stderr"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(out, "wb") as o, open(err, "wb") as e:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=o, stderr=e, cwd=folder, env=env,
                                   preexec_fn=set_limits, start_new_session=True)
        try:
            status = process.wait(WALL)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            status = "waits for ever"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    texts = [open(name, "rb").read(MOST_OUTPUT) for name in (out, err)]
    return Result(status, texts[0], texts[1], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def first_line(text):
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[0][:200] if lines else ""


def without_objects(text):
    """What the linker says has names of temporary objects in it, and places in their code."""
    text = re.sub(rb"\S*-[0-9a-f]{6}\.o", b"OBJECT", text)
    return re.sub(rb"\(\.text[^()\s]*\+0x[0-9a-f]+\)", b"(CODE)", text)


class Task:
    """One program: at each level plain, then in each mode."""
    plain_cpu = LEAST_CPU

    def __init__(self, args, program, folder):
        self.args, self.program, self.folder = args, program, folder
        self.env = dict(os.environ, LC_ALL="C", FOOTPATH_VERIFY_IR="1")
        for name in ("FOOTPATH_OUT", "FOOTPATH_CC_FLAGS"):
            self.env.pop(name, None)

    def compiler(self, plain):
        if plain:
            return ["clang%s-%s" % ("++" if self.program.cxx else "", self.args.llvm)]
        name = "footpath-c++" if self.program.cxx else "footpath-cc"
        return [os.path.join(self.args.bin, name), "--fp-llvm=" + self.args.llvm]

    def compile(self, flags, level, out, options):
        command = self.compiler(flags is None) + (flags or []) + ["-w"] + options + ["-" + level]
        return limited(command + self.program.sources + ["-o", out, "-lm", "-lpthread"], self.folder, self.env,
                       BUILD_CPU if flags is None else None)

    def run(self, exe, plain=None, profile=None):
        env = dict(self.env, FOOTPATH_OUT=profile) if profile else self.env
        cpu = max(LEAST_CPU, int(RATIO * plain.cpu)) if plain else self.plain_cpu
        return limited([exe], self.folder, env, cpu)

    def plain(self, level):
        """The plain program's executable, options and result, or None."""
        exe = os.path.join(self.folder, "plain-" + level)
        for options in (self.program.options, [] if self.program.cxx else suites.OLD_C):
            built = self.compile(None, level, exe, options)
            if built.status == 0:
                result = self.run(exe)
                return (exe, options, built, result) if result.status == 0 else None
        return None

    def compare(self, got, wanted, exe):
        for part, a, b in (("status", got.status, wanted.status), ("output", got.out, wanted.out),
                           ("stderr", got.err, wanted.err)):
            if a != b and not (part != "status" and self.varies(exe, part, wanted)):
                raise Failure("%s %r, plain %r" % (part, a if part == "status" else a[:100], b if part == "status" else b[:100]))

    def varies(self, exe, part, wanted):
        """Does the plain program itself say something else each time?"""
        again = self.run(exe, wanted)
        return (again.out, again.err)[part == "stderr"] != (wanted.out, wanted.err)[part == "stderr"]

    def build(self, flags, level, plain, name):
        exe = os.path.join(self.folder, name)
        done = self.compile(flags, level, exe, plain[1])
        if done.status != 0 or without_objects(done.err) != without_objects(plain[2].err):
            raise Failure("does not build: " + first_line(done.err))
        return exe

    def verify(self, *profiles):
        """The profile of a check build; or those of a build that counts paths and of one that counts edges."""
        done = limited([os.path.join(self.args.bin, "footpath"), "verify", *profiles], self.folder, self.env)
        if done.status != 0 or b"identical" not in done.out:
            raise Failure("verify: " + first_line(done.out or done.err))

    def build_and_run(self, flags, level, plain):
        profile = os.path.join(self.folder, "profile")
        if os.path.exists(profile):
            os.unlink(profile)
        exe = self.build(flags, level, plain, "program")
        self.compare(self.run(exe, plain[3], profile), plain[3], plain[0])
        return profile

    def use(self, level, plain):
        """Trains early in the pipeline, as footpath pgo does, then builds by the profile."""
        profile = self.build_and_run(["--fp-at=early", "--fp-inline=small", "--fp-values"], level, plain)
        if not os.path.exists(profile):
            return
        got = self.run(self.build(["--fp-use=" + profile], level, plain, "used"), plain[3])
        if got.status != plain[3].status and self.clang_use(level, plain) == got[:3]:
            return
        self.compare(got, plain[3], plain[0])

    def clang_use(self, level, plain):
        """What clang's own build by its own profile does. A program may ask how it was optimized, and get another
        answer by any profile: bcp-1.c aborts where a call that ran once is not inlined, as __builtin_constant_p
        is false then. Where clang's two builds do what ours do, nothing is wrong with ours."""
        exe, raw, data = (os.path.join(self.folder, name) for name in ("clang-use", "clang.raw", "clang.profile"))
        if self.compile(None, level, exe, plain[1] + ["-fprofile-generate"]).status != 0:
            return None
        if limited([exe], self.folder, dict(self.env, LLVM_PROFILE_FILE=raw), LEAST_CPU).status != plain[3].status:
            return None
        merge = ["/usr/lib/llvm-%s/bin/llvm-profdata" % self.args.llvm, "merge", raw, "-o", data]
        if limited(merge, self.folder).status != 0 or \
                self.compile(None, level, exe, plain[1] + ["-fprofile-use=" + data]).status != 0:
            return None
        return self.run(exe, plain[3])[:3]

    def one(self, mode, level, plain):
        if mode == "use":
            self.use(level, plain)
            return
        profile = self.build_and_run(MODES[mode], level, plain)
        if mode == "check":
            self.verify(profile)
        self.counted(mode, profile)

    def counted(self, mode, profile):
        """What else must hold of a profile of this mode."""

    def all(self, levels, modes):
        """How many builds passed, what failed, how many levels were left out."""
        passed, failures, left_out = 0, [], 0
        for level in levels:
            plain = self.plain(level)
            if not plain:
                left_out += 1
                continue
            for mode in modes:
                try:
                    self.one(mode, level, plain)
                    passed += 1
                except Failure as failure:
                    failures.append("%s -%s %s: %s" % (self.program.name, level, mode, failure))
        return passed, failures, left_out
