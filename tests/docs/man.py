#!/usr/bin/env python3
"""Do the manual pages say what the tools say?

    man.py --bin BUILD/bin

Every command has a page; the page names every option that --help names, and no
other; every page formats without a warning. The flags of footpath-cc: flags.py.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, expect  # noqa: E402


COMMON = {"--help", "--version"}  # of every command: footpath(1) explains them


def text_of(path):
    """The page as plain text, and what groff has to say about it."""
    done = subprocess.run(["groff", "-ww", "-man", "-T", "utf8", "-P-cbou", "-rLL=200n", path], capture_output=True,
                          text=True, errors="replace")
    return done.stdout.replace("\u2010", "-").replace("\u2212", "-"), done.stderr.strip()


def help_of(args, *words):
    return harness.run(os.path.join(args.bin, words[0]), *words[1:]).stdout


def options_in_help(text):
    return set(re.findall(r"^  (--?[a-z][a-z0-9-]*)", text, re.M)) - COMMON


def options_in_page(text):
    """Those that have an entry: at the start of an indented line."""
    return set(re.findall(r"^ +(--?[a-z][a-z0-9-]*)(?=[ =,\n]|$)", section(text, "OPTIONS"), re.M)) - COMMON


def section(text, name):
    found = re.search(r"^%s\n(.*?)(?=^[A-Z])" % name, text + "\nEND", re.M | re.S)
    return found.group(1) if found else ""


def check_command(args, name, say):
    page = os.path.join(ROOT, "docs", "man", "footpath-%s.1" % name)
    if not os.path.exists(page):
        say("footpath %s has no page docs/man/footpath-%s.1" % (name, name))
        return
    text, _ = text_of(page)
    helped, paged = options_in_help(help_of(args, "footpath", name, "--help")), options_in_page(text)
    for option in sorted(helped - paged):
        say("footpath-%s.1 does not explain %s" % (name, option))
    for option in sorted(paged - helped):
        say("footpath-%s.1 explains %s, which --help does not have" % (name, option))


def case_man(b):
    args = b.args
    main, _ = text_of(os.path.join(ROOT, "docs", "man", "footpath.1"))
    for option in COMMON:
        expect(option in main, "footpath.1 does not explain " + option)
    bad = []
    commands = re.findall(r"^  ([a-z0-9-]+) +[A-Z]", help_of(args, "footpath", "--help"), re.M)
    main_page, _ = text_of(os.path.join(ROOT, "docs", "man", "footpath.1"))
    for name in commands:
        check_command(args, name, bad.append)
        if not re.search(r"\b%s\b" % name, section(main_page, "COMMANDS")):
            bad.append("footpath.1 does not list %s" % name)
    folder = os.path.join(ROOT, "docs", "man")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as f:
            is_link = f.read().startswith(".so ")
        warnings = "" if is_link else text_of(os.path.join(folder, name))[1]
        if warnings:
            bad.append("%s: %s" % (name, warnings))
    if len(commands) < 5:
        bad.append("footpath --help lists only %s" % commands)
    expect(not bad, "\n".join(bad))


if __name__ == "__main__":
    harness.main(__doc__)
