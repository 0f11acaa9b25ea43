#!/usr/bin/env python3
"""Programs of Debian as they are installed (bench/stock.py): counts as callgrind's, and what they do.

    debian.py --bin BUILD/bin [--keep] --case NAME...

A case for each program compares every block and branch of one run with callgrind. Where time, heap or mappings must be
held for two runs to be the same, they are. programs_long runs 200 programs of /usr/bin.
"""
import functools
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench")]
import harness  # noqa: E402
import behaviour  # noqa: E402
import callgrind  # noqa: E402
import stock  # noqa: E402
from harness import Skipped, equal, expect, needs  # noqa: E402

LEAST = 150  # of 200 programs that are asked for, on a system with few


def truth(b, program):
    needs("valgrind", "readelf", "cc")
    if not program.program():
        raise Skipped("needs " + program.name)
    libraries = stock.libraries(program)
    folder = stock.make(b.path("inputs"), program)
    env = dict(program.env, HOME=b.folder, TZ="UTC")
    if program.held:
        env["LD_PRELOAD"] = callgrind.preload(b)
    c = callgrind.compare(b, program.program(), *program.words("small", folder), libraries=libraries, env=env,
                          input=program.stdin("small", folder))
    expect(c.ran > 300, "%d blocks ran" % c.ran)
    equal(bool(c.throws), program.throws, "exceptions")
    differ = c.differ + c.flown
    equal([str(d) for d in differ[:20]], [], "%d of %d blocks and branches differ" % (len(differ), c.blocks + c.branches))
    expect(c.alone * 1000 <= c.counted, "%d of %d instructions are in functions that are left alone" % (c.alone, c.alone + c.counted))


def programs(b):
    chosen, alike, wrong = behaviour.choose(200), 0, []
    expect(len(chosen) >= LEAST, "only %d programs" % len(chosen))
    for program in chosen:
        trial = behaviour.Trial(b, program).run()
        wrong += trial.differ + trial.caught + ([program + ": " + trial.refused] if trial.refused else [])
        alike += not trial.differ and not trial.refused
    equal(wrong, [], "%d of %d alike" % (alike, len(chosen)))


CASES = {program.name.replace(".", "_") + "_long": functools.partial(truth, program=program) for program in stock.PROGRAMS}
CASES["programs_long"] = programs

harness.main(__doc__, cases=CASES)
