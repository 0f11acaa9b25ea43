"""Inputs for the real programs, made from a seed so that they are the same
everywhere. `python3 inputs.py FOLDER` makes all of them."""
import os
import random
import sys

WORDS = ("the of and to in is that it was for on are as with his they be at one have this from or had by "
         "hot but some what there we can out other were all your when up use word how said an each she which "
         "do their time if will way about many then them would write like so these her long make thing see "
         "him two has look more day could go come did my sound no most number who over know water than call "
         "first people may down side been now find").split()


def text(rng, size):
    out, length = [], 0
    while length < size:
        sentence = " ".join(rng.choices(WORDS, k=rng.randint(4, 18))).capitalize()
        out.append(sentence + rng.choice(".!?,;") + rng.choice("  \n"))
        length += len(out[-1])
    return "".join(out)[:size].encode()


def mix(rng, size):
    """Text, tables of numbers, runs and noise: what compressors meet."""
    out, length = [], 0
    while length < size:
        kind = rng.randrange(5)
        if kind < 2:
            piece = text(rng, 20000)
        elif kind == 2:
            piece = "\n".join("%d,%d,%.3f" % (i, rng.randrange(1000), rng.random()) for i in range(800)).encode()
        elif kind == 3:
            piece = bytes([rng.randrange(256)]) * rng.randrange(100, 5000)
        else:
            piece = rng.randbytes(8000)
        out.append(piece)
        length += len(piece)
    return b"".join(out)[:size]


AWK = r"""
{ gsub(/[^a-zA-Z ]/, ""); for (i = 1; i <= NF; i++) { w = tolower($i); n[w]++; len += length(w)
  if (w ~ /^[aeiou]/) vowels++; else if (length(w) > 4) long++ } }
END { for (w in n) if (n[w] > max) { max = n[w]; best = w }
  for (i = 0; i < 20000; i++) s = s substr("abc", i % 3 + 1, 1); printf "%s %d %d %d %d %d\n", best, max, len, vowels, long, length(s) }
"""

LUA = r"""
local n = tonumber(arg[1]) or 1
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local function sieve(m) local p, c = {}, 0
  for i = 2, m do p[i] = true end
  for i = 2, m do if p[i] then c = c + 1 for j = i * i, m, i do p[j] = false end end end
  return c end
local function words(k) local t = {}
  for i = 1, k do local w = ("w%d"):format(i * 7919 % 1013) t[w] = (t[w] or 0) + 1 end
  local s = {} for w, c in pairs(t) do s[#s + 1] = w .. c end table.sort(s) return #table.concat(s, ",") end
local function queens(size) local count, cols, d1, d2 = 0, {}, {}, {}
  local function place(r) if r > size then count = count + 1 return end
    for c = 1, size do if not cols[c] and not d1[r + c] and not d2[r - c + size] then
      cols[c], d1[r + c], d2[r - c + size] = true, true, true place(r + 1)
      cols[c], d1[r + c], d2[r - c + size] = nil, nil, nil end end end
  place(1) return count end
local object = setmetatable({v = 0}, {__index = {add = function(self, x) self.v = self.v + x return self end}})
for i = 1, n do
  fib(18) sieve(8000) words(3000) queens(6)
  for k = 1, 3000 do object:add(k % 5) end
  local ok = pcall(function() error("x") end)
  local s = ("hello world "):rep(40):gsub("o", "0"):upper():find("W0RLD", 1, true)
end
print(object.v)
"""

