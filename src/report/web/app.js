/* The report's page: data, routes, keys. Data files call footpath.index,
 * footpath.functions and footpath.source; nothing is fetched, so the page works
 * from a folder. All text goes into the page by textContent: see el(). */
"use strict";
const footpath = (() => {
  const self = {views: {}, data: null};
  const loaded = new Map(), functions = new Map(), sources = new Map();

  /* ---- making elements: el("a.name", {href: ..}, child, "text", ..) ---- */
  const SVG = new Set(["svg", "g", "path", "rect", "text", "tspan", "line", "circle", "title", "defs", "marker"]);
  self.el = (what, attributes, ...children) => {
    const [tag, ...classes] = what.split(".");
    const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    if (classes.length) node.setAttribute("class", classes.join(" "));
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === false || value == null) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key === "style") for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child != null && child !== false));
    return node;
  };

  /* ---- numbers as people read them ---- */
  self.number = (value) => {
    const text = typeof value === "string" ? value : String(Math.round(value));
    return text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  };
  self.short = (value) => {
    const n = Number(value);
    if (n < 1e5) return self.number(n);
    for (const [unit, size] of [["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]])
      if (n < size * 1000) return (n / size).toPrecision(3) + unit;
    const power = Math.floor(Math.log10(n));
    return (n / 10 ** power).toFixed(1) + "·10" + String(power).replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
  };
  self.percent = (part, whole) => {
    const p = whole > 0 ? 100 * part / whole : 0;
    return p === 0 ? "0%" : p < 0.1 ? "<0.1%" : p < 99.95 || p === 100 ? p.toFixed(p >= 100 ? 0 : 1) + "%" : ">99.9%";
  };
  self.share = (part, whole) => (whole > 0 ? Math.max(0, Math.min(1, part / whole)) : 0);
  /* a/b/../c is a/c, where no link is in between; compilers write many of those. */
  self.tidy = (path) => {
    for (let was = null; was !== path;) { was = path; path = path.replace(/(^|\/)(?!\.\.?\/)[^/]+\/\.\.\//, "$1").replace(/(^|\/)\.\//, "$1"); }
    return path;
  };
  self.base = (path) => path.slice(path.lastIndexOf("/") + 1);

  /* ---- data on demand ---- */
  function load(url) {
    if (!loaded.has(url))
      loaded.set(url, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => { loaded.delete(url); reject(new Error(url + " is missing")); };
        document.head.append(script);
      }));
    return loaded.get(url);
  }
  self.functions = (some) => { for (const [index, f] of Object.entries(some)) functions.set(Number(index), f); };
  self.source = (file, part, lines, counts) => sources.set(file + "-" + part, {lines, counts});
  self.flame = (frames) => { self.frames = frames; };
  self.getFlame = async () => { await load("data/flame.js"); return self.frames; };
  self.gaps = (gaps) => { self.allGaps = gaps; };
  self.getGaps = async () => { await load("data/gap.js"); return self.allGaps; };
  self.getFunction = async (index) => {
    if (!functions.has(index)) await load("data/f/" + self.row(index).chunk + ".js");
    return functions.get(index);
  };
  /* Lines first..last of a file: [{line, text, more, count}], or null without the source. */
  self.getLines = async (file, first, last) => {
    const size = self.data.source_lines, total = self.data.files[file][1], out = [];
    if (!total) return null;
    last = Math.min(last, total);
    for (let part = Math.floor((first - 1) / size); part <= Math.floor((last - 1) / size); part++) {
      await load("data/s/" + file + "-" + part + ".js");
      const {lines, counts} = sources.get(file + "-" + part);
      for (let i = 0; i < lines.length; i++) {
        const line = part * size + i + 1, text = lines[i];
        if (line < first || line > last) continue;
        out.push({line, text: Array.isArray(text) ? text[0] : text, more: Array.isArray(text) ? text[1] : 0, count: counts[i]});
      }
    }
    return out;
  };

  /* A function's row, with names for its columns. */
  self.row = (index) => {
    const r = self.data.functions[index];
    if (!r) return null;
    return {index, name: r[0], file: r[1], line: r[2], calls: r[3], cost: r[4], taken: r[5], possible: r[6],
            blocks: [r[7], r[8]], edges: [r[9], r[10]], basis: [r[11], r[12]], chunk: r[13], cuts: r[14],
            problem: r[15], inclusive: r[16], costs: r.slice(17)};
  };

  /* ---- routes: #/, #/functions, #/f/INDEX/p/PATH .. ---- */
  let visit = 0;
  self.go = (route) => { location.hash = route; };
  self.route = () => location.hash.replace(/^#/, "").split("/").slice(1).map(decodeURIComponent);
  async function show() {
    const words = self.route(), mine = ++visit;
    if (location.hash && !location.hash.startsWith("#/")) return; /* the skip link */
    if (self.view && self.view.update && self.view.update(words)) return;
    const view = self.views[words[0] || "overview"] || self.views.overview;
    const main = document.getElementById("main");
    try {
      const made = await view(words);
      if (mine !== visit) return;
      self.view = made;
      main.replaceChildren(made.node);
      main.className = made.wide ? "wide" : "";
      document.title = (made.title ? made.title + " · " : "") + self.data.program + " · footpath";
      tabs(words[0] || "overview");
      window.scrollTo(0, 0);
      if (made.ready) made.ready();
    } catch (error) {
      main.replaceChildren(self.el("p.wait", {role: "alert"}, "This page could not be shown: " + error.message));
    }
  }
  function tabs(current) {
    const d = self.data, all = [["overview", "Overview", ""], ["functions", "Functions", "functions"], ["flame", "Flame graph", "flame"], ["files", "Files", "files"]];
    if (d.gap) all.push(["gap", "Untested", "gap"]);
    if (d.history) all.push(["history", "History", "history"]);
    if (d.have_paths) all.push(["untaken", "Never taken", "untaken"]);
    if (d.skipped.length) all.push(["skipped", "Not measured", "skipped"]);
    document.getElementById("tabs").replaceChildren(...all.map(([key, label, to]) =>
      self.el("a", {href: "#/" + to, "aria-current": key === current ? "page" : false}, label)));
  }

  /* ---- light and dark ---- */
  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("footpath-theme", theme); } catch { /* private window */ }
  }
  function initTheme() {
    let theme = null;
    try { theme = localStorage.getItem("footpath-theme"); } catch { /* private window */ }
    document.documentElement.dataset.theme = theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.getElementById("theme").addEventListener("click", flipTheme);
  }
  const flipTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

  /* ---- search: words in any order, in name or file ---- */
  self.matcher = (query) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) => {
      const text = (row.name + " " + self.data.files[row.file][0]).toLowerCase();
      return words.every((word) => text.includes(word));
    };
  };
  function initSearch() {
    const input = document.getElementById("search"), list = document.getElementById("found");
    let at = -1;
    const close = () => { list.hidden = true; at = -1; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); };
    const mark = () => [...list.children].forEach((item, i) => {
      item.setAttribute("aria-selected", i === at);
      if (i === at) { input.setAttribute("aria-activedescendant", item.id); item.scrollIntoView({block: "nearest"}); }
    });
    const open = (item) => { close(); input.value = ""; input.blur(); self.go("/f/" + item.dataset.index); };
    input.addEventListener("input", () => {
      const query = input.value.trim(), found = [];
      if (!query) return close();
      const matches = self.matcher(query);
      for (let i = 0; i < self.data.functions.length && found.length < 12; i++) {
        const row = self.row(i);
        if (row && matches(row)) found.push(row);
      }
      list.replaceChildren(...found.map((row, i) => self.el("li", {role: "option", id: "found-" + i, "data-index": row.index, "aria-selected": "false",
        onmousedown: (e) => { e.preventDefault(); open(e.currentTarget); }},
        self.el("b", null, row.name), self.el("span", null, self.base(self.data.files[row.file][0]) + ":" + row.line))));
      if (!found.length) list.append(self.el("li.none", {role: "option", "aria-disabled": "true", "aria-selected": "false"}, "No function is called that"));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      at = found.length ? 0 : -1;
      mark();
    });
    input.addEventListener("keydown", (e) => {
      const items = list.querySelectorAll("[data-index]");
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        if (items.length) { at = (at + (e.key === "ArrowDown" ? 1 : items.length - 1)) % items.length; mark(); }
        e.preventDefault();
      } else if (e.key === "Enter" && items[at]) open(items[at]);
      else if (e.key === "Escape") { input.value = ""; close(); input.blur(); }
    });
    input.addEventListener("blur", close);
  }

  /* ---- keys ---- */
  function onKey(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || document.getElementById("help").open) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    if (self.view && self.view.key && self.view.key(e)) { e.preventDefault(); return; }
    if (e.key === "/") document.getElementById("search").focus();
    else if (e.key === "t") flipTheme();
    else if (e.key === "?") document.getElementById("help").showModal();
    else if (e.key === "Escape") self.go("/");
    else if (e.key === "j" || e.key === "ArrowDown") moveRow(1, e);
    else if (e.key === "k" || e.key === "ArrowUp") moveRow(-1, e);
    else return;
    if (e.key === "/" || e.key === "j" || e.key === "k") e.preventDefault();
  }
  function moveRow(step, e) {
    const rows = [...document.querySelectorAll("main a.row, main td a, main .call a.fn, main .gap a.fn")].filter((row) => row.offsetParent), at = rows.indexOf(document.activeElement);
    if (at < 0 && e.key.startsWith("Arrow")) return; /* scrolls */
    const next = rows[at < 0 ? 0 : at + step];
    if (next) { next.focus(); e.preventDefault(); }
  }

  self.index = (data) => {
    self.data = data;
    initTheme();
    initSearch();
    document.addEventListener("keydown", onKey);
    document.getElementById("keys").addEventListener("click", () => document.getElementById("help").showModal());
    window.addEventListener("hashchange", show);
    show();
  };
  return self;
})();
