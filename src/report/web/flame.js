/* The flame graph: a frame per function and chain of callers, as wide as it is costly, callers above. */
"use strict";
(() => {
  const {el, number, percent, views} = footpath;
  const ROW = 22, NARROWEST = 3; /* pixels */
  const ALL = -1, FOLDED = -2;

  /* The data as a tree: parent, children, where a frame begins in the whole, depth. */
  function read(list) {
    const frames = list.map(([parent, index, name, cost, own], at) => ({at, parent, index, name: label(index, name), folded: index === FOLDED, cost, own, children: [], start: 0, depth: 0}));
    for (const frame of frames) {
      const above = frames[frame.parent];
      if (!above) continue;
      frame.depth = above.depth + 1;
      frame.start = above.start + above.children.reduce((sum, other) => sum + other.cost, 0);
      above.children.push(frame);
    }
    return frames;
  }
  const label = (index, name) => index >= 0 ? footpath.row(index).name : index === ALL ? footpath.data.program || "program" : index === FOLDED ? number(name) + (name === 1 ? " smaller call" : " smaller calls") : name;

  const isIn = (frame, other) => { for (; other; other = other.above) if (other === frame) return true; return false; };

  views.flame = async (words) => {
    const frames = read(await footpath.getFlame()), total = frames[0].cost, d = footpath.data;
    for (const frame of frames) frame.above = frames[frame.parent] || null;
    const state = {root: frames[0], at: frames[0], zooms: false, query: ""};
    const box = el("div.flames", {role: "tree", "aria-label": "Flame graph: functions below their callers, as wide as they are costly"});
    const detail = el("p.detail"), note = el("p.note", {"aria-live": "polite"}), back = el("button", {type: "button", onclick: () => zoom(frames[0])}, "Show all");

    const told = (frame) => frame.name + ", " + percent(frame.cost, total) + " inclusive" + (frame.folded || !frame.above ? "" : ", " + percent(frame.own, total) + " own");
    function make(frame) {
      const peers = frame.above ? frame.above.children : [frame];
      const attributes = {role: "treeitem", tabindex: "-1", "aria-level": frame.depth + 1, "aria-posinset": peers.indexOf(frame) + 1, "aria-setsize": peers.length, "aria-label": told(frame), "aria-expanded": frame.children.length ? "true" : false, "data-at": frame.at,
        href: frame.index >= 0 ? "#/f/" + frame.index + "/c" : false, style: {"--warm": (0.1 + 0.5 * Math.sqrt(frame.own / total)).toFixed(3)},
        onclick: (e) => { if (state.zooms || frame.index < 0) { e.preventDefault(); if (!frame.folded) zoom(frame); } },
        onfocus: () => describe(frame), onmouseenter: () => describe(frame), onmouseleave: () => describe(state.at)};
      frame.node = el((frame.index >= 0 ? "a" : "span") + ".frame" + (frame.folded ? ".folded" : ""), attributes, el("span", null, frame.name));
      return frame.node;
    }
    function describe(frame) {
      const caller = frame.above && frame.above.above ? [" called by ", el("b", null, frame.above.name)] : [];
      detail.replaceChildren(el("b", null, frame.name), ...caller, ": ", el("b", null, percent(frame.cost, total)), frame.above ? " inclusive" : " of all " + d.unit,
        ...(frame.folded || !frame.above ? [] : [", ", el("b", null, percent(frame.own, total)), " its own"]));
    }
    /* What is on the way to the root of the view is as wide as the view. */
    function place() {
      const root = state.root, room = box.clientWidth || 800;
      let deepest = 0;
      for (const frame of frames) {
        const above = isIn(frame, root), inside = above || (frame.start >= root.start && frame.start < root.start + root.cost && isIn(root, frame));
        const wide = above ? 1 : frame.cost / root.cost, left = above ? 0 : (frame.start - root.start) / root.cost;
        frame.shown = inside && wide * room >= NARROWEST;
        frame.node.hidden = !frame.shown;
        if (!frame.shown) continue;
        deepest = Math.max(deepest, frame.depth);
        for (const [name, value] of [["left", 100 * left + "%"], ["width", 100 * wide + "%"], ["top", ROW * frame.depth + "px"]]) frame.node.style.setProperty(name, value);
        frame.node.classList.toggle("thin", wide * room < 34);
        frame.node.classList.toggle("passed", above && frame !== root);
      }
      box.style.setProperty("height", ROW * (deepest + 1) + "px");
      back.hidden = root === frames[0];
      if (!state.at.shown) stand(root);
    }
    /* One frame can be reached by Tab; arrows go on from there. */
    function stand(frame, focus) {
      state.at.node.setAttribute("tabindex", "-1");
      state.at = frame;
      frame.node.setAttribute("tabindex", "0");
      if (focus) frame.node.focus();
      describe(frame);
    }
    function zoom(frame) {
      state.root = frame;
      place();
      stand(frame, box.contains(document.activeElement) || document.activeElement === back);
    }
    function search(query) {
      const wanted = query.toLowerCase().split(/\s+/).filter(Boolean), hit = (frame) => wanted.length && frame.index !== ALL && !frame.folded && wanted.every((word) => frame.name.toLowerCase().includes(word));
      let found = 0, cost = 0;
      for (const frame of frames) {
        const on = hit(frame);
        frame.node.classList.toggle("hit", !!on);
        if (!on) continue;
        found++;
        let above = frame.above;
        while (above && !hit(above)) above = above.above;
        if (!above) cost += frame.cost; /* one inside another counts once */
      }
      box.classList.toggle("searching", wanted.length > 0);
      note.textContent = wanted.length ? number(found) + (found === 1 ? " frame, " : " frames, ") + percent(cost, total) + " of all " + d.unit : "";
    }
    function move(key) {
      const at = state.at, row = frames.filter((f) => f.shown && f.depth === at.depth).sort((a, b) => a.start - b.start), i = row.indexOf(at);
      return {ArrowUp: at.above, ArrowDown: at.children.find((f) => f.shown), ArrowLeft: row[i - 1], ArrowRight: row[i + 1], Home: state.root}[key];
    }

    box.append(...frames.map(make));
    box.addEventListener("keydown", (e) => {
      const next = move(e.key);
      if (/^(Arrow|Home)/.test(e.key)) { e.preventDefault(); e.stopPropagation(); if (next) stand(next, true); }
    });
    const modes = el("div.switch", {role: "group", "aria-label": "What a click does"}, [["Click opens", false], ["Click zooms", true]].map(([text, zooms]) =>
      el("button", {type: "button", "aria-pressed": String(!zooms), onclick: (e) => { state.zooms = zooms; for (const b of modes.children) b.setAttribute("aria-pressed", String(b === e.currentTarget)); }}, text)));
    const input = el("input", {type: "search", id: "flame-search", placeholder: "Highlight functions", autocomplete: "off", spellcheck: "false", oninput: (e) => search(e.target.value)});
    const node = el("div.flamepage", null, el("div.head", null, el("h1", null, "Flame graph"),
      el("p.lead", null, "Each function stands below its caller and is as wide as what it cost with all that it called; the warmer, the more of that is its own.")),
      el("div.filters", null, el("label", null, el("span.hidden", null, "Highlight functions"), input), modes, back, note),
      detail, el("div.flamebox", null, box), el("p.note.small", null, footpath.inclusiveNote() + " In recursion, calls back into a function that is already above have no frame. Small frames are folded."));
    const watch = new ResizeObserver(() => { if (box.isConnected) place(); else watch.disconnect(); });
    return {
      node, wide: true, title: "Flame graph",
      ready: () => {
        const wanted = words[1] ? frames.filter((f) => f.index === Number(words[1])).sort((a, b) => b.cost - a.cost)[0] : null;
        place();
        stand(wanted || frames[0]);
        if (wanted) { zoom(wanted); input.value = wanted.name; search(wanted.name); }
        watch.observe(box);
      },
      key: (e) => {
        if ((e.key === "+" || e.key === "=" || e.key === "z") && !state.at.folded) zoom(state.at);
        else if (e.key === "-") zoom(state.root.above || state.root);
        else if (e.key === "0") zoom(frames[0]);
        else if (e.key === "Escape" && state.root !== frames[0]) zoom(frames[0]);
        else return false;
        return true;
      },
    };
  };
})();
