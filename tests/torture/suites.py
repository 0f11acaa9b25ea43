"""GCC's run-time suites: where they come from, which programs they hold, and how each
is compiled. What the comments of a program ask of gcc (dg-options and the like) is
taken as far as it is about the program; whether clang can do anything with it, run.py
finds out."""
import glob
import os
import re
import tarfile

ARCHIVES = "/usr/src/gcc-12/gcc-12*.tar.xz"  # of the Debian package gcc-12-source
FOLDERS = ["gcc.c-torture/execute", "gcc.dg/torture", "g++.dg", "g++.old-deja"]
ALSO = ["gcc.dg"]  # headers that the others include

# C as it was written when these programs were
OLD_C = ["-Wno-implicit-int", "-Wno-implicit-function-declaration", "-Wno-int-conversion",
         "-Wno-incompatible-pointer-types", "-Wno-incompatible-function-pointer-types", "-Wno-return-type"]


class Program:
    def __init__(self, name, sources, options, cxx):
        self.name, self.sources, self.options, self.cxx = name, sources, options, cxx


def unpack(folder):
    """Takes what is needed out of the package's archive, once."""
    found = glob.glob(ARCHIVES)
    if not found:
        raise SystemExit("no %s: install gcc-12-source (scripts/setup torture), or give --suites" % ARCHIVES)
    fresh = folder + ".new"
    with tarfile.open(found[0]) as archive:
        for member in archive:
            _, _, path = member.name.partition("/gcc/testsuite/")
            within = any(path.startswith(f + "/") for f in FOLDERS)
            header = any(path.startswith(f + "/") for f in ALSO) and path.endswith(".h")
            if path and member.isfile() and (within or header):
                target = os.path.join(fresh, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as out:
                    out.write(archive.extractfile(member).read())
    os.rename(fresh, folder)


def selected(selector):
    """May what stands under a selector of targets be meant for us?"""
    return not selector or any(word in selector for word in ("*-*-*", "x86_64", "lp64", "c++"))


def directives(text, name):
    pattern = r"\{\s*" + name + r'\s+"([^"]*)"\s*(\{.*?\})?\s*\}'
    return [value for value, selector in re.findall(pattern, text) if selected(selector)]


def language_level(text, cxx):
    """Of C++ programs for one version of the language."""
    if not cxx:
        return []
    done = re.search(r"dg-do\s+\w+\s*\{[^}]*?c\+\+(\d\d)(_only|_down)?", text)
    if not done:
        return ["-std=gnu++17"]
    number, limit = done.groups()
    levels = {"98": "98" if limit else "17", "11": "11" if limit else "17", "14": "14" if limit else "17",
              "17": "17", "20": "20", "2a": "20", "23": "2b"}
    return ["-std=gnu++" + levels.get(number, "17")]


def options_of(text, cxx):
    words = language_level(text, cxx) if cxx else list(OLD_C)
    for name in ("dg-options", "dg-additional-options"):
        for value in directives(text, name):
            words += [w for w in value.split() if not re.match(r"-O|-W|-fdump|-save-temps|--param|-g\w*$", w)]
    return words


def is_run(text, suite):
    done = re.search(r"dg-do\s+(\w+)", text)
    if done:
        return done.group(1) == "run"
    return suite in ("gcc.c-torture/execute", "g++.old-deja")


def sources_of(path, text):
    folder = os.path.dirname(path)
    sources = [path]
    for value in directives(text, "dg-additional-sources"):
        sources += [os.path.join(folder, word) for word in value.split()]
    # these replace functions of libc, and share a main
    if folder.endswith("execute/builtins"):
        sources += [path[:-2] + "-lib.c", os.path.join(folder, "lib", "main.c")]
    return sources


def programs(folder):
    """All programs below a folder that has the suites, in order of their names."""
    for suite in FOLDERS:
        paths = []
        for at, folders, names in os.walk(os.path.join(folder, suite)):
            paths += [os.path.join(at, n) for n in names if n.endswith((".c", ".C"))]
        for path in sorted(paths):
            cxx = suite.startswith("g++")
            with open(path, encoding="latin-1") as f:
                text = f.read()
            helper = path.endswith("-lib.c") or "/builtins/lib/" in path
            if is_run(text, suite) and not helper:
                yield Program(os.path.relpath(path, folder), sources_of(path, text), options_of(text, cxx), cxx)
