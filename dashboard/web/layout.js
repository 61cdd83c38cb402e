// Where the segments of a steal tree stand: from and to across, 0 to 1, and the row.

/** @import {Node, TreeCopy} from "./copy.js" */

/** @typedef {"jobs" | "share" | "time"} Across */

/** Places all segments; gives the number of rows. @param {TreeCopy} tree @param {Across} across */
export function place(tree, across) {
  const order = inOrder(tree.tops);
  if (across === "time") return byTime(order, tree.newest);
  if (across === "jobs") {
    for (const n of order) n.weight = n.x + (n.fx ?? 0) + 1 + (n.f ?? 0);
    for (const n of order.toReversed()) if (n.above) n.above.weight += n.weight;
  }
  let rows = 0;
  divide(tree.tops, 0, 1, across === "jobs", tree.tops.reduce((sum, n) => sum + n.weight, 0));
  for (const n of order) {
    n.row = n.above ? n.above.row + 1 : 0;
    rows = Math.max(rows, n.row + 1);
    divide(n.kids, n.from, n.to, across === "jobs", n.weight);
  }
  return rows;
}

/** Parents before children, without recursion: trees may be deep. @param {Node[]} tops */
function inOrder(tops) {
  const order = [...tops];
  for (let i = 0; i < order.length; i++) for (const kid of order[i]?.kids ?? []) order.push(kid);
  return order;
}

/** @param {Node[]} list @param {number} from @param {number} to @param {boolean} byJobs @param {number} whole */
function divide(list, from, to, byJobs, whole) {
  const parts = list.length + (from > 0 || to < 1 || list[0]?.above ? 1 : 0); // the parent's own part is at the end
  let at = from;
  for (const n of list) {
    n.from = at;
    at += byJobs ? ((to - from) * n.weight) / Math.max(1, whole) : (to - from) / parts;
    n.to = at;
  }
}

/** Each segment below the one it was stolen from, in the first row that is free then. @param {Node[]} order @param {number} newest */
function byTime(order, newest) {
  const whole = Math.max(1e-6, newest);
  /** @type {number[]} the end of the last segment in each row */
  const ends = [];
  for (const n of order.sort((a, b) => a.s - b.s || a.n - b.n)) {
    n.from = Math.min(1, n.s / whole);
    n.to = Math.max(n.from, Math.min(1, (n.e ?? newest) / whole));
    let row = n.above ? n.above.row + 1 : 0;
    while ((ends[row] ?? -1) > n.s) row++;
    n.row = row;
    ends[row] = n.e ?? Infinity;
  }
  return ends.length;
}
