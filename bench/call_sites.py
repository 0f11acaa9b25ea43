"""What a build could learn from callers: how far the paths of functions depend on where they were called.

    python3 bench/call_sites.py PROFILE...

Of sampled profiles (docs/pep.md, callers). "Several" is the part of the samples that are in functions with more than one
call site; "differ" the part that the paths of a call site do not have in common with those of all calls of the
function (1 - overlap, weighted): at most so much would be told better by a guide that has callers.
"""
import json
import os
import subprocess
import sys

import measure


def sites(profile):
    """Of each function the samples of its paths, by call site."""
    words = [os.path.join(measure.BIN, "footpath"), "show", "--json", "--top", "0", profile]
    shown = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    found = {}
    for site in shown.get("history", {}).get("callers", []):
        found.setdefault(site["function"], []).append({path["id"]: path["count"] for path in site["paths"]})
    return found


def differences(function):
    """Samples of the function that the paths of their call site do not share with all of its calls."""
    together = {}
    for site in function:
        for path, count in site.items():
            together[path] = together.get(path, 0) + count
    total = sum(together.values())
    apart = 0
    for site in function:
        here = sum(site.values())
        apart += here - sum(min(count, here * together[path] / total) for path, count in site.items())
    return apart


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    for profile in sys.argv[1:]:
        found = sites(profile)
        total = sum(sum(site.values()) for function in found.values() for site in function)
        several = sum(sum(site.values()) for function in found.values() if len(function) > 1 for site in function)
        apart = sum(differences(function) for function in found.values())
        print("%s: %d samples, %d call sites, several %.3f, differ %.3f" % (
            profile, total, sum(len(function) for function in found.values()), several / max(1, total), apart / max(1, total)))


if __name__ == "__main__":
    main()
