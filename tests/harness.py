"""What the Python tests share: options, cases, commands, checks, skips.

A script has cases, functions case_NAME(b) that can each run alone. b is a Bench: an empty
folder with the tools in reach. Its last line is `harness.main(__doc__)`.

    SCRIPT --bin BUILD/bin [--llvm 19] [--keep] [--case NAME]...
    SCRIPT --list

Without --case it runs all but those whose names end in _long. --list prints the names:
footpath_cases in CMakeLists.txt makes a test of each.

A case fails by Failure: by expect(), equal(), or a command that ends otherwise than it
should. It fails too when it has checked nothing. It is skipped by Skipped, with the reason.

What is estimated from samples may miss its bar by chance. likely() is expect() for such bars: the case is run again
from the start, three times at most, and says so. What is wrong misses the bar each time. Cases whose names end in
_long are never run again.
The exit status is 1 when a case failed, 77 when one was skipped, else 0.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
PROGRAMS = os.path.join(TESTS, "programs")
SKIPPED = 77
DRAWS = 3  # of the samples of a case
checks = 0  # that passed


class Failure(Exception):
    pass


class Unlikely(Failure):
    """An estimate from samples is beyond its bar."""


class Skipped(Exception):
    """Something that the case needs is not here."""


def expect(condition, what, detail=""):
    global checks
    if not condition:
        raise Failure("%s %s" % (what, detail) if detail != "" else what)
    checks += 1


def likely(condition, what, detail=""):
    """expect() of an estimate from samples."""
    try:
        expect(condition, what, detail)
    except Failure as failure:
        raise Unlikely(str(failure)) from None


def equal(got, expected, what):
    expect(got == expected, "%s: got %r, expected %r" % (what, got, expected))


def needs(*programs, llvm=None):
    """Skips the case where one of the programs is not installed, in PATH or where clang of
    this version finds its own linker."""
    folders = os.environ["PATH"] + ("" if llvm is None else ":/usr/lib/llvm-%s/bin" % llvm)
    for name in programs:
        if not shutil.which(name, path=folders):
            raise Skipped("needs " + name)


def sanitizers(bin):
    """The flags of a program that uses libfootpath, where that was built with sanitizers."""
    with open(os.path.join(bin, "..", "lib", "libfootpath.so.0"), "rb") as f:
        return ["-fsanitize=address,undefined"] if b"__asan_init" in f.read() else []


def preloaded(bin):
    """The environment in which Python, which has no sanitizer, can load libfootpath, which may have some. Python's own
    leaks are not looked for."""
    if not sanitizers(bin):
        return {}
    found = subprocess.run(["cc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return {"LD_PRELOAD": found, "ASAN_OPTIONS": "detect_leaks=0"}


def preload(bin):
    """Starts this test anew in that environment, if need be. What the test runs does not inherit LD_PRELOAD."""
    more = preloaded(bin)
    if not more or os.environ.pop("LD_PRELOAD", None):
        os.environ.pop("ASAN_OPTIONS", None)
        return
    os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, **more))


def run(*command, status=0, silent=False, **more):
    """Runs a command with its output captured. It must end with this status (None: with any),
    and where `silent` says so without a word on standard error."""
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace", **more}
    if not more["text"]:
        del more["errors"]
    done = subprocess.run(command, **more)
    said = "%s\n%s%s" % (" ".join(command), tail(done.stdout), tail(done.stderr))
    if status is not None:
        expect(done.returncode == status, "status %d, expected %d: %s" % (done.returncode, status, said))
    if silent:
        expect(not done.stderr, "not silent: " + said)
    return done


def tail(output):
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    return (text or "")[-4000:]


def environment(**variables):
    """That of a user who has set nothing of ours but these; FOOTPATH_VERIFY_IR is for tests."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("FOOTPATH") or k == "FOOTPATH_VERIFY_IR"}
    return dict(env, LC_ALL="C", **variables)


