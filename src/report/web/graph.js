/* A function's control-flow graph as SVG. Costly functions come with coordinates by
 * Graphviz; the others are laid out here: layers by longest way from the entry,
 * edges that close loops turned round, long edges over points of their own in each
 * layer, a few sweeps by mean neighbour against crossings (Sugiyama's way). */
"use strict";
(() => {
  const {el, short, percent} = footpath;
  const W = 104, H = 38, GAP_X = 18, GAP_Y = 34, DEAD = 64;

  /* ---- layout ---- */
  function findBack(f, out) {
    const state = new Uint8Array(f.b.length), back = new Set(), order = [];
    const roots = f.b.map((b, i) => i).filter((i) => !(f.b[i][1] & DEAD));
    for (const root of roots) {
      if (state[root]) continue;
      const stack = [[root, 0]];
      state[root] = 1;
      while (stack.length) {
        const top = stack[stack.length - 1], list = out[top[0]];
        if (top[1] === list.length) { state[top[0]] = 2; order.push(top[0]); stack.pop(); continue; }
        const e = list[top[1]++], to = f.e[e][1];
        if (state[to] === 1) back.add(e);
        else if (!state[to]) { state[to] = 1; stack.push([to, 0]); }
      }
    }
    return {back, order: order.reverse()};
  }
  function makeLayers(f) {
    const out = f.b.map(() => []), live = f.e.map((e) => e[3] !== 3);
    f.e.forEach((e, i) => { if (live[i]) out[e[0]].push(i); });
    const {back, order} = findBack(f, out), rank = new Int32Array(f.b.length);
    for (const b of order) for (const e of out[b]) if (!back.has(e)) rank[f.e[e][1]] = Math.max(rank[f.e[e][1]], rank[b] + 1);
    const nodes = [], layers = [];
    const add = (block, layer, width) => {
      const node = {block, layer, width, x: 0, up: [], down: []};
      (layers[layer] = layers[layer] || []).push(node);
      nodes.push(node);
      return node;
    };
    const of = [];
    for (const b of order) of[b] = add(b, rank[b], W);
    const chains = f.e.map((e, i) => {
      if (!live[i] || e[0] === e[1]) return null;
      const turned = back.has(i), from = of[turned ? e[1] : e[0]], to = of[turned ? e[0] : e[1]], chain = [from];
      for (let layer = from.layer + 1; layer < to.layer; layer++) chain.push(add(-1, layer, 10));
      chain.push(to);
      for (let k = 1; k < chain.length; k++) { chain[k - 1].down.push(chain[k]); chain[k].up.push(chain[k - 1]); }
      return {chain, turned};
    });
    return {layers: layers.filter(Boolean), chains, of};
  }
  const mean = (list, get) => list.reduce((a, n) => a + get(n), 0) / list.length;
  function sortLayers(layers) {
    layers.forEach((layer) => layer.forEach((n, i) => { n.at = i; }));
    for (let sweep = 0; sweep < 10; sweep++) {
      const down = sweep % 2 === 0;
      for (const layer of down ? layers : [...layers].reverse()) {
        for (const n of layer) { const list = down ? n.up : n.down; n.key = list.length ? mean(list, (m) => m.at) : n.at; }
        layer.sort((a, b) => a.key - b.key || a.at - b.at);
        layer.forEach((n, i) => { n.at = i; });
      }
    }
  }
  function placeLayers(layers) {
    for (const layer of layers) { let x = 0; for (const n of layer) { n.x = x + n.width / 2; x += n.width + GAP_X; } }
    for (let pass = 0; pass < 12; pass++) {
      const down = pass % 2 === 0;
      for (const layer of down ? layers : [...layers].reverse()) {
        const want = layer.map((n) => { const list = down ? n.up : n.down; return list.length ? mean(list, (m) => m.x) : n.x; });
        const left = [], right = [];
        layer.forEach((n, i) => { left[i] = i ? Math.max(want[i], left[i - 1] + (layer[i - 1].width + n.width) / 2 + GAP_X) : want[i]; });
        for (let i = layer.length - 1; i >= 0; i--)
          right[i] = i < layer.length - 1 ? Math.min(want[i], right[i + 1] - (layer[i + 1].width + layer[i].width) / 2 - GAP_X) : want[i];
        layer.forEach((n, i) => { n.x = (left[i] + right[i]) / 2; });
      }
    }
    const least = Math.min(...layers.map((layer) => Math.min(...layer.map((n) => n.x - n.width / 2))));
    for (const layer of layers) for (const n of layer) n.x -= least;
  }
  const yOf = (node) => node.layer * (H + GAP_Y) + H / 2;
  function curve(points) {
    const out = [points[0]];
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1], points[i]], middle = (a[1] + b[1]) / 2;
      out.push([a[0], middle], [b[0], middle], b);
    }
    return out;
  }
  function ownLayout(f) {
    const {layers, chains, of} = makeLayers(f);
    sortLayers(layers);
    placeLayers(layers);
    const b = f.b.map((block, i) => of[i] ? [of[i].x, yOf(of[i])] : null);
    const e = chains.map((one, i) => {
      if (f.e[i][3] === 3) return [];
      if (!one) { const [x, y] = b[f.e[i][0]]; return [[x + W / 2, y - 6], [x + W / 2 + 26, y - 18], [x + W / 2 + 26, y + 18], [x + W / 2, y + 6]]; }
      const points = one.chain.map((n, k) => [n.x, yOf(n) + (k === 0 ? H / 2 : k === one.chain.length - 1 ? -H / 2 : 0)]);
      return curve(one.turned ? points.reverse() : points);
    });
    const width = Math.max(W, ...layers.map((layer) => Math.max(...layer.map((n) => n.x + n.width / 2)))) + 30;
    return {w: width, h: layers.length * (H + GAP_Y) - GAP_Y, b, e};
  }
  function readLayout(g) {
    const pairs = (list) => { const out = []; for (let i = 0; i < list.length; i += 2) out.push([list[i], list[i + 1]]); return out; };
    return {w: g.w, h: g.h, b: pairs(g.b).map((p) => p[0] < 0 ? null : p), e: g.e.map(pairs)};
  }

  /* ---- drawing ---- */
  const n1 = (x) => Math.round(x * 10) / 10;
  function pathData(points) {
    let d = "M" + n1(points[0][0]) + " " + n1(points[0][1]), i = 1;
    for (; i + 2 < points.length; i += 3) d += "C" + points.slice(i, i + 3).map((p) => n1(p[0]) + " " + n1(p[1])).join(" ");
    for (; i < points.length; i++) d += "L" + n1(points[i][0]) + " " + n1(points[i][1]);
    return d;
  }
  function arrow(points, size) {
    const tip = points[points.length - 1];
    let from = points[points.length - 2];
    for (let i = points.length - 2; i >= 0 && Math.hypot(tip[0] - from[0], tip[1] - from[1]) < 1; i--) from = points[i];
    const angle = Math.atan2(tip[1] - from[1], tip[0] - from[0]);
    const side = (turn) => n1(tip[0] - size * Math.cos(angle + turn)) + " " + n1(tip[1] - size * Math.sin(angle + turn));
    return "M" + n1(tip[0]) + " " + n1(tip[1]) + "L" + side(0.42) + "L" + side(-0.42) + "Z";
  }
  function along(points, t) {
    if (points.length < 4) return points[Math.floor(points.length / 2)];
    const [a, b, c, d] = points, s = 1 - t, mix = (k) => s * s * s * a[k] + 3 * s * s * t * b[k] + 3 * s * t * t * c[k] + t * t * t * d[k];
    return [mix(0), mix(1)];
  }
  function lineRange(f, block, ownFile) {
    const p = f.b[block][3];
    if (!p.length) return (f.a && footpath.code.label(f, block)) || "block " + block;
    const file = f.s[p[0]][1], name = file === ownFile ? "" : footpath.base(footpath.data.files[file][0]).slice(0, 9) + ":";
    const first = p[1], last = p[p.length - 1], same = p[p.length - 2] === p[0];
    return name + first + (same && last > first ? "–" + last : "");
  }
  /* side: -1 where the label stands left of the edge, so that those of two ways do not overlap. */
  function drawEdge(f, e, points, most, degree, side) {
    if (points.length < 2) return null;
    const [src, dst, kind, fate, label, count, text] = f.e[e], n = Number(count), width = n ? 0.9 + 3.6 * Math.sqrt(n / most) : 0.8;
    const g = el("g.edge" + (n ? "" : ".idle") + (fate === 1 || fate === 2 ? ".ends" : "") + (kind === 2 ? ".unwind" : ""), {"data-edge": e},
      el("path.stroke", {d: pathData(points), "stroke-width": n1(width)}), el("path.tip", {d: arrow(points, 6 + width)}),
      el("title", null, src + " → " + dst + (text ? " (" + text + ": " + label + ")" : label ? " (" + label + ")" : "") + ": " + footpath.number(count) + " times"));
    if (degree > 1) {
      const at = along(points, 0.3), all = Number(f.b[src][2]);
      const text = [label, n ? percent(n, all) : ""].filter(Boolean).join(" ");
      if (text) g.append(el("text.label" + (side < 0 ? ".before" : ""), {x: n1(at[0] + 4 * side), y: n1(at[1] + 3)}, text));
    }
    return g;
  }
  /* Of the ways out of a block the leftmost has its label on the left, where there are others. */
  function labelSides(f, layout) {
    const sides = f.e.map(() => 1), leftmost = new Map(), drawn = new Map();
    f.e.forEach((e, i) => {
      if (layout.e[i].length < 2) return;
      const x = along(layout.e[i], 0.3)[0], known = leftmost.get(e[0]);
      drawn.set(e[0], (drawn.get(e[0]) || 0) + 1);
      if (!known || x < known[1]) leftmost.set(e[0], [i, x]);
    });
    for (const [block, [i]] of leftmost) if (drawn.get(block) > 1) sides[i] = -1;
    return sides;
  }
  function drawBlock(f, b, at, most, ownFile, onPick) {
    const [instructions, flags, count] = f.b[b], n = Number(count);
    return el("g.block" + (n ? "" : ".idle") + (flags ? ".special" : ""), {"data-block": b, onclick: () => onPick(b)},
      el("rect.box", {x: n1(at[0] - W / 2), y: n1(at[1] - H / 2), width: W, height: H, rx: 6}),
      el("rect.heat", {x: n1(at[0] - W / 2), y: n1(at[1] - H / 2), width: W, height: H, rx: 6, "fill-opacity": n ? n1(0.06 + 0.5 * Math.sqrt(n / most)) : 0}),
      el("text.lines", {x: n1(at[0]), y: n1(at[1] - 3)}, lineRange(f, b, ownFile)),
      el("text.count", {x: n1(at[0]), y: n1(at[1] + 11)}, n ? short(count) + "×" : "never"),
      el("title", null, "block " + b + ", " + instructions + " instructions, " + footpath.number(count) + " times"));
  }

  /* The function with all but some blocks taken for dead. */
  function partOf(f, keep) {
    return {b: f.b.map((b, i) => keep.has(i) ? b : [b[0], b[1] | DEAD, b[2], b[3]]), s: f.s, a: f.a,
            e: f.e.map((e) => keep.has(e[0]) && keep.has(e[1]) ? e : [e[0], e[1], e[2], 3, e[4], e[5], e[6]])};
  }

  /* The graph, or of it the blocks in `keep`, in a box that scrolls, with
   * light(blocks, edges), zoom(factor), fit(). */
  footpath.drawGraph = (whole, ownFile, name, onPick, keep) => {
    const f = keep ? partOf(whole, keep) : whole;
    const layout = f.g ? readLayout(f.g) : ownLayout(f), pad = 12, side = 20; /* room for labels beside the outer edges */
    const mostEdge = Math.max(1, ...f.e.map((e) => Number(e[5]))), mostBlock = Math.max(1, ...f.b.map((b) => Number(b[2])));
    const degree = f.b.map(() => 0);
    f.e.forEach((e) => { degree[e[0]]++; });
    const svg = el("svg.graph", {viewBox: [-side, -pad, layout.w + 2 * side, layout.h + 2 * pad].join(" "), role: "img", "aria-label": "Control-flow graph of " + name});
    const sides = labelSides(f, layout);
    const edges = f.e.map((e, i) => drawEdge(f, i, layout.e[i], mostEdge, degree[e[0]], sides[i]));
    const blocks = f.b.map((b, i) => layout.b[i] ? drawBlock(f, i, layout.b[i], mostBlock, ownFile, onPick) : null);
    svg.append(...edges.filter(Boolean), ...blocks.filter(Boolean));
    const box = el("div.canvas", {tabindex: "0", role: "region", "aria-label": "Graph; scrolls"}, svg);
    let scale = 1;
    const set = (to) => { scale = Math.max(0.08, Math.min(3, to)); svg.style.width = (layout.w + 2 * side) * scale + "px"; svg.style.height = (layout.h + 2 * pad) * scale + "px"; };
    const fit = () => { const room = box.clientWidth || 400; set(Math.min(1.15, Math.max(0.62, (room - 4) / (layout.w + 2 * side)))); };
    const light = (litBlocks, litEdges) => {
      svg.classList.toggle("choosing", litBlocks.size > 0);
      blocks.forEach((node, i) => node && node.classList.toggle("lit", litBlocks.has(i)));
      edges.forEach((node, i) => { if (node) { node.classList.toggle("lit", litEdges.has(i)); if (litEdges.has(i)) svg.insertBefore(node, blocks.find(Boolean)); } });
      const places = [...litBlocks].map((b) => layout.b[b]).filter(Boolean);
      if (!places.length) return;
      /* in the middle, but no further than the leftmost block's edge */
      const first = Math.min(...places.map((p) => p[0])), x = (first + Math.max(...places.map((p) => p[0]))) / 2, y = Math.min(...places.map((p) => p[1]));
      box.scrollTo({left: Math.min((x + side) * scale - box.clientWidth / 2, (first - W / 2) * scale), top: (y + pad) * scale - 60, behavior: footpath.calm ? "auto" : "smooth"});
    };
    set(1);
    return {box, light, fit, zoom: (by) => set(scale * by), drawnBy: f.g ? "Graphviz" : "page"};
  };
})();
