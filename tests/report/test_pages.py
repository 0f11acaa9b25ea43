#!/usr/bin/env python3
"""The report in a real browser: what is lit when a path is chosen is what `show
--json` says it passes; search, sorting, links, keys, phone, dark mode, hostile names
and sources; no message on the console; accessibility by axe-core.

    test_pages.py --bin BUILD/bin [--shots FOLDER] [--tools FOLDER] [--profile FILE...] [--case NAME]...

With --profile, the checks are made on reports of those profiles in place of the small
programs' (for real ones, whose building takes long).
"""
import functools
import json
import os
import re

from browser import Browser, available
from common import HERE, OPTIONS, Failure, Tester, harness

PROGRAMS = os.path.join(HERE, "programs")


class Pages(Tester):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        missing = available()
        if missing:
            raise Failure(missing)
        self.shots = args.shots or self.path("shots")

    @functools.cached_property
    def reports(self):
        """Name, folder and what `show` says of each."""
        made, profiles = [], self.args.profile
        if not profiles:
            walk = self.build(os.path.join(PROGRAMS, "walk.c"), "walk", "-O1")
            shapes = self.build(os.path.join(PROGRAMS, "shapes.cc"), "shapes", "-O1")
            profiles = [self.profile(walk, "walk.prof", "100"), self.profile(shapes, "shapes.prof")]
        for number, profile in enumerate(profiles):
            folder = self.path("report%d" % number)
            self.tool("report", profile, "-o", folder)
            made.append((os.path.basename(os.path.dirname(profile)) + "-" + os.path.basename(profile), folder,
                         self.json("show", "--json", profile)))
        return made


def url(folder, route=""):
    return "file://" + folder + "/index.html" + route


def silent(t, page, where):
    messages = page.console()
    t.check(not messages, "console at %s: %s" % (where, messages))


def open_report(page, folder):
    page.open(url(folder))
    page.wait("document.querySelector('.tiles')")


def lit(page):
    """Blocks, and lines as (file, line), that are lit."""
    page.wait("document.querySelector('.path[aria-selected=true]')")
    return page.script("""
      const files = footpath.data.files;
      return {blocks: [...document.querySelectorAll('.block.lit')].map((n) => Number(n.dataset.block)),
              edges: [...document.querySelectorAll('.edge.lit')].length,
              lines: [...document.querySelectorAll('.ln.lit')].map((n) => n.dataset.key.split(':')).map(([f, l]) => files[f][0] + ':' + l),
              unlit: [...document.querySelectorAll('.ln:not(.lit)')].length,
              count: document.querySelector('.path[aria-selected=true] .figures small').textContent};""")


def chosen(page, index):
    """Waits until that path is."""
    page.wait("location.hash.endsWith('/p/%d') && document.querySelector('.path[aria-selected=true]').dataset.key === "
              "document.querySelectorAll('.path')[%d].dataset.key" % (index, index))


def expected_path(show, row, index):
    """The path of a function's row by its place in show's order, which is by cost."""
    found = [f for f in show["functions"] if f["name"] == row["name"] and f["file"] == row["file"] and f["line"] == row["line"]]
    if len(found) != 1:
        return None
    return found[0], found[0]["paths"][index]


def case_choose(t):
    for name, folder, show in t.reports:
        with Browser(1440, 1000) as page:
            open_report(page, folder)
            hot = page.script("return footpath.data.hot.slice(0, 6).map((h) => [h[0], h[1]])")
            checked = 0
            for index, place in hot:
                row = page.script("const r = footpath.row(arguments[0]); return {name: r.name, file: footpath.data.files[r.file][0], line: r.line}", index)
                known = expected_path(show, row, place)
                if not known:
                    continue
                page.open(url(folder, "#/f/%d/p/%d" % (index, place)))
                page.script("location.reload()")
                page.wait("document.querySelector('.panels') && document.querySelector('.path[aria-selected=true]')")
                got, (function, path) = lit(page), known
                t.equal(sorted(set(got["blocks"])), sorted(set(path["block_ids"])), "%s: lit blocks of %s path %s" % (name, row["name"], path["id"]))
                steps = {"%s:%d" % (b["file"], b["line"]) for b in path["blocks"]}
                t.check(steps <= set(got["lines"]), "%s: lines of %s path %s: missing %s" % (name, row["name"], path["id"], sorted(steps - set(got["lines"]))[:5]))
                edges = len(set(zip(path["block_ids"], path["block_ids"][1:])))
                t.check(got["edges"] >= (1 if edges else 0), "lit edges")
                checked += 1
            t.check(checked >= 2, name + ": too few paths could be checked")
            page.screenshot(os.path.join(t.shots, re.sub(r"\W+", "-", name) + "-function.png"))
            silent(t, page, name)


