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
ARROW = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015"}


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
        page.settled()
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


# ---- flame graph ----

FRAMES = """return [...document.querySelectorAll('.frame')].map((n) => ({name: n.textContent, level: Number(n.getAttribute('aria-level')), shown: n.offsetParent !== null,
  left: n.getBoundingClientRect().left, wide: n.getBoundingClientRect().width, hit: n.classList.contains('hit'), said: n.getAttribute('aria-label')}))"""


def case_flame(t):
    """The frames of a function are together as wide as its inclusive cost; keys, clicks, zoom and search."""
    profile = t.profile(t.built("calls.cc", "-O0"), "calls.prof")
    show, folder = t.json("show", "--json", profile), t.report(profile)
    whole = sum(p["count"] * p["instructions"] for f in show["functions"] for p in f["paths"])
    focused = "document.activeElement.textContent"

    def look(page, size):
        frames, room = page.script(FRAMES), page.script("return document.querySelector('.flames').clientWidth")
        for f in show["functions"]:
            wide = sum(frame["wide"] for frame in frames if frame["name"] == f["name"])
            # frames below some pixels are not drawn
            t.check(abs(wide / room - f["inclusive_cost"] / whole) < 0.02, "%s: %s of %s pixels for %s of %s" % (f["name"], wide, room, f["inclusive_cost"], whole))
        t.equal(sum(f["name"].startswith("recursive") for f in frames), 1, "recursion has one frame")
        t.check(all("inclusive" in f["said"] for f in frames), "what a screen reader says")
        t.equal(page.script("return document.querySelectorAll('.frame[tabindex=\"0\"]').length"), 1, "one frame is reached by Tab")
        page.keys(".frame[tabindex='0']", ARROW["down"])
        page.wait(focused + " === 'main'")
        page.keys(".frame[tabindex='0']", ARROW["down"])
        page.wait(focused + ".startsWith('twice')")
        page.keys(".frame[tabindex='0']", "+")
        page.wait("document.querySelector('.frame[tabindex=\"0\"]').offsetWidth > %d" % (room - 4))
        t.check(page.script("return document.querySelector('.detail').textContent").startswith("twice"), "what the frame is")
        page.keys("body", "0")
        page.wait("document.querySelector('.frame[tabindex=\"0\"]').offsetWidth === document.querySelector('.flames').clientWidth")
        page.keys("#flame-search", "leaf")
        page.wait("document.querySelectorAll('.frame.hit').length > 0")
        t.check(all(f["hit"] == f["name"].startswith("leaf") for f in page.script(FRAMES)), "search lights what it finds")
        share = re.search(r"([\d.]+)%", page.script("return document.querySelector('.filters .note').textContent")).group(1)
        leaf = next(f for f in show["functions"] if f["name"].startswith("leaf"))
        t.check(abs(float(share) - 100 * leaf["inclusive_cost"] / whole) < 0.1, "the share of what was found")
        page.click(".flamepage .switch button:last-child")
        page.script("[...document.querySelectorAll('.frame')].find((n) => n.textContent === 'main').click()")
        t.check(page.script("return location.hash").startswith("#/flame"), "a click zooms where that is chosen")
        page.click(".flamepage .switch button:first-child")
        page.script("[...document.querySelectorAll('.frame')].find((n) => n.textContent === 'main').click()")
        page.wait("document.querySelector('h1').textContent === 'main' && document.querySelector('.calls')")
        page.script("[...document.querySelectorAll('.facts a')].pop().click()")
        page.wait("document.querySelector('.frame.hit') && document.querySelector('#flame-search').value === 'main'")

    each_width(t, folder, "flame", "#/flame", "document.querySelector('.frame[tabindex=\"0\"]') && document.querySelector('.flames').clientHeight > 20", look)


