#!/usr/bin/env python3
"""Seeds for the fuzz targets: small real files of every format, made by this build.

    seeds.py --bin BUILD/bin [--llvm 19] FOLDER    writes FOLDER/TARGET/NAME

The programs stay in FOLDER: profiles name them.
"""
import contextlib
import glob
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), *(os.path.join(os.path.dirname(HERE), name) for name in ("hostile", "sample"))]
import formats  # noqa: E402
import harness  # noqa: E402
import perffields  # noqa: E402
import perffile  # noqa: E402
from harness import PROGRAMS  # noqa: E402

SEEDS = [
    ("control_flow.c", "--fp-mode=path --fp-callees"),
    ("control_flow.c", "--fp-mode=edge-min"),
    ("many_paths.c", "--fp-mode=path"),
    ("exceptions.cc", "--fp-mode=check"),
    ("exit_deep.c", "--fp-mode=path --fp-exits"),
    ("exit_deep.c", "--fp-mode=path --fp-metric=cycles"),
    ("many_paths.c", "--fp-mode=path --fp-at=early --fp-values"),
    ("control_flow.c", "--fp-mode=path --fp-map=packed"),
]
LARGEST_REPORT = 20000  # a profile of many paths keeps all forms of reports busy for seconds
TINY = """
static int table[8];
__attribute__((noinline)) static int pick(int n)
{
    switch (n) { case 0: return 3; case 1: return table[n]; case 2: return n * 7; case 3: return 9; case 4: return -n;
                 case 5: table[2]++; return 1; case 6: return 12; default: return n & 3; }
}
static inline int more(int n) { return n > 3 ? pick(n - 3) : n; }
int main(void) { int sum = 0; for (int i = 0; i < 40; i++) sum += pick(i % 9) + more(i); return sum; }
"""

HARD = """
extern "C" int step(int), fail(const char *) __attribute__((noreturn, cold));
struct Guard { ~Guard() { step(1); } };
extern "C" int run(int n, const int *data)
{
    static const void *const labels[] = { &&one, &&two, &&three };
    int sum = 0;
    Guard guard;
    try {
        switch (step(n)) { case 0: sum = 3; break; case 1: sum += step(4); break; case 2: sum = n * 7; break;
                           case 5: sum = step(n - 1); break; case 6: sum ^= 12; break; case 9: fail("nine");
                           default: sum = n & 3; }
    } catch (int e) { sum = e; } catch (const char *) { sum = 2; }
    if (n > 100) fail("large");
    goto *labels[data[0] % 3];
one: sum++;
two: if (sum < 50) goto *labels[data[sum] % 3];
three: return sum;
}
"""

class Maker:
    def __init__(self, args):
        self.args = args

    def path(self, target, name):
        os.makedirs(os.path.join(self.args.folder, target), exist_ok=True)
        return os.path.join(self.args.folder, target, name)

    def write(self, target, name, data):
        with open(self.path(target, name), "wb") as f:
            f.write(data)

    def tool(self, *words):
        subprocess.run([os.path.join(self.args.bin, "footpath"), *words], check=True, stdout=subprocess.DEVNULL)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def build(make, source, flags, exe):
    compiler = "footpath-c++" if source.endswith(".cc") else "footpath-cc"
    subprocess.run([os.path.join(make.args.bin, compiler), "--fp-llvm=" + make.args.llvm, "--fp-map=plain", *flags.split(), "-O1", "-w",
                    "-pthread", os.path.join(PROGRAMS, source), "-o", exe], check=True)


def of_store(make, name, profile):
    """What the rows of a store have of the profile, and the same without compression."""
    store = os.path.join(make.args.folder, name + ".store")
    if os.path.exists(store):
        os.unlink(store)
    make.tool("store", "add", "--store", store, profile)
    with contextlib.closing(sqlite3.connect(store)) as base:
        blobs = base.execute("SELECT counts FROM fp_records").fetchall()
    for at, (blob,) in enumerate(blobs):
        make.write("storeblob", "%s-%d" % (name, at), blob)
    for at, (_, payload) in enumerate(formats.records(read(profile))):
        make.write("storeblob", "%s-plain-%d" % (name, at), b"\0" + payload)