def case_overview_and_links(t):
    for name, folder, show in t.reports:
        with Browser(1440, 1000) as page:
            open_report(page, folder)
            page.screenshot(os.path.join(t.shots, re.sub(r"\W+", "-", name) + "-overview.png"))
            taken = sum(f.get("executed_paths", 0) for f in show["functions"])
            shown = page.script("return document.querySelector('.tile .value').textContent")
            t.equal(int(re.sub(r"\D", "", shown)), taken, "paths taken")
            first = page.script("return document.querySelector('.row.hot .fn').textContent")
            page.click(".row.hot")
            page.wait("document.querySelector('.panels')")
            t.equal(page.script("return document.querySelector('h1').textContent"), first, "the link of the hottest path")
            t.equal(page.script("return document.querySelectorAll('.path[aria-selected=true]').length"), 1, "its path is chosen")
            page.click(".crumbs a:last-child")
            page.wait("location.hash.startsWith('#/file/') && document.querySelector('.code')")
            for route in ("files", "untaken", "functions"):
                page.click("#tabs a[href='#/%s']" % route)
                page.wait("document.querySelector('#tabs a[aria-current]').getAttribute('href') === '#/%s'" % route)
            silent(t, page, name)


def case_search_sort_keys(t):
    name, folder, show = t.reports[0]
    with Browser(1440, 1000) as page:
        open_report(page, folder)
        wanted = max((f for f in show["functions"] if 1 < f.get("executed_paths", 0) < 100), key=lambda f: f["executed_paths"])
        page.keys("body", "/")
        t.equal(page.script("return document.activeElement.id"), "search", "/ goes to the search")
        page.keys("#search", wanted["name"])
        page.wait("document.querySelectorAll('#found [data-index]').length > 0")
        index = page.script("return footpath.allRows().find((r) => r.name === arguments[0]).index", wanted["name"])
        at = page.script("return [...document.querySelectorAll('#found [data-index]')].findIndex((n) => Number(n.dataset.index) === arguments[0])", index)
        t.check(at >= 0, "search finds " + wanted["name"])
        page.keys("#search", "\ue015" * at + "\ue007")  # down, enter
        page.wait("document.querySelector('h1.mono') && document.querySelector('h1').textContent === %s" % json.dumps(wanted["name"]))
        page.keys("body", "j")
        first = lit(page)["blocks"]
        page.keys("body", "j")
        chosen(page, 1)
        t.check(lit(page)["blocks"] != first or wanted["executed_paths"] < 2, "another path lights other blocks")
        page.keys("body", "k")
        chosen(page, 0)
        t.equal(lit(page)["blocks"], first, "k goes back")
        page.keys("body", "\ue00c")  # escape
        page.wait("!document.querySelector('.path[aria-selected=true]')")
        t.equal(page.script("return document.querySelectorAll('.lit').length"), 0, "Esc puts out the light")
        page.keys("body", "?")
        t.check(page.script("return document.querySelector('#help').open"), "? opens the help")
        page.click("#help button")
        page.open(url(folder, "#/functions"))
        page.wait("document.querySelector('#filter')")
        page.click("button[data-key='name']")
        page.wait("document.querySelector('th[aria-sort] button').dataset.key === 'name'")
        names = page.script("return [...document.querySelectorAll('td .fn')].map((n) => n.textContent.toLowerCase())")
        t.equal(names, sorted(names), "sorted by name")
        page.click("button[data-key='calls']")
        page.wait("document.querySelector('th[aria-sort] button').dataset.key === 'calls'")
        calls = page.script("return [...document.querySelectorAll('td.k-calls')].map((n) => Number(n.textContent.replace(/\\D/g, '')))")
        t.equal(calls, sorted(calls, reverse=True), "sorted by calls")
        # the filter looks at files too: a name that is in no path
        word = next(f["name"] for f in show["functions"] if not any(f["name"].lower() in g["file"].lower() for g in show["functions"]))
        page.keys("#filter", word)
        shown = "[...document.querySelectorAll('td .fn')].map((n) => n.textContent.toLowerCase())"
        page.wait("(%s).every((n) => n.includes(%s))" % (shown, json.dumps(word.lower())))
        t.check(word.lower() in page.script("return " + shown), "filtered")
        silent(t, page, name)