# Other work for the same interpreter: what profiles are trained on.
LUA_TRAIN = r"""
local n = tonumber(arg[1]) or 1
local function ack(m, k) if m == 0 then return k + 1 end
  if k == 0 then return ack(m - 1, 1) end return ack(m - 1, ack(m, k - 1)) end
local function matrix(k) local a = {}
  for i = 1, k do a[i] = {} for j = 1, k do a[i][j] = (i * j) % 7 end end
  local sum = 0 for i = 1, k do for j = 1, k do local s = 0
    for l = 1, k do s = s + a[i][l] * a[l][j] end sum = sum + s end end return sum end
local function heap(k) local h, size = {}, 0
  for i = 1, k do size = size + 1 h[size] = i * 7919 % 2003 local c = size
    while c > 1 and h[c // 2] > h[c] do h[c // 2], h[c] = h[c], h[c // 2] c = c // 2 end end
  return h[1] end
local function text(k) local out = {}
  for i = 1, k do out[#out + 1] = tostring(i):rep(2):reverse() end
  local s, total = table.concat(out, " "), 0
  for word in s:gmatch("%d+") do total = total + #word end return total end
local class = {} class.__index = class
function class.new(v) return setmetatable({v = v}, class) end
function class:step(x) if x % 3 == 0 then self.v = self.v + x else self.v = self.v - 1 end return self.v end
for i = 1, n do
  ack(2, 30) matrix(24) heap(4000) text(2000)
  local o = class.new(i) for k = 1, 4000 do o:step(k) end
  pcall(error, {code = i})
end
"""

TCL = r"""
set n [lindex $argv 0]
proc fib k { expr {$k < 2 ? $k : [fib [expr {$k - 1}]] + [fib [expr {$k - 2}]]} }
proc sieve m { set c 0
  for {set i 2} {$i <= $m} {incr i} { set p($i) 1 }
  for {set i 2} {$i <= $m} {incr i} { if {$p($i)} { incr c; for {set j [expr {$i * $i}]} {$j <= $m} {incr j $i} { set p($j) 0 } } }
  return $c }
proc words k { for {set i 0} {$i < $k} {incr i} { dict incr t w[expr {$i * 7919 % 1013}] }
  return [llength [lsort [dict keys $t]]] }
for {set i 0} {$i < $n} {incr i} {
  fib 14; sieve 3000; words 2000
  set s [string repeat "hello world " 200]
  regsub -all {o(.)} $s {0\1} s; regexp -all {w0r} $s; string map {l L} $s
  catch { error x }; set l {}; for {set k 0} {$k < 500} {incr k} { lappend l [expr {($k * 37) % 101}] }
  lsort -integer -unique $l; join [lreverse $l] ,
}
puts done
"""

TCL_TRAIN = r"""
set n [lindex $argv 0]
proc gcd {a b} { while {$b} { set t [expr {$a % $b}]; set a $b; set b $t }; return $a }
proc perms {l} { if {[llength $l] < 2} { return [list $l] }
  set out {}; foreach x $l { set rest [lsearch -all -inline -not $l $x]
    foreach p [perms $rest] { lappend out [concat $x $p] } }; return $out }
for {set i 0} {$i < $n} {incr i} {
  set s 0; for {set a 1} {$a < 60} {incr a} { for {set b 1} {$b < 20} {incr b} { incr s [gcd $a $b] } }
  llength [perms {a b c d e}]
  set text [string repeat "key=value; " 100]
  foreach pair [split $text ";"] { lassign [split [string trim $pair] =] k v; if {$k ne ""} { set d($k) $v; append all $v } }
  for {set k 0} {$k < 2000} {incr k} { set arr([expr {$k % 37}]) $k; if {$k % 5 == 0} { unset arr([expr {$k % 37}]) } }
  format "%5d %s %x" $s [string length $all] $i; catch { expr {1 / 0} }
}
"""

PYTHON = r"""
import sys
def fib(k): return k if k < 2 else fib(k - 1) + fib(k - 2)
def sieve(m):
    p = [True] * (m + 1)
    for i in range(2, m + 1):
        if p[i]:
            for j in range(i * i, m + 1, i): p[j] = False
    return sum(p) - 2
def words(k):
    t = {}
    for i in range(k):
        w = "w%d" % (i * 7919 % 1013)
        t[w] = t.get(w, 0) + 1
    return len(",".join(sorted(w + str(c) for w, c in t.items())))
class Object:
    def __init__(self): self.v = 0
    def add(self, x):
        self.v += x
        return self
def queens(size, r=0, cols=(), d1=(), d2=()):
    if r == size: return 1
    return sum(queens(size, r + 1, cols + (c,), d1 + (r + c,), d2 + (r - c,)) for c in range(size)
               if c not in cols and r + c not in d1 and r - c not in d2)
o = Object()
for i in range(int(sys.argv[1])):
    fib(15), sieve(5000), words(2000), queens(5)
    for k in range(2000): o.add(k % 5)
    try: raise ValueError(i)
    except ValueError as e: str(e)
    [x for x in ("hello world " * 40).replace("o", "0").upper().split() if x.startswith("W")]
print(o.v)
"""

