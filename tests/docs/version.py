#!/usr/bin/env python3
"""Do all places that name the version agree, and do the Debian packages have what the tree has?

    version.py --bin BUILD/bin --llvm 19

The version is defined in CMakeLists.txt.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, equal, expect, needs, run  # noqa: E402


def text_of(*parts):
    with open(os.path.join(ROOT, *parts)) as f:
        return f.read()


def found(pattern, *parts):
    match = re.search(pattern, text_of(*parts), re.M)
    expect(match, "%s: nothing like %s" % (os.path.join(*parts), pattern))
    return match.group(1)


def case_agrees(b):
    version = found(r"^project\(footpath VERSION ([0-9.]+)", "CMakeLists.txt")
    equal(found(r"^## ([0-9.]+)", "CHANGELOG.md"), version, "the first heading of CHANGELOG.md")
    equal(found(r"\Afootpath \(([^)]*)\) ", "debian", "changelog"), version, "debian/changelog")
    equal(b.run(b.bin("footpath"), "--version").stdout, "footpath %s\n" % version, "footpath --version")
    pc = os.path.join(os.path.dirname(b.args.bin), "footpath.pc")
    equal(re.search("^Version: (.*)$", text_of(pc), re.M).group(1), version, "footpath.pc")


def case_packages(b):
    """A package for each LLVM that is tested; every function of libfootpath is in its list of symbols."""
    control = text_of("debian", "control")
    plugins = re.findall("^Package: footpath-llvm-(.*)$", control, re.M)
    equal(plugins, found('^tested="([^"]*)"', "scripts", "llvm").split(), "versions of LLVM")
    for version in plugins:
        for part in ("clang-%s <!nocheck !pkg.footpath.nollvm%s>", "llvm-%s-dev <!pkg.footpath.nollvm%s>"):
            expect(part % (version, version) in control, "debian/control has no " + part % (version, version))
        equal(text_of("debian", "footpath-llvm-%s.install" % version), "usr/lib/footpath/footpath-llvm-%s.so\n" % version, "what is installed")
    header = set(re.findall(r"\b(footpath_\w+)\(", text_of("include", "footpath", "footpath.h")))
    needs("nm")
    library = os.path.join(b.args.bin, "..", "lib", "libfootpath.so")
    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).stdout.splitlines()} & header
    listed = re.findall(r"^ (\w+)@Base", text_of("debian", "libfootpath0.symbols"), re.M)
    equal(listed, sorted(exported), "debian/libfootpath0.symbols")


if __name__ == "__main__":
    harness.main(__doc__)
