#!/usr/bin/env python3
"""Do the documents name the flags of footpath-cc, and no others?

    flags.py --bin BUILD/bin

The flags are those of the one table (src/flags/flags.c), as footpath-cc --fp-help prints
it. docs/footpath-cc.md and the manual page explain every flag and every word that it
takes; the completions of all shells offer them; no document, comment or test names a flag
or a word that the table lacks.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, expect  # noqa: E402

# where a flag that does not exist is a mistake; CHANGELOG.md may name flags of the past
FOLDERS = ("docs", "examples", "include", "runtime", "scripts", "src", "tool")
FILES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md")


def output_of(args, *words):
    return harness.run(os.path.join(args.bin, words[0]), *words[1:]).stdout


def table(args):
    """Each flag, and the words it takes: an empty set if it takes none or anything."""
    flags = {}
    for flag, value in re.findall(r"^  (--fp-[a-z-]+)(?:=(\S+))?", output_of(args, "footpath-cc", "--fp-help"), re.M):
        flags[flag] = set(value.split("|")) if value and value.islower() else set()
    return flags


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def check_manual(args, flags, say):
    page = read(ROOT, "docs", "man", "footpath-cc.1").replace("\\-", "-")
    explained = re.split(r"^\.TP$", page, flags=re.M)
    for flag, words in flags.items():
        entries = [each for each in explained if re.match(r"\s*\.\w+ (?:.* )?%s(?![a-z-])" % flag, each)]
        if not entries:
            say("docs/man/footpath-cc.1 does not explain %s" % flag)
        for word in words if entries else ():
            if not re.search(r"(?<![a-z-])%s(?![a-z-])" % word, entries[0]):
                say("docs/man/footpath-cc.1 does not explain %s=%s" % (flag, word))


def check_document(args, flags, say):
    document = read(ROOT, "docs", "footpath-cc.md")
    for flag, words in flags.items():
        lines = [line for line in document.splitlines() if re.search(r"`%s(?![a-z-])" % flag, line)]
        if not lines:
            say("docs/footpath-cc.md does not explain %s" % flag)
        for word in words if lines else ():
            if not any(re.search(r"[`=|]%s[`|]" % word, line) for line in lines):
                say("docs/footpath-cc.md does not explain %s=%s" % (flag, word))


def check_completions(args, flags, say):
    for shell in ("bash", "zsh", "fish"):
        script = output_of(args, "footpath", "completion", shell)
        for flag, words in flags.items():
            for whole in [flag + "=" + word for word in words] or [flag]:
                if not re.search(r"%s(?![a-z-])" % whole, script):
                    say("footpath completion %s lacks %s" % (shell, whole))


def texts(args):
    for name in FILES:
        yield name
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                if not name.endswith((".png", ".svg")):
                    yield os.path.relpath(os.path.join(at, name), ROOT)


def of_wrapper():
    """The flags that footpath-gcc takes for itself."""
    return set(re.findall(r"^ +(--fp-[a-z-]*[a-z])(?:=\*)?\)", read(ROOT, "tool/footpath-gcc"), re.M))


def check_mentions(args, flags, say):
    count, wrapper = 0, of_wrapper()
    page = read(ROOT, "docs/man/footpath-gcc.1").replace("\\-", "-")
    for flag in sorted(wrapper):
        if ("\n.B %s\n" % flag not in page) and (".BI %s=" % flag not in page):
            say("footpath-gcc.1 does not explain %s" % flag)
    for name in texts(args):
        for flag, value in re.findall(r"--fp-([a-z-]*[a-z])(?:=([a-z-]*[a-z](?![a-z./*%])))?",
                                      read(ROOT, name).replace("\\-", "-")):
            count += 1
            flag = "--fp-" + flag
            if flag not in flags and flag not in wrapper:
                say("%s names %s, which does not exist" % (name, flag))
            elif flag in flags and value and flags[flag] and value not in flags[flag]:
                say("%s names %s=%s, which does not exist" % (name, flag, value))
    if count < 100:
        say("the documents name only %d flags" % count)


def case_flags(b):
    bad, flags = [], table(b.args)
    expect(len(flags) >= 30 and "edge-min" in flags.get("--fp-mode", ()), "--fp-help lists only %s" % flags)
    for check in (check_manual, check_document, check_completions, check_mentions):
        check(b.args, flags, bad.append)
    expect(not bad, "\n".join(bad))


if __name__ == "__main__":
    harness.main(__doc__)