PYTHON_TRAIN = r"""
import sys
def ack(m, k): return k + 1 if m == 0 else ack(m - 1, 1) if k == 0 else ack(m - 1, ack(m, k - 1))
def matrix(k):
    a = [[i * j % 7 for j in range(k)] for i in range(k)]
    return sum(sum(a[i][l] * a[l][j] for l in range(k)) for i in range(k) for j in range(k))
def heap(k):
    h = []
    for i in range(k):
        h.append(i * 7919 % 2003)
        c = len(h) - 1
        while c > 0 and h[(c - 1) // 2] > h[c]:
            h[(c - 1) // 2], h[c] = h[c], h[(c - 1) // 2]
            c = (c - 1) // 2
    return h[0]
class Class:
    def __init__(self, v): self.v = v
    def step(self, x):
        if x % 3 == 0: self.v += x
        else: self.v -= 1
for i in range(int(sys.argv[1])):
    ack(2, 12), matrix(14), heap(2000)
    o = Class(i)
    for k in range(2000): o.step(k)
    sum(len(w) for w in " ".join(str(n)[::-1] for n in range(1500)).split())
    try: {}[i]
    except KeyError: pass
"""


def go(rng, moves, genmoves):
    lines, used = ["boardsize 9", "clear_board", "set_random_seed 1"], set()
    letters = "ABCDEFGHJ"
    for i in range(moves):
        at = rng.choice(letters) + str(rng.randint(1, 9))
        if at not in used:
            used.add(at)
            lines.append("play %s %s" % ("black" if i % 2 else "white", at))
    for i in range(genmoves):
        lines.append("genmove %s" % ("black" if i % 2 else "white"))
    return "\n".join(lines + ["final_score", "quit", ""])


def chess(depth, games=None):
    games = games or ["startpos", "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5", "startpos moves d2d4 g8f6 c2c4 e7e6"]
    lines = ["uci", "isready"]
    for game in games:
        lines += ["position " + game, "go depth %d" % depth]
    return "\n".join(lines + ["quit", ""])


def proteins(rng, count):
    letters = "ACDEFGHIKLMNPQRSTVWY"
    return "".join(">seq%d\n%s\n" % (i, "".join(rng.choices(letters, k=rng.randint(100, 400)))) for i in range(count))