def case_flame_is_bounded(t):
    """Half a million chains of callers: as many frames as a page can show, and none too many."""
    depth, wide = 12, 3
    lines = ["#define F __attribute__((noinline)) int"]
    for level in range(depth, 0, -1):
        for k in range(wide):
            body = " + ".join("f%d_%d(n)" % (level + 1, i) for i in range(wide)) if level < depth else "n"
            lines.append("F f%d_%d(int n) { if (n > %d) return 1; return %s; }" % (level, k, 1000 * level + k, body))
    lines.append("int main(int argc, char **argv) { (void)argv; return %s < 0; }" % " + ".join("f1_%d(argc)" % i for i in range(wide)))
    t.write("chains.c", "\n".join(lines) + "\n")
    folder = t.report(t.profile(t.build(t.path("chains.c"), "chains", "-O0"), "chains.prof"))
    size = os.path.getsize(os.path.join(folder, "data", "flame.js"))
    t.check(size < 300000, "flame.js has %d bytes" % size)
    with Browser(1400, 1000) as page:
        visit(page, folder, "#/flame", "document.querySelector('.frame[tabindex=\"0\"]')")
        frames = page.script(FRAMES)
        t.check(100 < len(frames) <= 4001, "%d frames" % len(frames))
        t.check(any("smaller call" in f["name"] for f in frames), "small frames are folded")
        silent(t, page, "chains")


# ---- several profiles ----

SAID = {"true": "yes", "false": "no", "round": "yes", "leaves": "no, leaves the loop"}  # as in sentences
CHANGES = """return [...document.querySelectorAll('.row.change')].map((n) => [n.querySelector('.fn').textContent, n.querySelector('.pc').textContent,
  n.querySelector('.times').textContent, (n.querySelector('.parting') || {textContent: ''}).textContent, n.getAttribute('href')])"""


def case_compare(t):
    """Two profiles: paths and functions by their difference, each path with the branch at which it parts from the other side."""
    ways = t.built("ways.c", "-O0")
    before = t.profile(ways, "before.prof", *["nn"] * 50 + ["yy"] * 3 + ["ny"] * 2)
    after = t.profile(ways, "after.prof", *["nn"] * 50 + ["yn"] * 20 + ["r2"] * 4)
    diff = t.json("diff", "--json", before, after)["changed"]
    by_function = {}
    for item in diff:
        by_function[item["function"]] = by_function.get(item["function"], 0) + item["cost_after"] - item["cost_before"]
    folder = t.report(before, after)

    def look(page, size):
        rows = page.script(CHANGES)
        t.equal(len(rows), min(20, len(diff)), "changes")
        for row, item in zip(rows, diff):
            t.equal((row[0], number(row[2].split("→")[0]), number(row[2].split("→")[1])), (item["function"], item["count_before"], item["count_after"]), "in the order of diff")
            t.equal(row[1][0], "+" if item["cost_after"] > item["cost_before"] else "−", "which way")
            if "branch" in item.get("parting", {}):
                t.check("ways.c:%d" % item["parting"]["line"] in row[3] and SAID.get(item["parting"]["other_branch"], item["parting"]["other_branch"]) in row[3], "parting of %s: %s" % (item, row))
        new = next(row for row, item in zip(rows, diff) if item["function"] == "both" and (item["count_before"], item["count_after"]) == (0, 20))
        t.equal(new[3], "parts at ways.c:11: second == 'y' no; before.prof: yes, 3×", "where the new path parts")
        names = page.script("return [...document.querySelectorAll('table td .fn')].map((n) => n.textContent)")
        t.equal(names[:len(by_function)], sorted(by_function, key=lambda name: -abs(by_function[name])), "functions by their change")
        page.click(".ranked button:last-child")
        page.wait("document.querySelector('.row.change .pc').textContent.includes('pt')")
        points = [abs(float(row[1].replace("−", "-").split()[0])) for row in page.script(CHANGES)]
        t.equal(points, sorted(points, reverse=True), "by share")
        page.click(".ranked button:first-child")
        page.wait("!document.querySelector('.row.change .pc').textContent.includes('pt')")
        page.click(".row.change[href='%s']" % new[4])
        page.wait("document.querySelector('.path[aria-selected=true]')")
        t.equal(page.script("return document.querySelector('.path .figures small').textContent"), "0 → 20×", "the largest difference is the first path of its function")
        t.equal(page.script("return document.querySelector('.path').getAttribute('aria-selected')"), "true", "and it is chosen")
        page.open(url(folder, "#/"))
        page.wait("document.querySelector('.row.change')")

    each_width(t, folder, "compare", "#/", "document.querySelector('.row.change')", look)
    same = t.report(before, t.profile(ways, "again.prof", *["nn"] * 50 + ["yy"] * 3 + ["ny"] * 2), after)
    with Browser(1400, 1000) as page:
        visit(page, same, "#/", "document.querySelector('#changes')")
        t.check("Nothing changed" in page.script("return document.querySelector('.hots').textContent"), "the same run twice")
        page.click(".ranked .switch:first-child button:last-child")
        page.wait("document.querySelectorAll('.row.change').length === %d" % min(20, len(diff)))
        silent(t, page, "three profiles")


