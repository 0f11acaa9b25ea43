#!/usr/bin/env python3
"""A program whose every name is full of what terminals obey, through every command, on a
pseudo-terminal: no control byte may come out but line ends, tabs and our own colours.

    terminal.py --bin BUILD/bin [--llvm 19]

The real compiler and runtime make the profile: folder, program, arguments, names of
functions (asm labels) and of files (#line) carry the sequences.
"""
import os
import pty
import re
import select
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, expect  # noqa: E402
import formats  # noqa: E402

EVIL = "\x1b]0;title\x07\x1b[2J\x1b[5;31mX\r\b\x7f\u009b31m\u202e"
SHELL_EVIL = "'" + EVIL + "'"
C_EVIL = r"\033]0;title\007\033[2J\033[5;31mX\r\b\177\302\23331m\342\200\256"
SOURCE = r"""
#line 1 "dir/FILE.c"
__attribute__((noinline)) static int inner(int n) __asm__("innerNAME");
static int inner(int n) { return n & 1 ? n * 3 : n + 5; }
int outer(int n) __asm__("outerNAME");
#line 20 "other/FILE.h"
__attribute__((noinline)) int outer(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += inner(i);
    return sum;
}
int left_out(int n) __asm__("leftNAME");
__attribute__((naked)) int left_out(int n) { __asm__("ret"); }
int main(int argc, char **argv) { return argv[argc] || outer(argc * 10) < 0; }
""".replace("FILE", "f" + C_EVIL + r"\nFORGED").replace("NAME", C_EVIL)
OURS = re.compile(rb"\x1b\[H\x1b\[2J|\x1b\[[0-9;]{1,5}m|\r\x1b\[K|\r\n|\t|\n")
FORMATS = ["json", "lcov", "callgrind", "speedscope", "collapsed", "llvm-sample", "guide", "legacy", "gcc-afdo", "pprof", "gcov-json"]
COMMANDS = [
    ["show"], ["show", "--json"], ["show", "--functions"], ["show", "--edges"], ["show", "--blocks"],
    ["show", "--function", "inner"], ["info"], ["info", "--json"], ["info", "PROGRAM"], ["stats"], ["coverage"],
    ["coverage", "--functions"], ["annotate"], ["annotate", "--json"], ["dot"], ["dot", "--function", "outer"],
    ["verify"], ["report", "-o", "html"], ["merge", "-o", "merged.prof"], ["combine", "-o", "out.cp"],
    ["compare", "PROFILE"], ["diff", "PROFILE"], ["gap", "PROFILE"], ["diff", "other.prof"], ["show", "out.cp"], ["info", "out.cp"],
    ["show", "missing" + EVIL], ["show", "--binary", "/etc/passwd" + EVIL], ["import", "--format", "legacy", "PROFILE"],
    ["infer", "PROFILE"], ["plan", "PROFILE"], ["optimize", "PROFILE"], ["no" + EVIL], ["show", "--bad" + EVIL],
    ["show", "damaged.prof"], ["show", "moved.prof"], ["info", "moved.prof"], ["export", "--format", "no" + EVIL],
    ["show", "--top", EVIL], ["merge", "moved.prof", "damaged.prof", "-o", "x.prof"],
    ["combine", "moved.prof", "-o", "x.cp"],
    ["watch", "--looks", "1", "--every", "0.05", "--total", "PROFILE"], ["watch", "--looks", "1", "--total", "--json", "PROFILE"],
    ["watch", "--binary", "missing" + EVIL, "PROFILE"], ["learn", "--truth", "PROFILE", "samples.data"],
    ["learn", "--truth", "PROFILE", "PROFILE"], ["learn", "--table", "--truth", "missing" + EVIL, "samples.data"],
    ["infer", "samples.data", "-o", "x.prof"], ["run", "-o", "run.prof", "PROGRAM", EVIL], ["run", "missing" + EVIL],
    ["record", "-o", "x.data", "PROGRAM", EVIL], ["record", "missing" + EVIL], ["record", "-e", EVIL, "PROGRAM"],
    ["pgo", "--build", "$CC evil.c -o prog", "--train", "./prog " + SHELL_EVIL, "--clean", ":"],
    ["pgo", "--build", "false " + SHELL_EVIL, "--train", "true"], ["pgo", "--build", "true", "--train", "true", "--by", EVIL],
    ["p3", "--build", "$CC -w \"$FOOTPATH_SOURCE/evil.c\" -o prog", "--work", "p3" + EVIL, "prog", EVIL],
    ["p3", "--build", "false " + SHELL_EVIL, "missing" + EVIL], ["p3", "--strategy", EVIL, "--build", "true", "prog"],
    ["instrument", "PROFILE", "-o", "x.bc"], ["instrument", "evil.bc", "-o", "x" + EVIL + ".bc"],
    ["instrument", "missing" + EVIL, "-o", "x.bc"], ["completion", "bash"], ["completion", "zsh"], ["completion", "fish"],
    ["completion", EVIL],
] + [["export", "--format", name] for name in FORMATS] + [["export", "--format", name, "-o", "no/" + EVIL] for name in FORMATS]
# commands whose words are all given, and those that have nothing to say when all is well
WHOLE = ("watch", "learn", "infer", "run", "record", "pgo", "p3", "instrument", "completion")
SILENT = ("merge", "combine", "run", "record", "instrument", "p3")