def ninja(folder, edges):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "build.ninja"), "w") as out:
        out.write("cflags = -O2\nrule cc\n  command = cc $cflags -c $in -o $out\n  description = CC $out\n"
                  "rule link\n  command = cc $in -o $out\n\n")
        for i in range(edges):
            out.write("build obj/dir%d/file%d.o: cc src/dir%d/file%d.c | include/h%d.h\n" % (i % 40, i, i % 40, i, i % 97))
        for k in range(edges // 50):
            out.write("build bin/prog%d: link %s\n" % (k, " ".join("obj/dir%d/file%d.o" % (i % 40, i) for i in range(k * 50, k * 50 + 50))))
    for i in range(edges):
        path = os.path.join(folder, "src/dir%d" % (i % 40))
        os.makedirs(path, exist_ok=True)
        open(os.path.join(path, "file%d.c" % i), "w").close()
    os.makedirs(os.path.join(folder, "include"), exist_ok=True)
    for i in range(97):
        open(os.path.join(folder, "include/h%d.h" % i), "w").close()


def c_source(rng, functions):
    out = ["#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstruct node { int v; struct node *next; };\n"]
    for i in range(functions):
        out.append("static int f%d(int a, char *p, struct node *n) {\n  int x = a * %d, y[10]; char b[%d];\n"
                   "  for (int i = 0; i < %d; i++) { if (x > i) y[i %% 10] = x; else x += i; }\n"
                   "  if (p && n) { strcpy(b, p); n->v = x; free(n); } else if (!p) { x = *p; }\n"
                   "  switch (a %% 4) { case 0: x++; break; case 1: x = y[%d]; case 2: x--; break; default: return b[0]; }\n"
                   "  return x ? f%d_missing(x) : y[x];\n}\n" % (i, rng.randint(2, 9), rng.randint(4, 40), rng.randint(5, 15),
                                                                    rng.randrange(12), i))
    return "".join(out)


def sat(rng, variables, ratio):
    clauses = int(variables * ratio)
    lines = ["p cnf %d %d" % (variables, clauses)]
    for _ in range(clauses):
        lines.append(" ".join(str(v if rng.random() < 0.5 else -v) for v in rng.sample(range(1, variables + 1), 3)) + " 0")
    return "\n".join(lines) + "\n"


def video(rng, frames, width=176, height=144, step=2):
    """A moving gradient with a noisy box: planar YUV 4:2:0."""
    out = bytearray()
    noise = rng.randbytes(64 * 64)
    for t in range(frames):
        plane = bytearray((x + y + step * t) & 255 for y in range(height) for x in range(width))
        for y in range(64):
            at = ((20 + t // 2 + y) % height) * width + (t * 3) % (width - 64)
            plane[at:at + 64] = noise[y * 64:y * 64 + 64]
        out += plane + bytes([128 + t % 20]) * (width * height // 4) + bytes([100]) * (width * height // 4)
    return bytes(out)


def make(folder):
    """Makes what is missing."""
    os.makedirs(folder, exist_ok=True)

    def put(name, content):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return
        data = content(random.Random(name))
        with open(path + ".tmp", "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())
        os.rename(path + ".tmp", path)

    for name, size in (("300k", 300 << 10), ("1m", 1 << 20), ("4m", 4 << 20), ("8m", 8 << 20), ("16m", 16 << 20)):
        put("mix-" + name, lambda rng, size=size: mix(rng, size))
    put("text-300k", lambda rng: text(rng, 300 << 10))
    put("text-8m", lambda rng: text(rng, 8 << 20))
    for name, size in (("300k", 300 << 10), ("1m", 1 << 20)):
        put("train-mix-" + name, lambda rng, size=size: mix(rng, size))
    put("train-text-300k", lambda rng: text(rng, 300 << 10))
    put("train.tcl", lambda rng: TCL_TRAIN)
    put("train-go.gtp", lambda rng: go(rng, 30, 2))
    put("train-check.c", lambda rng: c_source(rng, 3))
    put("train-chess.uci", lambda rng: chess(7, ["startpos moves c2c4 g8f6", "startpos moves e2e4 c7c5 g1f3 d7d6"]))
    put("train-video.yuv", lambda rng: video(rng, 4, step=3))
    put("train-sphinx.ctl", lambda rng: "something\n")
    put("train-sat-170.cnf", lambda rng: sat(rng, 170, 4.26))
    put("train-protein.fa", lambda rng: proteins(rng, 60))
    put("train.lua", lambda rng: LUA_TRAIN)
    put("words.awk", lambda rng: AWK)
    put("bench.lua", lambda rng: LUA)
    put("bench.tcl", lambda rng: TCL)
    put("bench.py", lambda rng: PYTHON)
    put("train.py", lambda rng: PYTHON_TRAIN)
    put("go-small.gtp", lambda rng: go(rng, 24, 2))
    put("go-large.gtp", lambda rng: go(rng, 20, 16))
    put("chess-depth-7.uci", lambda rng: chess(7))
    put("chess-depth-10.uci", lambda rng: chess(10))
    put("protein-small.fa", lambda rng: proteins(rng, 60))
    put("protein-large.fa", lambda rng: proteins(rng, 2500))
    put("check-small.c", lambda rng: c_source(rng, 3))
    put("check-large.c", lambda rng: c_source(rng, 60))
    put("sat-170.cnf", lambda rng: sat(rng, 170, 4.26))
    put("sat-large.cnf", lambda rng: sat(rng, 230, 4.26))
    put("video.yuv", lambda rng: video(rng, 60))
    put("sphinx-small.ctl", lambda rng: "goforward\n")
    put("sphinx-large.ctl", lambda rng: "goforward\n" * 8)
    for name, edges in (("ninja-1500", 1500), ("train-ninja", 1100), ("ninja-large", 8000)):
        if not os.path.exists(os.path.join(folder, name, "build.ninja")):
            ninja(os.path.join(folder, name), edges)
    return folder


if __name__ == "__main__":
    make(sys.argv[1])
