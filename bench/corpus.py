"""The real programs that footpath is tested and measured on.

Each is a Debian source package, built by its own build system where it has one,
with whatever CC, CXX and CFLAGS the caller sets. A Program says how to build it
(a shell recipe, run in a copy of the source, that leaves an executable) and how
to run it: a trivial run (to subtract), a small one (for cachegrind) and a large
one (for time). Inputs are made by inputs.py, from a seed.
"""
import os
import shutil
import subprocess
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CACHE = os.environ.get("FOOTPATH_CORPUS", os.path.join(ROOT, ".cache", "corpus"))


@dataclass
class Program:
    name: str
    packages: list
    recipe: str  # shell; in a copy of packages[0]; $OTHERS is the folder of all sources
    exe: str     # relative to that copy
    trivial: str
    small: str
    large: str
    train: str = ""  # another input of the size of small: to get profiles that are used
    cxx: bool = False
    threads: bool = False
    needs: list = field(default_factory=list)  # Debian packages to build it
    short: bool = False  # part of the short set that CI runs
    ends: tuple = (0,)   # exit statuses of a run that went well
    noise: str = ""      # lines of its output that differ from run to run, as a regular expression
    compare: str = ""    # a run that takes the same way in every build, where the small one does not
    compare_flags: str = ""  # compiler flags that take away what depends on the addresses of data
    varies: str = ""     # why two builds of it take different ways, where they always do