def on_terminal(words, folder, env):
    """What a command writes to its terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(words[0], words, env)
    out = b""
    while True:
        ready, _, _ = select.select([fd], [], [], 120)
        if not ready:
            raise Failure("%r: no end" % words)
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            break
        out += data
    os.close(fd)
    return out, os.waitpid(pid, 0)[1]


def problem_of(out):
    rest = OURS.sub(b"", out)
    for bad in (b"title\x07", b"[2J", b"\x1b]", b"5;31mX"):
        if b"\x1b" in rest and bad in rest:
            return "an escape sequence: %r" % rest[max(0, rest.find(b"\x1b") - 60):][:160]
    controls = [c for c in rest if c < 32 or c == 127]
    if controls:
        at = next(i for i, c in enumerate(rest) if c < 32 or c == 127)
        return "control bytes %s: %r" % (sorted(set(controls)), rest[max(0, at - 60):at + 60])
    if b"\x1b[5;31m" in out:
        return "the colours of a name"
    text = rest.decode("utf-8", "replace")
    if re.search("[\u0080-\u009f\u202a-\u202e\u2066-\u2069]", text):
        return "a control character of C1 or of direction"
    if re.search(rb"(^|\n)FORGED", out):
        return "a forged line"
    return None


def make(args, folder, env):
    inside = os.path.join(folder, "dir" + EVIL + "\nFORGED")
    os.mkdir(inside)
    with open(os.path.join(inside, "evil.c"), "w") as f:
        f.write(SOURCE)
    program = os.path.join(inside, "prog" + EVIL)
    subprocess.run(["footpath-cc", "-O1", "-g", "-w", "--fp-mode=check", "evil.c", "-o", program], cwd=inside,
                   env=env, check=True)
    profile = os.path.join(folder, "prof" + EVIL)
    out, _ = on_terminal([program, EVIL, "\nFORGED"], folder, dict(env, FOOTPATH_OUT=profile, FOOTPATH_LOG="1",
                                                                   FOOTPATH_OUTT="x", FOOTPATH_SAMPLING=EVIL))
    if problem_of(out) or b"wrote" not in out:
        raise Failure("the runtime: %s: %r" % (problem_of(out), out))
    with open(profile, "rb") as f:
        data = f.read()
    def write(name, content):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)
    def move(run):
        run.path = b"/nowhere/" + EVIL.encode() + b"\nFORGED"
        run.host = run.folder = EVIL.encode()
    write("other.prof", formats.rewrite(data, lambda run: setattr(run, "counters", run.counters[1:])))
    write("moved.prof", formats.rewrite(data, move))
    write("damaged.prof", data[:-1] + bytes([data[-1] ^ 1]))
    samples = b"".join(formats.perf_record(9, struct.pack("<Q", 0x400000 + k)) for k in range(200))
    write("samples.data", formats.perf_file(formats.IP, formats.perf_mapping(program, 0x100000) + samples))
    write("evil.c", SOURCE.encode())
    subprocess.run(["clang-" + args.llvm, "-O1", "-g", "-w", "-emit-llvm", "-c", "evil.c"], cwd=folder, check=True)
    return program, profile


def case_terminal(b):
    folder = b.folder
    env = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH") and name != "NO_COLOR"}
    env.update(PATH=b.args.bin + ":" + env["PATH"], TERM="xterm", LC_ALL="C.UTF-8",
               FOOTPATH_CC_FLAGS="--fp-llvm=" + b.args.llvm)
    program, profile = make(b.args, folder, env)
    failed, seen = 0, 0
    for words in COMMANDS:
        words = [{"PROFILE": profile, "PROGRAM": program}.get(word, word) for word in words]
        named = any(word.endswith((".prof", ".cp")) and word not in ("merged.prof", "x.prof") or word in (profile, program)
                    for word in words[1:] if word != "out.cp" or words[0] != "combine")
        if words[0] in ("compare", "diff", "gap") or words[0] not in WHOLE and not named and not any(EVIL in word for word in words):
            words = words + [profile]
        out, status = on_terminal(["footpath"] + words, folder, env)
        problem = problem_of(out) or (os.WIFSIGNALED(status) and "died by a signal") or (not out and "said nothing")
        if not out and words[0] in SILENT and not problem_of(out) and os.WIFEXITED(status):
            problem = None
        seen += b"FORGED" in out
        if problem:
            failed += 1
            print("footpath %s: %s" % (" ".join(repr(w) if EVIL in w else w for w in words), problem))
    print("%d commands, %d failed; the names were in %d outputs" % (len(COMMANDS), failed, seen))
    expect(not failed, "%d commands write what a terminal obeys" % failed)
    expect(seen >= 10, "the names were in %d outputs" % seen)


if __name__ == "__main__":
    harness.main(__doc__)