def of_program(make, number, source, flags):
    """Map, profile, and what is made of them."""
    name = "%d-%s" % (number, source.split(".")[0])
    exe = os.path.join(make.args.folder, name)
    build(make, source, flags, exe)
    section, profile = make.path("map", name), make.path("profile", name)
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.footpath_map", "--set-section-flags",
                    ".footpath_map=alloc", exe, section], check=True)
    if os.path.exists(profile):
        os.unlink(profile)
    for _ in range(2):
        subprocess.run([exe], env=dict(os.environ, FOOTPATH_OUT=profile), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    if not os.path.getsize(section) or not os.path.getsize(profile):
        raise SystemExit("%s: no seed" % name)
    if os.path.getsize(profile) < LARGEST_REPORT:
        make.write("reports", name, struct.pack("<I", os.path.getsize(section)) + read(section) + read(profile))
    make.write("alone", name, read(profile))
    of_store(make, name, profile)
    make.tool("export", "--format", "guide", "-o", make.path("guide", name), profile)
    make.tool("combine", "-o", make.path("combined", name), profile)
    for what in ("edges", "paths") if "path" in flags else ("edges",):
        make.tool("export", "--format", "legacy", "--what", what, "-o", make.path("legacy", what + name), profile)
        make.write("import", what + name, read(make.path("legacy", what + name)))
        make.tool("export", "--format", "legacy", "--what", what, "-o", make.path("legacy", "combined" + what + name),
                  make.path("combined", name))
    make.tool("export", "--format", "callgrind", "-o", make.path("callgrind", name), profile)
    subprocess.run(["objcopy", "--strip-debug", exe, make.path("program", name)], check=True)
    build(make, source, flags.replace("--fp-map=packed", "") + " --fp-map=separate", exe + ".separate")
    make.write("mapfile", name, read(exe + ".separate.fpmap"))
    if number == 0:
        for strategy in ("invocations", "cuts", "procedures", "p3"):
            make.tool("plan", "-k", "3", "--strategy", strategy, "--guide", profile, "-o",
                      make.path("division", strategy), exe)


def of_executable(make):
    """A program without its source: its map has addresses."""
    plain, exe = (os.path.join(make.args.folder, name) for name in ("plain", "rewritten"))
    subprocess.run(["cc", "-O1", "-s", "-w", os.path.join(PROGRAMS, "control_flow.c"), "-o", plain], check=True)
    make.tool("exe", plain, "-o", exe)
    section, profile = make.path("map", "exe"), make.path("profile", "exe")
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.footpath_map", "--set-section-flags",
                    ".footpath_map=alloc", exe, section], check=True)
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run([exe], env=dict(os.environ, FOOTPATH_OUT=profile), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not os.path.getsize(section) or not os.path.getsize(profile):
        raise SystemExit("no seed of an executable")
    make.write("reports", "exe", struct.pack("<I", os.path.getsize(section)) + read(section) + read(profile))
    make.write("alone", "exe", read(profile))


def of_samples(make):
    """Machine code with debug information, and samples of all kinds."""
    source, exe = os.path.join(make.args.folder, "tiny.c"), make.path("machine", "tiny")
    with open(source, "w") as f:
        f.write(TINY)
    for level in ("-O1", "-O2"):
        subprocess.run(["clang-" + make.args.llvm, level, "-g", "-nostdlib", "-static", "-Wl,-e,main",
                        "-fno-asynchronous-unwind-tables", source, "-o", exe + level], check=True)
    plain = formats.perf_mapping(exe, 0x10000)
    for k in range(60):
        plain += formats.perf_record(9, struct.pack("<QIIQQ", 0x401000 + k * 3, 1, 1, k, 1000))
    fields = formats.IP | formats.TID | formats.TIME
    make.write("perfdata", "plain", formats.perf_file(fields | formats.PERIOD, plain))
    packed = formats.compress(plain)
    make.write("perfdata", "packed", formats.perf_file(fields | formats.PERIOD, formats.perf_record(81, packed)))
    branches = formats.perf_mapping(exe, 0x10000)
    for k in range(30):
        stack = struct.pack("<Q", 3) + b"".join(struct.pack("<QQQ", 0x401000 + k + i, 0x401000 + i, 0) for i in range(3))
        branches += formats.perf_record(9, struct.pack("<QIIQ", 0x401000 + k, 1, 1, k) + stack)
    make.write("perfdata", "branches", formats.perf_file(fields | formats.BRANCHES, branches, 8))
    of_precise_samples(make)
    of_registers(make, exe + "-O2")
    make.write("callgrind", "instructions", b"version: 1\npositions: instr line\nevents: Ir\nob=(1) /bin/true\nfl=(1) a.c\n"
               b"fn=(1) main\n0x401000 3 10\n+4 +1 5\njcnd=3/5 +8 +2\n+2 4\ncfn=(2) leaf\ncalls=2 0x401100 9\n* * 20\n"
               b"fn=(2)\n0x401100 9 2\n\ntotals: 37\n")


def of_registers(make, exe):
    """Samples at all places of a program's code, with registers and stacks: pointers to the stack, addresses of code, numbers."""
    base = perffields.BASE | perffile.REGS_USER | perffile.STACK_USER
    top, code = 0x7ffc00001000, 0x401000
    stack = struct.pack("<8Q", code + 0x40, 3, top + 64, 0, code + 0x81, 2**64 - 1, top, 7) * 8
    for name, fields, mask in (("registers", base, perffile.REGISTERS), ("few", base, 0xff0282),
                               ("all", base | perffile.BRANCH_STACK | perffile.CALLCHAIN | perffile.RAW | perffile.READ, perffile.REGISTERS)):
        file = perffile.File([perffile.Event("cycles:u", fields, branches=perffile.BRANCH_ANY, registers=mask, stack=len(stack))])
        file.mapping(exe, 0x400000, 0x10000)
        for k in range(0, 240, 3):
            numbers = {6: top + 32, 7: top, 8: code + k, 9: 0x246 ^ (k & 1) ^ (k & 4) << 4}
            values = [numbers.get(r, (k * r) % 11) for r in range(64) if mask >> r & 1]
            file.sample(0, ip=code + k, time=k, raw=b"raw", branches=((code + k, code + 9, 0),), registers=(2, values), stack=(stack, len(stack)))
        make.write("forward", name, file.bytes())
        make.write("perfdata", name, file.bytes())


def of_precise_samples(make):
    """Every field of samples, IBS and SPE, in files as perf writes them."""
    fields = perffields.ALL | perffile.AUX | perffile.TRANSACTION
    for name, more in (("fields", 0), ("index", perffile.BRANCH_HW_INDEX | perffile.BRANCH_COUNTERS)):
        event = perffile.Event("cycles:upp", fields, precise=2, branches=perffile.BRANCH_ANY | more, read_format=15)
        make.write("perfdata", name, perffields.three(event, perffields.STACK, b"raw").bytes())
    op = perffile.ibs_op(0x401020, 0x401100, branch=True, taken=True)
    make.write("perfdata", "ibs", perffields.ibs_file([op, perffile.ibs_op(0x401010)]).bytes())
    stream = perffile.spe_op(0x401010, ticks=10) + perffile.spe_op(0x401020, 0x401100, events=0x82, context=7, ticks=12)
    make.write("perfdata", "spe", perffields.spe_file(stream + b"\x22\0").bytes())
    make.write("preciseops", "ibs", b"\1" + op)
    make.write("preciseops", "spe", b"\0" + stream)


def of_notes(make):
    """Notes of gcc, and its dump of the same pass."""
    for source in ("control_flow.c", "exceptions.cc"):
        name = source.split(".")[0]
        made = os.path.join(make.args.folder, name + ".o")
        subprocess.run(["g++" if source.endswith(".cc") else "gcc", "-O1", "-w", "-ftest-coverage", "-c",
                        "-fprofile-use", "-fdump-ipa-profile-lineno-details-asmname=%s.profile" % made,
                        os.path.join(PROGRAMS, source), "-o", made], check=True)
        make.write("notes", name, read(os.path.join(make.args.folder, name + ".gcno")))
        make.write("dump", name, read(made + ".profile").replace(os.path.join(PROGRAMS, source).encode(), b"program.c"))


# a program without libc: calls of the kernel in functions with frames and without, and a longjmp as glibc's
ALONE = r"""
long ask(long number, long value)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(value) : "rcx", "r11", "memory");
    return result;
}
int choose(int n)
{
    switch (n) {
    case 0: return 3;
    case 1: return (int)ask(39, 0);
    case 2: return n * 7;
    case 3: return n - 1;
    case 4: return (int)ask(110, 0);
    default: return n;
    }
}
void begin(long *stack)
{
    int sum = 0;
    for (long i = 0; i < 9; i++) sum += choose((int)(i * *stack));
    ask(231, sum & 1);
    __builtin_trap();
}
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\nhlt\n"
        "bare: mov $56, %eax\nsyscall\ntest %rax, %rax\njz 1f\nret\n1: mov %rdx, %rax\nsyscall\njmp 1b\n"
        "jump: mov 48(%rdi), %r8\nmov 8(%rdi), %r9\nmov 56(%rdi), %rdx\nror $17, %r8\nxor %fs:0x30, %r8\n"
        "mov (%rdi), %rbx\nmov 16(%rdi), %r12\nmov 40(%rdi), %r15\nmov %r8, %rsp\njmp *%rdx\n"
        ".globl other\nother: call bare\njmp jump\n");
"""


def of_recovery(make):
    """Shared libraries with jump tables, landing pads, computed goto and cold parts; stripped and not."""
    source = os.path.join(make.args.folder, "hard.cc")
    with open(source, "w") as f:
        f.write(HARD)
    for name, command in (("gcc", ["g++", "-O2"]), ("clang", ["clang++-" + make.args.llvm, "-O1"]),
                          ("fixed", ["g++", "-O2", "-fno-pie", "-no-pie", "-static", "-Wl,-e,run", "-Wl,--unresolved-symbols=ignore-all"])):
        shared = [] if name == "fixed" else ["-shared", "-fPIC"]
        exe = make.path("recover", name)
        subprocess.run([*command, *shared, "-nostdlib", "-Wl,--build-id=none", source, "-o", exe], check=True)
        subprocess.run(["strip", "-o", exe + "-stripped", exe], check=True)


def of_rewriting(make):
    """Programs and libraries that are rewritten, as small as the linker makes them, and the runtime that is put into them."""
    for runtime, name in (("exe", "runtime.so"), ("static", "static.so")):
        shutil.copy(os.path.join(make.args.bin, "..", "lib", "footpath", "libfootpath-%s.so" % runtime), os.path.join(make.args.folder, name))
    source, program = os.path.join(make.args.folder, "hard.cc"), os.path.join(make.args.folder, "hard-main.cc")
    with open(source) as f, open(program, "w") as out:
        out.write(f.read().replace("extern \"C\" int step(int), fail(const char *) __attribute__((noreturn, cold));",
                                   "#include <stdlib.h>\n"
                                   "extern \"C\" __attribute__((noinline)) int step(int n) { if (n == 7) throw 7; return n; }\n"
                                   "extern \"C\" __attribute__((noinline, noreturn)) void fail(const char *) { exit(3); }")
                  + "int main(int argc, char **) { int data[60] = {0, 1, 2, 2}; return run(argc, data); }\n")
    for name, words in (("pie", ["-fPIE", "-pie"]), ("fixed", ["-fno-pie", "-no-pie"]), ("library", ["-fPIC", "-shared"]),
                        ("frames", ["-fPIE", "-pie", "-fno-omit-frame-pointer", "-O1"])):
        exe = make.path("rewrite", name)
        subprocess.run(["g++", "-O2", *words, "-s", "-Wl,-z,noseparate-code", "-Wl,--build-id=none", program, "-o", exe], check=True)
    source = os.path.join(make.args.folder, "alone.c")
    with open(source, "w") as f:
        f.write(ALONE)
    for name, words in (("static", ["-fno-pie", "-static"]), ("static-pie", ["-fPIE", "-static-pie"])):
        subprocess.run(["gcc", "-O2", *words, "-nostdlib", "-fno-stack-protector", "-s", "-Wl,-z,noseparate-code,--build-id=none", source,
                        "-o", make.path("rewrite", name)], check=True)


def of_live(make):
    """What a killed process leaves: arrays, a sparse array, a hash table, two threads."""
    exe, own = os.path.join(make.args.folder, "kills"), os.path.join(make.args.folder, "own")
    for number, flags in enumerate(([], ["--fp-exits"])):
        subprocess.run([os.path.join(make.args.bin, "footpath-cc"), "--fp-llvm=" + make.args.llvm, *flags, "-O1", "-w", "-rdynamic",
                        os.path.join(os.path.dirname(PROGRAMS), "live", "kills.c"), "-o", exe, "-pthread", "-ldl"], check=True)
        with open(own, "wb") as f:
            f.truncate(1 << 20)
        profile = os.path.join(make.args.folder, "live.prof")
        process = subprocess.Popen([exe, own, "2", "spin"], env=dict(os.environ, FOOTPATH_LIVE="1", FOOTPATH_OUT=profile))
        while not any(read(own)[:4096]):
            time.sleep(0.01)
        process.kill()
        process.wait()
        for left in glob.glob(profile + ".*.live"):
            make.write("live", str(number), read(left)[:1 << 20])
            os.unlink(left)


def main():
    make = Maker(harness.parse(harness.arguments(__doc__, ("folder", {}))))
    os.makedirs(make.args.folder, exist_ok=True)
    for number, (source, flags) in enumerate(SEEDS):
        of_program(make, number, source, flags)
    of_executable(make)
    of_samples(make)
    of_notes(make)
    of_recovery(make)
    of_rewriting(make)
    of_live(make)


if __name__ == "__main__":
    main()
