/* Several profiles compared: what changed most from the first one to another. */
"use strict";
(() => {
  const {el, number, short, percent, share, base} = footpath;
  const readChange = ([kind, name, file, index, path, before, after, costBefore, costAfter, text, parting]) =>
    ({kind, name, file, index, path, counts: [before, after], costs: [costBefore, costAfter], text, parting});
  const SHOWN = 20;

  /* "+1.82M", "−0.4 pt" */
  const signed = (value, text) => (value > 0 ? "+" : value < 0 ? "−" : "") + text;
  const way = (value) => (value > 0 ? "b.pc.rise" : value < 0 ? "b.pc.fall" : "span.pc.dim");
  footpath.difference = (value) => el(way(value), null, signed(value, short(Math.abs(value))));
  const points = (value) => el(way(value), null, signed(value, (100 * Math.abs(value)).toFixed(Math.abs(value) < 0.001 ? 2 : 1)), el("small", null, " pt"));

  /* Where a path parts from what the other profile did. */
  function partingText(change, labels) {
    const p = change.parting;
    if (!p) return null;
    const [after, file, line, condition, mine, other, count] = p, place = base(footpath.data.files[file][0]) + ":" + line;
    if (mine === undefined) return el("span.parting", null, "begins at " + place + "; no path of " + labels[after] + " does");
    return el("span.parting", null, "parts at " + place + ": ", condition ? el("code", null, condition) : null, condition ? " " : null, el("b", null, mine), "; " + labels[after] + ": ", el("b", null, other), ", " + short(count) + "×");
  }

  /* By cost or by share of each profile's own cost. */
  const weights = (change, cost, byShare) => change.costs.map((c, side) => (byShare ? share(c, cost[side]) : c));
  /* The bars of a row tell how its two sides compare; the figure beside them, how much that is. */
  function changeRow(change, i, k, compared, byShare) {
    const d = footpath.data, labels = [d.columns[0].label, d.columns[k].label], w = weights(change, compared.cost, byShare);
    const bars = el("span.columns", {"aria-hidden": "true"}, [0, k].map((c, side) => el("i.c" + c % 6, {style: {width: 100 * share(w[side], Math.max(...w)) + "%"}, title: labels[side] + ": " + short(change.costs[side])})));
    const inner = [el("span.rank", null, String(i + 1)), bars, byShare ? points(w[1] - w[0]) : footpath.difference(w[1] - w[0]),
      el("span.what", null, el("span.fn", null, change.name), footpath.sentence(base(d.files[change.file][0]) + ": " + change.text), partingText(change, labels)),
      el("span.times", null, short(change.counts[0]), el("small", null, " → "), short(change.counts[1]), el("small", null, change.kind === 2 ? " calls" : "×"))];
    return el("li", null, change.index >= 0 ? el("a.row.hot.change", {href: "#/f/" + change.index + (change.path ? "/" + change.path : "")}, inner) : el("div.row.hot.change", null, inner));
  }

  footpath.changesSection = () => {
    const d = footpath.data, state = {other: 1, byShare: false}, list = el("ol.hots"), note = el("span.dim");
    function fill() {
      const compared = d.changes[state.other - 1], of = (c) => weights(c, compared.cost, state.byShare);
      const all = compared.items.map(readChange).sort((x, y) => Math.abs(of(y)[1] - of(y)[0]) - Math.abs(of(x)[1] - of(x)[0])).slice(0, SHOWN);
      list.replaceChildren(...all.map((c, i) => changeRow(c, i, state.other, compared, state.byShare)));
      if (!all.length) list.replaceChildren(el("li.note.none", null, "Nothing changed: each path was taken as often."));
      note.textContent = "from " + d.columns[0].label + " to " + d.columns[state.other].label + ": " + number(compared.changed) + " changed, " + number(compared.same) + " the same";
    }
    const choice = (items, chosen, label, act) => {
      const group = el("div.switch", {role: "group", "aria-label": label}, items.map(([text, value]) => el("button", {type: "button", "aria-pressed": String(value === chosen),
        onclick: (e) => { act(value); for (const b of group.children) b.setAttribute("aria-pressed", String(b === e.currentTarget)); fill(); }}, text)));
      return group;
    };
    fill();
    const others = d.changes.length > 1 ? choice(d.changes.map((c, i) => [d.columns[i + 1].label, i + 1]), 1, "Compared with " + d.columns[0].label, (value) => { state.other = value; }) : null;
    return el("section", {"aria-labelledby": "changes"}, el("h2", {id: "changes"}, "Largest changes", note),
      el("div.filters.ranked", null, others, choice([["by instructions", false], ["by share of each", true]], false, "Ranked by", (value) => { state.byShare = value; })), list);
  };
  /* The change of a function's cost from the first profile, the largest where there are several others. */
  footpath.changeOf = (row) => row.costs.slice(1).map((c) => c - row.costs[0]).reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
})();
