"""What a profile gains in a rebuild, against the compiler's own instrumentation.

    python3 bench/fdo.py [--programs bzip2,lua] [--compilers clang,gcc] [--pack FOLDER] [--docs]
    python3 bench/fdo.py --times FILE --where MACHINE [--docs]       times that FOLDER/run.sh took there
    python3 bench/fdo.py --crashes [--programs bzip2,lua]
    python3 bench/fdo.py --record                                    samples alone, before builds that make noise

Each program is built at -O2: plain; with the compiler's own profile ("instrumented"); by a profile
of cpu-clock samples of the plain build ("sampled"); and by exact counts of footpath-cc ("exact").
gcc also with -fprofile-use and no profile at all ("flags"): what the option turns on by itself.
Samples reach gcc by footpath-gcc (--format gcda), clang as --format llvm-sample; exact counts reach
gcc by footpath-gcc, clang as --format llvm-profdata. All profiles are of the input `train`.
Instructions and mispredictions are cachegrind's, on the input `small`; time is CPU time on the input
`large`, interleaved, the least of many runs. Gains are judged by time: --pack lays the builds into
a folder for a quiet machine, in the manner of elsewhere.py, and --times takes what its run.sh
printed. Results are kept in .cache/fdo/results.json; --docs writes the tables into docs/perf.md.

--crashes builds each program by samples and by exact counts, in each form that a compiler takes
(TRIALS), and tells each internal error of the compiler and each output that is not the plain
build's. It takes builds and profiles that are there already. With --docs it writes its table alone.
"""
import argparse
import glob
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys

import corpus
import elsewhere
import inputs
import marks

ROOT = corpus.ROOT
WORK = os.path.join(ROOT, ".cache", "fdo")
RESULTS = os.path.join(WORK, "results.json")
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(ROOT, "build", "bin"))
LLVM = os.environ.get("FOOTPATH_LLVM", "19")
PROGRAMS = "bzip2,minigzip,mawk,lua,zstd,sqlite,libquantum,xz,minisat"
TUNED = ("bzip2", "minigzip", "mawk", "lua", "minisat", "xz")  # looked at when the export was made; the others were only measured
# for crashes: "afdo" is -fauto-profile, "lines" clang's sample profiles of exact counts
TRIALS = {"gcc": ("sampled", "exact", "afdo-sampled", "afdo-exact"), "clang": ("sampled", "exact", "lines-exact")}
TRIED = ["program", "gcc, gcda: sampled", "exact", "gcc, -fauto-profile: sampled", "exact", "clang, lines: sampled", "exact", "clang, profdata: exact"]
BUILDS = {"gcc": ("plain", "flags", "instrumented", "sampled", "exact"), "clang": ("plain", "instrumented", "sampled", "exact")}
GAINS = ["flags", "sampled", "exact", "instrumented"]
TIMED = ["program"] + GAINS + ["sampled, part", "exact, part"]
COUNTED = TIMED + ["mispredicted: sampled", "exact", "instrumented"]


def compiler(name):
    """What compiles, and the flags of all builds. valgrind cannot read clang's DWARF 5; what -no-integrated-cpp does for
    gcc is in docs/use.md."""
    if name == "clang":
        return "clang-" + LLVM, "clang++-" + LLVM, "-O2 -g -gdwarf-4 -fdebug-info-for-profiling"
    return "gcc-12", "g++-12", "-O2 -g -no-integrated-cpp"


