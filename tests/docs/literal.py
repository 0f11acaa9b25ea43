#!/usr/bin/env python3
"""Types what the documents tell a reader to type, and compares what they show.

    literal.py --bin BUILD/bin [--llvm 19] [--update] [--case NAME]...

Documents are README.md, all other Markdown of the top, docs/ and examples/, and the manual
pages. Each is a session of one shell in a folder of its own. Every fenced block `sh` or
`console` is typed, and every .EX or .nf block of a manual page. All commands must succeed.

    sh        commands; what they print is not compared, but must have no `footpath: ` line
    console   `$ command` (continued by `> `) and below it all that the command prints; a line
              `...` stands for any lines. A status other than 0 is fine in front of `$ echo $?`

A block of another language is not typed, and then has no line that begins with `$ `. A block
without a language is an error. Comments in front of a block say more, in Markdown as
<!-- literal: WORDS -->, in manual pages as .\\" literal: WORDS:

    in NAME             a new folder: tests/docs/literal/NAME with what its script `prepare`
                        does; `in source` is a copy of the source tree
    long: WHY           typed by the case NAME_long only, which types all of the document
    status N            the last command of the block ends with N
    differs REGEX       text of the output that differs from run to run; the two have to match
                        REGEX at the same place
    not run: WHY; instead: FILE    not typed, and which test stands in

Times, build-ids, the folder and the lines of system headers may differ everywhere
(VOLATILE). Outputs are those of LLVM 19. --update puts what commands print now into the
Markdown documents, except where they have dots: look at the difference.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import ROOT, Failure, Skipped, equal, expect  # noqa: E402

LLVM = "19"
FOLDERS = os.path.join(ROOT, "tests", "docs", "literal")
TYPED = ("sh", "console")
OTHERS = ("text", "c", "cmake", "meson", "asm", "json", "diff", "ini")
MOST_EXCUSED = 10
HOME = "/home/you/footpath"  # what documents have for the folder
END = "end of the command that literal.py typed:"
# what differs from run to run in any document, and what stands for it
VOLATILE = (
    (r"\b[0-9a-f]{16,40}\b", "HEX"),
    (r"\bbuild [0-9a-f]{12}\b", "build HEX"),
    (r"(?<=__footpath_c_)[0-9a-f]{16}\b", "HEX"),
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", "DATE"),
    (r"\b\d+(\.\d+)? (s|ms|seconds)\b", "TIME"),
    (r"\bpid \d+ on [^ :]+", "PROCESS"),
    (r"\b(ctype|stdio2?|string)\.h:\d+", r"\1.h:LINE"),
)
EXCUSE = re.compile(r"not run: (?P<why>[^;]+); instead: (?P<instead>\S+)$")


@dataclass
class Block:
    """Something to type. told: the words of the comments in front of it."""
    where: str
    language: str
    text: str
    told: list = field(default_factory=list)

    def says(self, word):
        """What follows the word, or None."""
        found = [t[len(word):].strip() for t in self.told if t.startswith(word)]
        return found[-1] if found else None


# ---- documents -> blocks


def markdown_blocks(name, text):
    told, lines, at, gap = [], text.split("\n"), 0, True
    while at < len(lines):
        line = lines[at]
        comment = re.match(r"<!-- literal: (.*) -->$", line)
        fence = re.match(r"( *)(```+)(.*)$", line)
        if comment:
            told.append(comment.group(1))
        elif fence:
            end = at + 1
            while end < len(lines) and lines[end].strip() != fence.group(2):
                end += 1
            body = [b[len(fence.group(1)):] for b in lines[at + 1:end]]
            yield Block("%s:%d" % (name, at + 1), fence.group(3).strip(), "\n".join(body), told)
            told, at = [], end
        else:
            expect(not told or not line, "%s:%d: a comment of literal.py is not in front of a block" % (name, at + 1))
            expect(not (gap and re.match(r"    \S", line)), "%s:%d: an indented block; put it between ```" % (name, at + 1))
        gap = not line
        at += 1


def roff_text(line):
    for escape, plain in ((r"\-", "-"), (r"\&", ""), (r"\(aq", "'"), (r"\(dq", '"'), (r"\e", "\\")):
        line = line.replace(escape, plain)
    return line


def manual_blocks(name, text):
    told, lines, at = [], text.split("\n"), 0
    while at < len(lines):
        comment = re.match(r'\.\\" literal: (.*)$', lines[at])
        if comment:
            told.append(comment.group(1))
        elif lines[at] in (".EX", ".nf"):
            end = at + 1
            while lines[end] not in (".EE", ".fi"):
                end += 1
            body = "\n".join(roff_text(b) for b in lines[at + 1:end])
            yield Block("%s:%d" % (name, at + 1), "console" if body.startswith("$ ") else "sh", body, told)
            told, at = [], end
        else:
            expect(not told, "%s:%d: a comment of literal.py is not in front of a block" % (name, at + 1))
        at += 1


def blocks_of(name, text):
    """The blocks of a document, each one checked for what it may be."""
    blocks = list((manual_blocks if name.endswith(".1") else markdown_blocks)(name, text))
    for block in blocks:
        check_block(block)
    return blocks


def check_block(block):
    expect(block.language in TYPED + OTHERS, "%s: a block of language %r; known are %s"
           % (block.where, block.language, ", ".join(TYPED + OTHERS)))
    if block.language not in TYPED:
        expect(not re.search(r"^\$ ", block.text, re.M), block.where + ": commands in a block that is not typed")
    for told in block.told:
        expect(re.match(r"in \w+$|long: \S|status \d+$|differs .|not run: ", told), "%s: literal: %s" % (block.where, told))
        excuse = EXCUSE.match(told)
        expect(excuse or not told.startswith("not run"), block.where + ": an excuse without reason or test")
        expect(not excuse or os.path.exists(os.path.join(ROOT, excuse.group("instead"))), block.where + ": no such test: " + told)
    pattern = block.says("differs")
    if pattern is not None:
        shown = "\n".join(line for line in block.text.split("\n") if not re.match(r"[$>] ", line))
        expect(re.search(pattern, shown) and not re.search(pattern, ""), block.where + ": nothing here is %r" % pattern)
        expect(not any(re.fullmatch(pattern, line) for line in shown.split("\n")), block.where + ": %r is a whole line" % pattern)


# ---- blocks -> commands


def is_whole(text):
    """Whether a shell would not ask for another line."""
    done = subprocess.run(["bash", "-n"], input=text + "\n", capture_output=True, text=True)
    return not text.endswith("\\") and not re.search("unexpected end of file|unexpected EOF|here-document", done.stderr)


def commands_of(block):
    """(command, what the document says it prints, or None) of a block."""
    if block.language == "console":
        expect(block.text.startswith("$ "), block.where + ": does not begin with $")
        for command, shown in re.findall(r"^\$ (.*(?:\n> .*)*)\n?((?:(?!\$ ).*(?:\n|\Z))*)", block.text, re.M):
            yield command.replace("\n> ", "\n"), shown
        return
    command = ""
    for line in block.text.split("\n"):
        command += line
        if is_whole(command):
            if command.strip() and not command.strip().startswith("#"):
                yield command, None
            command = ""
        else:
            command += "\n"
    expect(not command, "%s: a command without end: %s" % (block.where, command))


# ---- comparing


def unify(text, folder, differs):
    text = text.replace(folder, HOME)
    if differs:
        text = re.sub(differs, "DIFFERS", text)
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def matches(got, shown):
    """Lines; `...` in the second stands for any."""
    if "..." not in shown:
        return got == shown
    first = shown.index("...")
    if got[:first] != shown[:first]:
        return False
    return any(matches(got[at:], shown[first + 1:]) for at in range(first, len(got) + 1))


def compare(b, block, command, got, shown, folder):
    differs = block.says("differs")
    if b.args.update and "..." not in shown.split("\n") and not matches(unify(got, folder, differs), unify(shown, folder, differs)):
        name = os.path.join(ROOT, block.where.split(":")[0])
        put_into(name, "$ " + command.replace("\n", "\n> ") + "\n", shown, got.rstrip("\n").replace(folder, HOME) + "\n" if got else "")
        return
    expect(shown.strip() != "...", "%s: shows nothing of what this prints: %s" % (block.where, command))
    expect(matches(unify(got, folder, differs), unify(shown, folder, differs)),
           "%s: %s\n---- shows:\n%s\n---- but the command prints:\n%s" % (block.where, command, shown.rstrip("\n"), got.rstrip("\n")))


def put_into(name, command, shown, got):
    """A document gets another output behind a command."""
    text = read(name)
    equal(text.count(command + shown), 1, "places of this command in " + name)
    with open(name, "w", encoding="utf-8") as f:
        f.write(text.replace(command + shown, command + "\n".join(line.rstrip() for line in got.split("\n"))))


# ---- the shell


def clean_environment():
    """That of somebody who has set nothing that build systems or footpath read."""
    # LSAN_OPTIONS: make sanitize names leaks of libraries there
    kept = {name: value for name, value in os.environ.items()
            if name in ("TMPDIR", "FOOTPATH_VERIFY_IR", "LSAN_OPTIONS") or name.lower().endswith("_proxy")}
    # OMPI: root may start processes of MPI, and more of them than there are cores
    return dict(kept, LC_ALL="C", FOOTPATH_NO_SETUP="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1")


class Shell:
    """One reader at one terminal."""

    def __init__(self, b):
        self.bench, self.process, self.folder = b, None, None

    def enter(self, name):
        self.close()
        self.folder = tempfile.mkdtemp(prefix=name, dir=self.bench.folder)
        if name == "source":
            copy_source(self.folder)
        elif name != "empty":
            shutil.copytree(os.path.join(FOLDERS, name), self.folder, dirs_exist_ok=True)
        env = dict(clean_environment(), PATH=self.bench.args.bin + ":" + os.environ["PATH"], HOME=self.folder, ROOT=ROOT)
        if os.path.exists(os.path.join(self.folder, "prepare")):
            harness.run("sh", "-e", "prepare", cwd=self.folder, env=env)
            os.unlink(os.path.join(self.folder, "prepare"))
        env.pop("ROOT")
        self.process = subprocess.Popen(["bash", "--norc"], cwd=self.folder, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    def type(self, command):
        """What it prints, and its status, which the next command sees as $?."""
        self.process.stdin.write("{ %s\n} </dev/null; status=$?; echo; echo '%s' $status; (exit $status)\n" % (command, END))
        self.process.stdin.flush()
        printed = []
        for line in self.process.stdout:
            if line.startswith(END):
                return "".join(printed)[:-1], int(line[len(END):])
            printed.append(line)
        raise Failure("the shell ended in: %s\n%s" % (command, "".join(printed)))

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
        self.process = None


def copy_source(folder):
    """The files of the tree that git does not ignore, or, in an archive of the sources, all but builds."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True).stdout.split("\n")
    if not listed[0]:
        shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns("build*", ".cache", ".git"))
        return
    for name in filter(None, listed):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        if os.path.exists(os.path.join(ROOT, name)):
            shutil.copy2(os.path.join(ROOT, name), os.path.join(folder, name))


