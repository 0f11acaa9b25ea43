#!/usr/bin/env python3
"""Random C programs with copies of blocks (--fp-copies): paths and their counts are those of the program without.

    copies.py --bin BUILD/bin --count 20 [--llvm 14,19,22] [--opt=-O1,-O2] [--seed 1] [--all] [--save FOLDER]

Each program is built without copies, with those that pay and with as many as there can be; then again by the profile of the
first build, where laps are copied, too, and weights are measured.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run as campaign  # noqa: E402
from run import Failure, PLAIN_LIMIT, LIMIT, Unsuited, execute, flags_of, must  # noqa: E402

import subprocess  # noqa: E402

VARIANTS = ["", "--fp-cuts=few", "--fp-array-paths=16", "--fp-array-paths=2 --fp-cuts=few", "--fp-threads=atomic",
            "--fp-weights=static --fp-cuts=loops", "--fp-exits", "--fp-mode=check"]


def paths_of(args, source, folder, llvm, flags, wanted, name):
    """What `show` says of a run of the program, whatever its file is called."""
    exe, profile = os.path.join(folder, "counted"), os.path.join(folder, name)
    must([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + llvm, *flags, *flags_of(args), source, "-o", exe],
         env=dict(os.environ, FOOTPATH_VERIFY_IR="1"))
    if os.path.exists(profile):
        os.unlink(profile)
    got = execute([exe], LIMIT, env=dict(os.environ, FOOTPATH_OUT=profile))
    if (got.returncode, got.stdout, got.stderr) != (wanted.returncode, wanted.stdout, wanted.stderr):
        raise Failure("%s: expected %d %r, got %d %r %r" % (" ".join(flags), wanted.returncode, wanted.stdout,
                                                            got.returncode, got.stdout, got.stderr[-500:]))
    shown = execute([os.path.join(args.bin, "footpath"), "show", "--plain", "--top", "0", profile])
    if shown.returncode:
        raise Failure("show: " + shown.stderr.decode(errors="replace"))
    return shown.stdout


def check(args, source, folder, llvm, opt, variant):
    """Gives how many paths were compared."""
    plain, compared = os.path.join(folder, "plain"), 0
    must(["clang-" + llvm, opt, *flags_of(args), source, "-o", plain])
    try:
        wanted = execute([plain], PLAIN_LIMIT)
    except subprocess.TimeoutExpired:
        raise Unsuited
    for guide in ([], ["--fp-guide=" + os.path.join(folder, "no.prof")]):
        flags = [opt, *variant.split(), *guide]
        first = paths_of(args, source, folder, llvm, flags + ["--fp-copies=no"], wanted, "guided.prof" if guide else "no.prof")
        for copies in ("yes", "all"):
            found = paths_of(args, source, folder, llvm, flags + ["--fp-copies=" + copies], wanted, copies + ".prof")
            compared += found.count(b"\n")
            if found != first:
                raise Failure("%s --fp-copies=%s: other paths than without" % (" ".join(flags), copies))
    return {"paths": compared}


if __name__ == "__main__":
    sys.exit(campaign.main(__doc__, check, VARIANTS))
