/* Instructions in the place of source, for executables without line information. f.a has the
 * function's address and per block its address, the distance of its last instruction, and of each
 * instruction the distance and the text. */
"use strict";
(() => {
  const {el} = footpath;
  const hex = (n) => "0x" + n.toString(16);
  const keyOf = (address) => "a:" + address;
  /* "+0x97": how far an address is behind the function's beginning. */
  const offset = (f, address) => (address < f.a.at ? "-" + hex(f.a.at - address) : "+" + hex(address - f.a.at));
  const startOf = (f, b) => (f.a.b[b] ? Number(f.a.b[b][0]) : null);
  const lastOf = (f, b) => (f.a.b[b] ? startOf(f, b) + f.a.b[b][1] : null);

  /* All instructions by address; without a disassembly one row per block. */
  function rows(f) {
    if (f.rows) return f.rows;
    f.rows = [];
    f.a.b.forEach((code, block) => {
      if (!code) return;
      const start = startOf(f, block), count = f.b[block][2], n = f.b[block][0];
      if (code.length === 2) f.rows.push({block, address: start, count, first: true, last: true, text: n + (n === 1 ? " instruction" : " instructions")});
      for (let i = 2; i < code.length; i += 2)
        f.rows.push({block, address: start + code[i], text: code[i + 1], count, first: i === 2, last: i + 2 === code.length});
    });
    return f.rows.sort((a, b) => a.address - b.address);
  }
  function blockRows(f) {
    if (f.blockRows) return f.blockRows;
    f.blockRows = f.b.map(() => []);
    for (const row of rows(f)) f.blockRows[row.block].push(row);
    return f.blockRows;
  }
  /* What lineFacts of function.js tells of lines. */
  function facts(f) {
    const counts = new Map(), branches = new Map(), ways = new Map();
    f.e.forEach((e) => { if (e[3] !== 3 && e[2] !== 2) ways.set(e[0], (ways.get(e[0]) || []).concat({label: e[4], count: Number(e[5])})); });
    for (const row of rows(f)) {
      counts.set(keyOf(row.address), Number(row.count));
      const list = ways.get(row.block) || [];
      if (row.last && list.length > 1) branches.set(keyOf(row.address), [{ways: list, count: Number(row.count)}]);
    }
    return {counts, branches};
  }
  const visit = (f, b, call) => blockRows(f)[b].forEach((row) => call(keyOf(row.address), true));

  /* "+0x97 +0xa0(taken) +0x85(not taken)", as `footpath show --plain` writes it. */
  function steps(f, blocks, outs, degree) {
    const out = [];
    blocks.forEach((b, i) => {
      const choice = outs[i] >= 0 && degree[b] > 1;
      if (!f.a.b[b]) return;
      if (!out.length && !(choice && startOf(f, b) === lastOf(f, b))) out.push(offset(f, startOf(f, b)));
      if (choice) out.push(offset(f, lastOf(f, b)) + (f.e[outs[i]][4] ? "(" + f.e[outs[i]][4] + ")" : ""));
    });
    return out;
  }

  /* AT&T syntax: the name, numbers, and what is a remark. */
  function colour(text) {
    const [, name, rest] = /^(\S*)(.*)$/.exec(text), out = [el("span.kw", null, name)];
    for (const part of rest.split(/(\s+# .*$|<[^>]*>|\$?-?0x[0-9a-f]+)/)) {
      if (!part) continue;
      out.push(/^\s*#|^</.test(part) ? el("span.cm", null, part) : /0x/.test(part) ? el("span.nu", null, part) : part);
    }
    return out;
  }
  /* One element per instruction: its offset, with the address as a title. */
  function line(f, row, most, branches) {
    const node = footpath.codeLine({line: offset(f, row.address), text: row.text, more: 0, count: row.count, most, colour, branches: branches || null, key: keyOf(row.address)});
    node.children[0].title = hex(row.address);
    if (!row.first) node.children[1].textContent = "";
    else node.classList.add("begins");
    return node;
  }
  footpath.code = {rows, facts, visit, steps, line, keyOf, label: (f, b) => (f.a.b[b] ? offset(f, startOf(f, b)) : null)};
})();