def type_block(shell, block):
    commands = list(commands_of(block))
    expect(commands, block.where + ": no command")
    for at, (command, shown) in enumerate(commands):
        got, status = shell.type(command)
        last = at + 1 == len(commands)
        if last or commands[at + 1][0] != "echo $?":
            expected = int(block.says("status") or 0) if last else 0
            expect(status == expected, "%s: %s\nends with %d:\n%s" % (block.where, command, status, harness.tail(got)))
        if shown is None:
            expect(not re.search(r"^footpath(-cc|-c\+\+)?: ", got, re.M), "%s: %s\nsays:\n%s" % (block.where, command, harness.tail(got)))
        else:
            compare(shell.bench, block, command, got, shown, shell.folder)


def type_document(b, name, text, long):
    """Types a document, from its first block on, in order. Says which blocks it does not type."""
    shell, typed = Shell(b), 0
    try:
        for block in blocks_of(name, text):
            excuse = block.says("not run:")
            if block.says("in") or (not shell.process and block.language in TYPED):
                shell.enter(block.says("in") or "empty")
            if block.language not in TYPED:
                continue
            if excuse:
                print("%s: not run: %s" % (block.where, excuse))
            elif block.says("long:") and not long:
                print("%s: for the long tests: %s" % (block.where, block.says("long:")))
            else:
                type_block(shell, block)
                typed += 1
    finally:
        shell.close()
    return typed


