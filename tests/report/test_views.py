#!/usr/bin/env python3
"""The report's views at the widths of a desk, a small laptop and a phone, in both colour schemes: what they
show is what the commands say, by mouse and by keys; nothing is wider than the window; axe-core finds nothing.

    test_views.py --bin BUILD/bin [--shots FOLDER] [--tools FOLDER] [--case NAME]...
"""
import functools
import os
import re
import time

from browser import Browser
from common import OPTIONS, harness
from fetch import fetched
from test_pages import PROGRAMS, Pages, silent, url

WIDTHS = (1400, 1024, 390)


class Views(Pages):
    @functools.cached_property
    def axe(self):
        with open(os.path.join(fetched("axe-core", self.args.tools), "axe.min.js")) as f:
            return f.read() + "; window.axe = axe;"

    def built(self, source, *flags):
        name = os.path.splitext(source)[0]
        driver = os.path.join(self.args.bin, "footpath-c++" if source.endswith(".cc") else "footpath-cc")
        harness.run(driver, "--fp-llvm=" + self.args.llvm, *flags, os.path.join(PROGRAMS, source), "-o", self.path(name),
                    env=harness.environment())
        return self.path(name)

    def report(self, *words):
        folder = self.path("report")
        self.tool("report", *words, "-o", folder)
        return folder


def visit(page, folder, route, ready):
    page.open(url(folder, route))
    page.script("location.reload()")
    page.wait(ready)


def audit(t, page, where):
    """What holds for every view: it fits the window and satisfies the checker in both schemes."""
    over = page.script("return document.documentElement.scrollWidth - window.innerWidth")
    t.check(over <= 1, "%s is %d pixels wider than the window" % (where, over))
    page.script(t.axe)  # the page allows no code but its own: the checker comes in by the driver
    for scheme in ("light", "dark"):
        page.script("document.documentElement.dataset.theme = arguments[0]", scheme)
        time.sleep(0.3)  # transitions
        page.screenshot(os.path.join(t.shots, re.sub(r"\W+", "-", "%s %s" % (where, scheme)) + ".png"))
        found = page.script_async(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'best-practice'], preload: false}).then((r) => done(r.violations.map((v) =>"
            " v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map((n) => n.target + ' ' + (n.any[0] ? n.any[0].message : '')).join('; '))))")
        t.check(not found, "%s in %s: %s" % (where, scheme, "\n".join(found)))
    silent(t, page, where)


def each_width(t, folder, name, route, ready, look):
    """The view at each width: what `look` finds there, then the audit."""
    for width in WIDTHS:
        with Browser(width, 1000 if width > 500 else 844, mobile=width < 500) as page:
            visit(page, folder, route, ready)
            look(page, width)
            audit(t, page, "%s %d" % (name, width))


# ---- calls ----

def number(text):
    return int(re.sub(r"\D", "", text) or 0)


CALLS = """return [...document.querySelectorAll('.calls')].map((box) => [...box.querySelectorAll('ul')].map((list) =>
  [...list.querySelectorAll('.call')].map((n) => [n.querySelector('.who > *').textContent, (n.querySelector('.figures small') || {textContent: ''}).textContent,
    n.querySelector('.figures b').textContent, !!n.querySelector('a.fn')])))[0]"""


def index_of(page, name):
    return page.script("return footpath.allRows().find((r) => r.name.split('(')[0] === arguments[0]).index", name)


def case_calls(t):
    """Callers and callees of each function are those of `show --json`, and are links; inclusive costs are a column."""
    profile = t.profile(t.built("calls.cc", "-O0"), "calls.prof")
    show, folder = t.json("show", "--json", profile), t.report(profile)
    whole = sum(p["count"] * p["instructions"] for f in show["functions"] for p in f["paths"])
    share = {f["name"]: 100 * f["inclusive_cost"] / whole for f in show["functions"]}

    def look(page, width):
        page.wait("document.querySelector('.calls').offsetHeight > 0")
        callers, callees = page.script(CALLS)
        known = [(c["name"] if c["measured"] else "through pointers", c["count"]) for c in main["callees"] if c["measured"] or "name" not in c]
        t.equal(sorted((name, number(count)) for name, count, _, link in callees if link or name == "through pointers"), sorted(known), "callees of main")
        t.equal([(name, number(count), link) for name, count, _, link in callers], [("elsewhere", 1, False)], "callers of main")
        page.click(".calls a.fn[href$='/c']")
        page.wait("document.querySelector('h1').textContent !== 'main'")
        name = page.script("return document.querySelector('h1').textContent")
        t.equal(page.script(CALLS)[0][0][0], "main", "the callee's first caller")
        shown = page.script("return document.querySelectorAll('.facts b')[1].textContent")
        t.check(abs(float(shown.rstrip("%")) - share[name]) < 0.06, "inclusive share of %s: %s, not %s" % (name, shown, share[name]))

    main = next(f for f in show["functions"] if f["name"] == "main")
    with Browser(1400, 1000) as page:
        visit(page, folder, "#/functions", "document.querySelector('#filter')")
        page.click("button[data-key='inclusive']")
        page.wait("document.querySelector('th[aria-sort] button').dataset.key === 'inclusive'")
        order = page.script("return [...document.querySelectorAll('td .fn')].map((n) => n.textContent)")
        t.equal([share[name] for name in order], sorted(share.values(), reverse=True), "functions by inclusive cost")
        t.check("estimate" in page.script("return document.querySelector('.note.small').textContent"), "inclusive costs are called estimates")
        index = index_of(page, "main")
        # recursion is said; a function that the report leaves out is named without a link
        visit(page, folder, "#/f/%d/c" % index_of(page, "recursive"), "document.querySelector('.calls .why')")
        t.check(any("recursion" in w for w in page.script("return [...document.querySelectorAll('.calls .why')].map((n) => n.textContent)")), "recursion is told")
        part = t.report("--function", "twice", profile)
        visit(page, part, "#/f/0/c", "document.querySelector('.calls')")
        callers, callees = page.script(CALLS)
        t.equal([(n, number(c), link) for n, c, _, link in callers], [("main", 10, False), ("elsewhere", 5, False)], "callers of one function alone")
        silent(t, page, "calls")
    folder = t.report(profile)
    each_width(t, folder, "calls", "#/f/%d/c" % index, "document.querySelector('.calls')", look)


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, ("--shots", {"type": os.path.abspath}), bench=Views)