# ---- gaps ----

GAPS = """return [...document.querySelectorAll('.gap')].map((n) => ({name: n.querySelector('.fn').textContent, share: n.querySelector('.pc').textContent,
  leaves: n.querySelector('.leaves').textContent, source: n.querySelector('.leaves a').getAttribute('href'), path: n.querySelector('.fn').getAttribute('href'), ways: n.querySelectorAll('.way').length}))"""


def case_gap(t):
    """What `gap` says, ranked; from a gap to its source and to its path, where the branch is marked at which it leaves what was tested."""
    ways = t.built("ways.c", "-O0")
    production = t.profile(ways, "production.prof", *["nn"] * 5 + ["yy"] * 30 + ["r3", "r1"])
    tests = t.profile(ways, "tests.prof", "nn", "yn", "ny")
    gap, folder = t.json("gap", "--json", production, tests), t.report("--gap", tests, production)
    whole = sum(gap[k]["cost"] for k in ("tested", "untested", "unknown"))

    def look(page, size):
        rows = page.script(GAPS)
        t.equal([(r["name"], r["leaves"].split(": ")[-1]) for r in rows], [(g["function"], g["text"]) for g in gap["gaps"]], "gaps in the order of gap")
        for row, one in zip(rows, gap["gaps"]):
            t.check("ways.c:%d" % one["line"] in row["leaves"] and row["source"].endswith("/%d" % one["line"]), "the place of %s: %s" % (one, row))
            t.check(abs(float(row["share"].strip("<>%")) - 100 * one["cost"] / whole) < 0.11, "the share of %s: %s" % (one, row))
            t.equal(row["ways"], min(4, len(one["paths"])), "paths of a gap")
        together = next(r for r, g in zip(rows, gap["gaps"]) if g["reason"] == "not_together")
        t.check("second == 'y' yes" in together["leaves"], "the branch as it is written: %s" % together)
        page.click(".ranked button:last-child")
        page.wait("document.querySelector('.ranked button:last-child').getAttribute('aria-pressed') === 'true'")
        shown = page.script("return document.querySelector('.split .legend').textContent")
        t.check("%.1f%%" % (100 * gap["tested_share_by_count"]) in shown, "by executions: %s" % shown)
        page.click(".gap a.fn[href='%s']" % together["path"])
        page.wait("document.querySelector('.path[aria-selected=true] .untested') && document.querySelector('.ln.leaves')")
        t.equal(page.script("return document.querySelector('.ln.leaves .no').textContent"), "11", "the line at which the path leaves what was tested")
        t.equal(page.script("return document.querySelectorAll('.edge.leaves').length"), 1, "and the edge")
        t.equal(page.script("return document.querySelectorAll('.path .untested').length"), 1, "paths of both() that no test took")
        audit(t, page, "untested path %d" % size)
        page.open(url(folder, together["source"]))
        page.wait("document.querySelector('.source .ln')")
        page.open(url(folder, "#/"))
        page.wait("document.querySelector('a.tile')")
        t.check("%.1f%%" % (100 * gap["tested_share"]) in page.script("return document.querySelector('a.tile').textContent"), "the overview has the share")
        page.click("a.tile")
        page.wait("document.querySelector('.gap')")

    each_width(t, folder, "gap", "#/gap", "document.querySelector('.gap')", look)
    # a part of the program, tests that took everything, and no tests at all
    with Browser(1400, 1000) as page:
        visit(page, t.report("--gap", tests, "--function", "main", production), "#/gap", "document.querySelector('.gap')")
        t.equal({row["name"] for row in page.script(GAPS)}, {"main"}, "gaps of one function")
        for words, said in ((("--gap", production, production), "took every path"), ((production,), "has no profile of tests")):
            visit(page, t.report(*words), "#/gap", "document.querySelector('main').textContent.includes(%r)" % said)
        silent(t, page, "gap")
    edges = t.profile(t.built("ways.c", "-O0", "--fp-mode=edge"), "edges.prof", "nn")
    t.tool("report", "--gap", tests, edges, "-o", t.path("none"), status=1)


