// Where the segments of a steal tree stand: from and to across, 0 to 1, and the row.

/** @import {Node, Forest} from "./forest.js" */

/** @typedef {"jobs" | "share" | "time"} Across */

/** Places all segments; gives the number of rows. @param {Forest} tree @param {Across} across */
export function place(tree, across) {
  const order = inOrder(tree.tops);
  if (across === "time") return byTime(order, tree);
  if (across === "jobs") {
    for (const n of order) n.weight = n.x + (n.fx ?? 0) + 1 + (n.f ?? 0);
    for (let i = order.length - 1; i >= 0; i--) {
      const n = order[i];
      if (n?.above) n.above.weight += n.weight;
    }
  }
  let rows = 0;
  divide(tree.tops, 0, 1, across === "jobs", tree.tops.reduce((sum, n) => sum + n.weight, 0));
  for (const n of order) {
    n.row = n.above ? n.above.row + 1 : 0;
    rows = Math.max(rows, n.row + 1);
    if (n.kids.length) divide(n.kids, n.from, n.to, across === "jobs", n.weight);
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

/** Each segment below the one it was stolen from, in the first row that is free then. @param {Node[]} order @param {Forest} tree */
function byTime(order, { newest, sorted }) {
  const whole = Math.max(1e-6, newest), rows = new Rows();
  for (const n of order) {
    n.weight = n.above ? Math.max(n.s, n.above.weight) : n.s; // a parent before its children also where clocks say otherwise
    n.depth = n.above ? n.above.depth + 1 : 0;
  }
  sorted.sort((a, b) => a.weight - b.weight || a.depth - b.depth || a.n - b.n); // in the order in which they began; few steps, as they nearly are
  for (const n of sorted) {
    n.from = Math.min(1, n.s / whole);
    n.to = Math.max(n.from, Math.min(1, (n.e ?? newest) / whole));
    n.row = rows.take(n.above ? n.above.row + 1 : 0, n.weight, n.e ?? Infinity);
  }
  return rows.used;
}

const mostRows = 1 << 12;

/** Until when each row is taken, as a tree of the earliest ends, so that a free one is found in a few steps. */
class Rows {
  used = 0;
  #ends = new Float64Array(2 * mostRows).fill(-1); // row r is at mostRows + r, above two is the earlier of them

  /** Takes the first row from the given one that is free from start on; the last one if there is none.
   * @param {number} from @param {number} start @param {number} end */
  take(from, start, end) {
    let at = mostRows + Math.min(from, mostRows - 1);
    while (at > 1 && (this.#ends[at] ?? 0) > start) { // up to a part on the right with a free row in it
      while (at > 1 && at % 2 === 1) at >>= 1;
      if (at > 1) at++;
    }
    while (at > 1 && at < mostRows) at = (this.#ends[2 * at] ?? 0) <= start ? 2 * at : 2 * at + 1;
    const row = at > 1 ? at - mostRows : mostRows - 1;
    this.used = Math.max(this.used, row + 1);
    this.#ends[mostRows + row] = end;
    for (let up = (mostRows + row) >> 1; up >= 1; up >>= 1) this.#ends[up] = Math.min(this.#ends[2 * up] ?? 0, this.#ends[2 * up + 1] ?? 0);
    return row;
  }
}
