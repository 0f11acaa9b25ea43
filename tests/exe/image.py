#!/usr/bin/env python3
"""Rewritten programs do what the programs did: `footpath exe`, the ELF file and the runtime in it.

    image.py --bin BUILD/bin [--keep] [--case NAME]...
"""
import os
import re
import resource
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, equal, expect, needs  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src")
PROGRAMS = ("gzip sed grep find tar diff awk perl bash dash sort ls cat make ld as objdump readelf strings cmp xargs "
            "expr date env id join paste tr uniq wc").split()


class Exe(harness.Bench):
    def build(self, out, *flags, source="life.c"):
        self.run("cc", "-O2", *flags, os.path.join(SOURCE, source), "-o", out)
        return self.path(out)

    def exe(self, program, out):
        self.tool("exe", program, "-o", self.path(out), silent=True)
        return self.path(out)

    def library(self):
        self.build("library.so", "-shared", "-fPIC", source="library.c")
        return self.exe(self.path("library.so"), "counting.so")

    def runs(self, profile):
        return len(re.findall("^run of", self.tool("info", profile).stdout, re.M))


def same(b, program, counting, *words, **how):
    """The program and the copy that counts print the same and end alike."""
    one = b.run(program, *words, status=None, **how)
    other = b.run(counting, *words, status=None, env={"FOOTPATH_OUT": b.path("run.prof")}, **how)
    equal(other.stdout.replace(counting, program), one.stdout, "output of %s %s" % (program, " ".join(words)))
    equal(other.stderr.replace(counting, program), one.stderr, "messages of %s %s" % (program, " ".join(words)))
    equal(other.returncode, one.returncode, "status of " + program)


def life(b, *flags):
    program = b.build("life", *flags)
    counting = b.exe(program, "life.counting")
    same(b, program, counting)
    expect(b.runs("run.prof") >= 1, "no run in the profile")
    plain = b.build("plain.so", "-shared", "-fPIC", source="library.c")
    same(b, program, counting, plain)
    one = b.run(program, plain).stdout
    other = b.run(counting, b.library(), env={"FOOTPATH_OUT": b.path("two.prof")}).stdout
    equal(other, one, "with a library that counts")
    equal(b.run(program, b.path("counting.so"), env={"FOOTPATH_OUT": b.path("lib.prof")}).stdout, one,
          "a library that counts in a program that does not")
    expect(b.runs("lib.prof") >= 1, "no run of the library")


def case_pie(b):
    life(b, "-fPIE", "-pie")


def case_pie_now(b):
    life(b, "-fPIE", "-pie", "-Wl,-z,now")


def case_pie_no_relro(b):
    life(b, "-fPIE", "-pie", "-Wl,-z,norelro,-z,noseparate-code")


def case_fixed(b):
    life(b, "-fno-pie", "-no-pie")


def case_gold(b):
    needs("ld.gold")
    life(b, "-fuse-ld=gold")


def case_old_hash(b):
    life(b, "-Wl,--hash-style=sysv,--build-id=none")


def case_stripped(b):
    life(b, "-s")


def case_programs(b):
    """Programs of the system."""
    tried = 0
    for name in PROGRAMS:
        program = shutil.which(name)
        if not program:
            continue
        program = os.path.realpath(program)
        os.makedirs(b.path("copies"), exist_ok=True)
        counting = b.exe(program, os.path.join("copies", os.path.basename(program)))
        same(b, program, counting, "--version")
        os.unlink(counting)
        tried += 1
    expect(tried >= 10, "only %d programs" % tried)


def case_work(b):
    """Some real work."""
    gzip, sed = b.exe(shutil.which("gzip"), "gzip"), b.exe(shutil.which("sed"), "sed")
    text = "".join("line %d of the text\n" % (i * i) for i in range(20000))
    b.write("text", text)
    b.run("sh", "-c", "%s -c text > text.gz && gzip -dc text.gz | cmp - text" % gzip, env={"FOOTPATH_OUT": b.path("p")})
    script = "s/[0-9][0-9]*/<&>/g;$!N;P;D"
    equal(b.run(sed, script, "text").stdout, b.run("sed", script, "text").stdout, "sed")
    bash = b.exe(shutil.which("bash"), "bash")
    script = "f() { for i in $(seq 300); do x=$((x + i)); done; echo $x; }; f | cat; (exit 4); echo $?; trap 'echo end' EXIT"
    equal(b.run(bash, "-c", script).stdout, b.run("bash", "-c", script).stdout, "bash")


def refused(b, program, why, out="out"):
    done = b.tool("exe", program, "-o", b.path(out), status=1)
    expect(why in done.stderr and done.stderr.count("\n") == 1, "message: " + done.stderr, why)
    expect(not os.path.exists(b.path(out)), "wrote something")