def case_untaken(t):
    name, folder, show = t.reports[0]
    with Browser(1440, 1000) as page:
        open_report(page, folder)
        found = 0
        for index in range(min(12, page.script("return footpath.allRows().length"))):
            listed = page.script_async("const done = arguments[arguments.length - 1], i = footpath.allRows()[arguments[0]].index;"
                                       "footpath.getFunction(i).then((f) => done({index: i, name: footpath.row(i).name, untaken: (f.u || []).map((p) => p[0]), total: f.ut}))", index)
            functions = [f for f in show["functions"] if f["name"] == listed["name"] and "paths" in f]
            if len(functions) != 1 or not listed["untaken"]:
                continue
            taken = {str(p["id"]) for p in functions[0]["paths"]}
            t.check(not taken & set(listed["untaken"]), "untaken paths of %s were taken" % listed["name"])
            t.equal(int(listed["total"]), functions[0]["num_paths"] - len([p for p in functions[0]["paths"] if p["id"] is not None]), "untaken of " + listed["name"])
            page.open(url(folder, "#/f/%d/u/%s" % (listed["index"], listed["untaken"][0])))
            page.wait("document.querySelector('.detail') && document.querySelector('.detail').textContent.startsWith('Never taken')")
            t.check(len(lit(page)["blocks"]) > 0, "an untaken path is lit")
            found += 1
        t.check(found, "no function with untaken paths")
        silent(t, page, name)


def case_dark_and_phone(t):
    name, folder, _ = t.reports[0]
    index = 0
    with Browser(1440, 1000) as page:
        open_report(page, folder)
        light = page.script("return getComputedStyle(document.documentElement).backgroundColor")
        page.click("#theme")
        dark = page.script("return getComputedStyle(document.documentElement).backgroundColor")
        t.check(light != dark, "the theme changes")
        page.script("location.reload()")
        page.wait("document.querySelector('.tiles')")
        t.equal(page.script("return getComputedStyle(document.documentElement).backgroundColor"), dark, "the theme is kept")
        page.screenshot(os.path.join(t.shots, "dark.png"))
    with Browser(390, 844, mobile=True) as page:
        for route in ("#/", "#/functions", "#/files", "#/f/%d/p/0" % index):
            page.open(url(folder, route))
            page.script("location.reload()")
            page.wait("document.querySelector('h1')")
            over = page.script("return document.documentElement.scrollWidth - window.innerWidth")
            t.check(over <= 1, "%s is %d pixels too wide for a phone" % (route, over))
        page.click(".switch.phone button:last-child")
        page.wait("document.querySelector('.drawing').offsetHeight > 100")
        t.check(page.script("return document.querySelectorAll('.block.lit').length") > 0, "lit on a phone")
        page.screenshot(os.path.join(t.shots, "phone.png"))
        silent(t, page, "phone")


def case_accessibility(t):
    from fetch import fetched
    with open(os.path.join(fetched("axe-core", t.args.tools), "axe.min.js")) as f:
        axe = f.read()
    problems = []
    for name, folder, _ in t.reports:
        with Browser(1440, 1000) as page:
            open_report(page, folder)
            # a page of some thousand lines shows the checker nothing that a smaller one does not
            function = "#/f/%d/p/0" % page.script("return footpath.allRows().find((r) => r.blocks[1] < 80).index")
            for theme, routes in (("light", ("#/", "#/functions", "#/untaken", "#/file/0", function)), ("dark", ("#/", function))):
                for route in routes:
                    page.open(url(folder, route))
                    page.script("localStorage.setItem('footpath-theme', arguments[0]); location.reload()", theme)
                    page.wait("document.querySelector('h1')")
                    page.settled()
                    # the page allows no code but its own, so the checker comes in by the driver
                    page.script(axe + "; window.axe = axe;")
                    found = page.script_async("const done = arguments[arguments.length - 1];"
                                              "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'best-practice']}).then((r) => done(r.violations.map((v) => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map((n) => n.target + ' ' + (n.any[0] ? n.any[0].message : '')).join('; '))))")
                    problems += ["%s %s in %s: %s" % (name, route, theme, one) for one in found]
    t.check(not problems, "\n".join(problems))


