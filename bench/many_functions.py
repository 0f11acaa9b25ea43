#!/usr/bin/env python3
"""A program of many functions, as C source in several files, from a seed:

    many_functions.py FOLDER [--functions 10000] [--files 50]

Functions have loops, switches and conditions and call others with higher numbers; main
calls some of them. To measure reports by: footpath-cc FOLDER/*.c, run, report.
"""
import argparse
import os
import random


def function(rng, i, total):
    lines = ["int step_%d(int a, int b)" % i, "{", "    int sum = %d;" % rng.randrange(100)]
    for k in range(rng.randrange(2, 6)):
        kind = rng.randrange(4)
        if kind == 0:
            lines += ["    if (a %% %d > b %% %d)" % (rng.randrange(2, 9), rng.randrange(2, 9)), "        sum += a * %d;" % rng.randrange(1, 9),
                      "    else", "        sum -= b;"]
        elif kind == 1:
            lines += ["    for (int i = 0; i < a %% %d; i++)" % rng.randrange(2, 7), "        if ((sum ^ i) & %d)" % (1 << rng.randrange(4)),
                      "            sum += i;"]
        elif kind == 2:
            lines.append("    switch ((unsigned)(a + b) %% %d) {" % rng.randrange(3, 6))
            lines += ["    case %d: sum ^= %d; break;" % (c, rng.randrange(1000)) for c in range(3)]
            lines += ["    default: sum++;", "    }"]
        elif i + 1 < total:
            lines += ["    if (sum %% %d == 0 && b > %d)" % (rng.randrange(2, 5), rng.randrange(30)),
                      "        sum += step_%d(b %% 37, a %% 29);" % rng.randrange(i + 1, min(total, i + 400))]
    return "\n".join(lines + ["    return sum;", "}", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--functions", type=int, default=10000)
    parser.add_argument("--files", type=int, default=50)
    options = parser.parse_args()
    rng = random.Random(1)
    os.makedirs(options.folder, exist_ok=True)
    with open(os.path.join(options.folder, "steps.h"), "w") as f:
        f.writelines("int step_%d(int a, int b);\n" % i for i in range(options.functions))
    for part in range(options.files):
        with open(os.path.join(options.folder, "part_%02d.c" % part), "w") as f:
            f.write('#include "steps.h"\n\n')
            for i in range(part, options.functions, options.files):
                f.write(function(rng, i, options.functions) + "\n")
    calls = "\n".join("    total += step_%d(n, %d);" % (i, i % 41) for i in range(0, options.functions, 7))
    with open(os.path.join(options.folder, "main.c"), "w") as f:
        f.write('#include "steps.h"\n#include <stdio.h>\n\nint main(void)\n{\n    unsigned total = 0;\n    for (int n = 0; n < 20; n++) {\n%s\n    }\n'
                '    printf("%%u\\n", total);\n    return 0;\n}\n' % calls)


main()
