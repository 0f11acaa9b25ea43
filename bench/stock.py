"""Programs of Debian, as they are installed, and what they do when footpath exe is measured and tested on them.

make(FOLDER) makes the inputs. Each program has a small run, for counts (a run under callgrind takes some 50 times as
long), and a large one of at least 50 million instructions, for prices. In words, {in} is the folder of inputs. No small run
forks: callgrind counts what the parent did before once more in the child.
"""
import os
import random
import shutil
import struct
import subprocess
from dataclasses import dataclass, field

import inputs

PATH = "/usr/bin:/bin"
LIBRARIES = "/lib/x86_64-linux-gnu"


@dataclass
class Stock:
    name: str
    small: list
    large: list
    input: tuple = (None, None)                    # standard input of both runs, relative to the inputs
    libraries: tuple = ()                          # that do the work: rewritten with the program
    package: str = ""                              # where it is not the name
    env: dict = field(default_factory=dict)
    status: int = 0
    throws: bool = False                           # a run of it throws C++ exceptions
    held: str = ""                                 # what of time, heap and mappings must be held for equal counts, and why

    def program(self):
        found = shutil.which(self.name, path=PATH)
        return found and os.path.realpath(found)

    def words(self, which, folder):
        return [word.replace("{in}", folder) for word in getattr(self, which)]

    def stdin(self, which, folder):
        name = self.input[which == "large"]
        return os.path.join(folder, name) if name else os.devnull


PERL = r"""
use strict; my ($n, %count, @rows) = ($ARGV[0]);
sub fib { my $k = shift; return $k < 2 ? $k : fib($k - 1) + fib($k - 2) }
for my $round (1 .. $n) {
  open(my $in, '<', $ARGV[1]) or die; 
  while (my $line = <$in>) { chomp $line; $line =~ s/[^a-z ]//gi; $count{lc $_}++ for split ' ', $line;
    push @rows, [length $line, $line] if $line =~ /\b(w\w+)\s+(t\w+)/ }
  close $in; fib(12); @rows = sort { $a->[0] <=> $b->[0] || $a->[1] cmp $b->[1] } @rows; splice @rows, 200;
  my $s = join ',', map { sprintf '%s=%d', $_, $count{$_} } sort keys %count;
  eval { die { code => $round } }; $s .= pack('NnC', $round, 2, 3); print length($s), "\n";
}
"""

PYTHON = r"""
import collections, functools, json, re, sys
n, path = int(sys.argv[1]), sys.argv[2]
@functools.lru_cache(maxsize=50)
def step(k): return k // 2 if k % 2 == 0 else 3 * k + 1
class Tree:
    def __init__(self): self.left = self.right = None; self.key = 0
    def add(self, key):
        at = self
        while True:
            side = 'left' if key < at.key else 'right'
            if getattr(at, side) is None:
                new = Tree(); new.key = key; setattr(at, side, new); return
            at = getattr(at, side)
def gen(k):
    for i in range(k): yield i * i % 97
for r in range(n):
    text = open(path).read()
    words = collections.Counter(w.lower() for w in re.findall(r'[A-Za-z]+', text))
    data = json.loads(json.dumps({'words': words.most_common(50), 'r': r}, sort_keys=True))
    tree = Tree()
    for key in gen(300): tree.add(key)
    for start in range(1, 60):
        k = start
        while k != 1: k = step(k)
    try: {}[r]
    except KeyError as error: data['error'] = str(error)
    rows = sorted(({'a': i % 7, 'b': str(i)} for i in range(300)), key=lambda row: (row['a'], row['b']))
    print(len(data['words']), data['error'], ' '.join(row['b'] for row in rows[:5]), '%.3f' % sum(x ** .5 for x in gen(100)))
"""