# ---- cases


def listed(folder, end):
    return sorted(os.path.relpath(os.path.join(at, name), ROOT) for at, _, names in os.walk(os.path.join(ROOT, folder))
                  for name in names if name.endswith(end))


def documents():
    top = sorted(name for name in os.listdir(ROOT) if name.endswith(".md"))
    return top + listed("docs", ".md") + listed("examples", ".md")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def is_long(name):
    return "literal: long: " in read(name)


def typing(names, long):
    def case(b):
        if b.args.llvm != LLVM:
            raise Skipped("the documents show what LLVM %s gives, the default is %s" % (LLVM, b.args.llvm))
        harness.needs("bash")
        typed = sum(type_document(b, name, read(name), long) for name in names)
        expect(typed >= 0, "")
        print("%d blocks typed" % typed)
    return case


def case_excused(b):
    """Few blocks are not typed, each for a reason."""
    blocks = [block for name in documents() + listed("docs/man", ".1") for block in blocks_of(name, read(name))]
    excused = [block for block in blocks if block.says("not run:")]
    for block in excused:
        print("%s: %s" % (block.where, block.says("not run:")))
    expect(len(excused) <= MOST_EXCUSED, "%d blocks are excused" % len(excused))
    expect(len([block for block in blocks if block.language in TYPED]) > 20, "hardly anything to type was found")