def cpu(line, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", line], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


class Case:
    def __init__(self, program, name, seconds):
        self.program, self.name, self.seconds = program, name, seconds
        self.cc, self.cxx, self.flags = compiler(name)
        self.folder = os.path.join(WORK, name, program.name)
        self.inputs = inputs.make(os.path.join(ROOT, ".cache", "inputs"))
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, variant, flags="", cc=None, cxx=None, **env):
        """One folder for all variants of a program: gcc's profiles know files by path."""
        exe = self.path(variant)
        built = corpus.build(self.program, self.path("src"), cc or self.cc, cxx or self.cxx, "%s %s" % (self.flags, flags),
                             env=env, log=exe + ".log")
        shutil.copy(built, exe + ".new")
        os.rename(exe + ".new", exe)
        return exe

    def plain(self):
        return self.path("plain") if os.path.exists(self.path("plain")) else self.build("plain")

    def line(self, which, exe, prefix=""):
        line = corpus.command(self.program, which, exe, self.inputs, os.path.join(self.path("src"), self.program.name))
        return line.replace(exe, (prefix + " " + exe).strip())

    def run(self, line, **env):
        subprocess.run(["sh", "-c", line], cwd=self.folder, env=dict(os.environ, LC_ALL="C", **env),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def footpath(self, *args):
        subprocess.run([os.path.join(BIN, "footpath")] + list(args), check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    # ---- profiles ----

    def samples(self):
        """A profile of cpu-clock samples of the plain build."""
        data, profile, base = self.path("clock.data"), self.path("sampled.prof"), self.plain()
        if not os.path.exists(data) or os.path.getmtime(data) < os.path.getmtime(base):
            self.record(data, base)
        self.footpath("infer", data, "--module", os.path.basename(base), "-o", profile)
        return profile

    def record(self, data, base):
        line = self.line("train", base)
        runs = max(1, int(self.seconds / max(0.005, cpu(line, self.folder))))
        loop = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done" % (runs, line)
        self.run("%s record --quiet -e cpu-clock -c 100000 -o %s -- sh -c %s" % (
            os.path.join(BIN, "footpath"), data, shlex.quote(loop)))

    def counted(self, flags, compilers=("footpath-cc", "footpath-c++")):
        """A profile of a build that footpath-cc made."""
        profile = self.path("exact.prof")
        if os.path.exists(profile):
            os.remove(profile)
        exe = self.build("counted", "-g", *(os.path.join(BIN, c) for c in compilers), FOOTPATH_CC_FLAGS=flags, FOOTPATH_OUT="/dev/null")
        self.run(self.line("train", exe), FOOTPATH_OUT=profile)
        return profile

    def callgrind(self):
        """The exact counts of the plain build."""
        out, profile, base = self.path("callgrind.out"), self.path("callgrind.prof"), self.plain()
        for old in glob.glob(out + "*"):
            os.remove(old)
        self.run(self.line("train", base, "valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes "
                                          "--skip-plt=no --callgrind-out-file=%s.%%p" % out))
        self.footpath("import", "--format", "callgrind", "--binary", base, "-o", profile, *glob.glob(out + ".*")[:1])
        return profile

    def exported(self, profile, kind):
        out = "%s.%s" % (profile, kind)
        self.footpath("export", "--format", kind, profile, "-o", out)
        return out

    # ---- builds ----

    def by_lines(self, variant, profile):
        """In the form of AutoFDO, or of clang's sample profiles: lines that were optimised away have no count, and clang
        infers it, if told to."""
        if self.name == "gcc":
            return self.heard(variant, "-fauto-profile=" + self.exported(profile, "gcc-afdo"))
        return self.heard(variant, "-fprofile-sample-use=%s -fsample-profile-use-profi" % self.exported(profile, "llvm-sample"))

    def by_gcda(self, variant, profile):
        cc, cxx = self.listening(variant)
        wrappers = (os.path.join(BIN, "footpath-" + c) for c in ("gcc", "g++"))
        return self.build(variant, "", *wrappers, FOOTPATH_CC_FLAGS="--fp-use=" + profile, FOOTPATH_GCC=cc, FOOTPATH_GXX=cxx)

    def heard(self, variant, flags):
        return self.build(variant, flags, *self.listening(variant))

    def listening(self, variant):
        """Compilers whose messages are kept, since a build may hide them."""
        said, paths = self.said(variant), []
        open(said, "w").close()
        for real in (self.cc, self.cxx):
            paths.append(self.path("%s.listening" % os.path.basename(real)))
            with open(paths[-1], "w") as out:
                out.write('#!/bin/sh\n%s "$@" 2>%s.$$\nstatus=$?\ncat %s.$$ >>%s\ncat %s.$$ >&2\nrm -f %s.$$\nexit $status\n'
                          % (real, said, said, said, said, said))
            os.chmod(paths[-1], 0o755)
        return paths

    def said(self, variant):
        return self.path(variant + ".said")

    def sampled(self):
        profile = self.samples()
        return self.by_gcda("sampled", profile) if self.name == "gcc" else self.by_lines("sampled", profile)

    def exact(self):
        if self.name == "gcc":
            return self.by_gcda("exact", self.counted("--fp-at=early"))
        profile = self.exported(self.counted("--fp-at=pgo --fp-values"), "llvm-profdata")
        return self.heard("exact", "-fprofile-use=" + profile)

    def instrumented(self):
        folder = self.path("trained")
        shutil.rmtree(folder, ignore_errors=True)
        if self.name == "clang":
            exe = self.build("training", "-fprofile-generate")
            self.run(self.line("train", exe), LLVM_PROFILE_FILE=os.path.join(folder, "%p.profraw"))
            out = self.path("trained.profdata")
            subprocess.run(["llvm-profdata-" + LLVM, "merge", "-o", out] + glob.glob(folder + "/*.profraw"), check=True)
            return self.build("instrumented", "-fprofile-use=" + out)
        exe = self.build("training", "-fprofile-generate -fprofile-update=single -fprofile-dir=" + folder)
        shutil.rmtree(folder, ignore_errors=True)  # what programs of configure left
        self.run(self.line("train", exe))
        return self.build("instrumented", "-fprofile-use -fprofile-correction -Wno-missing-profile -fprofile-dir=" + folder)

    def make(self, variant):
        if variant == "plain":
            return self.build("plain")
        if variant == "flags":
            return self.build("flags", "-fprofile-use -Wno-missing-profile")
        return getattr(self, variant)()

    # ---- costs ----

    def cost(self, exe):
        log = exe + ".cachegrind"
        for old in glob.glob(log + "*"):
            os.remove(old)
        self.run(self.line("small", exe, "valgrind --tool=cachegrind --cache-sim=no --branch-sim=yes "
                                         "--cachegrind-out-file=/dev/null --log-file=%s.%%p" % log))
        total = {"instructions": 0, "mispredicted": 0}
        for name in glob.glob(log + ".*"):
            with open(name, errors="replace") as f:
                text = f.read()
            for key, pattern in (("instructions", r"I\s+refs:\s+([\d,]+)"), ("mispredicted", r"Mispredicts:\s+([\d,]+)")):
                found = re.search(pattern, text)
                total[key] += int(found.group(1).replace(",", "")) if found else 0
        if not total["instructions"]:
            raise RuntimeError("cachegrind counted nothing: " + exe)
        return total

    # ---- crashes ----

    def try_out(self, variant):
        """What is wrong with a build by a profile; what was built before is not built again."""
        try:
            if not os.path.exists(self.path(variant)) or not os.path.exists(self.said(variant)):
                self.make_trial(variant)
        except RuntimeError as problem:
            return ["does not build: " + str(problem).strip().splitlines()[-1]] + self.internal_errors(variant)
        return self.internal_errors(variant) + self.other_output(variant)

    def make_trial(self, variant):
        if variant == "afdo-sampled":
            known = self.path("sampled.prof")
            return self.by_lines(variant, known if os.path.exists(known) else self.samples())
        if variant in ("afdo-exact", "lines-exact"):
            return self.by_lines(variant, self.callgrind())
        return self.make(variant)

    def internal_errors(self, variant):
        with open(self.said(variant), errors="replace") as f:
            return [line.strip() for line in f if "internal compiler error" in line or "PLEASE submit" in line]

    def other_output(self, variant):
        """Does the build say what the plain one says?"""
        return [] if self.program.varies or self.output(variant) == self.output("plain") else ["another output than the plain build's"]

    def output(self, variant):
        exe = self.path(variant)
        line = self.line("compare" if self.program.compare else "small", exe)
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, env=dict(os.environ, LC_ALL="C"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.replace(exe.encode(), b"PROGRAM")
        if self.program.noise:
            text = b"\n".join(l for l in text.split(b"\n") if not re.search(self.program.noise.encode(), l))
        return done.returncode, text


def measure(case, known, keep, args):
    """Builds and counts what is not known yet."""
    for variant in BUILDS[case.name]:
        if variant not in args.variants.split(","):
            continue
        if args.again or not os.path.exists(case.path(variant)):
            case.make(variant)
            known[variant], known["at"] = {}, marks.stamp()
            print("%s with %s, %s: built" % (case.program.name, case.name, variant), flush=True)
            keep()
        if "instructions" not in known.get(variant, {}) and not args.uncounted:
            known.setdefault(variant, {}).update(case.cost(case.path(variant)))
            print("%s with %s, %s: %s" % (case.program.name, case.name, variant, known[variant]), flush=True)
            keep()


# ---- another machine ----

def pack_one(folder, case, variant):
    exe, name = case.path(variant), "%s.%s.%s" % (case.program.name, case.name, variant)
    for library, path in elsewhere.libraries(exe).items():
        shutil.copy(path, os.path.join(folder, "lib", library))
    subprocess.run(["strip", "-o", os.path.join(folder, "bin", name), exe], check=True)
    start = "$HERE/lib/%s --library-path $HERE/lib $HERE/bin/%s" % (elsewhere.LOADER, name)
    return {"program": case.program.name, "variant": "%s %s" % (case.name, variant), "ends": case.program.ends,
            "command": corpus.command(case.program, "large", start, "$HERE/inputs", "$HERE/src/" + case.program.name)}


def pack(folder, cases):
    for name in ("bin", "lib", "inputs"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    missing = ["%s with %s, %s" % (case.program.name, case.name, v) for case in cases for v in BUILDS[case.name] if not os.path.exists(case.path(v))]
    if missing:
        raise SystemExit("not built yet, so there is nothing to time:\n" + "\n".join(missing))
    runs = [pack_one(folder, case, variant) for case in cases for variant in BUILDS[case.name]]
    made, needed = inputs.make(os.path.join(ROOT, ".cache", "inputs")), " ".join(r["command"] for r in runs)
    for name in os.listdir(made):
        if re.search(r"/inputs/%s(\s|$)" % re.escape(name), needed):
            elsewhere.copy_files(os.path.join(made, name), os.path.join(folder, "inputs", name))
    with open(os.path.join(folder, "plan.json"), "w") as f:
        json.dump({"commit": marks.tree(), "runs": runs}, f, indent=1)
    shutil.copy(elsewhere.__file__, os.path.join(folder, "elsewhere.py"))
    with open(os.path.join(folder, "run.sh"), "w") as f:
        f.write(elsewhere.RUN)
    os.chmod(os.path.join(folder, "run.sh"), 0o755)


def take_times(args, results):
    """What elsewhere.py printed on the other machine."""
    with open(args.times) as f:
        given = json.load(f)
    for program, times in given["times"].items():
        for name, seconds in times.items():
            compiler_name, variant = name.split(" ")
            known = results.setdefault("%s %s" % (compiler_name, program), {})
            known.setdefault(variant, {})["time"] = min(seconds)
            known["timed"] = marks.stamp(where=args.where or given["machine"], when=given["date"], commit=given["commit"])


# ---- tables ----

def gain(known, variant, key):
    """What a build saves of the plain one's cost; None: not measured."""
    if key not in known.get(variant, {}) or not known["plain"].get(key):
        return None
    return 1 - known[variant][key] / known["plain"][key]


def percent(value):
    return "–" if value is None else "%.1f%%" % (100 * value)


def part(known, variant, key):
    """Of the instrumented gain; None where there is none to have a part of."""
    ours, own = gain(known, variant, key), gain(known, "instrumented", key)
    return None if ours is None or own is None or own <= 0 else ours / own


def whole_percent(value):
    return "–" if value is None else "%.0f%%" % (100 * value)


def cells(known, key):
    return [percent(gain(known, v, key)) for v in GAINS] + [whole_percent(part(known, v, key)) for v in ("sampled", "exact")]


def mispredicted(known):
    return [percent(gain(known, v, "mispredicted")) for v in GAINS[1:]]


def mean_speed(column):
    """The geometric mean of how many times as fast builds are, less 1; of gains as they are printed."""
    if not column or "–" in column:
        return None
    product = 1.0
    for one in column:
        product /= 1 - float(one.rstrip("%")) / 100
    return product ** (1 / len(column)) - 1


def means(text, table, what):
    """Per group of a table's rows: geometric means of the speed, and the part that ours is of the instrumented one's."""
    rows, out = marks.read(marks.around(text, table)[1])[1], []
    for label, tuned in (("all", None), ("tuned on", True), ("kept apart", False)):
        chosen = [cells for name, cells in rows.items() if tuned is None or (name in TUNED) == tuned]
        if not chosen:
            continue
        speed = {v: mean_speed([cells[i] for cells in chosen]) for i, v in enumerate(GAINS)}
        parts = [speed[v] / speed["instrumented"] if speed[v] is not None and speed["instrumented"] else None for v in ("sampled", "exact")]
        out.append("| %s: %s, %d | %s |" % (what, label, len(chosen), " | ".join([percent(speed[v]) for v in speed] + [whole_percent(p) for p in parts])))
    return out


def write_tables(results, path):
    for name in BUILDS:
        rows = {key.split(" ")[1]: known for key, known in results.items() if key.startswith(name + " ")}
        counted = {p: known for p, known in rows.items() if gain(known, "exact", "instructions") is not None}
        timed = {p: known for p, known in rows.items() if gain(known, "exact", "time") is not None}
        marks.write(path, "fdo-" + name, COUNTED, {p: cells(known, "instructions") + mispredicted(known) for p, known in counted.items()},
                    {p: known["at"] for p, known in counted.items()}, None, PROGRAMS.split(","))
        marks.write(path, "fdo-%s-time" % name, TIMED, {p: cells(known, "time") for p, known in timed.items()},
                    {p: known["timed"] for p, known in timed.items()}, None, PROGRAMS.split(","))
    write_means(path)


def write_means(path):
    with open(path) as f:
        text = f.read()
    head = ["| programs | " + " | ".join(TIMED[1:]) + " |", "|---|" + "---|" * (len(TIMED) - 1)]
    for name in BUILDS:
        before, rest = text.split("<!-- means %s -->\n" % name, 1)
        after = rest.split("<!-- end of means %s -->" % name, 1)[1]
        lines = head + means(text, "fdo-" + name, "instructions") + means(text, "fdo-%s-time" % name, "time")
        text = before + "<!-- means %s -->\n" % name + "\n".join(lines) + "\n<!-- end of means %s -->" % name + after
    with open(path, "w") as out:
        out.write(text)


def load():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as f:
        return json.load(f)


def save(results, changed=None):
    """Of one case alone where another process may work on others."""
    kept = {**load(), changed: results[changed]} if changed else results
    with open(RESULTS + ".new", "w") as out:
        json.dump(kept, out, indent=1, sort_keys=True)
    os.rename(RESULTS + ".new", RESULTS)


def work_on(case, args, results):
    """What failed."""
    key = "%s %s" % (case.name, case.program.name)
    known = results.setdefault(key, {})
    if args.record:
        case.record(case.path("clock.data"), case.plain())
        return []
    if args.crashes:
        return try_all(case, known, lambda: save(results, key), args)
    try:
        measure(case, known, lambda: save(results, key), args)
    except (RuntimeError, subprocess.CalledProcessError) as problem:
        return ["%s with %s: %s" % (case.program.name, case.name, problem)]
    return []


def try_all(case, known, keep, args):
    """Problems of builds by profiles."""
    problems = []
    try:
        case.plain()
    except RuntimeError as problem:
        return ["%s with %s: %s" % (case.program.name, case.name, problem)]
    for variant in TRIALS[case.name]:
        if variant not in args.trials.split(","):
            continue
        found = case.try_out(variant)
        known.setdefault("trials", {})[variant] = found
        known["tried"] = marks.stamp()
        print("%s with %s, %s: %s" % (case.program.name, case.name, variant, "; ".join(found) or "well"), flush=True)
        keep()
        problems += ["%s with %s, %s: %s" % (case.program.name, case.name, variant, one) for one in found]
    return problems


def tried_cells(results, program):
    """Numbers of problems."""
    wanted = [("gcc", v) for v in TRIALS["gcc"]] + [("clang", v) for v in ("sampled", "lines-exact", "exact")]
    found = [results.get("%s %s" % (name, program), {}).get("trials", {}).get(variant) for name, variant in wanted]
    return ["–" if one is None else str(len(one)) for one in found]


def write_trials(results, path):
    known = {p.name: results.get("gcc " + p.name, {}) for p in corpus.PROGRAMS + corpus.MORE}
    rows = {p: tried_cells(results, p) for p, k in known.items() if "trials" in k}
    marks.write(path, "fdo-trials", TRIED, rows, {p: known[p]["tried"] for p in rows}, None, list(known))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=os.environ.get("BENCH") or PROGRAMS)
    parser.add_argument("--compilers", default="gcc,clang")
    parser.add_argument("--seconds", type=float, default=3, help="of running, for samples")
    parser.add_argument("--variants", default=",".join(BUILDS["gcc"]))
    parser.add_argument("--again", action="store_true", help="build and count what is known, too")
    parser.add_argument("--record", action="store_true", help="record the samples alone, which takes a quiet machine")
    parser.add_argument("--uncounted", action="store_true", help="build only")
    parser.add_argument("--pack", metavar="FOLDER", type=os.path.abspath, help="lay the builds into a folder for another machine")
    parser.add_argument("--crashes", action="store_true", help="tell internal errors of the compiler and other outputs alone")
    parser.add_argument("--trials", default=",".join(TRIALS["gcc"] + TRIALS["clang"][2:]), help="with --crashes: builds to make")
    parser.add_argument("--times", metavar="FILE", help="times measured elsewhere, as run.sh prints them; nothing is measured here")
    parser.add_argument("--known", action="store_true", help="with --docs: measure nothing, write what is known")
    parser.add_argument("--where", help="with --times: the machine, in words")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/perf.md")
    args = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    results, failed = load(), []
    if args.times:
        take_times(args, results)
        save(results)
    chosen = [] if args.times or args.known else corpus.names(args.programs)
    cases = [Case(program, name, args.seconds) for program in chosen for name in args.compilers.split(",")]
    for case in cases:
        if not case.program.train:
            raise SystemExit("%s has no second input (train) to take a profile from" % case.program.name)
        failed += work_on(case, args, results)
    if args.pack and not failed:
        pack(args.pack, cases)
    if args.docs:
        (write_trials if args.crashes else write_tables)(results, os.path.join(ROOT, "docs", "perf.md"))
    if failed:
        raise SystemExit("failed:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
