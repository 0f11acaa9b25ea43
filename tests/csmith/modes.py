#!/usr/bin/env python3
"""Random C programs in all modes: each does what it does when plain clang builds it, and counts verify.

    modes.py --bin BUILD/bin --count 20 [--llvm 14,19,22] [--opt=-O0,-O2] [--seed 1] [--all] [--save FOLDER]

run.py's programs, by what GCC's suites are tried with (tests/torture/task.py): path, path and check with
--fp-exits, edge-min, pep, and a build by the program's own profile. These programs end by returning from
main, so the edges that edge-min counted must be those that the paths imply. A program that takes longer
than a second uninstrumented is replaced by the next.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "torture")]
import run as campaign  # noqa: E402
import suites  # noqa: E402
import task  # noqa: E402
from run import Failure, Unsuited, flags_of  # noqa: E402


class Arguments:
    def __init__(self, folder, llvm):
        self.bin, self.llvm = folder, llvm


class Short(task.Task):
    plain_cpu = 1

    def counted(self, mode, profile):
        paths = os.path.join(self.folder, "paths")
        if mode == "path":
            shutil.copy(profile, paths)
        elif mode == "edge-min":
            self.verify(paths, profile)


def check(args, source, folder, llvm, opt, _):
    """Gives how many builds passed."""
    program = suites.Program("prog.c", [source], flags_of(args), False)
    passed, failures, left_out = Short(Arguments(args.bin, llvm), program, folder).all([opt.lstrip("-")], task.MODES)
    if left_out:
        raise Unsuited
    if failures:
        raise Failure("\n".join(failures))
    return {"modes": passed}


if __name__ == "__main__":
    sys.exit(campaign.main(__doc__, check, [""]))