# ---- history ----

HISTORY = """return [...document.querySelectorAll('main section')].map((box) => ({name: box.querySelector('h2 a').textContent,
  lines: box.querySelectorAll('svg.history .line').length, label: box.querySelector('svg.history').getAttribute('aria-label'),
  paths: [...box.querySelectorAll('.legend a')].map((a) => a.getAttribute('href')),
  rows: [...box.querySelectorAll('tbody tr')].map((row) => [row.querySelector('th').textContent, ...[...row.querySelectorAll('td')].map((cell) => Number(cell.textContent.replace(/\\D/g, '')))])}))"""


def case_history(t):
    """Of a store: how often the hottest paths of a function were taken over time. What ran first and what ran later are told
    apart, and the sums are those of show."""
    ways, now, store = t.built("ways.c", "-O0"), int(time.time()), "store:" + t.path("s.store")
    for days_ago, name, words in ((5, "before", ["nn"] * 4), (0, "after", ["yy"] * 4)):
        made = t.path(name)
        os.mkdir(made)
        t.run(os.path.join(t.args.bin, "..", "make-records"), made, "60", "20", "3", "5", str(now - 86400 * days_ago), str(days_ago),
              t.profile(ways, name + ".prof", *words))
        t.tool("store", "add", "--store", store, *sorted(os.path.join(made, file) for file in os.listdir(made)))
    show, folder = t.json("show", "--json", "--top", "0", store), t.report(store)
    both = next(f for f in show["functions"] if f["name"] == "both")

    def look(page, size):
        found = {one["name"]: one for one in page.script(HISTORY)}
        one = found["both"]
        t.equal(one["lines"], len(both["paths"]), "a line per path")
        t.equal([sum(row[1 + k] for row in one["rows"]) for k in range(len(both["paths"]))], [p["count"] for p in both["paths"]], "sums over time")
        t.check(all(row[-1] == sum(row[1:-1]) for row in one["rows"]), "all paths: %s" % one["rows"])
        half = len(one["rows"]) // 2
        early, late = one["rows"][1:half - 1], one["rows"][half + 1:-1]
        t.check(len(early) > 5 and all(sum(1 for n in row[1:-1] if n) == 1 for row in early + late), "one path at a time")
        t.check({row[1] > 0 for row in early} != {row[1] > 0 for row in late}, "another path later: %s" % one["rows"])
        t.check("hottest paths of both" in one["label"], "the picture says what it is")
        page.click(".ranked button:last-child")
        page.wait("document.querySelector('.ranked button:last-child').getAttribute('aria-pressed') === 'true'")
        audit(t, page, "history by executions %d" % size)
        page.open(url(folder, one["paths"][0]))
        page.wait("document.querySelector('.path[aria-selected=true]')")
        page.click("a[href^='#/history/']")
        page.wait("document.querySelectorAll('main section svg.history').length === 1")

    each_width(t, folder, "history", "#/history", "document.querySelector('svg.history')", look)
    with Browser(1400, 1000) as page:  # a file has no history
        visit(page, t.report(t.path("after.prof")), "#/history", "document.querySelector('main').textContent.includes('has no history')")
        t.check("History" not in page.script("return document.getElementById('tabs').textContent"), "no tab")
        silent(t, page, "history")


