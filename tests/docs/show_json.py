#!/usr/bin/env python3
"""Is what `footpath show --json` prints what docs/formats/show.schema.json says?

    show_json.py --bin BUILD/bin --llvm 19

Builds one program in every mode, and checks that each optional part of the schema
was seen, so that the schema is tested and not only the output.
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import schema as checker  # noqa: E402
from harness import expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "docs", "formats", "show.schema.json")
MODES = ["--fp-mode=path", "--fp-mode=check", "--fp-mode=edge", "--fp-mode=edge-min",
         "--fp-mode=path --fp-exits", "--fp-mode=path --fp-metric=cycles", "--fp-mode=path --fp-at=early"]
# what must occur somewhere; "problem" would be a bug of ours
WANTED = {"not_measured", "edges", "cycles", "branch", "ends_at=exit", "ends_at=edge", "ends_at=lap",
          "ends_at=left", "starts_at=edge", "id=None"}


def show(b, mode):
    b.cc(*mode.split(), "-O1", os.path.join(HERE, "everything.cc"), "-o", "everything")
    return b.json("show", "--json", b.profile("everything", "everything.prof"))


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


def case_schema(b):
    with open(SCHEMA) as f:
        schema = json.load(f)
    seen, bad = set(), []
    for mode in MODES:
        output = show(b, mode)
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
    expect(not bad, "\n".join(bad))


if __name__ == "__main__":
    harness.main(__doc__)
