/* A function's hottest paths over time: of a store, whose records have times. */
"use strict";
(() => {
  const {el, number, short, percent, base, views} = footpath;
  const WIDE = 720, HIGH = 180, LEFT = 56, RIGHT = 8, TOP = 8, BELOW = 26, SHOWN = 12;

  /* "2026-11-18 05:15", UTC; the day alone where a step is a day or more. */
  function when(t) {
    const h = footpath.data.history, text = new Date(1000 * (h.begin + t * h.step)).toISOString().replace("T", " ");
    return h.step >= 86400 ? text.slice(0, 10) : h.step >= 60 ? text.slice(0, 16) : text.slice(0, 19);
  }
  /* The last row has the sum over all paths of the function. */
  const sums = (f) => f.h[f.h.length - 1].map(Number);
  const values = (f, k, byShare) => f.h[k].map((count, t) => (byShare ? (sums(f)[t] ? Number(count) / sums(f)[t] : null) : Number(count)));

  /* Lines with gaps where nothing ran. A single point gets a dot. */
  function lineOf(list, x, y) {
    let path = "", open = false;
    list.forEach((v, t) => {
      if (v === null) { open = false; return; }
      path += (open ? "L" : "M") + x(t).toFixed(1) + " " + y(v).toFixed(1) + (open || (list[t + 1] !== null && t + 1 < list.length) ? "" : "h.1");
      open = true;
    });
    return path;
  }
  function chart(f, name, byShare) {
    const n = footpath.data.history.n, lines = f.h.slice(0, -1).map((row, k) => values(f, k, byShare));
    const most = byShare ? 1 : Math.max(1, ...lines.flat().filter((v) => v !== null));
    const x = (t) => LEFT + (n > 1 ? t / (n - 1) : 0.5) * (WIDE - LEFT - RIGHT), y = (v) => TOP + (1 - v / most) * (HIGH - TOP - BELOW);
    const label = (v) => (byShare ? Math.round(100 * v) + "%" : short(v));
    const grid = [0, 0.5, 1].map((part) => el("g", null, el("line.grid", {x1: LEFT, x2: WIDE - RIGHT, y1: y(part * most), y2: y(part * most)}), el("text", {x: LEFT - 6, y: y(part * most) + 4, "text-anchor": "end"}, label(part * most))));
    const days = [[0, "start"], [Math.floor((n - 1) / 2), "middle"], [n - 1, "end"]].map(([t, anchor]) => el("text", {x: x(t), y: HIGH - 6, "text-anchor": anchor}, when(t)));
    const text = "The " + lines.length + " hottest paths of " + name + " from " + when(0) + " to " + when(n - 1) + (byShare ? ", as shares of all its paths" : ", by executions") + "; the table below has the figures";
    return el("svg.history", {viewBox: "0 0 " + WIDE + " " + HIGH, role: "img", "aria-label": text}, grid, n > 2 ? days : [days[0], days[2]],
      lines.map((list, k) => el("path.line.c" + k % 6, {d: lineOf(list, x, y)}, el("title", null, "path " + (k + 1)))));
  }
  function legend(f, index) {
    const all = sums(f).reduce((a, b) => a + b, 0);
    return el("ul.legend", {"aria-label": "Paths"}, f.h.slice(0, -1).map((row, k) => {
      const count = row.reduce((a, b) => a + Number(b), 0);
      return el("li", null, el("i.c" + k % 6), el("a", {href: "#/f/" + index + "/p/" + k}, "path " + (k + 1)), " ", el("b", null, percent(count, all)), " ", el("span.dim", null, short(count) + "×"));
    }));
  }
  function table(f) {
    const n = footpath.data.history.n, rows = [];
    for (let t = 0; t < n; t++) if (sums(f)[t]) rows.push(el("tr", null, el("th", {scope: "row"}, when(t)), f.h.map((row) => el("td", null, number(row[t])))));
    return el("details", null, el("summary", null, "Figures"), el("div.scrolls", {tabindex: "0", role: "region", "aria-label": "Figures; scrolls"}, el("table.figures", null, el("thead", null, el("tr", null, el("th", {scope: "col"}, "from (UTC)"),
      f.h.map((row, k) => el("th", {scope: "col"}, k < f.h.length - 1 ? "path " + (k + 1) : "all paths")))), el("tbody", null, rows))));
  }

  views.history = async (words) => {
    const d = footpath.data, h = d.history, one = words[1] ? Number(words[1]) : -1, state = {byShare: true};
    if (!h) throw new Error("this report has no history: footpath report 'store:PATH?since=7d'");
    const order = one >= 0 ? [one] : d.functions.map((f, i) => i).filter((i) => footpath.row(i) && footpath.row(i).cost > 0).sort((a, b) => footpath.row(b).cost - footpath.row(a).cost).slice(0, SHOWN);
    const shown = [], charts = [];
    for (const index of order) {
      const f = await footpath.getFunction(index);
      if (f && f.h) shown.push([index, f]);
    }
    const sections = shown.map(([index, f]) => {
      const row = footpath.row(index), box = el("div.chart");
      charts.push(() => box.replaceChildren(chart(f, row.name, state.byShare)));
      return el("section", {"aria-label": row.name}, el("h2", null, el("a.fn", {href: "#/f/" + index}, row.name), el("span.dim", null, percent(row.cost, d.totals.cost) + " of all " + d.unit + ", " + base(d.files[row.file][0]))), box, legend(f, index), table(f));
    });
    const fill = () => charts.forEach((draw) => draw());
    fill();
    const modes = el("div.switch", {role: "group", "aria-label": "Shown by"}, [["by share", true], ["by executions", false]].map(([text, byShare]) => el("button", {type: "button", "aria-pressed": String(byShare),
      onclick: (e) => { state.byShare = byShare; for (const b of modes.children) b.setAttribute("aria-pressed", String(b === e.currentTarget)); fill(); }}, text)));
    const node = el("div", null, el("div.head", null, el("h1", null, "History"), el("p.lead", null, "How often the hottest paths of " + (one >= 0 ? "this function" : "the costliest functions") + " were taken, from " + when(0) + " to " + when(h.n - 1) + ", UTC.")),
      el("div.filters.ranked", null, modes, one >= 0 ? el("a", {href: "#/history"}, "all functions") : null), sections.length ? sections : el("p.note", null, "No function has counted paths."));
    return {node, title: "History"};
  };
})();
