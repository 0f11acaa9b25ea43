/* A function's page: its paths, its source, its graph. Choosing a path lights its
 * lines and blocks. */
"use strict";
(() => {
  const {el, number, short, percent, share, base, views} = footpath;

  /* ---- source lines, shared with the page of a file ---- */
  const WORDS = new Set(("alignas alignof asm auto bool break case catch char class const constexpr continue decltype default delete do double else enum explicit extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register restrict return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t size_t").split(" "));
  const TOKEN = /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|^\s*#\s*\w+|\b\d[\w.']*|[A-Za-z_]\w*/g;
  /* A function from lines, in order, to pieces of them: it knows of open comments. */
  footpath.highlighter = () => {
    let inside = false;
    return (text) => {
      const out = [];
      let at = 0;
      if (inside) {
        const end = text.indexOf("*/");
        if (end < 0) return [el("span.cm", null, text)];
        out.push(el("span.cm", null, text.slice(0, end + 2)));
        at = end + 2;
        inside = false;
      }
      TOKEN.lastIndex = at;
      for (let m; (m = TOKEN.exec(text));) {
        const token = m[0], kind = token.startsWith("//") || token.startsWith("/*") ? "cm" : /^["']/.test(token) ? "st" : /^\s*#/.test(token) ? "pp" : /^\d/.test(token) ? "nu" : WORDS.has(token) ? "kw" : "";
        if (!kind) continue;
        out.push(text.slice(at, m.index), el("span." + kind, null, token));
        at = m.index + token.length;
        if (token.startsWith("/*") && !token.endsWith("*/")) inside = true;
      }
      out.push(text.slice(at));
      return out;
    };
  };
  function branchBars(branches) {
    if (!branches || !branches.length) return el("span.br", {role: "cell"});
    const b = branches[0], sum = b.ways.reduce((a, w) => a + w.count, 0);
    const text = branches.map((one) => one.ways.map((w) => (w.label || "other") + " " + percent(w.count, one.ways.reduce((a, v) => a + v.count, 0))).join(", ")).join("; ");
    return el("span.br", {role: "cell", title: text}, sum ? el("span.ways", {role: "img", "aria-label": text}, b.ways.map((w, i) => el("i.w" + Math.min(i, 3), {style: {"flex-grow": String(w.count)}}))) : null,
      sum ? el("span.pc", null, percent(b.ways[0].count, sum)) : null);
  }
  footpath.codeLine = ({line, text, more, count, most, colour, branches, key, link, name}) => {
    const n = count === undefined || count === -1 ? -1 : Number(count);
    const heat = n > 0 ? 0.04 + 0.34 * Math.sqrt(n / most) : 0;
    return el("div.ln" + (n === 0 ? ".never" : n < 0 ? ".plain" : ""), {role: "row", "data-key": key || false, style: heat ? {"--warm": heat.toFixed(3)} : {}},
      el("span.no", {role: "rowheader"}, link ? el("a", {href: link, "aria-label": "function " + name}, String(line)) : String(line)),
      el("span.ct", {role: "cell", title: n >= 0 ? number(count) + " times" : false}, n > 0 ? short(count) : n === 0 ? "0" : ""),
      branches !== undefined ? branchBars(branches) : null,
      el("code", {role: "cell"}, colour(text.replace(/\t/g, "    ")), more ? el("em", null, " … " + number(more) + " more characters") : null));
  };

  /* ---- what the lines and paths of a function are ---- */
  const keyOf = (f, scope, line) => f.s[scope][1] + ":" + line;
  /* A block's lines, and the lines of the calls that brought inlined ones there. */
  function blockKeys(f, b, visit) {
    const p = f.b[b][3];
    if (f.a) return footpath.code.visit(f, b, visit);
    for (let i = 0; i < p.length; i += 2)
      for (let scope = p[i], line = p[i + 1]; ; line = f.s[scope][3], scope = f.s[scope][2]) {
        visit(keyOf(f, scope, line), scope === p[i]);
        if (f.s[scope][2] < 0) break;
      }
  }
  function lineFacts(f) {
    if (f.a) return footpath.code.facts(f);
    const perScope = new Map(), counts = new Map(), branches = new Map();
    f.b.forEach((b) => {
      if (b[1] & 64) return;
      for (let i = 0; i < b[3].length; i += 2) {
        const key = b[3][i] + "/" + b[3][i + 1];
        perScope.set(key, Math.max(perScope.get(key) || 0, Number(b[2])));
      }
    });
    for (const [key, count] of perScope) {
      const [scope, line] = key.split("/"), place = keyOf(f, scope, line);
      counts.set(place, (counts.get(place) || 0) + count);
    }
    for (let i = 0; f.z && i < f.z.length; i += 2) counts.delete(f.z[i] + ":" + f.z[i + 1]);
    const ways = new Map();
    f.e.forEach((e) => { if (e[3] !== 3 && e[2] !== 2) ways.set(e[0], (ways.get(e[0]) || []).concat({label: e[4], count: Number(e[5])})); });
    for (const [b, list] of ways) {
      const p = f.b[b][3];
      if (list.length < 2 || !p.length) continue;
      const place = keyOf(f, p[p.length - 2], p[p.length - 1]);
      branches.set(place, (branches.get(place) || []).concat({ways: list, count: Number(f.b[b][2])}));
    }
    for (const list of branches.values()) list.sort((a, b) => b.count - a.count);
    return {counts, branches};
  }
  /* The function's own stretch of source, then one for each function inlined into it. */
  function stretches(f, row) {
    const own = {file: row.file, first: f.l[0] || row.line, last: f.l[1] || row.line, name: null}, others = new Map();
    f.b.forEach((b) => {
      for (let i = 0; i < b[3].length; i += 2) {
        const [name, file, parent] = f.s[b[3][i]], line = b[3][i + 1];
        if (parent < 0 && file === row.file) continue;
        const key = name + "\n" + file, known = others.get(key) || {name: name || "elsewhere", file, first: line, last: line, weight: 0};
        known.first = Math.min(known.first, line);
        known.last = Math.max(known.last, line);
        known.weight += Number(b[2]) * b[0];
        others.set(key, known);
      }
    });
    return [own, ...[...others.values()].sort((a, b) => b.weight - a.weight)];
  }
  const readWay = (p, at) => ({start: p[at], end: p[at + 1], first: p[at + 2], endEdge: p[at + 3], edges: p[at + 4]});
  function pathBlocks(f, way) {
    const blocks = [way.first];
    for (const e of way.edges) blocks.push(f.e[e][1]);
    return blocks;
  }
  const degrees = (f) => { if (!f.degree) { f.degree = f.b.map(() => 0); f.e.forEach((e) => { f.degree[e[0]]++; }); } return f.degree; };
  /* "8 8(false) 11(true) 17", as `footpath show` writes it. */
  function pathText(f, row, way) {
    const steps = [], degree = degrees(f), blocks = pathBlocks(f, way);
    const outs = blocks.map((b, i) => (i < way.edges.length ? way.edges[i] : way.end === 3 ? -1 : way.endEdge));
    const ends = ["", " …", " (loop)", " (left)"][way.end];
    if (f.a) return (way.start ? "… " : "") + footpath.code.steps(f, blocks, outs, degree).join(" ") + ends;
    blocks.forEach((b, i) => {
      const p = f.b[b][3], out = outs[i];
      if (!p.length) return;
      const choice = out >= 0 && degree[b] > 1, before = steps[steps.length - 1], last = p.length - 2;
      const repeats = before && before.scope === p[0] && before.line === p[1];
      const same = p[0] === p[last] && p[1] === p[last + 1];
      if (!(repeats && before.edge < 0) && !(choice && same)) steps.push({scope: p[0], line: p[1], edge: -1});
      if (choice) steps.push({scope: p[last], line: p[last + 1], edge: out});
    });
    let file = row.file, text = way.start ? "… " : "";
    text += steps.map((s) => {
      const here = f.s[s.scope][1], name = here === file ? "" : base(footpath.data.files[here][0]) + ":";
      file = here;
      return name + s.line + (s.edge >= 0 && f.e[s.edge][4] ? "(" + f.e[s.edge][4] + ")" : "");
    }).join(" ");
    if (!steps.length) text += "blocks " + blocks.join(" ");
    return text + ends;
  }

  /* How often per call over the runs of a combined profile, as a small histogram. */
  function spreadOf([runs, seen, mean, deviation, least, most, lower, width, bins]) {
    const top = Math.max(1, ...bins), digits = (x) => Number(x.toPrecision(3)).toString();
    const label = "per call " + digits(mean) + " ± " + digits(deviation) + " over " + number(runs) + " runs, from " + digits(least) + " to " + digits(most) + (seen < runs ? "; not in " + number(runs - seen) : "");
    return el("span.spread", null, el("svg", {viewBox: "0 0 " + 6 * bins.length + " 18", width: 6 * bins.length, height: 18, role: "img", "aria-label": label},
      bins.map((b, i) => el("rect", {x: 6 * i, width: 5, y: 18 - 18 * b / top, height: 18 * b / top}, el("title", null, digits(lower + i * width) + " to " + digits(lower + (i + 1) * width) + ": " + number(b) + " runs")))), " " + label);
  }

  /* ---- the page ---- */
  views.f = async (words) => {
    const index = Number(words[1]), row = footpath.row(index);
    if (!row) throw new Error("there is no such function");
    const f = await footpath.getFunction(index), facts = lineFacts(f), d = footpath.data;
    const taken = f.p.map((p, i) => ({key: "p/" + i, id: p[0], count: p[1], cost: p[2], instructions: p[3], branches: p[4], way: readWay(p, 5), sides: p[10] || null, spread: p[11] || null}));
    for (const [place, edge, block, reason, file, line] of f.x || []) if (taken[place]) taken[place].gap = {edge, block, reason, key: f.a ? "a:" + Number(line) : file + ":" + line, line};
    /* Of several profiles the largest difference in instructions comes first. */
    const signed = (p) => (p.sides || []).map((c) => (Number(c) - Number(p.sides[0])) * p.instructions).reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
    if (d.columns.length) taken.sort((a, b) => Math.abs(signed(b)) - Math.abs(signed(a)));
    const untaken = (f.u || []).map((p) => ({key: "u/" + p[0], id: p[0], expected: p[1], idle: p[2], way: readWay(p, 3)}));
    const live = f.b.map((b, i) => i).filter((i) => !(f.b[i][1] & 64));
    const large = live.length > 160;
    const state = {untaken: words[2] === "u", calls: words[2] === "c", chosen: null, whole: !large};
    const most = [...facts.counts.values()].reduce((a, b) => Math.max(a, b), 1);
    const rows = new Map(); /* "file:line" -> elements */
    let graph, drawn = null;
    const holder = el("div.holder");

    /* graph: of a large function only the part that matters, a path with the ways off
     * it or else the blocks that run most */
    function partFor(p) {
      if (state.whole) return null;
      const byCount = (a, b) => Number(f.b[b][2]) - Number(f.b[a][2]) || a - b;
      if (!p) return new Set([...live].sort(byCount).slice(0, 60));
      const keep = new Set(pathSet(p)), off = new Map();
      for (const [src, dst, , fate] of f.e)
        if (fate !== 3 && pathSet(p).has(src) && !pathSet(p).has(dst)) off.set(src, (off.get(src) || []).concat(dst));
      for (const list of off.values()) for (const b of list.sort(byCount).slice(0, 3)) keep.add(b);
      return keep;
    }
    const pathSet = (p) => { if (!p.blocks) p.blocks = new Set(pathBlocks(f, p.way)); return p.blocks; };
    function drawFor(p) {
      const what = state.whole ? "whole" : p ? p.key : "hot";
      if (drawn === what) return;
      drawn = what;
      graph = footpath.drawGraph(f, row.file, row.name, pickBlock, partFor(p));
      holder.replaceChildren(graph.box);
      graph.fit();
    }

    /* source */
    const kind = f.a ? "Code" : "Source";
    const sourceBox = el("div.panel.source", {tabindex: "0", role: "region", "aria-label": kind + " of " + row.name});
    const wrapper = footpath.wrapper(sourceBox);
    /* The instructions, of an executable without lines. */
    function fillCode() {
      const table = el("div.code.asm", {role: "table", "aria-label": row.name});
      sourceBox.append(el("h2.where", null, base(d.files[row.file][0]) + ":" + row.line, wrapper.button()), table);
      if (f.a.why) table.before(el("p.note", null, "No disassembly: " + f.a.why));
      for (const one of footpath.code.rows(f)) {
        const key = footpath.code.keyOf(one.address), node = footpath.code.line(f, one, most, facts.branches.get(key));
        rows.set(key, [node]);
        table.append(node);
      }
    }
    async function fillSource() {
      if (f.a) return fillCode();
      for (const stretch of stretches(f, row)) {
        const info = d.files[stretch.file], lines = stretch.last - stretch.first < 20000 ? await footpath.getLines(stretch.file, Math.max(1, stretch.first), stretch.last) : null;
        const table = el("div.code", {role: "table", "aria-label": stretch.name || row.name}), colour = footpath.highlighter();
        sourceBox.append(el("h2.where", null, el("a", {href: "#/file/" + stretch.file + "/" + stretch.first}, base(info[0]) + ":" + stretch.first),
          stretch.name ? el("span", null, "inlined ", el("b", null, stretch.name)) : null, wrapper.button()), table);
        const list = lines || [...facts.counts.keys()].filter((k) => k.startsWith(stretch.file + ":")).map((k) => ({line: Number(k.split(":")[1]), text: "", more: 0})).filter((l) => l.line >= stretch.first && l.line <= stretch.last).sort((a, b) => a.line - b.line);
        if (!lines) table.before(el("p.note", null, info[4] ? info[0] + ": " + info[4] : "The source of this function is not available."));
        for (const l of list) {
          const key = stretch.file + ":" + l.line, node = footpath.codeLine({line: l.line, text: l.text, more: l.more, count: facts.counts.has(key) ? facts.counts.get(key) : -1, most, colour, branches: facts.branches.get(key) || null, key});
          rows.set(key, (rows.get(key) || []).concat(node));
          table.append(node);
        }
      }
    }

    /* paths */
    const listBox = el("div.list", {role: "listbox", "aria-label": "Paths", tabindex: "0", onkeydown: null});
    const switcher = el("div.switch", {role: "group", "aria-label": "Paths, or calls"});
    const callsBox = footpath.callsPanel(f, row);
    const detail = el("p.detail", {"aria-live": "polite"});
    const current = () => (state.untaken ? untaken : taken);
    function pathRow(p) {
      const top = state.untaken ? Math.max(1e-9, untaken[0].expected) : f.p[0][2];
      const figures = state.untaken
        ? [el("b", null, p.expected >= 0.5 ? "≈" + short(p.expected) : p.idle ? "0" : "<1"), el("small", null, p.idle ? p.idle + (p.idle === 1 ? " edge never ran" : " edges never ran") : "expected, never taken")]
        : d.columns.length && p.sides
        ? [footpath.difference(signed(p)), el("small", null, p.sides.map(short).join(" → ") + "×")]
        : [el("b", null, percent(p.cost, row.cost)), el("small", null, p.spread && p.spread[2] > 0 ? "±" + (100 * p.spread[3] / p.spread[2]).toFixed(0) + "%  " : "", short(p.count) + "×")];
      const bars = d.columns.length && p.sides ? footpath.columnBars(p.sides.map(Number), Math.max(...p.sides.map(Number)), (n) => number(n) + " times")
        : el("span.bar", {"aria-hidden": "true"}, el("i", {style: {width: 100 * share(state.untaken ? p.expected : p.cost, top) + "%"}}));
      return el("div.path", {role: "option", id: "path-" + p.key.replace("/", "-"), "aria-selected": "false", "data-key": p.key, onclick: () => choose(p)},
        bars, el("span.figures", null, figures), p.gap ? el("span.untested", null, "no test took it") : null, footpath.pathText(pathText(f, row, p.way)));
    }
    function fillList() {
      const list = current(), rest = f.r;
      const tabs = [["Taken", row.taken, false, false], ["Never", f.ut, true, false], ["Calls", footpath.callCount(f), false, true]];
      switcher.replaceChildren(...tabs.filter((s) => !s[2] || untaken.length).map(([label, count, never, calls]) =>
        el("button", {type: "button", "aria-pressed": String(state.untaken === never && state.calls === calls), onclick: () => turn(never, calls)}, label, never ? el("span.hidden", null, " taken") : null, " ", el("span.dim", null, short(count)))));
      listBox.hidden = state.calls;
      callsBox.hidden = !state.calls;
      listBox.replaceChildren(...list.map(pathRow));
      if (!state.untaken && rest[0]) listBox.append(el("p.note", {role: "presentation"}, number(rest[0]) + " more paths, " + percent(rest[2], row.cost) + " of the cost; footpath report --paths N lists more"));
      if (!list.length) listBox.append(el("p.note", {role: "presentation"}, row.problem || (d.have_paths ? "No path was taken here." : "This function has no path counters.")));
    }
    function turn(never, calls) {
      Object.assign(state, {untaken: never, calls});
      fillList();
      choose(null);
    }
    function describe(p) {
      if (!p) {
        const b = row.basis;
        return [el("b", null, short(row.taken)), " of ", el("b", null, short(row.possible)), " paths taken; ", el("b", null, b[0] + " of " + b[1]), " independent ones; edges ", el("b", null, row.edges[0] + " of " + row.edges[1]),
          row.cuts ? ". Besides back edges, paths end at " + row.cuts + " cold edges or ways into loops" : "", ". Choose a path to light it."];
      }
      const from = p.way.start ? "from a loop head or cut" : "from the entry", to = ["to the end of the function", "to a back edge", "once round a loop", "left for good in mid-path"][p.way.end];
      const edges = p.way.edges.length + (p.way.endEdge >= 0 ? 1 : 0);
      if (p.expected !== undefined)
        return [el("b", null, "Never taken"), p.idle ? " because " + p.idle + " of its edges never ran, " : " though each of its edges ran; about " + short(p.expected) + " times were to be expected, ", from + " " + to + ", " + edges + " edges (path " + p.id + ")."];
      return [el("b", null, number(p.count)), " times, ", el("b", null, percent(p.cost, row.cost)), " of this function and ", el("b", null, percent(p.cost, d.totals.cost)), " of the program: " + from + " " + to + ", " + p.instructions + " instructions, " + p.branches + (p.branches === 1 ? " branch" : " branches") + " (path " + p.id + ").",
        p.gap ? el("span.untested", null, " No test took it" + (p.gap.edge >= 0 || p.gap.block >= 0 ? ": it leaves what was tested at " + (f.a ? "" : "line ") + p.gap.line : "") + " (" + p.gap.reason + ").") : null,
        p.spread ? spreadOf(p.spread) : null,
        d.columns.length && p.sides ? el("span.sides", null, d.columns.map((c, i) => el("span", null, el("i.c" + i % 6), c.label + " " + number(p.sides[i]) + "× "))) : null];
    }
    function light(p) {
      const blocks = new Set(p ? pathBlocks(f, p.way) : []), edges = new Set(p ? p.way.edges : []), keys = new Map();
      if (p && p.way.endEdge >= 0) edges.add(p.way.endEdge);
      for (const b of blocks) blockKeys(f, b, (key, own) => keys.set(key, own || keys.get(key) || false));
      sourceBox.classList.toggle("choosing", keys.size > 0);
      for (const [key, nodes] of rows)
        for (const node of nodes) {
          node.classList.toggle("lit", keys.has(key));
          node.classList.toggle("via", keys.get(key) === false); /* the call of what was inlined */
        }
      fold(keys.size > 0);
      const first = sourceBox.querySelector(".lit:not(.via)") || sourceBox.querySelector(".lit");
      if (first) sourceBox.scrollTo({top: first.offsetTop - sourceBox.clientHeight / 4, behavior: footpath.calm ? "auto" : "smooth"});
      drawFor(p);
      graph.light(blocks, edges);
      mark(p && p.gap);
    }
    /* Where a path leaves what was tested: the line of the branch, and its edge. */
    function mark(gap) {
      document.querySelectorAll(".ln.leaves, .edge.leaves, .block.leaves").forEach((node) => node.classList.remove("leaves"));
      if (!gap || (gap.edge < 0 && gap.block < 0)) return;
      for (const node of rows.get(gap.key) || []) node.classList.add("leaves");
      const drawn = graph.box.querySelector(gap.edge >= 0 ? '[data-edge="' + gap.edge + '"]' : '[data-block="' + gap.block + '"]');
      if (drawn) drawn.classList.add("leaves");
    }
    /* Of a long stretch only what is near the path stays; the first line of what is
     * folded away stands for it. */
    function fold(on) {
      for (const table of sourceBox.querySelectorAll(".code")) {
        const list = [...table.children], near = new Uint8Array(list.length);
        list.forEach((node, i) => { if (node.classList.contains("lit")) for (let k = Math.max(0, i - 3); k <= Math.min(list.length - 1, i + 3); k++) near[k] = 1; });
        const any = on && list.length > 50 && near.some(Boolean);
        for (let i = 0; i < list.length; i++) {
          let end = i;
          while (any && end < list.length && !near[end]) end++;
          const folded = end - i >= 4;
          for (let k = i; k < Math.max(end, i + 1); k++) { list[k].classList.toggle("far", folded && k > i); list[k].classList.toggle("fold", folded && k === i); }
          if (folded) list[i].dataset.fold = number(end - i);
          i = Math.max(end, i + 1) - 1;
        }
      }
    }
    const unfold = (e) => { if (e.target.closest(".ln.fold")) sourceBox.querySelectorAll(".far, .fold").forEach((node) => node.classList.remove("far", "fold")); };
    sourceBox.addEventListener("click", unfold);
    function choose(p, quiet) {
      state.chosen = p;
      for (const node of listBox.querySelectorAll(".path")) {
        const on = p && node.dataset.key === p.key;
        node.setAttribute("aria-selected", String(!!on));
        if (on) { listBox.setAttribute("aria-activedescendant", node.id); node.scrollIntoView({block: "nearest"}); }
      }
      detail.replaceChildren(...describe(p).filter(Boolean));
      light(p);
      if (!quiet) history.replaceState(null, "", "#/f/" + index + (p ? "/" + p.key : state.calls ? "/c" : ""));
    }
    function pickBlock(b) {
      const first = [];
      blockKeys(f, b, (key) => first.push(key));
      document.querySelectorAll(".ln.picked, .block.picked").forEach((n) => n.classList.remove("picked"));
      for (const key of first.slice(0, 40)) for (const node of rows.get(key) || []) node.classList.add("picked");
      const node = graph.box.querySelector('[data-block="' + b + '"]'), line = first.length && rows.get(first[0]);
      if (node) node.classList.add("picked");
      if (line) sourceBox.scrollTo({top: line[0].offsetTop - sourceBox.clientHeight / 3, behavior: "smooth"});
    }
    const step = (by) => {
      const list = current(), at = list.indexOf(state.chosen), next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by];
      if (next) choose(next);
    };

    await fillSource();
    fillList();

    const part = large ? el("button", {type: "button", "aria-pressed": "false", onclick: (e) => {
      state.whole = !state.whole;
      e.currentTarget.setAttribute("aria-pressed", String(state.whole));
      light(state.chosen);
    }}, "all " + live.length + " blocks") : null;
    const zoom = el("div.zoom", null, part, [["−", "Zoom out", () => graph.zoom(1 / 1.25)], ["fit", "Fit the graph", () => graph.fit()], ["+", "Zoom in", () => graph.zoom(1.25)]].map(([text, label, act]) => el("button", {type: "button", "aria-label": label, onclick: act}, text)));
    const panels = el("div.panels", {"data-panel": "paths"},
      el("section.panel.paths", {"aria-label": "Paths and calls"}, switcher, listBox, callsBox), sourceBox,
      el("section.panel.drawing", {"aria-label": "Graph"}, zoom, holder));
    const splitter = footpath.splitter(panels, () => graph.fit());
    panels.children[0].after(splitter.handles[0]);
    panels.children[2].after(splitter.handles[1]);
    const chooser = el("div.switch.phone", {role: "group", "aria-label": "Part shown"}, ["Paths", kind, "Graph"].map((label, i) => el("button", {type: "button", "aria-pressed": String(i === 0), onclick: (e) => {
      panels.dataset.panel = label === kind ? "source" : label.toLowerCase();
      for (const b of chooser.children) b.setAttribute("aria-pressed", String(b === e.currentTarget));
      if (label === "Graph") graph.fit();
      light(state.chosen);
    }}, label)));
    const node = el("div.function", null,
      el("div.head", null, el("p.crumbs", null, el("a", {href: "#/"}, "Overview"), f.a ? el("span", null, base(d.files[row.file][0]) + ":" + row.line) : el("a", {href: "#/file/" + row.file + "/" + row.line}, base(d.files[row.file][0]) + ":" + row.line)),
        el("h1.mono", null, row.name),
        el("p.facts", null, el("span", null, el("b", null, percent(row.cost, d.totals.cost)), " of all " + d.unit), el("span", {title: footpath.inclusiveNote()}, el("b", null, percent(row.inclusive, d.totals.cost)), footpath.inclusiveLabel() === "Inclusive" ? " inclusive" : " inclusive, estimated"),
          el("a", {href: "#/f/" + index + "/c"}, el("b", null, number(row.calls)), Number(row.calls) === 1 ? " call" : " calls"),
          row.inclusive > 0 ? el("a", {href: "#/flame/" + index}, "flame graph") : null, f.h ? el("a", {href: "#/history/" + index}, "history") : null),
        footpath.legend()), detail, chooser, panels);

    const find = (w) => (w[2] === "u" ? untaken : taken).find((p) => p.key === w[2] + "/" + w[3]) || null;
    return {
      node, wide: true, title: row.name,
      ready: () => { const was = footpath.calm; splitter.ready(); footpath.calm = true; choose(find(words), true); footpath.calm = was; },
      update: (w) => {
        if (w[0] !== "f" || Number(w[1]) !== index) return false;
        if (state.untaken !== (w[2] === "u") || state.calls !== (w[2] === "c")) { Object.assign(state, {untaken: w[2] === "u", calls: w[2] === "c"}); fillList(); }
        choose(find(w), true);
        return true;
      },
      key: (e) => {
        if (state.calls && /^(j|k|Arrow)/.test(e.key)) return false;
        if (e.key === "j" || e.key === "ArrowDown") step(1);
        else if (e.key === "k" || e.key === "ArrowUp") step(-1);
        else if (e.key === "u" && untaken.length) turn(!state.untaken, false);
        else if (e.key === "c") turn(false, !state.calls);
        else if (e.key === "w") wrapper.turn();
        else if (e.key === "+" || e.key === "=") graph.zoom(1.25);
        else if (e.key === "-") graph.zoom(1 / 1.25);
        else if (e.key === "0") graph.fit();
        else if (e.key === "f") sourceBox.querySelectorAll(".far, .fold").forEach((node) => node.classList.remove("far", "fold"));
        else if (e.key === "Escape" && state.chosen) choose(null);
        else return false;
        return true;
      },
    };
  };
  footpath.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
})();