# {exe} is the program, {in} the folder of inputs, {src} the built copy, {bench} this folder.
# A trivial run should take less than 5% of a small one's instructions.
PROGRAMS = [
    Program(
        "bzip2", ["bzip2"],
        '$CC $CFLAGS -D_FILE_OFFSET_BITS=64 -o prog blocksort.c huffman.c crctable.c randtable.c '
        'compress.c decompress.c bzlib.c bzip2.c',
        "prog", "{exe} -c < /dev/null", "{exe} -kc9 {in}/mix-300k", "{exe} -kc9 {in}/mix-8m", train="{exe} -kc9 {in}/train-mix-300k", short=True),
    Program(
        "minigzip", ["zlib"],
        '$CC $CFLAGS -DHAVE_UNISTD_H -I. -o prog adler32.c compress.c crc32.c deflate.c gzclose.c gzlib.c '
        'gzread.c gzwrite.c infback.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c test/minigzip.c',
        "prog", "{exe} -9 < /dev/null", "{exe} -9 < {in}/mix-1m", "{exe} -9 < {in}/mix-8m", train="{exe} -9 < {in}/train-mix-1m", short=True),
    Program(
        "mawk", ["mawk"],
        'CFLAGS="$CFLAGS" ./configure --quiet && make -s mawk',
        "mawk", "{exe} 'BEGIN{{}}'", "{exe} -f {in}/words.awk {in}/text-300k",
        "{exe} -f {in}/words.awk {in}/text-8m", train="{exe} -f {in}/words.awk {in}/train-text-300k", short=True),
    Program(
        "lua", ["lua5.4"],
        'echo "#define DEB_HOST_MULTIARCH \\"x86_64-linux-gnu\\"" > src/lua5.4-deb-multiarch.h && '
        '$CC $CFLAGS -DLUA_USE_POSIX "-Dluai_makeseed(L)=1" -o prog $(ls src/*.c | grep -v luac.c) -lm',
        "prog", "{exe} -e 'x=1'", "{exe} {in}/bench.lua 1", "{exe} {in}/bench.lua 60", train="{exe} {in}/train.lua 1", short=True,
        compare_flags="-DSTRCACHE_N=1 -DSTRCACHE_M=2"),  # a cache of strings by the address of the literal
    Program(
        "zstd", ["libzstd"],
        '$CC $CFLAGS -DZSTD_DISABLE_ASM -DZSTD_MULTITHREAD -DZSTD_LEGACY_SUPPORT=0 -Ilib -Ilib/common '
        '-o prog lib/common/*.c lib/compress/*.c lib/decompress/*.c lib/dictBuilder/*.c programs/*.c -lpthread',
        "prog", "{exe} --single-thread -c < /dev/null", "{exe} -9 --single-thread -c {in}/mix-1m",
        "{exe} -9 --single-thread -c {in}/mix-16m", train="{exe} -9 --single-thread -c {in}/train-mix-1m", short=True,
        compare="{exe} -9 --single-thread --no-asyncio -c {in}/mix-1m"),
    Program(
        "sqlite", ["sqlite3"],
        './configure --quiet --disable-tcl --disable-readline >/dev/null && make -s sqlite3.c >/dev/null 2>&1 && '
        '$CC $CFLAGS -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I. -o prog sqlite3.c '
        'test/speedtest1.c -lm',
        "prog", "{exe} --help", "{exe} --memdb --size 3 --testset main",
        "{exe} --memdb --size 25 --testset main", train="{exe} --memdb --size 2 --testset main --sqlonly; {exe} --memdb --size 2 --testset main", needs=["tcl"],
        noise=r"\.+ +\d+\.\d+s"),  # how long it took
    Program(
        "gnugo", ["gnugo"],
        'CFLAGS="$CFLAGS -fcommon -w" ./configure --quiet --without-curses --disable-color >/dev/null && '
        'make -s -j2 $AM >/dev/null 2>&1',
        "interface/gnugo", "{exe} --version", "{exe} --quiet --mode gtp --level 1 < {in}/go-small.gtp",
        "{exe} --quiet --mode gtp --level 8 < {in}/go-large.gtp", train="{exe} --quiet --mode gtp --level 1 < {in}/train-go.gtp"),
    Program(
        "hmmer", ["hmmer"],
        # Debian's source has no generated configure
        'autoconf 2>/dev/null; (cd easel; autoconf 2>/dev/null); '
        'CFLAGS="$CFLAGS" ./configure --quiet --disable-threads >/dev/null 2>&1 && { make -s -k -j2 >/dev/null 2>&1 || true; }; '
        'test -x src/hmmsearch',
        "src/hmmsearch", "{exe} -h", "{exe} --max {src}/testsuite/Caudal_act.hmm {in}/protein-small.fa",
        "{exe} --max {src}/testsuite/Caudal_act.hmm {in}/protein-large.fa",
        train="{exe} --max {src}/testsuite/Caudal_act.hmm {in}/train-protein.fa",
        needs=["autoconf", "libdivsufsort-dev"], noise=r"^# (CPU time|Mc/sec|\S+ :: )"),
    Program(
        "libquantum", ["libquantum"],
        'sed -i "s/srand(time(0))/srand(1)/" shor.c && '  # the same numbers in every run
        # with OpenMP, threads that wait for each other take nearly all of its instructions
        'CFLAGS="$CFLAGS" ./configure --quiet --without-lapack --disable-shared --disable-openmp >/dev/null && make -s >/dev/null && '
        'make -s shor >/dev/null',
        "shor", "{exe} 1", "{exe} 15 7", "{exe} 143 25", train="{exe} 21 5"),
    Program(
        "ninja", ["ninja-build"],
        'cmake -G Ninja -B out -DCMAKE_C_COMPILER=$CC -DCMAKE_CXX_COMPILER=$CXX -DCMAKE_CXX_FLAGS="$CFLAGS" '
        '-DBUILD_TESTING=OFF . >/dev/null && cmake --build out --target ninja >/dev/null',
        "out/ninja", "{exe} --version", "{exe} -n -C {in}/ninja-1500", "{exe} -n -C {in}/ninja-large",
        train="{exe} -n -C {in}/train-ninja", cxx=True),
    Program(
        "cppcheck", ["cppcheck"],
        # its Makefile chooses the C++ standard by the name of the compiler
        'sed -i "/override CXXFLAGS += -std=/d" Makefile && '
        'make -s -j2 CXX="$CXX" CXXFLAGS="$CFLAGS -w -std=gnu++11" FILESDIR=$PWD cppcheck >/dev/null 2>&1',
        "cppcheck", "{exe} --version", "{exe} {in}/check-small.c 2>&1", "{exe} -q --enable=all {in}/check-large.c",
        train="{exe} {in}/train-check.c", cxx=True),
    Program(
        "gnuchess", ["gnuchess"],
        # in UCI mode it cancels a thread that it never started, and polls 10,000 times a second
        'sed -i "s/^  TerminateInput();/  if (!(flags \\& UCI)) TerminateInput();/; s/usleep(100)/usleep(20000)/" src/main.cc && '
        'CFLAGS="$CFLAGS -w" CXXFLAGS="$CFLAGS -w -std=gnu++14" ./configure --quiet --without-readline >/dev/null 2>&1 && '
        'make -s -j2 -C src $AM >/dev/null 2>&1',  # of man/ it needs help2man
        "src/gnuchess", "{exe} --version", "python3 {bench}/uci.py {in}/chess-depth-7.uci {exe} -u",
        "python3 {bench}/uci.py {in}/chess-depth-10.uci {exe} -u",
        train="python3 {bench}/uci.py {in}/train-chess.uci {exe} -u", cxx=True, threads=True,
        varies="not compared, its front end polls"),
    Program(
        "pocketsphinx", ["pocketsphinx", "sphinxbase"],
        'cp -r $OTHERS/sphinxbase ../sphinxbase.$$ && cd ../sphinxbase.$$ && '
        'CFLAGS="$CFLAGS -w" ./configure --quiet --without-python --disable-shared --without-lapack --prefix=$OLDPWD/base '
        '>/dev/null 2>&1 && make -s -k -j2 $AM >/dev/null 2>&1; make -s install $AM >/dev/null 2>&1; cd $OLDPWD; '
        'CFLAGS="$CFLAGS -w" PKG_CONFIG_PATH=$PWD/base/lib/pkgconfig ./configure --quiet --without-python '
        '--disable-shared >/dev/null 2>&1; make -s -k -j2 $AM >/dev/null 2>&1; '
        'rm -rf ../sphinxbase.$$; test -x src/programs/pocketsphinx_batch',
        "src/programs/pocketsphinx_batch", "{exe} -help", 
        "{exe} -hmm {src}/model/en-us/en-us -lm {src}/test/data/turtle.lm.bin -dict {src}/test/data/turtle.dic "
        "-cepdir {src}/test/data -ctl {in}/sphinx-small.ctl -adcin yes -cepext .raw -hyp /dev/stdout",
        "{exe} -hmm {src}/model/en-us/en-us -lm {src}/test/data/turtle.lm.bin -dict {src}/test/data/turtle.dic "
        "-cepdir {src}/test/data -ctl {in}/sphinx-large.ctl -adcin yes -cepext .raw -hyp /dev/stdout",
        train="{exe} -hmm {src}/model/en-us/en-us -lm {src}/test/data/turtle.lm.bin -dict {src}/test/data/turtle.dic "
        "-cepdir {src}/test/data -ctl {in}/train-sphinx.ctl -adcin yes -cepext .raw -hyp /dev/stdout",
        needs=["bison", "swig", "libasound2-dev", "pkg-config"]),
    Program(
        "x264", ["x264"],
        'CC="$CC" ./configure --disable-asm --disable-opencl --disable-lavf --disable-swscale --disable-ffms '
        '--disable-gpac --disable-lsmash --extra-cflags="$CFLAGS -w" --extra-ldflags="$CFLAGS" >/dev/null && make -s -j2 x264 >/dev/null 2>&1',
        "x264", "{exe} --version", "{exe} --quiet --threads 1 --frames 4 --input-res 176x144 -o - {in}/video.yuv",
        "{exe} --quiet --threads 1 --frames 60 --input-res 176x144 -o /dev/null {in}/video.yuv",
        train="{exe} --quiet --threads 1 --frames 4 --input-res 176x144 -o /dev/null {in}/train-video.yuv", threads=True,
        compare="{exe} --quiet --no-progress --threads 1 --frames 4 --input-res 176x144 -o - {in}/video.yuv 2>/dev/null"),  # it tells its speed
    Program(
        "tcl", ["tcl8.6"],
        'cd unix && CFLAGS="$CFLAGS -w" ./configure --quiet --disable-shared --disable-threads >/dev/null 2>&1 && '
        'make -s -j2 tclsh >/dev/null 2>&1',
        "unix/tclsh", "echo exit | {exe}", "TCL_LIBRARY={src}/library {exe} {in}/bench.tcl 10",
        "TCL_LIBRARY={src}/library {exe} {in}/bench.tcl 120", train="TCL_LIBRARY={src}/library {exe} {in}/train.tcl 10",
        varies="not compared, it hashes the addresses of static data"),
    Program(
        "xz", ["xz-utils"],
        'CFLAGS="$CFLAGS" ./configure --quiet --disable-shared --disable-nls --disable-doc --disable-scripts '
        '--enable-threads=no --disable-assembler >/dev/null 2>&1 && make -s -j2 $AM >/dev/null 2>&1',
        "src/xz/xz", "{exe} -c < /dev/null", "{exe} -6 -c {in}/mix-300k", "{exe} -6 -c {in}/mix-4m", train="{exe} -6 -c {in}/train-mix-300k"),
    Program(
        "minisat", ["minisat2"],
        '$CXX $CFLAGS -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS -Wno-everything -std=gnu++98 -I. -o prog '
        'minisat/core/Main.cc minisat/core/Solver.cc minisat/utils/Options.cc minisat/utils/System.cc -lz',
        "prog", "{exe} --help", "{exe} -verb=0 {in}/sat-170.cnf", "{exe} -verb=0 {in}/sat-large.cnf", train="{exe} -verb=0 {in}/train-sat-170.cnf", ends=(10, 20), cxx=True),
]

