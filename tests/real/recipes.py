"""How the real programs of suites.py are built and tested, and how to read what their tests said.

Every recipe is shell, run in a fresh copy of the Debian source with CC, CXX, CFLAGS and
CXXFLAGS set, and sets nothing by itself that only footpath-cc would need. JOBS says how many
processes may work at a time (2).
"""
import os
import re
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))


def lines(pattern):
    """Every line of the log that matches, in order: the same lines are the same results."""
    def read(folder, log):
        return {"%d: %s" % (at, line): "ok" for at, line in enumerate(re.findall("(?m)" + pattern, log))}
    return read


def named(pattern, good):
    """A line of the log names a test and its result, each by a named group of the pattern."""
    def read(folder, log):
        found = {}
        for match in re.finditer("(?m)" + pattern, log):
            name, at = match.group("test").strip() + " " + match.groupdict().get("more", ""), 1
            while (name if at == 1 else "%s #%d" % (name, at)) in found:
                at += 1
            found[name if at == 1 else "%s #%d" % (name, at)] = "ok" if match.group("result") in good else match.group("result")
        return found
    return read


@dataclass
class Suite:
    package: str    # Debian source package
    build: str      # shell; in a copy of the source
    test: str       # shell; in the same copy, after build
    results: object  # (folder, log) -> {test: "ok" or another word}
    least: int = 10  # fewer tests than this: the recipe is broken
    group: object = None  # name of a test -> its word for test's $AGAIN, where tests can be run alone
    user: bool = False    # refuses to run as root
    noise: str = ""       # tests whose results depend on time or on chance, as a regular expression; why, in a comment
    cflags: str = "-O2 -w"
    needs: list = field(default_factory=list)  # Debian packages to build and test it
    logs: tuple = ()      # files of the copy that take what the tests' processes say, where it is not printed


REDIS_UNITS = "$(sed -n '/^set ::all_tests/,/^}/s/^ *\\(unit\\|integration\\)/\\1/p' tests/test_helper.tcl)"


def each_of_redis(units):
    """What the servers said is in files that the next unit removes."""
    return "for unit in %s; do { ./runtest --single $unit --clients 1 --dont-clean; grep -hs 'footpath: ' tests/tmp/*/stderr; } " \
        "| sed \"s#^#$unit #\"; done" % units


REDIS = named(r"^(?P<test>\S+ )\[(?P<result>ok|err|skip|ignore|timeout|exception)\]: (?P<more>.*?)(?: \(\d+ ms\)| in tests/\S+)?$", {"ok"})


def of_redis(folder, log):
    """Two units go round for as long as their time lasts, and put what they draw by chance into the names of their tests:
    which server replicates from which, how many writes there were. There a test is ok if it was in each round."""
    rounds = re.compile(r"integration/psync2(-reg)? ")
    found = REDIS(folder, "\n".join(line for line in log.splitlines() if not rounds.match(line)))
    for line in filter(rounds.match, log.splitlines()):
        for name, result in REDIS(folder, line).items():
            name = re.sub(r"Set #\d+|from #\d+|x = \d+|CYCLE \d+", "N", name)
            if found.get(name, "ok") == "ok":
                found[name] = result
    return found


AUTO = "ACLOCAL=true AUTOCONF=true AUTOMAKE=true AUTOHEADER=true MAKEINFO=true"
AM = AUTO + " HELP2MAN=true"


def of_gnu(package, least, **more):
    """A program of GNU, with the tests of what it takes from gnulib: signals, threads, locks, processes, numbers."""
    return Suite(package, "./configure --quiet --disable-nls >/dev/null && make -s -j${JOBS:-2} %s >/dev/null" % AUTO,
                 "make -k check -j${JOBS:-2} %s" % AUTO,
                 named(r"^(?P<result>PASS|FAIL|XFAIL|XPASS|SKIP|ERROR): (?P<test>\S.*)", {"PASS", "XFAIL"}), least=least, user=True, **more)