BASH = r"""
fib() { local n=$1; if ((n < 2)); then echo_=$n; else fib $((n - 1)); local a=$echo_; fib $((n - 2)); echo_=$((a + echo_)); fi; }
declare -A seen; fib $1; echo $echo_
for ((i = 0; i < $2; i++)); do
  w="word$((i * 7919 % 101))"; seen[$w]=$((${seen[$w]:-0} + 1))
  case $w in *7) x+=${w#word};; *[02]) x=${x%?};; *) : ;; esac
  [[ $w =~ ^word([0-9])([0-9]*)$ ]] && y=${BASH_REMATCH[1]}
  printf -v z '%05d' $((i % 13)); arr+=("$z"); read -r a b <<< "$z $y"
done
line="${#seen[@]} ${#x} ${#arr[@]} ${arr[*]:3:4} ${x//7/-}"; echo "${line:0:200}"
trap 'echo end' EXIT
"""

DASH = r"""
fib() { if [ $1 -lt 2 ]; then r=$1; else fib $(($1 - 1)); set -- $1 $r; fib $(($1 - 2)); r=$(($2 + r)); fi; }
fib $1; echo $r; i=0
while [ $i -lt $2 ]; do i=$((i + 1))
  case $i in *7) x="$x$i";; *[13]) y=${x%?};; *) z="${x#?}";; esac
  for w in a b "$i"; do v=${w:-none}; done
  [ "$i" -gt 10 ] && [ "$i" -lt 20 ] || test -n "$v"
done
echo ${#x} ${#y} ${#z}; IFS=:; for p in a:b:c $x; do echo "$p"; done; while read -r a b; do echo "$b $a"; done < $3
"""

SQL = """
CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, n INTEGER, x REAL); CREATE INDEX tn ON t(n);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)
  INSERT INTO t SELECT i, 'word' || (i * 7919 %% 101), i * 31 %% 997, i / 7.0 FROM c;
SELECT word, count(*), sum(n), round(avg(x), 3) FROM t GROUP BY word ORDER BY 2 DESC, 1 LIMIT 10;
SELECT a.word, b.n FROM t a JOIN t b ON a.n = b.n AND a.id < b.id WHERE b.word LIKE 'word1%%' ORDER BY a.id, b.id LIMIT 20;
BEGIN; UPDATE t SET n = n + 1 WHERE id %% 3 = 0; DELETE FROM t WHERE word GLOB '*7'; ROLLBACK;
SELECT json_group_array(n) FROM (SELECT n FROM t WHERE n BETWEEN 10 AND 20 LIMIT 30);
CREATE TABLE u AS SELECT DISTINCT word FROM t; SELECT hex(max(word)), upper(min(word)), length(group_concat(word)) FROM u;
SELECT * FROM missing;
PRAGMA integrity_check;
"""

CMAKE = r"""
cmake_minimum_required(VERSION 3.20)
function(collatz n out)
  set(k ${n})
  set(steps 0)
  while(NOT k EQUAL 1)
    math(EXPR odd "${k} % 2")
    if(odd)
      math(EXPR k "3 * ${k} + 1")
    else()
      math(EXPR k "${k} / 2")
    endif()
    math(EXPR steps "${steps} + 1")
  endwhile()
  set(${out} ${steps} PARENT_SCOPE)
endfunction()
foreach(round RANGE 1 ${ROUNDS})
  set(words)
  foreach(i RANGE 1 120)
    math(EXPR k "${i} * 7919 % 101")
    list(APPEND words "word${k}")
  endforeach()
  list(REMOVE_DUPLICATES words)
  list(SORT words)
  list(FILTER words INCLUDE REGEX "^word[1-5]")
  list(JOIN words "," all)
  string(REGEX REPLACE "word([0-9])([0-9]*)" "<\\2\\1>" all "${all}")
  string(TOUPPER "${all}" all)
  string(SHA256 sum "${all}")
  collatz(27 steps)
  string(JSON value GET "{\"a\": [1, 2, {\"b\": ${steps}}]}" a 2 b)
endforeach()
message(STATUS "${sum} ${value} ${all}")
"""