# Interpreters whose one large function is dear to count. Measured where they are asked for by name, beside the means.
MORE = [
    Program(
        "gawk", ["gawk"],
        'CFLAGS="$CFLAGS -w" ./configure --quiet --disable-nls --disable-mpfr --disable-extensions --without-readline '
        '>/dev/null 2>&1 && make -s -C support $AM >/dev/null 2>&1 && make -s $AM gawk >/dev/null 2>&1',
        "gawk", "{exe} 'BEGIN{{}}'", "{exe} -f {in}/words.awk {in}/text-300k", "{exe} -f {in}/words.awk {in}/text-8m",
        train="{exe} -f {in}/words.awk {in}/train-text-300k"),
    Program(
        "python", ["python3.11"],
        # the interpreter alone: what it runs takes no module that is not built in
        # no -g: valgrind cannot read it
        'OPT="-DNDEBUG -fwrapv" CFLAGS="$CFLAGS -w" ./configure --quiet --disable-test-modules --without-ensurepip >/dev/null 2>&1 && '
        'make -s -j2 python >/dev/null 2>&1',
        "python", "PYTHONHASHSEED=0 PYTHONHOME={src} PYTHONPATH={src}/Lib {exe} -S -c pass",
        "PYTHONHASHSEED=0 PYTHONHOME={src} PYTHONPATH={src}/Lib {exe} -S {in}/bench.py 4",
        "PYTHONHASHSEED=0 PYTHONHOME={src} PYTHONPATH={src}/Lib {exe} -S {in}/bench.py 40",
        train="PYTHONHASHSEED=0 PYTHONHOME={src} PYTHONPATH={src}/Lib {exe} -S {in}/train.py 4"),
]

