/* The pages besides a function's own: overview, functions, files, paths never
 * taken, functions not measured. */
"use strict";
(() => {
  const {el, number, short, percent, share, base, views} = footpath;

  const meter = (part, whole, label) => el("span.meter", {role: "img", "aria-label": label || percent(part, whole)},
    el("i", {style: {width: 100 * share(part, whole) + "%"}}));
  footpath.meter = meter;

  /* A number beside a bar: all as wide, so that the bars stand below each other. */
  const figure = (text) => el("span.figure", null, text);

  /* Several profiles side by side: a thin bar each, in one order everywhere. */
  const columnBars = (values, most, tell) => el("span.columns", {"aria-hidden": "true"}, values.map((value, c) =>
    el("i.c" + c % 6, {style: {width: 100 * share(value, most) + "%"}, title: footpath.data.columns[c].label + ": " + tell(value)})));
  footpath.columnBars = columnBars;
  const legend = () => footpath.data.columns.length ? el("ul.legend", {"aria-label": "Profiles compared"}, footpath.data.columns.map((column, c) =>
    el("li", null, el("i.c" + c % 6), el("b", null, column.label), " ", command(column.run_list[0]), el("span.dim", null, " " + short(column.cost) + " " + footpath.data.unit)))) : null;
  footpath.legend = legend;

  const command = (run) => run ? el("code", null, [base(run.args[0] || ""), ...run.args.slice(1)].join(" ").slice(0, 160)) : null;
  const when = (run) => run && run.start ? new Date(run.start * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "";

  /* A path in words. */
  footpath.sentence = (text) => el("span.steps", null, text);
  /* A path as a row of lines; what a branch did is lighter. */
  footpath.pathText = (text) => {
    const parts = text.split(/(\([^)]*\))/);
    return el("span.steps", null, parts.map((part) => /^\(/.test(part) ? el("small", null, part) : part));
  };

  /* ---- overview ---- */
  function tile(label, value, note, part, whole) {
    return el("div.tile", null, el("p.label", null, label), el("p.value", null, value), el("p.note", null, note || "\u00a0"),
      whole !== undefined ? meter(Number(part), Number(whole), label) : null);
  }
  function tiles() {
    const d = footpath.data, t = d.totals, all = [];
    if (d.have_paths) {
      all.push(tile("Paths taken", number(t.paths[0]), "of " + short(t.within) + " within the edges that ran", t.paths[0], t.within));
      all.push(tile("Paths possible", short(t.paths[1]), "taken " + short(t.flow) + " times in " + (d.runs === 1 ? "one run" : number(d.runs) + " runs")));
    }
    all.push(tile(d.unit === "instructions" ? "Instructions" : "Cycles", short(t.cost), d.unit === "instructions" ? (d.machine ? "of the machine" : "of the compiler's IR") : d.unit === "cycles" ? "measured on paths" : "of the function that took most"));
    all.push(tile("Functions run", number(t.functions[0]), "of " + number(t.functions[1]), t.functions[0], t.functions[1]));
    all.push(tile("Edges covered", percent(t.edges[0], t.edges[1]), t.lines[1] ? "and " + percent(t.lines[0], t.lines[1]) + " of the lines" : number(t.edges[0]) + " of " + number(t.edges[1]), t.edges[0], t.edges[1]));
    if (d.gap) all.push(el("a.tile", {href: "#/gap"}, tile("Tested", footpath.testedShare(d.gap), "of this went by paths that tests took", d.gap.tested[2], d.gap.tested[2] + d.gap.untested[2] + d.gap.unknown[2])));
    return el("div.tiles", null, all);
  }
  function hotRow(hot, i, most) {
    const d = footpath.data, [index, path, count, cost, text] = hot, row = footpath.row(index);
    const bar = el("span.bar", {"aria-hidden": "true"}, el("i", {style: {width: 100 * share(cost, most) + "%"}}));
    return el("li", null, el("a.row.hot", {href: "#/f/" + index + "/p/" + path},
      el("span.rank", null, String(i + 1)), bar,
      el("b.pc", null, percent(cost, d.totals.cost)),
      el("span.what", null, el("span.fn", null, row.name), text ? footpath.sentence(base(d.files[row.file][0]) + ": " + text) : null),
      el("span.times", null, short(count), el("small", null, "×"))));
  }
  views.overview = () => {
    const d = footpath.data, t = d.totals, run = d.run_list[0], shown = d.hot.slice(0, 20);
    const most = shown.length ? shown[0][3] : 1, sum = shown.reduce((a, hot) => a + hot[3], 0);
    const problems = d.modules.filter((m) => m[1]);
    const node = el("div", null,
      el("div.head", null, el("h1", null, d.program || "footpath"),
        el("p.lead", null, command(run), run ? el("span.dim", null, when(run)) : null)),
      problems.map((m) => el("p.warning", {role: "note"}, m[0] + ": " + m[1])),
      legend(), tiles());
    if (d.columns.length) node.append(footpath.changesSection());
    else if (shown.length)
      node.append(el("section", {"aria-labelledby": "hot"}, el("h2", {id: "hot"}, "Hottest paths",
        el("span.dim", null, "these " + shown.length + " are " + percent(sum, t.cost) + " of all " + d.unit)),
        el("ol.hots", null, shown.map((hot, i) => hotRow(hot, i, most)))));
    else if (!d.have_paths)
      node.append(el("p.note", null, "This profile has edge counters alone; build with --fp-mode=path for paths."));
    const byChange = (a, b) => Math.abs(footpath.changeOf(b)) - Math.abs(footpath.changeOf(a)) || a.index - b.index;
    const top = (d.columns.length ? [...footpath.allRows()].sort(byChange) : footpath.allRows()).slice(0, 10);
    node.append(el("section", {"aria-labelledby": "top"}, el("h2", {id: "top"}, d.columns.length ? "Functions that changed most" : "Costliest functions",
      el("a.more", {href: "#/functions"}, "all " + number(footpath.allRows().length))), functionTable(top, "cost", false)));
    return {node, title: ""};
  };

  /* ---- functions ---- */
  footpath.allRows = () => {
    if (!footpath.rows) footpath.rows = footpath.data.functions.map((r, i) => footpath.row(i)).filter(Boolean);
    return footpath.rows;
  };
  const columns = () => [
    {key: "name", label: "Function", text: true, value: (r) => r.name.toLowerCase(),
     cell: (r) => [el("a.fn", {href: "#/f/" + r.index}, r.name), el("span.file", null, base(footpath.data.files[r.file][0]) + ":" + r.line), r.problem ? el("span.warning", null, r.problem) : null]},
    {key: "cost", label: footpath.data.unit === "inclusive-cycles" ? "Share" : "Own share", value: (r) => r.cost, cell: (r) => [
      footpath.data.columns.length ? columnBars(r.costs.map((cost, c) => share(cost, footpath.data.columns[c].cost)), 1, (part) => percent(part, 1)) : el("span.bar.small", {"aria-hidden": "true"}, el("i", {style: {width: 100 * share(r.cost, footpath.allRows()[0].cost) + "%"}})),
      figure(percent(r.cost, footpath.data.totals.cost))]},
    ...(footpath.data.columns.length ? [{key: "change", label: "Change", value: (r) => Math.abs(footpath.changeOf(r)), cell: (r) => footpath.difference(footpath.changeOf(r))}] : []),
    {key: "inclusive", label: footpath.inclusiveLabel(), value: (r) => r.inclusive, cell: (r) => percent(r.inclusive, footpath.data.totals.cost)},
    {key: "calls", label: "Calls", value: (r) => Number(r.calls), cell: (r) => number(r.calls)},
    {key: "taken", label: "Paths taken", value: (r) => Number(r.taken), cell: (r) => footpath.data.have_paths ? [number(r.taken), el("span.dim", null, " of " + short(r.possible)), r.cuts ? el("span.dim", {title: "Paths also end at cold edges or ways into loops"}, " ✂") : null] : "–"},
    {key: "edges", label: "Edges covered", value: (r) => share(r.edges[0], r.edges[1]) - (r.edges[1] ? 0 : 1), cell: (r) => [meter(r.edges[0], r.edges[1]), figure(percent(r.edges[0], r.edges[1]))]},
  ];
  function functionTable(rows, sorted, sortable, onSort, down = true) {
    const cols = columns();
    const header = cols.map((c) => el("th.k-" + c.key + (c.text ? "" : ".num"), {scope: "col", "aria-sort": sortable && c.key === sorted ? (down ? "descending" : "ascending") : false},
      sortable ? el("button", {type: "button", "data-key": c.key, onclick: () => onSort(c.key)}, c.label) : c.label));
    return el("div.scroll", {tabindex: "0", role: "region", "aria-label": "Functions"}, el("table.functions", null, el("thead", null, el("tr", null, header)), el("tbody", null, rows.map((r) => tableRow(cols, r)))));
  }
  const tableRow = (cols, r) => el("tr" + (Number(r.calls) ? "" : ".idle"), null, cols.map((c) => el("td" + (c.text ? "" : ".num"), {class: "k-" + c.key + (c.text ? "" : " num")}, c.cell(r))));

  views.functions = () => {
    const state = {query: "", key: footpath.data.columns.length ? "change" : "cost", down: true, shown: 100, idle: true};
    const box = el("div"), note = el("p.note", {"aria-live": "polite"});
    let list = [];
    function fill() {
      const col = columns().find((c) => c.key === state.key), matches = footpath.matcher(state.query);
      list = footpath.allRows().filter((r) => matches(r) && (state.idle || Number(r.calls)));
      if (!(state.key === "cost" && state.down))
        list.sort((a, b) => { const x = col.value(a), y = col.value(b); return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1) || a.index - b.index; });
      draw();
    }
    function draw() {
      box.replaceChildren(functionTable(list.slice(0, state.shown), state.key, true, sort, state.down));
      note.textContent = number(list.length) + (list.length === 1 ? " function" : " functions");
      if (list.length > state.shown)
        box.append(el("button.morerows", {type: "button", onclick: () => { state.shown += 400; draw(); }}, "Show more"));
    }
    function sort(key) {
      state.down = key === state.key ? !state.down : key !== "name";
      state.key = key;
      fill();
      const button = box.querySelector('button[data-key="' + key + '"]');
      if (button) button.focus();
    }
    fill();
    const node = el("div", null, el("div.head", null, el("h1", null, "Functions")), legend(),
      el("div.filters", null,
        el("label", null, el("span.hidden", null, "Filter functions"), el("input", {type: "search", id: "filter", placeholder: "Filter by name or file", autocomplete: "off", spellcheck: "false", oninput: (e) => { state.query = e.target.value; state.shown = 100; fill(); }})),
        el("label.check", null, el("input", {type: "checkbox", onchange: (e) => { state.idle = !e.target.checked; fill(); }}), " only those that ran"), note), box, el("p.note.small", null, footpath.data.columns.length ? "Change is in instructions, from the first profile. " : null, footpath.inclusiveNote()));
    return {node, title: "Functions"};
  };

  /* ---- files: the program's own, below the folder that all of them are in; headers of the system apart ---- */
  const SYSTEM = [/^\/usr\/(local\/)?(include|lib\d*)\//, /\/(include\/c\+\+|lib\d*\/(clang|gcc))\//, /^\/(opt|nix\/store)\/.*\/include\//];
  function fileTable(files, prefix, label) {
    const columns = [["name", "File"], ["share", "Share"], ["functions", "Functions"], ["lines", "Lines covered"]];
    return el("div.scroll", {tabindex: "0", role: "region", "aria-label": label}, el("table.functions.files", null,
      el("thead", null, el("tr", null, columns.map(([key, text], i) => el("th.f-" + key + (i ? ".num" : ""), {scope: "col"}, text)))),
      el("tbody", null, files.map((f) => { const name = f.name.slice(prefix.length), last = name.lastIndexOf("/") + 1; return el("tr" + (f.hit || f.program ? "" : ".idle"), null,
        el("td.f-name", null, el("a.fn", {href: "#/file/" + f.i}, last ? el("span.dim", null, name.slice(0, last)) : null, name.slice(last)), f.missing ? el("span.file", null, f.program ? "program without lines" : "source not found") : null),
        el("td.num.f-share", null, percent(f.cost, footpath.data.totals.cost)), el("td.num.f-functions", null, number(f.functions)),
        el("td.num.f-lines", null, f.program ? "–" : [meter(f.hit, f.known), figure(percent(f.hit, f.known))])); }))));
  }
  views.files = () => {
    const d = footpath.data, files = d.files.map((f, i) => ({i, name: footpath.tidy(f[0]), lines: f[1], hit: f[2], known: f[3], missing: f[4], program: f[5], functions: 0, cost: 0}));
    for (const row of footpath.allRows()) { files[row.file].functions++; files[row.file].cost += row.cost; }
    const shown = files.filter((f) => f.known || f.functions).sort((a, b) => b.cost - a.cost || (a.name < b.name ? -1 : 1));
    let system = shown.filter((f) => SYSTEM.some((pattern) => pattern.test(f.name)));
    if (system.length === shown.length) system = [];
    const own = shown.filter((f) => !system.includes(f)), prefix = commonFolder(own.map((f) => f.name)), cost = system.reduce((sum, f) => sum + f.cost, 0);
    const node = el("div", null, el("div.head", null, el("h1", null, "Files"), prefix ? el("p.lead", null, el("code", null, prefix)) : null), fileTable(own, prefix, "Files"),
      system.length ? el("details.system", null, el("summary", null, number(system.length) + (system.length === 1 ? " system header" : " system headers"), el("span.dim", null, percent(cost, d.totals.cost) + " of all " + d.unit + ", below ", el("code", null, commonFolder(system.map((f) => f.name)) || "/"))), fileTable(system, commonFolder(system.map((f) => f.name)), "System headers")) : null);
    return {node, title: "Files"};
  };
  /* The folder that all names are in, "" where there is none but the root. */
  function commonFolder(names) {
    if (!names.length) return "";
    let prefix = names[0].slice(0, names[0].lastIndexOf("/") + 1);
    for (const name of names) while (!name.startsWith(prefix)) prefix = prefix.slice(0, prefix.slice(0, -1).lastIndexOf("/") + 1);
    return prefix === "/" ? "" : prefix;
  }

  /* ---- one program without lines: its functions by address ---- */
  function programPage(info, here) {
    const d = footpath.data, rows = here.filter((r) => Number(r.calls) || r.taken).sort((a, b) => Number(a.line) - Number(b.line));
    const table = el("table.functions", null, el("thead", null, el("tr", null, ["Address", "Function", "Calls", "Own share"].map((h) => el("th", {scope: "col"}, h)))),
      el("tbody", null, rows.map((r) => el("tr", null, el("td.mono", null, String(r.line)), el("td", null, el("a.fn", {href: "#/f/" + r.index}, r.name)), el("td", null, number(r.calls)), el("td", null, percent(r.cost, d.totals.cost))))));
    return el("div", null, el("div.head", null, el("p.crumbs", null, el("a", {href: "#/files"}, "Files")), el("h1.mono", null, base(info[0])),
      el("p.lead", null, el("code", null, info[0]), el("span.dim", null, "a program without line information; " + number(rows.length) + " of its functions ran"))),
      el("div.scroll", {tabindex: "0", role: "region", "aria-label": "Functions of " + base(info[0])}, table));
  }

  /* ---- one file: its source in parts ---- */
  views.file = async (words) => {
    const file = Number(words[1]), d = footpath.data, info = d.files[file];
    if (!info) throw new Error("there is no such file");
    const here = footpath.allRows().filter((r) => r.file === file), byLine = new Map(here.map((r) => [r.line, r]));
    if (info[5]) return {node: programPage(info, here), title: base(info[0])};
    const table = el("div.code", {role: "table", "aria-label": "Source"}), more = el("button.morerows", {type: "button"}, "Show more");
    let next = Math.max(1, (Number(words[2]) || 1) - 20);
    async function add() {
      const lines = await footpath.getLines(file, next, next + 999) || [];
      const most = Math.max(1, ...lines.map((l) => Number(l.count)));
      const colour = footpath.highlighter();
      for (const l of lines) {
        const f = byLine.get(l.line);
        table.append(footpath.codeLine({line: l.line, text: l.text, more: l.more, count: l.count, most, colour, link: f ? "#/f/" + f.index : null, name: f && f.name}));
      }
      next += 1000;
      more.hidden = next > info[1];
    }
    more.addEventListener("click", add);
    await add();
    const source = el("div.scroll.source", {tabindex: "0", role: "region", "aria-label": "Source of " + base(info[0])}, table), wrapper = footpath.wrapper(source);
    const node = el("div", null, el("div.head", null, el("p.crumbs", null, el("a", {href: "#/files"}, "Files")), el("h1.mono", null, base(info[0])),
      el("p.lead", null, el("code", null, info[0]), el("span.dim", null, percent(info[2], info[3]) + " of its lines ran"), info[4] ? null : wrapper.button())),
      info[4] ? el("p.warning", {role: "note"}, info[4]) : source, info[4] ? null : more);
    return {node, title: base(info[0]), key: (e) => e.key === "w" && (wrapper.turn(), true)};
  };

  /* ---- paths never taken; functions not measured ---- */
  views.untaken = () => {
    const d = footpath.data, most = d.untaken.length ? d.untaken[0][2] : 1;
    const node = el("div", null, el("div.head", null, el("h1", null, "Never taken"),
      el("p.lead", null, "Every edge of these paths ran, but never in this combination. If branches did not depend on each other, each would have been taken about this often.")),
      el("ol.hots", null, d.untaken.map(([index, id, expected, text], i) => {
        const row = footpath.row(index);
        return el("li", null, el("a.row.hot.cold", {href: "#/f/" + index + "/u/" + id}, el("span.rank", null, String(i + 1)),
          el("span.bar", {"aria-hidden": "true"}, el("i", {style: {width: 100 * share(expected, most) + "%"}})), el("b.pc", null, "≈" + short(expected)),
          el("span.what", null, el("span.fn", null, row.name), footpath.sentence(base(d.files[row.file][0]) + ": " + text)), el("span.times", null, "0", el("small", null, "×"))));
      })), d.untaken.length ? null : el("p.note", null, "Every path that the edge counts make likely was taken."));
    return {node, title: "Never taken"};
  };
  views.skipped = () => ({title: "Not measured", node: el("div", null, el("div.head", null, el("h1", null, "Not measured"), el("p.lead", null, "These functions carry no counters.")),
    el("div.scroll", {tabindex: "0", role: "region", "aria-label": "Functions not measured"}, el("table.functions", null, el("thead", null, el("tr", null, ["Function", "Place", "Why"].map((h) => el("th", {scope: "col"}, h)))),
      el("tbody", null, footpath.data.skipped.map((s) => el("tr", null, el("td.fn", null, s[0]), el("td", null, base(footpath.data.files[s[1]][0]) + ":" + s[2]), el("td", null, s[3]))))))) });
})();