def makefile(targets):
    lines = ["names := $(foreach i,%s,part$(i))" % " ".join(map(str, range(targets))),
             "pick = $(filter %$(1),$(names))", "all: $(names:%=%.o)", "%.o: %.c ; @echo $@ $(subst part,piece,$*) $(words $(call pick,7))",
             "%.c: ; @echo make $@ $(sort $(patsubst part%,%,$(wordlist 1,20,$(names))))"]
    return "\n".join(lines) + "\n"


def assembler(rng, functions):
    registers = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"]
    out = ["\t.file \"made.c\"\n\t.text\n"]
    for f in range(functions):
        out.append("\t.globl f%d\n\t.type f%d, @function\nf%d:\n\t.cfi_startproc\n\tpushq %%rbp\n\t.cfi_def_cfa_offset 16\n" % (f, f, f))
        for i in range(60):
            a, b = rng.sample(registers, 2)
            out.append(rng.choice(["\tmovq %%%s, %%%s\n" % (a, b), "\taddq $%d, %%%s\n" % (rng.randrange(100000), a),
                                   "\tleaq %d(%%%s,%%%s,4), %%%s\n" % (rng.randrange(500), a, b, a), "\tcmpq %%%s, %%%s\n\tje .L%d_%d\n" % (a, b, f, i),
                                   "\tmovsd %d(%%%s), %%xmm%d\n" % (8 * rng.randrange(20), a, rng.randrange(8)),
                                   "\tcall f%d@PLT\n" % rng.randrange(functions)]) + ".L%d_%d:\n" % (f, i))
        out.append("\tpopq %%rbp\n\t.cfi_def_cfa_offset 8\n\tret\n\t.cfi_endproc\n\t.size f%d, .-f%d\n" % (f, f))
    return "".join(out + ["\t.section .rodata\n"] + ["\t.quad f%d, %d\n\t.string \"text %d\"\n" % (f, f * 3, f) for f in range(functions)])


def sources(folder, rng, count):
    """C++ for cppcheck. Every other file has a mistake in it, for which cppcheck throws an exception and catches it."""
    os.makedirs(folder)
    for i in range(count):
        mistake = "int g() { return [ ] { 1 }; ) }\n" if i % 2 else ""
        with open(os.path.join(folder, "s%03d.cpp" % i), "w") as f:
            f.write(inputs.c_source(rng, 1 + i % 2) + "namespace n { template <class T> struct s { T t; s(T x) : t(x) {} }; }\n" + mistake)


HEADS = {"jpg": b"\xff\xd8\xff\xe1\x00\x20Exif\x00\x00II*\x00\x08\x00\x00\x00\xff\xff", "png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR",
         "tif": b"II*\x00\x08\x00\x00\x00\x40\x00", "txt": b"no picture"}


def tiff(i):
    """A directory of two words and a date."""
    entries = [(0x100, 3, 1, 16 + i), (0x10f, 2, 10, 62), (0x112, 3, 1, 1 + i % 8), (0x132, 2, 20, 72)]
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\x00\x08\x00\x00\x00" + struct.pack("<H", len(entries)) + body + b"\0\0\0\0" + b"The maker\0" + b"2020:01:01 00:00:%02d\0" % (i % 60)


def picture_names(count):
    return ["p%03d.%s" % (i, sorted(HEADS)[i % 4]) for i in range(count)]


def pictures(folder, rng, count):
    """For one good picture there are three that exiv2 throws an exception for."""
    os.makedirs(folder)
    for i, name in enumerate(picture_names(count)):
        end = name.split(".")[1]
        with open(os.path.join(folder, name), "wb") as f:
            f.write(tiff(i) if end == "tif" else HEADS[end] + rng.randbytes(40 + i % 7))