# Constants were tried out on these, or hot functions of theirs looked at: their figures may flatter. The others were only measured.
TUNED = ("bzip2", "minigzip", "mawk", "lua", "zstd", "sqlite", "hmmer", "libquantum", "gnuchess", "minisat", "gawk")


def names(selection=None, short=False):
    """The programs asked for: a list of names separated by commas, or all of PROGRAMS."""
    if selection:
        wanted, known = selection.split(","), PROGRAMS + MORE
        unknown = [name for name in wanted if name not in [p.name for p in known]]
        if unknown:
            raise SystemExit("no program %s; known: %s" % (", ".join(unknown), " ".join(p.name for p in known)))
        return [p for p in known if p.name in wanted]
    return [p for p in PROGRAMS if p.short] if short else list(PROGRAMS)


def fetch(programs):
    packages = sorted({package for p in programs for package in p.packages})
    subprocess.run([os.path.join(HERE, "fetch"), CACHE] + packages, check=True)


def keep_answers(program, folder, env):
    """Configure scripts keep their answers in `folder`, for the next build by the same kind of compiler. A script refuses
    answers that another CC or other CFLAGS gave; so the compiler has one name, and takes what it is from the environment."""
    if program.name in ("pocketsphinx", "mawk"):
        return  # takes the path of its own copy for an answer; does not find its random numbers again
    os.makedirs(folder, exist_ok=True)
    kind = "gcc" if "gcc" in os.path.basename(env["CC"]) else "clang"
    for name in ("CC", "CXX"):
        wrapper = os.path.join(folder, "%s-%s" % (kind, name.lower()))
        with open("%s.%d" % (wrapper, os.getpid()), "w") as f:
            f.write('#!/bin/sh\nexec $BENCH_%s $BENCH_FLAGS "$@"\n' % name)
        os.chmod(f.name, 0o755)
        os.rename(f.name, wrapper)
        env["BENCH_" + name], env[name] = env[name], wrapper
    env["BENCH_FLAGS"], env["CFLAGS"] = env["CFLAGS"], "-O2"
    env["CONFIG_SITE"] = os.path.join(folder, "%s.%s" % (program.name, kind))
    with open(env["CONFIG_SITE"], "w") as f:
        f.write("cache_file=%s.answers\n" % env["CONFIG_SITE"])


