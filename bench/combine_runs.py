#!/usr/bin/env python3
"""Combining many real profiles: time, memory, errors of quantiles.

    combine_runs.py --bin BUILD/bin [--count 1000] [--more 10000] [--folder .cache/combine]

Builds Lua with path counters, runs it on as many scripts as asked, all different and
made from a seed, and measures `footpath combine` and `footpath merge` on the
profiles. --more repeats it with more runs, for the growth of memory.
"""
import argparse
import os
import random
import subprocess
import sys
import time

import corpus

SNIPPETS = [
    "local function fib(k) if k < 2 then return k end return fib(k-1) + fib(k-2) end x = x + fib(%d)",
    "local t = {} for i = 1, %d * 10 do t[i] = (i * 7919) %% 1013 end table.sort(t) x = x + t[1]",
    "local s = {} for i = 1, %d do s[#s+1] = ('w%%d'):format(i %% 17) end x = x + #table.concat(s, ',')",
    "local t = {} for i = 1, %d do local k = 'k' .. i %% 31 t[k] = (t[k] or 0) + 1 end for k, v in pairs(t) do x = x + v end",
    "for i = 1, %d do local ok, e = pcall(function() if i %% 3 == 0 then error('x') end return i end) if ok then x = x + e end end",
    "local s = ('hello world '):rep(%d):gsub('o', '0'):upper() x = x + (s:find('W0RLD', 1, true) or 0)",
    "local o = setmetatable({}, {__index = function(t, k) return k * 2 end, __add = function(a, b) return 1 end}) for i = 1, %d do x = x + o[i] + (o + o) end",
    "local c = coroutine.create(function() for i = 1, %d do coroutine.yield(i) end end) for i = 1, 3 do coroutine.resume(c) x = x + 1 end",
    "local f = load('return ' .. (%d + 0.5) .. ' // 2') x = x + f()",
    "goto done; ::again:: x = x + 1; ::done:: if x < %d and x > 0 then x = x * 2 goto again end",
]


def script(rng):
    lines = ["local x = 0"]
    for _ in range(rng.randint(1, 6)):
        lines.append("do " + rng.choice(SNIPPETS) % rng.choice([1, 3, 5, 12, rng.randint(1, 14)]) + " end")
    return "\n".join(lines + ["print(x)", ""])


def gather(exe, folder, count):
    os.makedirs(folder, exist_ok=True)
    names = []
    for i in range(count):
        name = os.path.join(folder, "%05d.prof" % i)
        names.append(name)
        if os.path.exists(name):
            continue
        with open(os.path.join(folder, "script.lua"), "w") as f:
            f.write(script(random.Random(i)))
        env = dict(os.environ, FOOTPATH_OUT=name)
        done = subprocess.run([exe, f.name], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode or not os.path.exists(name):
            sys.exit("run %d: status %d: %s" % (i, done.returncode, done.stderr))
        if sys.stderr.isatty() and i % 10 == 0:
            print("\rrunning %d of %d" % (i, count), end="", file=sys.stderr)
    return names


def measure(command):
    start = time.monotonic()
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("failed: " + " ".join(command[:6]))
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--folder", default=os.path.join(corpus.ROOT, ".cache", "combine"))
    args = parser.parse_args()
    tool, cc = (os.path.abspath(os.path.join(args.bin, x)) for x in ("footpath", "footpath-cc"))
    folder = os.path.abspath(args.folder)
    lua = corpus.names("lua")[0]
    exe = os.path.join(folder, lua.name, lua.exe)
    if not os.path.exists(exe):
        corpus.fetch([lua])
        exe = corpus.build(lua, folder, cc, cc.replace("footpath-cc", "footpath-c++"), "-O2")
    names = gather(exe, os.path.join(folder, "profiles"), max(args.count, args.more))
    print("| command | profiles | MB | seconds | CPU seconds | peak MB |\n|---|---|---|---|---|---|")
    for count in [args.count] + ([args.more] if args.more else []):
        size = sum(os.path.getsize(n) for n in names[:count]) / 1e6
        for what, out in (("combine --jobs 1", "out.cp"), ("combine --jobs 2", "out.cp"), ("merge", "out.prof")):
            command = [tool, *what.split(), "-o", os.path.join(folder, out), *names[:count]]
            print("| %s | %d | %.1f | %.2f | %.2f | %.0f |" % (what, count, size, *measure(command)), flush=True)
    for bins in ("15", "100"):
        subprocess.run([os.path.join(args.bin, "..", "quantile-error"), "--bins", bins, *names[:args.count]], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
