#!/usr/bin/env python3
"""How much of a plausible use do the own test suites of Debian packages take? The table of docs/gap.md.

    gap.py [--programs bzip2,cmark] [--into docs/gap.md] [--show]

Each package is built once, by footpath-cc --fp-at=early at -O2, so that paths are those of the
functions of the source. Its own tests run, then a use that is not one of them, and `footpath gap`
compares. What was found is in .cache/gap/NAME/: tests.prof, production.prof, gap.json; the source
and the build beside them, for `footpath gap`. --show prints the largest gaps of each.
FOOTPATH_BIN says where the tools are (build/bin).
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass

import corpus
import inputs
import marks

WORK = os.path.join(corpus.ROOT, ".cache", "gap")
BIN = os.environ.get("FOOTPATH_BIN", os.path.join(corpus.ROOT, "build", "bin"))

@dataclass
class Use:
    """Shell in a copy of the source; $IN is the folder of inputs."""
    package: str
    build: str
    tests: str   # the package's own
    passed: str  # what they say, if all is well
    use: str
    what: str    # the same in words, for the table


USES = {
    "bzip2": Use(
        "bzip2", corpus.names("bzip2")[0].recipe + " && mv prog bzip2", "make -s -o bzip2 test", "If you got this far and the 'cmp's didn't complain",
        "tar --mtime=@0 --owner=0 --group=0 --mode=644 -cf $IN/tree.tar *.c *.h *.ps; ./bzip2 -k -f $IN/mix $IN/tree.tar; ./bzip2 -t $IN/mix.bz2; ./bzip2 -dc $IN/tree.tar.bz2 | tar -t",
        "packs two files, 3 MB in all, tests one, unpacks the other"),
    "cmark": Use(
        "cmark", "cmake -G Ninja -B build -DCMARK_SHARED=OFF . && ninja -C build", "ctest --test-dir build", "100% tests passed",
        "for name in README.md benchmarks.md why-cmark-and-not-x.md changelog.txt; do build/src/cmark $name; build/src/cmark -t latex $name; done",
        "turns its own documents into HTML and LaTeX"),
    "expat": Use(
        "expat", "cd expat && ./buildconf.sh && ./configure --quiet --without-docbook --disable-shared && make -s", "make -s -C expat check",
        "# PASS:  2", "expat/xmlwf/xmlwf -n $IN/feed.xml $IN/feed-utf16.xml", "`xmlwf -n` reads a feed, in UTF-8 and in UTF-16"),
    "jimtcl": Use(
        "jimtcl", "./configure --disable-docs && make -s", "make -s check", "Failed     0", "./jimsh $IN/log.tcl $IN/access.log",
        "a script of 20 lines evaluates the log of a web server"),
    "mawk": Use(
        "mawk", corpus.names("mawk")[0].recipe, "make -s check", "results consistent", "./mawk -f $IN/log.awk $IN/access.log",
        "a script of 10 lines evaluates the log of a web server"),
    "zlib": Use(
        "zlib", "./configure --static && make -s minigzip example", "make -s teststatic", "*** zlib test OK ***",
        "for level in 1 6 9; do ./minigzip -$level <$IN/mix >$IN/mix.gz; ./minigzip -d <$IN/mix.gz >$IN/mix.out; cmp $IN/mix $IN/mix.out; done",
        "minigzip packs 1 MB at levels 1, 6 and 9, and unpacks it"),
}

AWK = r"""# requests and bytes of each client, the pages asked for most, the errors
BEGIN { FS = "[ \"]+" }
$9 ~ /^[45]/ { errors[$9]++ }
{ hits[$1]++; bytes[$1] += $10; sub(/\?.*/, "", $7); pages[tolower($7)]++ }
END {
    for (client in hits) printf "%-15s %6d %10d\n", client, hits[client], bytes[client] | "sort -k2nr"
    close("sort -k2nr")
    for (page in pages) if (pages[page] > 40) print substr(page, 1, 40), pages[page]
    for (code in errors) print code, errors[code]
}
"""
TCL = r"""# requests and bytes of each client, the pages asked for most, the errors
set log [open [lindex $argv 0]]
while {[gets $log line] >= 0} {
    if {![regexp {^(\S+) .*"GET (\S+) HTTP/1.1" (\d+) (\d+)} $line - client page code bytes]} continue
    dict incr hits $client
    dict incr sum $client $bytes
    regsub {\?.*} $page {} page
    incr pages([string tolower $page])
    if {$code >= 400} {lappend errors($code) $client}
}
close $log
proc most {a b} {
    global hits
    return [expr {[dict get $hits $b] - [dict get $hits $a]}]
}
foreach client [lsort -command most [dict keys $hits]] {
    puts [format "%-15s %6d %10d" $client [dict get $hits $client] [dict get $sum $client]]
}
foreach page [lsort [array names pages]] {if {$pages($page) > 40} {puts "[string range $page 0 39] $pages($page)"}}
foreach code [lsort [array names errors]] {puts "$code [llength $errors($code)]"}
"""


def log_lines(rng):
    for i in range(20000):
        yield '10.0.%d.%d - - [16/Nov/2026:%02d:%02d:%02d +0000] "GET /%s/%d.html%s HTTP/1.1" %d %d "-" "Mozilla/5.0"\n' % (
            rng.randrange(4), rng.randrange(60), i * 24 // 20000, rng.randrange(60), rng.randrange(60), rng.choice(["a", "News", "img"]),
            rng.randrange(200), rng.choice(["", "?q=%d" % i]), rng.choice([200, 200, 200, 304, 404, 500]), rng.randrange(100000))


def feed(rng):
    words = "path profile counter Größe función 関数 branch loop naïve test".split()
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE feed [\n<!ENTITY who "the &#x201C;editors&#x201D;">\n'
    yield '<!ATTLIST entry lang CDATA "en">\n]>\n<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="urn:media">\n'
    for i in range(2000):
        yield '  <entry m:id="%d"><title>%s &amp; more</title><author>&who;</author>\n    <!-- %d --><content><![CDATA[<p>%s</p>]]></content>' \
            '<m:image src="a%d.png"/></entry>\n' % (i, " ".join(rng.choices(words, k=5)), i, " ".join(rng.choices(words, k=30)), i)
    yield "</feed>\n"


def make_inputs(folder):
    """Into an empty folder: a program may behave differently where its output is there already."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    xml = "".join(feed(random.Random(7)))
    files = {"mix": inputs.mix(random.Random(1), 1000000), "log.awk": AWK, "log.tcl": TCL, "access.log": "".join(log_lines(random.Random(5))),
             "feed.xml": xml, "feed-utf16.xml": xml.replace("UTF-8", "UTF-16", 1).encode("utf-16")}
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)


