// A run in the trace format that Perfetto (ui.perfetto.dev) and Chrome show: clusters as processes, peers as threads.

/** @import {Node} from "./forest.js" */
/** @import {TreeCopy} from "./copy.js" */
/** @import {Row} from "./types.js" */
/** @import {Palette} from "./colours.js" */

/** @param {TreeCopy} tree @param {Row[]} rows @param {Palette} palette */
export function trace(tree, rows, palette) {
  const us = (/** @type {number} */ s) => Math.round(s * 1e6);
  /** @type {object[]} */
  const events = [];
  palette.clusters.forEach((name, pid) => events.push({ ph: "M", name: "process_name", pid: pid + 1, args: { name: `cluster ${name}` } }));
  // Segments of a peer may overlap, as one waits while another runs: each has as many threads as that needs.
  const lanes = new Map();
  for (const n of [...tree.nodes.values()].sort((a, b) => a.s - b.s || a.n - b.n)) {
    const sign = palette.signs[n.p];
    if (!sign) continue;
    const end = n.e ?? tree.newest, ends = lanes.get(n.p) ?? [];
    lanes.set(n.p, ends);
    let lane = ends.findIndex((/** @type {number} */ e) => e <= n.s);
    const fresh = lane < 0;
    if (fresh) lane = ends.length;
    ends[lane] = end;
    const at = { pid: sign.cluster + 1, tid: (n.p + 1) * 1000 + lane };
    if (fresh) events.push({ ph: "M", name: "thread_name", ...at, args: { name: `${sign.label} ${tree.peers[n.p]?.peer}${lane ? ` (${lane + 1})` : ""}` } });
    events.push({ ph: "X", name: n.job, cat: n.st, ts: us(n.s), dur: us(Math.max(0, end - n.s)), ...at, args: { state: n.st, spawned: n.sp, executed: n.x, folded: n.f ?? 0, restarted: !!n.re } });
    arrow(events, n, at, lanes, palette, us);
  }
  rows.forEach((row, i) => {
    const pid = (palette.signs[i]?.cluster ?? 0) + 1, label = palette.signs[i]?.label ?? row.peer;
    for (const s of row.spans) {
      const per = Math.max(1e-9, s.e - s.s);
      events.push({ ph: "C", name: `workers of ${label}`, pid, ts: us(s.s), args: { work: s.w / per, "steal-wait": s.q / per, communication: s.c / per, idle: s.i / per } });
    }
  });
  return JSON.stringify({ displayTimeUnit: "ms", traceEvents: events });
}

/** From where a segment was stolen to where it began. @param {object[]} events @param {Node} n @param {{pid: number, tid: number}} at
 * @param {Map<number, number[]>} lanes @param {Palette} palette @param {(s: number) => number} us */
function arrow(events, n, at, lanes, palette, us) {
  const from = n.above && palette.signs[n.above.p];
  if (!n.above || !from || !lanes.has(n.above.p)) return;
  events.push({ ph: "s", id: n.n, name: "steal", cat: "steal", ts: us(n.s), pid: from.cluster + 1, tid: (n.above.p + 1) * 1000 });
  events.push({ ph: "f", bp: "e", id: n.n, name: "steal", cat: "steal", ts: us(n.s), ...at });
}

/** Has the browser save a text. @param {string} name @param {string} text */
export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" })), a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
