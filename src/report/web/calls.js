/* Callers and callees of a function, and what inclusive cost means. */
"use strict";
(() => {
  const {el, number, percent, share} = footpath;
  const measured = () => footpath.data.call_costs || footpath.data.unit === "inclusive-cycles";

  /* The words under a table or list with inclusive costs. */
  footpath.inclusiveNote = () => footpath.data.call_costs
    ? "Inclusive costs were measured: each call from before it to behind it, with all that was called on the way. Of calls through pointers only the caller is known."
    : measured()
    ? "Inclusive costs were measured: cycles from a function's entry to its exit, with all that it called."
    : "Inclusive cost is an estimate: the cost of a function and of all that it called. What a callee cost is divided among its callers by number of calls, as gprof does. Calls by name are counted exactly; of calls through pointers only the caller is known.";
  footpath.inclusiveLabel = () => (measured() ? "Inclusive" : "Inclusive, est.");

  const readCall = ([index, name, count, cost, line, recursive]) => ({index, name, count, cost, line, recursive});
  const times = (count) => number(count) + (Number(count) === 1 ? " call" : " calls");

  /* One caller or callee. What is not on the site has a name and no link. */
  function callRow(call, whole, file, note) {
    const label = call.name || "through pointers";
    const name = call.index >= 0 ? el("a.fn", {href: "#/f/" + call.index + "/c"}, label) : el(call.name && !call.words ? "span.fn" : "span", null, label);
    const line = call.line && file >= 0 ? el("a.at", {href: "#/file/" + file + "/" + call.line, title: "the first such call", "aria-label": "source, line " + call.line}, ":" + call.line) : null;
    return el("li.call", null, el("span.bar", {"aria-hidden": "true"}, el("i", {style: {width: 100 * share(call.cost, whole) + "%"}})),
      el("span.who", null, name, line),
      el("span.figures", null, el("b", null, call.cost ? percent(call.cost, footpath.data.totals.cost) : ""), call.count === null ? null : el("small", null, times(call.count))),
      note ? el("small.why", null, note) : null);
  }
  const why = (call) => call.recursive ? "recursion: its cost is counted at the outer call" : !call.name ? "which function was called is not known" : call.index < 0 && !call.cost ? "not measured" : null;
  const restRow = ([n, count, cost]) => n ? [el("li.note", null, number(n) + " more, " + times(count) + ", " + percent(cost, footpath.data.totals.cost))] : [];

  const callsOf = (f) => ({callers: f.c[0].map(readCall), callersRest: f.c[1], callees: f.c[2].map(readCall), calleesRest: f.c[3], elsewhere: f.c[4]});

  footpath.callCount = (f) => f.c[0].length + f.c[1][0] + f.c[2].length + f.c[3][0] + (Number(f.c[4][0]) ? 1 : 0);
  footpath.callsPanel = (f, row) => {
    const c = callsOf(f), d = footpath.data, whole = Math.max(row.inclusive, 1e-9), [count, cost] = c.elsewhere;
    const fileOf = (call) => (call.index >= 0 ? footpath.row(call.index).file : -1);
    const callers = c.callers.map((call) => callRow(call, whole, fileOf(call), why(call)));
    if (Number(count))
      callers.push(callRow({index: -1, name: "elsewhere", words: true, count, cost, line: 0}, whole, -1, row.name === "main" ? "from the system" : "through pointers, or from code that is not measured"));
    callers.push(...restRow(c.callersRest));
    const own = {index: -1, name: "its own " + d.unit, words: true, count: null, cost: row.cost, line: 0};
    const callees = [...(measured() ? [] : [callRow(own, whole, -1, null)]), ...c.callees.map((call) => callRow(call, whole, row.file, why(call))), ...restRow(c.calleesRest)];
    return el("div.calls", {tabindex: "0", role: "region", "aria-label": "Callers and callees"},
      el("h2", null, "Called by", el("span.dim", null, times(row.calls))),
      callers.length ? el("ul", null, callers) : el("p.note", null, "Nothing called it."),
      el("h2", null, "Calls", el("span.dim", null, percent(row.inclusive, d.totals.cost) + " inclusive")),
      c.callees.length ? el("ul", null, callees) : el("p.note", null, "It called nothing."),
      el("p.note", null, footpath.inclusiveNote()));
  };
})();