def shell(folder, command, profile, log):
    """Whatever the processes count goes into one profile."""
    llvm = os.environ.get("FOOTPATH_LLVM", "19")
    env = dict(os.environ, CC="footpath-cc", CXX="footpath-c++", CFLAGS="-O2 -g -w", CXXFLAGS="-O2 -g -w", LC_ALL="C", IN=os.path.join(WORK, "inputs"),
               FOOTPATH_CC_FLAGS="--fp-at=early --fp-llvm=" + llvm, FOOTPATH_OUT=profile, PATH=BIN + ":" + os.environ["PATH"])
    done = subprocess.run(["sh", "-ec", command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    with open(log, "w") as f:
        f.write(done.stdout)
    if done.returncode:
        raise RuntimeError("%s: status %d; see %s\n%s" % (command, done.returncode, log, done.stdout[-1500:]))
    return done.stdout


def footpath(*words):
    return subprocess.run([os.path.join(BIN, "footpath"), *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(name):
    one, folder = USES[name], os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    source = os.path.join(folder, "source")
    shutil.copytree(os.path.join(corpus.CACHE, one.package), source, symlinks=True)
    at = lambda file: os.path.join(folder, file)
    shell(source, one.build, at("while-building.prof"), at("build.log"))
    if one.passed not in shell(source, one.tests, at("tests.prof"), at("tests.log")):
        raise RuntimeError("its tests do not say %r; see %s" % (one.passed, at("tests.log")))
    shell(source, one.use, at("production.prof"), at("use.log"))
    gap = json.loads(footpath("gap", "--json", "--top", "0", at("production.prof"), at("tests.prof")))
    with open(at("gap.json"), "w") as f:
        json.dump(gap, f)
    return gap


COLUMNS = ["package", "use", "instructions on tested paths", "paths that no test took", "gaps: function not called", "branch not taken",
           "only the order, or another round, is new"]


def row(name, gap):
    kinds = [g["reason"] for g in gap["gaps"]]
    called = sum(kinds.count(k) for k in ("function_not_called", "function_not_in_tests"))
    taken = kinds.count("branch_not_taken")
    all_paths = gap["untested"]["paths"] + gap["tested"]["paths"] + gap["unknown"]["paths"]
    return [USES[name].what, "%.2f%%" % (100 * gap["tested_share"]), "%d of %d" % (gap["untested"]["paths"], all_paths), "%d" % called, "%d" % taken,
            "%d" % (len(kinds) - called - taken)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("BENCH", ",".join(USES)), help="names, separated by commas (all)")
    parser.add_argument("--into", default=os.path.join(corpus.ROOT, "docs", "gap.md"), help="the document with the table")
    parser.add_argument("--show", action="store_true", help="print the largest gaps")
    options = parser.parse_args()
    names = [name for name in options.programs.split(",") if name in USES]
    subprocess.run([os.path.join(corpus.HERE, "fetch"), corpus.CACHE] + sorted(USES[n].package for n in names), check=True)
    make_inputs(os.path.join(WORK, "inputs"))
    failed = False
    for name in names:
        try:
            marks.write(options.into, "gap", COLUMNS, {name: row(name, measure(name))}, marks.stamp(), order=list(USES))
        except RuntimeError as error:
            print("%s: %s" % (name, error), file=sys.stderr)
            failed = True
            continue
        if options.show:
            print(footpath("gap", "--top", "8", os.path.join(WORK, name, "production.prof"), os.path.join(WORK, name, "tests.prof")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