# ---- source, files, search ----

LONG = "int spread(int n) { if (n) return %s; return 0; }\nint main(int argc, char **argv) { (void)argv; return spread(argc) < 0; }\n" % " + ".join(["n"] * 100)
COLUMNS = """const box = document.querySelector('.panel.source'), code = box.querySelector('.ln code'), probe = document.createElement('span');
  probe.textContent = 'x'.repeat(100); code.append(probe);
  const wide = probe.getBoundingClientRect().width / 100, room = box.getBoundingClientRect().right - code.getBoundingClientRect().left;
  probe.remove(); return room / wide"""


def case_split(t):
    """The source shows 75 columns at 1400 pixels; handles move by mouse and by keys, and stay where they are put."""
    profile = t.profile(t.built("walk.c", "-O0"), "walk.prof", "100")
    folder, ready = t.report(profile), "document.querySelector('.handle[aria-valuenow]') && document.querySelector('.ln code')"

    def width(page, part):
        return page.script("return document.querySelector(arguments[0]).getBoundingClientRect().width", part)

    def moves(page, act, part, more, what):
        before = width(page, part)
        act()
        page.wait("(document.querySelector(%r).getBoundingClientRect().width - %f) * %d > 10" % (part, before, more))
        t.check((width(page, part) - before) * more > 10, what)

    def look(page, size):
        if size < 500:
            t.equal(page.script("return document.querySelector('.handle').offsetParent"), None, "no handles on a phone")
            return
        if size < 1150:
            t.equal(page.script("return document.querySelector('.handle.right').getAttribute('aria-orientation')"), "horizontal", "the graph is below")
            high = "document.querySelector('.drawing').getBoundingClientRect().height"
            before = page.script("return " + high)
            page.drag(".handle.right", 0, -100)
            page.wait("%s - %f > 80" % (high, before))
            page.keys(".handle.right", "\ue007")
            page.wait("Math.abs(%s - %f) < 2" % (high, before))
            return
        t.check(page.script(COLUMNS) >= 75, "columns of source at 1400 pixels: %s" % page.script(COLUMNS))
        moves(page, lambda: page.drag(".handle.right", 150, 0), ".panel.source", 1, "the graph is dragged narrower")
        moves(page, lambda: page.keys(".handle.left", ARROW["right"] * 3), ".panel.source", -1, "keys make the list wider")
        kept = width(page, ".panel.source")
        page.script("location.reload()")
        page.wait(ready)
        t.check(abs(width(page, ".panel.source") - kept) < 3, "the widths are remembered")
        t.equal(page.script("return document.querySelectorAll('.path[aria-selected=true]').length"), 1, "keys on a handle choose no path")
        moves(page, lambda: page.keys(".handle.right", "\ue010"), ".drawing", 1, "End makes the graph as wide as may be")
        t.check(width(page, ".panel.source") > 150, "and leaves room for the source")
        page.keys(".handle.right", "\ue007")
        page.keys(".handle.left", "\ue007")
        page.wait("!document.querySelector('.panels').style.getPropertyValue('--left')")
        for key, value in (("footpath-split", "nonsense"), ("footpath-split", '{"left": "1;x"}'), ("footpath-split", "null")):
            page.script("localStorage.setItem(arguments[0], arguments[1]); location.reload()", key, value)
            page.wait(ready)
        page.script("localStorage.clear()")

    with Browser(1400, 1000) as page:
        visit(page, folder, "#/", "document.querySelector('.tiles')")
        index = index_of(page, "main")
    each_width(t, folder, "split", "#/f/%d/p/0" % index, ready, look)