SUITES = {
    "sed": of_gnu("sed", 100),
    "grep": of_gnu("grep", 250),
    "coreutils": of_gnu("coreutils", 700),
    "m4": Suite("m4", "./configure --quiet --disable-nls >/dev/null && make -s -j${JOBS:-2} %s >/dev/null" % AM,
                "make -C checks check %s" % AM,
                lines(r"^Checking .*|^Failed .*|^Skipped .*|^All checks .*|^\./\S+\s*$")),
    "gawk": Suite("gawk", "./configure --quiet --disable-nls --disable-mpfr --without-readline --disable-extensions >/dev/null "
                  "&& make -s -j${JOBS:-2} %s SUBDIRS='support .' >/dev/null" % AM,
                  "make -k -C test %s diffout basic unix-tests gawk-extra" % AM, lines(r"^\w+$|^============.*|^\*+ .*")),
    "xz": Suite("xz-utils", "./configure --quiet --disable-shared --disable-nls --disable-doc >/dev/null && make -s -j${JOBS:-2} %s >/dev/null"
                % AM, "make check %s" % AM, lines(r"^(?:PASS|FAIL|SKIP|XFAIL|ERROR): .*|^# .*")),
    # each unit by itself: an exception in one ends the whole run
    "redis": Suite("redis", "make -s -j${JOBS:-2} USE_SYSTEM_JEMALLOC=yes >/dev/null", each_of_redis("${AGAIN:-%s}" % REDIS_UNITS),
                   of_redis, group=lambda test: test.split()[0], least=1000, cflags="-w", needs=["tcl", "procps", "libjemalloc-dev"]),
    # as an archive and as a shared library; the program with four threads uses the latter
    "leveldb": Suite("leveldb", "for shared in OFF ON; do cmake -S . -B build-$shared -DBUILD_SHARED_LIBS=$shared -DCMAKE_BUILD_TYPE=Release "
                     ">/dev/null; make -s -C build-$shared -j${JOBS:-2} >/dev/null; done; "
                     "$CXX $CXXFLAGS -O2 -Iinclude %s/leveldb_threads.cc -o threads -Lbuild-ON -lleveldb -Wl,-rpath,$PWD/build-ON -pthread" % HERE,
                     "for shared in OFF ON; do ctest --test-dir build-$shared | sed \"s/Test *#/$shared &/\"; done; "
                     "build-OFF/db_bench --threads=4 --num=20000 --db=bench.db 2>/dev/null | sed -n \"s/^\\([a-z]\\w*\\) *:.*/bench \\1: done/p\"; "
                     "for i in 1 2 3; do ./threads threads.db; done",
                     named(r"^ *(?:\d+/\d+)? *(?P<test>\S+ Test *#\d+: \S+|bench \w+:|thread.*:) *\.* *(?P<result>Passed|done|\*\*\*\w+)",
                           {"Passed", "done"}),
                     cflags="-w", logs=("build-*/Testing/Temporary/LastTest.log",),
                     needs=["cmake", "libgtest-dev", "libgmock-dev", "libbenchmark-dev", "libsnappy-dev", "libsqlite3-dev"]),
    # Debian's source is without the tables that are made from Unicode's
    "re2": Suite("re2", "export REBUILD_TABLES=1; tests() { make -pn 2>/dev/null | sed -n \"s/^$1 = //p\"; }; so() { sed 's#obj/#obj/so/#g'; }; "
                 "make -s -j${JOBS:-2} $(tests TESTS) $(tests TESTS | so) $(tests BIGTESTS | so) >/dev/null",
                 "make -k static-test shared-bigtest", named(r"^(?P<test>obj/\S+) +(?P<result>PASS|FAIL)", {"PASS"}),
                 logs=("obj/**/*.log",), needs=["perl", "python3-six", "unicode-data"]),
    "yaml-cpp": Suite("yaml-cpp", "cmake -S . -B build -DYAML_BUILD_SHARED_LIBS=ON -DYAML_CPP_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Release >/dev/null; "
                      "make -s -C build -j${JOBS:-2} >/dev/null", "build/test/yaml-cpp-tests",
                      named(r"^\[ +(?P<result>OK|FAILED) +\] (?P<test>[^ (,]+)", {"OK"}), least=500, cflags="-w",
                      needs=["cmake", "libgtest-dev", "libgmock-dev"]),
    "nginx": Suite("nginx", "./configure --with-http_ssl_module --with-http_v2_module --with-threads --with-http_gunzip_module "
                   "--with-http_auth_request_module --with-http_sub_module --with-http_addition_module --with-http_dav_module "
                   "--with-http_slice_module --with-http_realip_module --with-http_stub_status_module --with-http_secure_link_module "
                   "--with-stream --with-mail --prefix=$PWD/run --with-cc=\"$CC\" >/dev/null && make -s -j${JOBS:-2} >/dev/null",
                   "python3 %s/nginx.py objs/nginx" % HERE, named(r"^(?P<test>.+): (?P<result>ok|FAILED)", {"ok"}),
                   needs=["libpcre2-dev", "libssl-dev", "zlib1g-dev"]),
    "postgresql": Suite("postgresql-15", "./configure --quiet && make -s -j${JOBS:-2} >/dev/null", "make -s check MAX_CONNECTIONS=4 || { cat src/test/regress/regression.diffs; exit 1; }",
                        named(r"^(?:test)? +(?P<test>\S+) +\.\.\. (?P<result>\w+)", {"ok"}), least=200, user=True,
                        cflags="", needs=["bison", "flex", "libreadline-dev", "zlib1g-dev", "libxml2-utils"],
                        logs=("src/test/regress/log/*", "src/test/isolation/log/*")),
    "cpython": Suite("python3.11", "./configure --quiet; make -s -j${JOBS:-2} >/dev/null",
                     "./python -m test -j${JOBS:-2} --timeout 3000 $AGAIN", least=400, cflags="", group=str, user=True,
                     results=named(r"\[ *\d+/\d+(?:/\d+)?\] (?P<test>test_\w+) (?P<result>passed|skipped|failed|crashed|timed out)", {"passed"}),
                     needs=["libffi-dev", "libbz2-dev", "liblzma-dev", "libsqlite3-dev", "libgdbm-dev", "libncurses-dev", "libreadline-dev",
                            "libssl-dev", "uuid-dev", "zlib1g-dev"]),
}