HOSTILE = r'''
#line 1 "<script>alert(1)<\/script>.c"
int tricky(int n) __asm__("<img src=x onerror=alert(2)>\"'&amp;");
#line 1 "%(folder)s/evil.c"
__attribute__((noinline)) int tricky(int n) { if (n > 2) return n; return -n; }
__attribute__((noinline)) int long_line(int n) { if (n) { /* %(long)s */ return 1; } return 2; }
__attribute__((noinline)) int odd_bytes(int n) { if (n) /* <b>bold</b> </script><script>alert(3)</script> \xff\xfe\xe2\x80\xa8 \x1b[31m */ return 3; return 4; }
#line 1 "no such folder/<i>gone</i>\n.c"
__attribute__((noinline)) int gone(int n) { return n ? tricky(n) : long_line(n); }
#line 100 "%(folder)s/evil.c"
int main(int argc, char **argv) { (void)argv; return tricky(argc) + long_line(argc) + odd_bytes(argc) + gone(argc) > 1000; }
'''


def case_hostile(t):
    """Names and sources that would be markup, control characters, bytes that are no
    UTF-8, a line of 1 MB, a file that is not there."""
    source = os.path.join(t.folder, "evil.c")
    text = (HOSTILE.replace("%(long)s", "x" * 1000000).replace("%(folder)s", t.folder)).encode()
    text = text.replace(rb"\xff\xfe\xe2\x80\xa8", b"\xff\xfe\xe2\x80\xa8").replace(rb"\x1b", b"\x1b\x07")
    body = text.split(b"\n")
    with open(source, "wb") as f:
        f.write(text)
    exe = t.build(source, "evil", "-O0", "-w", "-Wno-everything")
    # what the page reads as source: the lines themselves, and a NUL
    with open(source, "wb") as f:
        f.write(b"\n".join(body[4:7]) + b"\n\0 nul <img src=x onerror=alert(4)>\n" + b"\n" * 95 + body[-2] + b"\n")
    profile = t.profile(exe, "evil.prof")
    folder = os.path.join(t.folder, "evil-report")
    tests = t.profile(exe, "evil-tests.prof", "a", "b", "c")
    t.tool("report", profile, "--gap", tests, "-o", folder, "--title", "<script>alert(5)</script>")
    for command in (("annotate", "--top", "0"), ("show",), ("coverage", "--functions"), ("export", "--format", "collapsed")):
        out = t.tool(*command, profile, text=False)
        t.check(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", out), "control characters from " + command[0])
    for command in (("show", "--json"), ("coverage", "--json"), ("annotate", "--json", "--top", "0"), ("export", "--format", "speedscope")):
        json.loads(t.tool(*command, profile))
    t.tool("export", "--format", "lcov", "-o", "evil.lcov", profile)
    t.tool("coverage", "--format", "cobertura", "-o", "evil.xml", profile)
    with Browser(1440, 1000) as page:
        open_report(page, folder)
        names = page.script("return footpath.allRows().map((r) => r.name)")
        t.check(any("onerror" in n for n in names), "the hostile name is shown: %s" % names)
        for index in range(len(names)):
            page.open(url(folder, "#/f/%d/p/0" % index))
            page.wait("document.querySelector('.panels')")
        for route in ("#/functions", "#/flame", "#/gap", "#/files", "#/untaken", "#/file/0", "#/f/0/c", "#/"):
            page.open(url(folder, route))
            page.wait("document.querySelector('h1')")
            for tag in ("main img", "main b.bold", "main script", "main i:not([class]):not([style])"):
                t.equal(page.script("return document.querySelectorAll(arguments[0]).length", tag), 0, tag + " at " + route)
        t.equal(page.script("return document.title"), "evil · footpath", "the title is text")
        # alert() would block the script and the driver with it
        silent(t, page, "hostile")
        page.screenshot(os.path.join(t.shots, "hostile.png"))


if __name__ == "__main__":
    harness.main(__doc__, *OPTIONS, ("--shots", {"type": os.path.abspath}),
                 ("--profile", {"nargs": "*", "type": os.path.abspath, "default": []}), bench=Pages)
