/* What production did and no test did: gaps, each at the branch where paths leave what was tested. */
"use strict";
(() => {
  const {el, number, short, percent, share, base, views} = footpath;
  const readGap = ([index, file, line, condition, branch, reason, count, cost, npaths, paths]) =>
    ({index, file, line, condition, branch, reason, count: Number(count), cost, npaths, paths: paths.map(([place, times, price, text]) => ({place, count: Number(times), cost: price, text}))});
  const PARTS = [["tested", "on paths that tests took"], ["unknown", "cannot be told"], ["untested", "on paths that no test took"]];

  /* By cost or by executions. */
  const sum = (gap, name, byCount) => Number(gap[name][byCount ? 1 : 2]);
  const whole = (gap, byCount) => PARTS.reduce((all, [name]) => all + sum(gap, name, byCount), 0);
  footpath.testedShare = (gap) => percent(sum(gap, "tested", false), whole(gap, false));

  function bar(gap, byCount) {
    const all = whole(gap, byCount), parts = PARTS.filter(([name]) => sum(gap, name, byCount) > 0);
    return el("div.split", null, el("span.stack", {"aria-hidden": "true"}, parts.map(([name]) => el("i." + name, {style: {"flex-grow": String(sum(gap, name, byCount) / all)}}))),
      el("ul.legend", {"aria-label": "Production"}, parts.map(([name, words]) => el("li", null, el("i." + name), el("b", null, percent(sum(gap, name, byCount), all)), " " + words + " ", el("span.dim", null, number(gap[name][0]) + (Number(gap[name][0]) === 1 ? " path" : " paths"))))));
  }
  function doubts(gap) {
    const out = [], n = (count) => number(count) + (Number(count) === 1 ? " function" : " functions");
    if (Number(gap.reshaped)) out.push(n(gap.reshaped) + " differ in the tests' build: build both from one source with one compiler and level.");
    if (Number(gap.redefined)) out.push("Paths of " + n(gap.redefined) + " end elsewhere in a test program, or were not counted there: build both with the same --fp-mode and --fp-cuts.");
    if (Number(gap.unmeasured)) out.push(n(gap.unmeasured) + " of production have no counted paths and are left out.");
    return out.map((text) => el("p.warning", {role: "note"}, text));
  }

  /* One path of a gap: a link where its function's page lists it. */
  function pathLine(gap, path) {
    const inner = [el("span.steps", null, path.text), el("span.times", null, short(path.count), el("small", null, "×"))];
    return path.place >= 0 ? el("a.way", {href: "#/f/" + gap.index + "/p/" + path.place}, inner) : el("span.way", null, inner);
  }
  function gapRow(gap, i, all, most, byCount) {
    const d = footpath.data, part = byCount ? gap.count : gap.cost, row = footpath.row(gap.index), [first, ...others] = gap.paths, rest = gap.npaths - gap.paths.length;
    return el("li.gap", null, el("span.rank", null, String(i + 1)), el("span.bar", {"aria-hidden": "true"}, el("i", {style: {width: 100 * share(part, most) + "%"}})), el("b.pc", null, percent(part, all)),
      el("div.what", null, el("a.fn", {href: "#/f/" + gap.index + (first && first.place >= 0 ? "/p/" + first.place : "")}, row.name),
        el("p.leaves", null, el("a.at", {href: "#/file/" + gap.file + "/" + gap.line}, base(d.files[gap.file][0]) + ":" + gap.line), gap.condition ? [" ", el("code", null, gap.condition)] : null, gap.branch ? [" ", el("b", null, gap.branch)] : null, ": " + gap.reason),
        first ? pathLine(gap, first) : null,
        gap.npaths > 1 ? el("details", null, el("summary", null, number(gap.npaths - 1) + (gap.npaths === 2 ? " more path" : " more paths")), others.map((path) => pathLine(gap, path)), rest ? el("p.note", null, number(rest) + " more; footpath gap --paths lists all") : null) : null));
  }

  views.gap = async () => {
    const d = footpath.data, gap = d.gap;
    if (!gap) throw new Error("this report has no profile of tests: footpath report --gap TESTS PRODUCTION");
    const data = await footpath.getGaps(), gaps = data.gaps.map(readGap), state = {byCount: false}, sums = el("div"), list = el("ol.hots.gaps");
    function fill() {
      const weight = (g) => (state.byCount ? g.count : g.cost), sorted = [...gaps].sort((a, b) => weight(b) - weight(a)), most = sorted.length ? weight(sorted[0]) : 1;
      sums.replaceChildren(bar(gap, state.byCount));
      list.replaceChildren(...sorted.map((g, i) => gapRow(g, i, whole(gap, state.byCount), most, state.byCount)));
      if (!gaps.length) list.replaceChildren(el("li.note.none", null, Number(gap.untested[0]) ? "No untested path is in the functions that this report shows." : "Tests took every path that production took."));
    }
    fill();
    const modes = el("div.switch", {role: "group", "aria-label": "Shares of"}, [["by instructions", false], ["by executions", true]].map(([text, byCount]) => el("button", {type: "button", "aria-pressed": String(!byCount),
      onclick: (e) => { state.byCount = byCount; for (const b of modes.children) b.setAttribute("aria-pressed", String(b === e.currentTarget)); fill(); }}, text)));
    const node = el("div", null, el("div.head", null, el("h1", null, "Untested"), el("p.lead", null, "What production did and no test did. Each gap is the branch at which paths leave what was tested; the one that most of production goes through comes first."),
      el("dl.sources", null, el("dt", null, "production"), el("dd", null, gap.production), el("dt", null, "tests"), el("dd", null, gap.tests))),
      doubts(gap), el("div.filters.ranked", null, modes), sums, list, data.more ? el("p.note", null, number(data.more) + " more gaps; footpath gap --top 0 lists all") : null);
    return {node, title: "Untested"};
  };
})();