def build(program, folder, cc, cxx, cflags, env=None, log=None):
    """Builds in a fresh copy of the source under folder; gives the executable. FOOTPATH_CONFIGURE names a folder in which
    configure scripts keep their answers, which saves half of the time of many builds."""
    copy = os.path.join(folder, program.name)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(os.path.join(CACHE, program.packages[0]), copy, symlinks=True)
    full = dict(os.environ, CC=cc, CXX=cxx, CFLAGS=cflags, OTHERS=CACHE, LC_ALL="C")
    # a program that a build runs while building leaves its profile out of the way
    # the copy has new time stamps: do not regenerate what autoconf made
    full["AM"] = "ACLOCAL=true AUTOCONF=true AUTOMAKE=true AUTOHEADER=true MAKEINFO=true"
    full["FOOTPATH_OUT"] = os.path.join(folder, program.name + ".while-building.prof")
    full.update(env or {})
    if os.environ.get("FOOTPATH_CONFIGURE"):
        keep_answers(program, os.path.abspath(os.environ["FOOTPATH_CONFIGURE"]), full)
    done = subprocess.run(["sh", "-ec", program.recipe], cwd=copy, env=full, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    exe = os.path.join(copy, program.exe)
    if log:
        with open(log, "w") as out:
            out.write(done.stdout)
    if done.returncode or not os.path.exists(exe):
        raise RuntimeError("%s does not build with %s:\n%s" % (program.name, cc, done.stdout[-3000:]))
    return exe


def command(program, which, exe, inputs, src):
    line = getattr(program, which)
    return line.format_map({"exe": exe, "in": inputs, "src": src, "bench": HERE})