WRONG = {  # documents that must fail, and what is said of them
    "other output": ("```console\n$ echo a\nb\n```", "prints"),
    "a line too few": ("```console\n$ printf 'a\\nb\\n'\na\n```", "prints"),
    "a line too many": ("```console\n$ echo a\na\nb\n```", "prints"),
    "output where none is shown": ("```console\n$ echo a\n```", "prints"),
    "dots alone": ("```console\n$ echo a\n...\n```", "shows nothing"),
    "nothing fits behind the dots": ("```console\n$ printf 'a\\nb\\n'\n...\nc\n```", "prints"),
    "a failing command": ("```sh\nfalse\ntrue\n```", "ends with 1"),
    "a failing command with output": ("```console\n$ false\n$ echo a\na\n```", "ends with 1"),
    "another status": ("<!-- literal: status 3 -->\n```sh\nexit_with() { return $1; }\nexit_with 2\n```", "ends with 2"),
    "a missing program": ("```sh\nno-such-program\n```", "ends with 127"),
    "a message of ours": ("```sh\necho 'footpath: x.prof: not found' >&2\n```", "says"),
    "no language": ("```\ntrue\n```", "language"),
    "commands as text": ("```text\n$ false\n```", "not typed"),
    "indented commands": ("text\n\n    false\n", "indented"),
    "an excuse without a test": ("<!-- literal: not run: too slow -->\n```sh\nfalse\n```", "excuse"),
    "an excuse with no such test": ("<!-- literal: not run: slow; instead: tests/no.py -->\n```sh\nfalse\n```", "no such test"),
    "an unknown word": ("<!-- literal: nor run -->\n```sh\ntrue\n```", "nor run"),
    "a comment of no block": ("<!-- literal: status 1 -->\ntext\n", "not in front"),
    "a loose pattern": ("<!-- literal: differs .* -->\n```console\n$ echo a\nb\n```", "nothing here|whole line"),
    "a pattern for a whole line": ("<!-- literal: differs \\d+ -->\n```console\n$ echo 1\n2\n```", "whole line"),
    "a pattern that does not fit": ("<!-- literal: differs \\d+ -->\n```console\n$ echo a x\na 2\n```", "prints"),
    "a second document's folder": ("```sh\nls input\n```", "ends with 2"),
}
RIGHT = (
    "```console\n$ printf 'a\\nb\\nc\\n'\na\n...\n$ false\n$ echo $?\n1\n```",
    "<!-- literal: differs \\d+ -->\n```console\n$ echo 12 left\n3 left\n```",
    "```sh\ncat > x <<END\nline\nEND\nfor i in 1 2; do\n  echo $i\ndone\ncd / # stays there\n```\n```console\n$ pwd\n/\n```",
    "```console\n$ printf %s no-newline\nno-newline\n$ echo 0123456789abcdef 5 s\nfedcba9876543210 17.5 s\n```",
    "<!-- literal: status 2 -->\n```sh\nsh -c 'exit 2'\n```",
)


def case_itself(b):
    """A document with a mistake fails."""
    for name, (text, said) in WRONG.items():
        try:
            type_document(b, "wrong.md", text, False)
        except Failure as failure:
            expect(re.search(said, str(failure)), "%s: fails by: %s" % (name, failure))
            continue
        raise Failure(name + ": does not fail")
    for text in RIGHT:
        equal(type_document(b, "right.md", text, False), text.count("```") // 2, text)


def all_cases():
    cases = {"itself": case_itself, "excused": case_excused, "man": typing(listed("docs/man", ".1"), False)}
    cases.update({name.replace("/", "-"): typing([name], False) for name in documents()})
    cases.update({name.replace("/", "-") + "_long": typing([name], True) for name in documents() if is_long(name)})
    return cases


if __name__ == "__main__":
    harness.main(__doc__, ("--update", {"action": "store_true", "help": "correct the outputs in the documents"}), cases=all_cases())