class Bench:
    """A folder, in which commands run, and the tools. Scripts add what their cases share."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def bin(self, name):
        return os.path.join(self.args.bin, name)

    def run(self, *command, env=None, **how):
        """env: variables beside the usual ones."""
        env = environment(PATH=self.args.bin + ":" + os.environ["PATH"], **(env or {}))
        return run(*command, **{"cwd": self.folder, "env": env, **how})

    def tool(self, *words, **how):
        return self.run(self.bin("footpath"), *words, **how)

    def json(self, *words, **how):
        return json.loads(self.tool(*words, **how).stdout)

    def cc(self, *words, plus=None, **how):
        """footpath-cc, or footpath-c++ where a word is a source of C++."""
        plus = any(word.endswith((".cc", ".cpp")) for word in words) if plus is None else plus
        return self.run(self.bin("footpath-c++" if plus else "footpath-cc"), "--fp-llvm=" + self.args.llvm, *words, **how)

    def clang(self, *words, **how):
        plus = "++" if any(word.endswith((".cc", ".cpp")) for word in words) else ""
        return self.run("clang%s-%s" % (plus, self.args.llvm), *words, **how)

    def profile(self, program, name, *words, **how):
        """The profile of one run of the program; gives its path."""
        path = self.path(name)
        if os.path.exists(path):
            os.unlink(path)
        self.run(self.path(program), *words, env={"FOOTPATH_OUT": path}, **how)
        return path

    def verify(self, *profiles):
        done = self.tool("verify", *profiles, silent=True)
        expect(": identical" in done.stdout, "verify: " + done.stdout)


def arguments(doc, *more, llvm="19"):
    """--bin, --llvm and these: (words of add_argument, its options)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=os.path.abspath, metavar="FOLDER", help="where footpath and footpath-cc are")
    parser.add_argument("--llvm", default=llvm, help="version (%(default)s)")
    for words, options in more:
        parser.add_argument(*words.split(), **options)
    return parser


def parse(parser):
    args = parser.parse_args()
    if not args.bin and not getattr(args, "list", False):
        parser.error("--bin is needed")
    return args


def run_case(name, case, args, bench):
    """Whether it passed, failed, was skipped."""
    for draw in range(1 if name.endswith("_long") else DRAWS):
        if draw:
            print("%s: samples are drawn again" % name, flush=True)
        result = run_once(name, case, args, bench)
        if result != "unlikely":
            return result
    return "failed"


def run_once(name, case, args, bench):
    """As run_case; "unlikely" where only an estimate from samples was beyond its bar."""
    global checks
    checks = 0
    folder = os.path.realpath(tempfile.mkdtemp(prefix="footpath-%s-" % os.path.basename(os.path.dirname(sys.argv[0]))))
    try:
        case(bench(args, folder))
        expect(checks, "nothing was checked")
        return "passed"
    except Skipped as reason:
        print("%s: skipped: %s" % (name, reason), flush=True)
        return "skipped"
    except Unlikely as missed:
        print("%s LLVM %s: %s" % (name, args.llvm, missed), flush=True)
        return "unlikely"
    except (Failure, subprocess.TimeoutExpired) as failure:
        print("%s LLVM %s: %s" % (name, args.llvm, failure), flush=True)
    except Exception:  # a broken case is a failure like any other
        print("%s LLVM %s: %s" % (name, args.llvm, traceback.format_exc()), flush=True)
    finally:
        if args.keep:
            print("%s: %s" % (name, folder))
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return "failed"


def main(doc, *more, bench=Bench, cases=None, loads=False):
    """Runs the cases that were asked for and exits. cases: name -> function, in place of case_NAME. loads: the test itself
    loads libfootpath."""
    if cases is None:
        cases = {name[5:]: f for name, f in vars(sys.modules["__main__"]).items() if name.startswith("case_")}
    parser = arguments(doc, *more)
    parser.add_argument("--keep", action="store_true", help="leave the folders of the cases")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--case", action="append", choices=list(cases), metavar="NAME", help="run this one")
    args = parse(parser)
    if args.list:
        print("\n".join(cases))
        sys.exit(0)
    if loads:
        preload(args.bin)
    names = args.case or [name for name in cases if not name.endswith("_long")]
    results = [run_case(name, cases[name], args, bench) for name in names]
    print(", ".join("%d %s" % (results.count(how), how) for how in ("passed", "failed", "skipped")))
    sys.exit(1 if "failed" in results or not results else SKIPPED if "skipped" in results else 0)