def case_refusals(b):
    program = b.build("life")
    refused(b, b.write("text", "#!/bin/sh\n"), "expected an ELF file")
    refused(b, b.path("nothing"), "No such file")
    refused(b, b.exe(program, "again"), "was rewritten already")
    b.cc(os.path.join(SOURCE, "life.c"), "-o", "compiled")
    refused(b, b.path("compiled"), "counts already")
    shutil.copy(program, b.path("setuid"))
    os.chmod(b.path("setuid"), 0o4755)
    refused(b, b.path("setuid"), "set-user-id")
    b.build("bare", "-fno-asynchronous-unwind-tables", "-c")
    refused(b, b.path("bare"), "is not an executable or a shared library")
    refused(b, program, "cannot write", "no/such/folder")


def case_damaged(b):
    """A file that was cut anywhere is refused or rewritten, and nothing else."""
    with open(b.build("life"), "rb") as f:
        whole = f.read()
    for i in range(60):
        b.write("cut", whole[:len(whole) * i // 60])
        done = b.tool("exe", b.path("cut"), "-o", b.path("out"), status=None)
        expect(done.returncode in (0, 1), "status %d after a cut: %s" % (done.returncode, done.stderr))
    for i in range(0, 4096, 61):
        changed = bytearray(whole)
        changed[i] ^= 0xff
        b.write("changed", bytes(changed))
        done = b.tool("exe", b.path("changed"), "-o", b.path("out"), status=None)
        expect(done.returncode in (0, 1), "status %d, byte %d changed: %s" % (done.returncode, i, done.stderr))


def case_origin(b):
    """Libraries that lie beside the program are found from elsewhere."""
    os.makedirs(b.path("one"))
    os.makedirs(b.path("two"))
    b.build("one/liblibrary.so", "-shared", "-fPIC", source="library.c")
    b.write("user.c", "long library_work(long); int main(void) { return (int)library_work(1) != 43; }")
    b.run("cc", "user.c", "-o", "one/user", "-Lone", "-llibrary", "-Wl,-rpath,$ORIGIN")
    b.run(b.path("one/user"))
    b.run(b.exe(b.path("one/user"), "two/user"), silent=True)


def case_mode(b):
    program = b.build("life")
    os.chmod(program, 0o750)
    equal(stat.S_IMODE(os.stat(b.exe(program, "out")).st_mode), 0o750, "mode")


def case_own_build_id(b):
    needs("readelf")

    def build_id(path):
        return re.search("Build ID: (\\w+)", b.run("readelf", "-nW", path).stdout).group(1)
    program = b.build("life")
    out = b.exe(program, "out")
    expect(build_id(program) != build_id(out), "the build-id of another file")
    expect(build_id(out) == build_id(b.exe(program, "again")), "not the same each time")


def case_readelf(b):
    """Tools that read ELF files find nothing wrong."""
    needs("readelf", "objdump", "nm")
    for flags in (["-pie"], ["-no-pie"]):
        out = b.exe(b.build("life", *flags), "out")
        for command in (["readelf", "-aW"], ["objdump", "-dT"], ["nm", "-D"], ["nm"]):
            done = b.run(*command, out)
            expect("arning" not in done.stderr and "rror" not in done.stderr, "%s: %s" % (command, done.stderr))


def case_gdb(b):
    needs("gdb")
    out = b.exe(b.build("life", "-g"), "out")
    words = ["-ex", "break threads", "-ex", "run", "-ex", "bt", "-ex", "kill"]
    done = b.run("gdb", "-batch", *words, out, status=None)
    if "ptrace" in done.stderr:
        raise Skipped("no ptrace")
    expect(re.search("#1 .*main", done.stdout), "no stack: " + done.stdout + done.stderr)


def case_gdb_attached(b):
    """gdb sees every frame of the new code of all threads; the program then goes on, and no count is lost."""
    needs("gdb")
    out, profile = b.exe(b.build("deep", "-O1", "-pthread", source="deep.c"), "out"), b.path("deep.prof")
    stacks, first, both = "", 0, 0
    with subprocess.Popen([out], env=harness.environment(FOOTPATH_OUT=profile), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        for _ in range(20):
            done = b.run("gdb", "-batch", "-p", str(program.pid), "-ex", "thread apply all bt", "-ex", "detach", status=None)
            if "not permitted" in done.stderr:
                program.kill()
                raise Skipped("no ptrace")
            stacks += done.stdout
            frames = re.findall(r"^#(\d+) .* in (\w+) \(", stacks, re.M)
            names = " ".join(("; " if number == "0" else "") + name for number, name in frames)
            first = len(re.findall("deep deep deep deep deep deep often main", names))
            both = len(re.findall("deep deep deep deep deep deep often", names))
            if first >= 3 and both >= 6:
                break
        times = int(program.communicate()[0])
    equal(program.returncode, 0, "status")
    expect(first >= 3, "stacks of the first thread: " + names)
    expect(both >= 6, "stacks of both: " + names)
    shown = b.json("show", "--json", "--function", "deep", "deep.prof")["functions"]
    equal([f["calls"] for f in shown if f["name"] == "deep"], [times * 6], "calls of deep")


def case_valgrind(b):
    needs("valgrind")
    program = b.build("life")
    out = b.exe(program, "out")
    done = b.run("valgrind", "-q", "--error-exitcode=9", "date", "--version", status=None)
    if done.returncode:
        raise Skipped("valgrind does not run here")
    date = b.exe(shutil.which("date"), "date")
    b.run("valgrind", "-q", "--error-exitcode=9", date, "--version", silent=True)
    expect(out, "built")


def case_run(b):
    """footpath run rewrites a program that counts nothing, once."""
    program = b.build("life")
    cache = b.path("cache")
    plain = b.run(program).stdout
    for _ in range(2):
        done = b.tool("run", "-o", b.path("run.prof"), program, env={"XDG_CACHE_HOME": cache})
        equal(done.stdout, plain, "output")
    copies = [name for _, _, names in os.walk(cache) for name in names]
    equal(copies, ["life"], "copies")
    expect(b.runs("run.prof") >= 2, "no runs")
    done = b.tool("run", "--as-is", "-o", b.path("no.prof"), program, env={"XDG_CACHE_HOME": cache})
    expect("counted nothing" in done.stderr, "counted: " + done.stderr)


def case_unforeseen(b):
    """A jump into old code is caught: the program goes on, and the profile says that the function is not exact."""
    for flags in (["-pie"], ["-no-pie"]):
        program = b.build("unforeseen", *flags, source="unforeseen.c")
        out = b.exe(program, "out")
        for words, caught in (([], 0), (["6"], 10)):
            same(b, program, out, *words)
            os.unlink(b.path("run.prof"))
            b.run(out, *words, env={"FOOTPATH_OUT": b.path("run.prof")})
            info, shown = b.tool("info", "run.prof").stdout, b.tool("show", "run.prof")
            said = "1 function not exact: an unexpected jump was caught (victim)"
            equal("caught: victim, %d times" % caught in info, caught > 0, "info: " + info)
            equal(said in shown.stderr, caught > 0, "show: " + shown.stderr)
            b.tool("merge", "run.prof", "run.prof", "-o", b.path("sum.prof"))
            info = b.tool("info", "sum.prof").stdout
            equal("caught: victim, %d times" % (2 * caught) in info, caught > 0, "merged: " + info)
            os.unlink(b.path("run.prof"))


def case_threads(b):
    """Every call is counted, in threads and on stacks of their own."""
    for flags in (["-pie"], ["-no-pie"], ["-O1", "-fno-omit-frame-pointer"]):
        program = b.build("calls", *flags, source="calls.c")
        out = b.exe(program, "out")
        same(b, program, out)
        os.unlink(b.path("run.prof"))
        profile = b.profile("out", "calls.prof")
        functions = b.tool("show", "--functions", profile).stdout
        expect(re.search(" 800000 .* busy", functions), "calls of busy: " + functions)


def case_ends_at_once(b):
    """Nobody waits for a thread that has ended, nor asks the first thread twice to stop. Who waits looks once a ms, for two seconds:
    that many times the process gives up its processor, however busy the machine is."""
    for flags in (["-pie"], ["-no-pie"]):
        out = b.exe(b.build("kernel", *flags, source="kernel.c"), "out")
        for kind, status in (("thread-exits", 4), ("first", 0)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
            b.run(out, kind, status=status, env={"FOOTPATH_OUT": b.path("ends.prof")})
            waits = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
            print("%s waits %d times" % (kind, waits))
            expect(0 < waits < 500, "%s waits %d times" % (kind, waits))


def case_loaded_again(b):
    """A library that is loaded several times counts all of it, what its resolvers do too."""
    program = b.build("again", source="again.c")
    b.library()
    profile = b.path("again.prof")
    b.run(program, b.path("counting.so"), env={"FOOTPATH_OUT": profile})
    functions = b.tool("show", "--functions", profile).stdout
    for name in ("library_work", "begin", "by_one", "indirect"):
        expect(re.search(" 15 .* %s " % name, functions), name + ": " + functions)


def case_libraries(b):
    """footpath run --libs counts the libraries of a program, too."""
    b.build("liblibrary.so", "-shared", "-fPIC", source="library.c")
    b.write("user.c", "long library_work(long); int main(void) { return (int)library_work(1) != 43; }")
    b.run("cc", "user.c", "-o", "user", "-L.", "-llibrary", "-Wl,-rpath," + b.folder, "-Wl,--enable-new-dtags")
    b.tool("run", "--libs", "-o", b.path("libs.prof"), b.path("user"), env={"XDG_CACHE_HOME": b.path("cache")})
    functions = b.tool("show", "--functions", "libs.prof").stdout
    for name in ("main", "library_work", "begin", "indirect"):
        expect(re.search(" 1 .* %s " % name, functions), name + ": " + functions)


def case_exits(b):
    """A profile is written however the process ends."""
    out = b.exe(b.build("life"), "out")
    profile = b.profile("out", "p.prof")
    expect(b.runs(profile) >= 4, "main, _exit, exec and abort have a run each: " + b.tool("info", profile).stdout)
    expect(os.path.exists(out), "built")


harness.main(__doc__, bench=Exe)
