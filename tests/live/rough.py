#!/usr/bin/env python3
"""Live counters where the going is rough: limits of memory, odd names and places, damaged files, processes that end while they are
looked at.

    rough.py --bin BUILD/bin [--llvm 19] [--case NAME]...
"""
import ctypes
import fcntl
import glob
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Skipped, equal, expect, main  # noqa: E402
from run import FUNCTIONS, HERE, KINDS, THREADS, Bench, ends, only_line  # noqa: E402


def case_address_space(b):
    """Under ulimit -v the file takes little of what there is: the program has the rest, and its children count on."""
    limit = 1 << 30
    b.cc("-O1", b.write("large.c", """
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        volatile int sink;
        __attribute__((noinline)) void f(int n) { if (n & 1) sink += n; if (n & 2) sink ^= n; }
        int main(int argc, char **argv) {
            void *volatile most = malloc(atol(argv[1]));
            if (!most) return 3;
            pid_t child = fork();
            for (int i = 0; i < 1000; i++) f(i);
            if (child) waitpid(child, NULL, 0);
            kill(getpid(), SIGKILL); }"""), "-o", "large")
    done = b.run("./large", str(limit * 85 // 100), env={"FOOTPATH_LIVE": "1"}, status=-signal.SIGKILL,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    equal((done.stderr, len(b.live()), b.counts()["f"]), ("", 2, [500] * 4), "both processes")


def case_child_without_space(b):
    """A program takes all the address space that it may have, and then forks: the child has no room for counters of its own."""
    b.cc("-O1", b.write("tight.c", """
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/resource.h>
        #include <sys/wait.h>
        #include <unistd.h>
        volatile unsigned sink, other;
        #define STEP(bit) if (n >> (bit) & 1) sink += n >> (bit); else other ^= n >> (bit);
        #define FOUR(bit) STEP(bit) STEP((bit) + 1) STEP((bit) + 2) STEP((bit) + 3)
        __attribute__((noinline)) void most(unsigned n) {
            FOUR(0) FOUR(4) FOUR(8) FOUR(12) FOUR(16) FOUR(20) FOUR(24) FOUR(28) }
        int main(void) {
            long pages = 0;
            int status = -1;
            for (unsigned i = 0; i < 50000; i++) most(i % 1000 * 2654435761u);
            FILE *f = fopen("/proc/self/statm", "r");
            if (!f || fscanf(f, "%ld", &pages) != 1) return 9;
            fclose(f);
            struct rlimit limit = {pages * 4096, pages * 4096};
            if (setrlimit(RLIMIT_AS, &limit)) return 8;
            pid_t child = fork();
            if (child < 0) return 7;
            for (unsigned i = 0; i < 5000; i++) most(i % 10 * 2654435761u);
            if (!child) _exit(0);
            waitpid(child, &status, 0);
            return status ? 6 : 0; }"""), "-o", "tight")
    done = b.run("./tight", env={"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": "%p.prof"}, status=None)
    equal(done.returncode, 0, "status with: " + done.stderr)
    counts = sorted(b.counts(profile)["most"] for profile in glob.glob(b.path("*.prof")))
    equal(counts, [[500] * 10, [550] * 10 + [50] * 990], "child and parent")


def data_bytes(path):
    """Of a file those that are no holes."""
    found, at = 0, 0
    with open(path, "rb") as file:
        try:
            while True:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
                hole = os.lseek(file.fileno(), at, os.SEEK_HOLE)
                found, at = found + hole - at, hole
        except OSError:
            return found


def case_holes(b):
    """Only pages that were written to are read at the end: the kernel reads none around them."""
    with open(b.path("promised"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 20)
    if data_bytes(b.path("promised")):
        raise Skipped("the file system does not tell holes")
    b.build()
    process = b.start(4, "spin")
    b.working(process)
    name, = glob.glob(b.path("footpath.prof.*.live"))
    used, whole = data_bytes(name), os.path.getsize(name)
    process.kill()
    process.communicate()
    expect(0 < used < 0.7 * whole, "holes", "%d of %d bytes are data" % (used, whole))


NO_PROMISES = """
    #include <errno.h>
    #include <stdarg.h>
    #include <sys/syscall.h>
    #include <time.h>
    static long call(long number, const long *a) {
        long result;
        register long d __asm__("r10") = a[3], e __asm__("r8") = a[4], f __asm__("r9") = a[5];
        __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(d), "r"(e), "r"(f)
                         : "rcx", "r11", "memory");
        if ((unsigned long)result < (unsigned long)-4095) return result;
        errno = (int)-result;
        return -1;
    }
    long syscall(long number, ...) {
        static int promises;
        struct timespec moment = {0, 300000000};
        long words[6];
        va_list list;
        va_start(list, number);
        for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);
        va_end(list);
        if (number != SYS_fallocate) return call(number, words);
        if (__atomic_fetch_add(&promises, 1, __ATOMIC_RELAXED) == 1) call(SYS_nanosleep, (long[6]){(long)&moment});
        errno = EOPNOTSUPP;
        return -1;
    }"""


def case_no_promises(b):
    """A file system that has no fallocate: the thread that makes the file longer is slow, others are faster, and it takes away
    nothing that they have counted by then."""
    b.run("cc", "-c", "-fPIC", "-O1", b.write("promises.c", NO_PROMISES), "-o", "promises.o")
    b.build("promises.o")  # the runtime takes this function in place of its own
    for _ in range(3):
        process = b.start(8, "spin")
        while min(b.calls_of_threads()[1:9]) < 20000:
            expect(process.poll() is None, "works")
            time.sleep(0.01)
        process.kill()
        equal(process.communicate()[1], "", "said")
        b.check(b.counts(), 8)
        b.tool("fold")
        os.unlink(b.path("footpath.prof"))


def case_names(b):
    """The live file lies where the profile would: by a relative name, whatever folder the program goes to, and by %p in parent and child."""
    b.cc("-O1", b.write("goes.c", """
        #include <signal.h>
        #include <unistd.h>
        volatile int sink;
        __attribute__((noinline)) void f(int n) { if (n & 1) sink += n; }
        int main(void) {
            if (chdir("/")) return 4;
            int child = fork();
            for (int i = 0; i < 1000; i++) f(i);
            if (child) pause();
            kill(0, SIGKILL); }"""), "-o", "goes")
    for out, names in ("sub/one.prof", 1), ("sub/%p.prof", 2):
        b.run("./goes", env={"FOOTPATH_LIVE": "1", "FOOTPATH_OUT": out}, status=-signal.SIGKILL, start_new_session=True)
        left = glob.glob(b.path("sub", "*.live"))
        equal((len(left), len({name.rsplit(".", 2)[0] for name in left})), (2, names), "files and profiles")
        for name in left:
            with open(name, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
        equal(b.counts(*left)["f"], [1000] * 2, "named by their live files")
        b.tool("fold", *sorted({name.rsplit(".", 2)[0] for name in left}))
        equal((b.counts(*glob.glob(b.path("sub", "*")))["f"], glob.glob(b.path("sub", "*.live"))), ([1000] * 2, []), "folded")
        for name in glob.glob(b.path("sub", "*")):
            os.unlink(name)


def case_two_programs(b):
    """Two programs that count by the same name."""
    ends(b)
    os.rename(b.path("ends"), b.path("other"))
    ends(b, "-DOTHER", "-O2")
    for name in "other", "ends", "other":
        b.run("./" + name, "1000", "k", env={"FOOTPATH_LIVE": "1"}, status=-signal.SIGKILL)
    for _ in range(2):
        shown = [b.counts("--program", name, "footpath.prof")["f"] for name in ("other", "ends")]
        equal(shown, [[500] * 4, [250] * 4], "each by itself")
        b.tool("fold")
    equal(b.live(), [], "folded")


def case_privileged(b):
    """A program with more rights than its user, which writes a profile only where it names a full path itself, is not live there."""
    if os.geteuid():
        raise Skipped("needs root")
    ends(b, "--fp-live", "--fp-out=" + b.path("own", "out.prof"))
    os.mkdir(b.path("own"))
    for folder in (b.folder, b.path("own")):
        os.chmod(folder, 0o755)
    os.chmod(b.path("ends"), 0o4755)
    user = lambda: os.setresuid(65534, 65534, 65534)
    done = b.run("./ends", "1000", "r", preexec_fn=user, status=None)
    if done.returncode == 126:
        raise Skipped("another user cannot reach the folder of the tests")
    only_line(done.stderr, "counters are not live: the program has other rights than its user")
    equal((b.counts("own/out.prof")["f"], os.listdir(b.path("own"))), ([250] * 4, ["out.prof"]), "written at the end")


def case_damaged(b):
    """Live files that are cut, changed or of a newer version, and a profile that is: nothing is lost, and one line says what is wrong."""
    ends(b)
    for how in "rk":
        b.run("./ends", "1000", how, env={"FOOTPATH_LIVE": "1"}, status=None)
    name, profile = b.live()[0], b.read("footpath.prof")
    whole, stray = b.read(name), name[:-21] + "%016x.live" % 1
    for damaged, said in ((b"", "expected a live file"), (whole[:5000], "expected a list of parts"),
                          (whole[:12] + b"\x09" + whole[13:], "use a newer one"), (b"x" * 9000, "expected a live file")):
        b.write("footpath.prof", profile)
        b.write(name, whole)
        b.write(stray, damaged)
        for _ in range(2):
            only_line(b.tool("fold", status=1).stderr, said, "the file stays as it is")
            equal((b.counts()["f"], b.live()), ([500] * 4, [stray]), "the other one is taken in")
    os.unlink(stray)
    for seed in range(100):  # whatever is in it, a tool says so or takes it for counts
        chance = random.Random(seed)
        bytes_ = bytearray(whole)
        for _ in range(chance.randrange(1, 200)):
            bytes_[chance.randrange(len(bytes_) if chance.random() < 0.3 else 3 * 4096)] = chance.choice((0, 1, 255, chance.randrange(256)))
        b.write(name, bytes_)
        done = b.tool("show", "--functions", "footpath.prof", status=None)
        expect(done.returncode in (0, 1), "seed %d" % seed, done.stderr)
    b.write("footpath.prof", profile[:-1])
    b.write(name, whole)
    only_line(b.tool("fold", status=1).stderr, "is damaged or no profile, so the live files stay as they are")
    equal(b.live(), [name], "stays")
    b.tool("merge", "footpath.prof", "-o", "footpath.prof")
    b.tool("fold")
    equal((b.counts()["f"], b.live()), ([500] * 4, []), "mended")  # its run is whole


def case_looks_elsewhere(b):
    """A process with another root, and processes in a namespace of their own, are read from outside."""
    if os.geteuid():
        raise Skipped("needs root")
    b.build()
    b.cc("-O1", "-static-pie", os.path.join(HERE, "kills.c"), "-o", "alone", "-lpthread")
    b.write("own", b"\0" * (THREADS * len(FUNCTIONS) * KINDS * 8))
    for words in (["./alone", "own", "1", "spin"],), (["unshare", "--pid", "--fork", "./kills", "own", "1", "fork"],):
        jailed = words[0][0] == "./alone"
        process = subprocess.Popen(words[0], env=harness.environment(FOOTPATH_LIVE="1", FOOTPATH_OUT="jailed.prof" if jailed else "free.prof"),
                                   cwd=b.folder, start_new_session=True, preexec_fn=(lambda: os.chroot(".")) if jailed else None)
        b.working(process)
        inside = [process.pid]
        while not jailed and len(inside) < 4:
            expect(process.poll() is None, "runs")
            time.sleep(0.01)
            inside = processes_below(process.pid)
        for pid in inside:
            counts = b.counts("--pid", str(pid), "--binary", "alone" if jailed else "kills")
            expect(sum(counts["few"]) > 0, "counted", counts)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        b.write("own", b"\0" * (THREADS * len(FUNCTIONS) * KINDS * 8))


def processes_below(pid):
    """Of the children of a process all that it has below it."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        found = [int(child) for child in f.read().split()]
    return found + [below for child in found for below in processes_below(child)]


def case_looks_at_ends(b):
    """Processes that end, fork and exec while they are looked at: a look has counts or says why it has none."""
    b.cc("-O1", b.write("brief.c", """
        #include <stdlib.h>
        #include <unistd.h>
        volatile int sink;
        __attribute__((noinline)) void f(int n) { if (n & 1) sink += n; if (n & 2) sink ^= n; }
        int main(int argc, char **argv) {
            for (int k = 0; k < 20; k++) {
                for (int i = 0; i < 300000; i++) f(i);
                if (k % 4 == 3 && fork()) _exit(0);
            }
            if (argc > 1) execl(argv[0], argv[0], NULL); }"""), "-o", "brief")
    said = []
    take_orphans()
    while len(said) < 10:  # whoever looks on a busy machine may be too late
        process = subprocess.Popen(["./brief", "again"], env=harness.environment(FOOTPATH_LIVE="1"), cwd=b.folder, start_new_session=True)
        for _ in range(20):
            pids = [pid for pid in os.listdir("/proc") if pid.isdigit() and group_of(pid) == process.pid]
            if not pids:
                break
            done = b.tool("show", "--json", "--pid", pids[-1], status=None)
            expect(done.returncode == 0 or re.search("(?i)no such process|does not count|are in its profile|cannot open", done.stderr), "a word", done.stderr)
            said.append(done.returncode)
        process.wait()  # its children go on, in its group
        wait_for_orphans()
    equal(b.live(), [], "all have ended")


def take_orphans():
    """Children of processes that end become ours: a list of what is in /proc may lack one that is forked meanwhile."""
    PR_SET_CHILD_SUBREAPER = 36
    equal(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0, "prctl")


def wait_for_orphans():
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return


def group_of(pid):
    """0 of a process that has ended, also where nobody has asked for its status."""
    try:
        with open("/proc/%s/stat" % pid, "rb") as f:
            state, _, group = f.read().rpartition(b") ")[2].split()[:3]
    except OSError:
        return 0
    return 0 if state in b"ZX" else int(group)


if __name__ == "__main__":
    main(__doc__, bench=Bench)
