#!/usr/bin/env python3
"""A report of a program with 10,000 functions: time to write it, size of what the first
page loads, time until it can be used.

    measure_large.py --bin BUILD/bin [--functions 10000] [--profile FILE]

Without --profile the program is made by bench/many_functions.py and compiled, which takes
some minutes. Exits 1 above 20 s, 2 MB or 2 s.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

from browser import Browser
from common import HERE, harness

ROOT = os.path.dirname(os.path.dirname(HERE))


def make_profile(bins, folder, functions):
    subprocess.run([sys.executable, os.path.join(ROOT, "bench", "many_functions.py"), folder, "--functions", str(functions)], check=True)
    subprocess.run(os.path.join(bins, "footpath-cc") + " -O1 -w *.c -o prog", shell=True, cwd=folder, check=True)
    profile = os.path.join(folder, "many.prof")
    subprocess.run([os.path.join(folder, "prog")], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, FOOTPATH_OUT=profile))
    return profile


def main():
    options = harness.parse(harness.arguments(__doc__, ("--functions", {"type": int, "default": 10000}), ("--profile", {})))
    bins = options.bin
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.abspath(options.profile) if options.profile else make_profile(bins, folder, options.functions)
        report = os.path.join(folder, "report")
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        subprocess.run([os.path.join(bins, "footpath"), "report", profile, "-o", report], check=True, stdout=subprocess.DEVNULL)
        wall, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        first = ["index.html", "data/index.js"] + ["assets/" + name for name in os.listdir(os.path.join(report, "assets"))]
        size = sum(os.path.getsize(os.path.join(report, name)) for name in first)
        with Browser(1440, 1000) as page:
            page.open("file://" + report + "/index.html")
            page.wait("document.querySelector('.tiles')")
            ready = []
            for _ in range(3):
                page.script("location.reload()")
                page.wait("document.querySelector('.tiles')")
                ready.append(page.script("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") / 1000)
            count = page.script("return footpath.allRows().length")
            click = page.script_async("""const done = arguments[arguments.length - 1], start = performance.now();
                location.hash = '#/functions';
                const look = () => document.querySelector('#filter') ? done((performance.now() - start) / 1000) : requestAnimationFrame(look);
                look();""")
        print("%d functions: written in %.1f s (%.1f s of CPU); first page %.2f MB, usable after %.2f s; table of functions after %.2f s more"
              % (count, wall, cpu, size / 1e6, min(ready), click))
        return 1 if wall > 20 or size > 2e6 or min(ready) > 2 else 0


sys.exit(main())
