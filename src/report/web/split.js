/* The parts of a function's page can be made wider and narrower: by mouse or finger, by keys, and the page
 * remembers. Long lines of source can be wrapped. */
"use strict";
(() => {
  const {el} = footpath;
  const remembered = (key, otherwise) => {
    try { return JSON.parse(localStorage.getItem("footpath-" + key)) ?? otherwise; } catch { return otherwise; }
  };
  const remember = (key, value) => {
    try { localStorage.setItem("footpath-" + key, JSON.stringify(value)); } catch { /* private window */ }
  };

  /* ---- handles: sizes are percentages of the whole ---- */
  const narrow = matchMedia("(max-width: 1150px)");
  const PARTS = {
    left: {label: "Width of the list of paths", least: 12, most: 50, from: "left"},
    right: {label: "Width of the graph", least: 10, most: 70, from: "right"},
    below: {label: "Height of the graph", least: 12, most: 85, from: "bottom"},
  };
  /* On narrow windows the graph stands below the source. */
  const partOf = (which) => (which === "right" && narrow.matches ? "below" : which);

  function limits(part, sizes) {
    const {least, most} = PARTS[part], other = part === "left" ? sizes.right ?? 22 : part === "right" ? sizes.left ?? 18 : 0;
    return [least, Math.min(most, narrow.matches && part === "left" ? most : 85 - other)];
  }
  function sizeAt(part, panels, e) {
    const box = panels.getBoundingClientRect();
    if (part === "below") return 100 * (box.bottom - e.clientY) / box.height;
    return 100 * (part === "left" ? e.clientX - box.left : box.right - e.clientX) / box.width;
  }
  function shownSize(part, panels) {
    const node = panels.querySelector(part === "left" ? ".paths" : ".drawing"), whole = panels.getBoundingClientRect(), box = node.getBoundingClientRect();
    return part === "below" ? 100 * box.height / Math.max(1, whole.height) : 100 * box.width / Math.max(1, whole.width);
  }

  footpath.splitter = (panels, changed) => {
    let sizes = remembered("split", {});
    if (typeof sizes !== "object" || !sizes) sizes = {};
    const handles = ["left", "right"].map((which) => el("div.handle." + which, {role: "separator", tabindex: "0"}));
    function apply() {
      for (const part of Object.keys(PARTS)) {
        if (Number.isFinite(sizes[part])) panels.style.setProperty("--" + part, sizes[part].toFixed(2) + "%");
        else panels.style.removeProperty("--" + part);
      }
    }
    function tell() {
      ["left", "right"].forEach((which, i) => {
        const part = partOf(which), [least, most] = limits(part, sizes);
        const now = Math.min(most, Math.max(least, shownSize(part, panels)));
        for (const [key, value] of [["label", PARTS[part].label], ["orientation", part === "below" ? "horizontal" : "vertical"], ["valuemin", least], ["valuemax", Math.round(most)], ["valuenow", Math.round(now)]])
          handles[i].setAttribute("aria-" + key, value);
      });
    }
    function set(part, size) {
      const [least, most] = limits(part, sizes);
      if (size === null) delete sizes[part];
      else sizes[part] = Math.max(least, Math.min(most, size));
      apply();
      tell();
    }
    const done = () => { remember("split", sizes); changed(); };
    handles.forEach((handle, i) => {
      const which = ["left", "right"][i];
      handle.addEventListener("pointerdown", (e) => { handle.setPointerCapture(e.pointerId); handle.classList.add("held"); e.preventDefault(); handle.focus(); });
      handle.addEventListener("pointermove", (e) => { if (handle.hasPointerCapture(e.pointerId)) set(partOf(which), sizeAt(partOf(which), panels, e)); });
      for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => { handle.classList.remove("held"); done(); });
      handle.addEventListener("dblclick", () => { set(partOf(which), null); done(); });
      handle.addEventListener("keydown", (e) => {
        const part = partOf(which), [least, most] = limits(part, sizes), now = shownSize(part, panels);
        const more = {left: "ArrowRight", right: "ArrowLeft", below: "ArrowUp"}[part], less = {left: "ArrowLeft", right: "ArrowRight", below: "ArrowDown"}[part];
        const to = {[more]: now + 2, [less]: now - 2, Home: least, End: most, Enter: null}[e.key];
        if (to === undefined) return;
        e.preventDefault();
        e.stopPropagation(); /* arrows choose paths elsewhere */
        set(part, to);
        done();
      });
    });
    narrow.addEventListener("change", () => { apply(); tell(); });
    apply();
    return {handles, ready: tell};
  };

  /* ---- wrapped lines: where the window is a phone's, unless the reader chose otherwise ---- */
  let wrapped = remembered("wrap", matchMedia("(max-width: 760px)").matches);
  /* button() makes one more button for the box; turn() is what a key does. */
  footpath.wrapper = (box) => {
    const buttons = [];
    const show = () => { box.classList.toggle("wrap", wrapped); for (const b of buttons) b.setAttribute("aria-pressed", String(wrapped)); };
    const turn = () => { wrapped = !wrapped; remember("wrap", wrapped); show(); };
    const button = () => { buttons.push(el("button.wrapper", {type: "button", title: "Wrap long lines (w)", onclick: turn}, "wrap")); show(); return buttons[buttons.length - 1]; };
    return {button, turn};
  };
})();
