#!/usr/bin/env python3
"""--fp-metric=cycles ranks two paths by what they cost, not by how often they ran.

    costs.py --bin BUILD/bin [--llvm 19]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", default="19")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footpath-costs-") as folder:
        exe, profile = os.path.join(folder, "costs"), os.path.join(folder, "out.prof")
        for level in ("-O0", "-O2"):
            subprocess.run([os.path.join(args.bin, "footpath-cc"), "--fp-llvm=" + args.llvm, "--fp-metric=cycles", level,
                            os.path.join(HERE, "costs.c"), "-o", exe], check=True)
            if os.path.exists(profile):
                os.unlink(profile)
            subprocess.run([exe], env=dict(os.environ, FOOTPATH_OUT=profile), check=True, stdout=subprocess.DEVNULL)
            shown = json.loads(subprocess.run([os.path.join(args.bin, "footpath"), "show", "--json", "--function", "way",
                                               profile], check=True, capture_output=True, text=True).stdout)
            first, second = shown["functions"][0]["paths"][:2]
            each = [path["cycles"] / path["count"] for path in (first, second)]
            print("%s: %d times %.0f cycles, %d times %.0f cycles" % (level, first["count"], each[0], second["count"], each[1]))
            if shown["cost_unit"] != "cycles" or (first["count"], second["count"]) != (2000, 18000):
                raise SystemExit("the rare way should come first")
            # a thousand pairs of divisions of 20 cycles and more; the other way is a few instructions
            if each[0] < 10000 or each[1] > each[0] / 20:
                raise SystemExit("the costs of the ways are not told apart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