def case_long_lines(t):
    """A line of 400 characters is scrolled with its number in sight, or wrapped; the choice is remembered."""
    t.write("long.c", LONG)
    profile = t.profile(t.build(t.path("long.c"), "long", "-O0"), "long.prof")
    folder, ready = t.report(profile), "document.querySelector('.ln code')"
    over = "(document.querySelector('.source').scrollWidth - document.querySelector('.source').clientWidth)"

    def look(page, size):
        if size < 500:
            page.click(".switch.phone button:nth-child(2)")
            page.wait("document.querySelector('.source').offsetHeight > 0")
            t.check(page.script("return " + over) <= 1, "a phone wraps lines")
            return
        t.check(page.script("return " + over) > 500, "the line is longer than the panel")
        page.script("document.querySelector('.source').scrollTo({left: 1000, behavior: 'instant'})")
        inside = page.script("const a = document.querySelector('.ln .no').getBoundingClientRect(), b = document.querySelector('.source').getBoundingClientRect(); return a.left - b.left")
        t.check(0 <= inside < 10, "line numbers stay in sight")
        page.keys("body", "w")
        page.wait(over + " <= 1")
        page.script("location.reload()")
        page.wait(ready)
        page.wait(over + " <= 1")
        page.click(".where .wrapper")
        page.wait(over + " > 500")

    with Browser(1400, 1000) as page:
        visit(page, folder, "#/", "document.querySelector('.tiles')")
        index = index_of(page, "spread")
    each_width(t, folder, "long", "#/f/%d" % index, ready, look)


def case_files(t):
    """Files begin at the folder of the program's own sources; headers of the system are apart."""
    os.makedirs(t.path("own", "deep"), exist_ok=True)
    t.write("own/deep/part.cc", "#include <vector>\nint part(int n) { std::vector<int> all; for (int i = 0; i < n; i++) all.push_back(i); return (int)all.size(); }\n")
    t.write("own/main.cc", "int part(int);\nint main(int argc, char **) { return part(argc) - argc; }\n")
    harness.run(os.path.join(t.args.bin, "footpath-c++"), "--fp-llvm=" + t.args.llvm, "-O0", t.path("own/main.cc"), t.path("own/deep/part.cc"), "-o", t.path("files"), env=harness.environment())
    folder = t.report(t.profile(t.path("files"), "files.prof"))

    def look(page, size):
        t.equal(page.script("return document.querySelector('.lead code').textContent"), t.path("own") + "/", "the root of the files")
        names = "[...document.querySelectorAll('%s td .fn')].map((n) => n.textContent)"
        own, system = page.script("return " + names % "main div > .scroll"), page.script("return " + names % "details")
        t.equal(sorted(set(own) - set(system)), ["deep/part.cc", "main.cc"], "own files")
        t.check(system and not any(".." in name or name.endswith(".cc") for name in system), "system headers: %s" % system)
        t.check(page.script("return document.querySelector('summary code').textContent").startswith("/usr/"), "where system headers are")
        t.check(not page.script("return document.querySelector('details').open"), "system headers are folded")
        page.click("summary")
        page.wait("document.querySelector('details').open && document.querySelector('details table').offsetHeight > 0")

    each_width(t, folder, "files", "#/files", "document.querySelector('table.files')", look)


def case_search_box(t):
    """The search box shows all of its prompt, from wide windows to the narrowest phone."""
    folder = t.report(t.profile(t.built("walk.c", "-O0"), "a program of a rather long name.prof", "10"), "--title", "a program of a rather long name")
    for width in WIDTHS + (320,):
        with Browser(width, 844, mobile=width < 500) as page:
            visit(page, folder, "#/", "document.querySelector('.tiles')")
            room, text = page.script(
                "const input = document.querySelector('#search'), style = getComputedStyle(input), context = document.createElement('canvas').getContext('2d');"
                "context.font = style.font;"
                "return [input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight), context.measureText(input.placeholder).width]")
            t.check(room >= text, "%d pixels: %s for a prompt of %s" % (width, room, text))
            right = page.script("return Math.max(...[...document.querySelectorAll('header *')].map((n) => n.getBoundingClientRect().right))")
            t.check(right <= width + 1, "%d pixels: the header ends at %s" % (width, right))


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, ("--shots", {"type": os.path.abspath}), bench=Views)
