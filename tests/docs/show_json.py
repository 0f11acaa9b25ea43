#!/usr/bin/env python3
"""Is what `footpath show --json` prints what docs/formats/show.schema.json says?

    show_json.py --bin BUILD/bin --llvm 19

Builds one program in every mode, and checks that each optional part of the schema
was seen, so that the schema is tested and not only the output.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import schema as checker

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "docs", "formats", "show.schema.json")
MODES = ["--fp-mode=path", "--fp-mode=check", "--fp-mode=edge", "--fp-mode=edge-min",
         "--fp-mode=path --fp-exits", "--fp-mode=path --fp-metric=cycles", "--fp-mode=path --fp-at=early"]
# what must occur somewhere; "problem" would be a bug of ours
WANTED = {"not_measured", "edges", "cycles", "branch", "ends_at=exit", "ends_at=edge", "ends_at=lap",
          "ends_at=left", "starts_at=edge", "id=None"}


def show(args, folder, mode):
    program, profile = os.path.join(folder, "everything"), os.path.join(folder, "everything.prof")
    source = os.path.join(HERE, "everything.cc")
    subprocess.run([os.path.join(args.bin, "footpath-c++"), "--fp-llvm=" + args.llvm, *mode.split(), "-O1", source,
                    "-o", program], check=True)
    if os.path.exists(profile):
        os.unlink(profile)
    subprocess.run([program], env=dict(os.environ, FOOTPATH_OUT=profile), check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([os.path.join(args.bin, "footpath"), "show", "--json", profile], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def collect(value, seen):
    if isinstance(value, list):
        for item in value:
            collect(item, seen)
    elif isinstance(value, dict):
        for name, item in value.items():
            seen.add(name)
            if not isinstance(item, (dict, list)):
                seen.add("%s=%s" % (name, item))
            collect(item, seen)


def check(args, folder):
    with open(SCHEMA) as f:
        schema = json.load(f)
    seen, bad = set(), []
    for mode in MODES:
        output = show(args, folder, mode)
        bad += ["%s: %s" % (mode, each) for each in checker.problems(output, schema)]
        collect(output, seen)
        names = {f["name"] for f in output["functions"]}
        if "int shapes::twice<int>(int)" not in names and "early" in mode:
            bad.append("%s: names are not as people write them: %s" % (mode, names))
    bad += ["nothing had %s" % each for each in sorted(WANTED - seen)]
    bad += ["a function had a problem" for each in seen if each == "problem"]
    wrong = dict(output, runs="one")
    if not list(checker.problems(wrong, schema)):
        bad.append("the checker accepts anything")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--llvm", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bad = check(args, folder)
    print("\n".join(bad) or "%d builds fit the schema" % len(MODES))
    sys.exit(bool(bad))


main()