def repository(folder, rng, commits):
    """The same hashes everywhere."""
    env = {"PATH": PATH, "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@b"}

    def git(*words, day=1):
        date = "2020-01-01T00:%02d:%02d+0000" % (day // 60, day % 60)
        subprocess.run(["git", "-C", folder, *words], env=dict(env, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date), check=True,
                       stdout=subprocess.DEVNULL)
    os.makedirs(folder)
    git("init", "-q", "-b", "main")
    lines = inputs.text(rng, 20000).decode().splitlines()
    for i in range(commits):
        for k in range(5):
            lines[rng.randrange(len(lines))] = "changed %d %d" % (i, k)
        for k in range(3):
            with open(os.path.join(folder, "file%d" % ((i + k) % 7)), "w") as f:
                f.write("\n".join(lines[k * 50:]) + "\n")
        git("add", ".")
        git("commit", "-q", "-m", "commit %d" % i, day=i)
    git("-c", "pack.threads=1", "repack", "-q", "-a", "-d")


def tree(folder, rng, files):
    for i in range(files):
        path = os.path.join(folder, "d%d" % (i % 23), "file%d" % i)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(rng.randbytes(i * 37 % 900))
        os.utime(path, (1600000000, 1600000000))
    for root, _, _ in os.walk(folder, topdown=False):
        os.utime(root, (1600000000, 1600000000))


def make(folder, program=None):
    """Makes what is missing, for all programs or for the small run of one. Gives the folder."""
    os.makedirs(folder, exist_ok=True)
    wanted = program and " ".join(program.small + [program.input[0] or ""])

    def is_missing(name):
        return not os.path.exists(os.path.join(folder, name)) and (not wanted or name in wanted)

    def put(name, content):
        path = os.path.join(folder, name)
        if is_missing(name):
            data = content(random.Random(name))
            with open(path + ".new", "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())
            os.rename(path + ".new", path)

    def put_folder(name, content):
        path = os.path.join(folder, name)
        if is_missing(name):
            shutil.rmtree(path + ".new", ignore_errors=True)
            content(path + ".new", random.Random(name))
            os.rename(path + ".new", path)

    for name, size in (("60k", 60 << 10), ("300k", 300 << 10), ("1m", 1 << 20), ("3m", 3 << 20), ("8m", 8 << 20)):
        put("mix-" + name, lambda rng, size=size: inputs.mix(rng, size))
        put("text-" + name, lambda rng, size=size: inputs.text(rng, size))
    for name, content in (("bench.pl", PERL), ("bench.py", PYTHON), ("bench.bash", BASH), ("bench.dash", DASH), ("bench.cmake", CMAKE),
                          ("bench.lua", inputs.LUA), ("words.awk", inputs.AWK), ("small.sql", SQL % 400), ("large.sql", SQL % 30000),
                          ("small.mk", makefile(60)), ("large.mk", makefile(1200))):
        put(name, lambda rng, content=content: content)
    put("small.s", lambda rng: assembler(rng, 20))
    put("large.s", lambda rng: assembler(rng, 700))
    put_folder("repository", lambda path, rng: repository(path, rng, 60))
    put_folder("tree", lambda path, rng: tree(path, rng, 300))
    put_folder("large-tree", lambda path, rng: tree(path, rng, 14000))
    put_folder("pictures", lambda path, rng: pictures(path, rng, 1000))
    put_folder("sources", lambda path, rng: sources(path, rng, 4))
    put_folder("large-sources", lambda path, rng: sources(path, rng, 40))
    return folder


GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": "/", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
SED = r"s/\([a-z]*\) \([a-z]*\)/\2 \1/g;/water/{y/abc/xyz/;s/$/!/};$!N;P;D"
GREP = "(w[a-z]+|t.e) +[^ ]*(ing|er|st)[.,;!?]? .*(water|people)"
PROGRAMS = [
    Stock("gzip", ["-9c"], ["-9c"], ("mix-300k", "mix-3m")),
    Stock("bzip2", ["-c"], ["-c"], ("mix-300k", "mix-1m"), libraries=("libbz2.so.1.0",)),
    Stock("xz", ["-cT1", "-2"], ["-cT1"], ("mix-60k", "mix-300k"), libraries=("liblzma.so.5",), package="xz-utils"),
    Stock("mawk", ["-f", "{in}/words.awk", "{in}/text-300k"], ["-f", "{in}/words.awk", "{in}/text-1m"]),
    Stock("lua5.4", ["{in}/bench.lua", "1"], ["{in}/bench.lua", "30"],
          held="the seed of its hashes comes from the time and from addresses on the heap"),
    Stock("perl", ["{in}/bench.pl", "1", "{in}/text-60k"], ["{in}/bench.pl", "1", "{in}/text-1m"], package="perl-base",
          env={"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}),
    Stock("python3", ["-B", "{in}/bench.py", "1", "{in}/text-60k"], ["-B", "{in}/bench.py", "3", "{in}/text-300k"], package="python3.11-minimal",
          env={"PYTHONHASHSEED": "0"}, held="objects that are hashed by address; where pools of memory begin"),
    Stock("bash", ["{in}/bench.bash", "8", "200"], ["{in}/bench.bash", "13", "3000"]),
    Stock("dash", ["{in}/bench.dash", "10", "500", "{in}/small.mk"], ["{in}/bench.dash", "17", "20000", "{in}/small.mk"]),
    Stock("git", ["-C", "{in}/repository", "--no-pager", "log", "-p", "--stat", "-10"],
          ["-C", "{in}/repository", "--no-pager", "log", "-p", "--stat"], env=GIT,
          held="a table that is hashed by address"),
    Stock("sqlite3", [":memory:"], [":memory:"], ("small.sql", "large.sql"), libraries=("libsqlite3.so.0",), status=1),
    Stock("tar", ["--sort=name", "-cf", "-", "-C", "{in}", "tree"], ["--sort=name", "-cf", "-", "-C", "{in}", "large-tree"]),
    Stock("grep", ["-niE", GREP, "{in}/text-60k"], ["-niE", GREP, "{in}/text-8m"],
          held="it reads /proc/self/maps, and the copy has more mappings"),
    Stock("sed", [SED, "{in}/text-60k"], [SED, "{in}/text-1m"]),
    Stock("sort", ["--parallel=1", "-k", "3", "-k", "1r", "{in}/text-60k"], ["--parallel=1", "-k", "3", "-k", "1r", "{in}/text-8m"], package="coreutils"),
    Stock("make", ["-nrf", "{in}/small.mk"], ["-nrf", "{in}/large.mk"]),
    Stock("as", ["-o", "/dev/null", "{in}/small.s"], ["-o", "/dev/null", "{in}/large.s"], package="binutils"),
    Stock("cmake", ["-DROUNDS=1", "-P", "{in}/bench.cmake"], ["-DROUNDS=40", "-P", "{in}/bench.cmake"]),
    Stock("cppcheck", ["--quiet", "{in}/sources"], ["--quiet", "{in}/large-sources"], throws=True),
    Stock("exiv2", ["-pa"] + ["{in}/pictures/" + name for name in picture_names(40)], ["-pa"] + ["{in}/pictures/" + name for name in picture_names(1000)], libraries=("libexiv2.so.27",),
          status=1, throws=True),
]


def libraries(program):
    """Those that are rewritten with it: soname -> file."""
    return {name: os.path.realpath(os.path.join(LIBRARIES, name)) for name in program.libraries}


def names(wanted=None):
    if not wanted:
        return PROGRAMS
    chosen = wanted.split(",")
    unknown = set(chosen) - {p.name for p in PROGRAMS}
    if unknown:
        raise SystemExit("bench/stock.py: no program %s" % ", ".join(sorted(unknown)))
    return [p for p in PROGRAMS if p.name in chosen]
