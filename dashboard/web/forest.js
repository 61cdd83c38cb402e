// A forest of segments, kept true by changes.

/** @import {Shoot, Growth, Place} from "./types.js" */

/** @typedef {Shoot & {kids: Node[], above: Node | null, from: number, to: number, row: number, weight: number, depth: number}} Node */

/** A node with all its fields, in the same order in each: the engine then reads tens of thousands of them several times as fast.
 * @param {Shoot} s @returns {Node} */
const newNode = (s) => ({ n: s.n, up: s.up, job: s.job, p: s.p, s: s.s, e: s.e, sp: s.sp, x: s.x, st: s.st, re: s.re, f: s.f, fx: s.fx,
  kids: [], above: null, from: 0, to: 0, row: 0, weight: 0, depth: 0 });

/** What has become of a forest. @typedef {Pick<Growth, "all" | "set" | "gone" | "peers" | "newest">} Change */

export class Forest {
  /** @type {Map<number, Node>} */
  nodes = new Map();
  /** Those that are under nothing. @type {Node[]} */
  tops = [];
  /** All of them, as the layout by time has left them: in an order that is nearly the next one. @type {Node[]} */
  sorted = [];
  /** @type {Place[]} */
  peers = [];
  newest = 0;

  /** Takes in what is new; says whether anything is. What is as it was is left as it is: there may be very much of it. @param {Change} g */
  take(g) {
    if (g.all) {
      this.nodes.clear();
      this.tops = [];
      this.sorted = [];
      this.peers = [];
    }
    /** @type {Set<Node[]>} lists that are not in order any more */
    const unsorted = new Set();
    const hang = (/** @type {Node} */ n) => {
      n.above = this.nodes.get(n.up ?? 0) ?? null;
      const list = n.above?.kids ?? this.tops, last = list.at(-1);
      if (last && (last.s > n.s || (last.s === n.s && last.n > n.n))) unsorted.add(list);
      list.push(n);
    };
    /** @type {Map<Node[], Set<Node>>} what goes from which list */
    const going = new Map();
    const unhang = (/** @type {Node} */ n) => {
      const list = n.above?.kids ?? this.tops, set = going.get(list) ?? new Set();
      going.set(list, set.add(n));
    };
    /** @type {Node[]} */
    const hanging = [];
    for (const s of g.set) {
      const old = this.nodes.get(s.n);
      if (!old) {
        const n = newNode(s);
        this.nodes.set(s.n, n);
        this.sorted.push(n);
        hanging.push(n);
        continue;
      }
      if ((old.up ?? 0) !== (s.up ?? 0)) {
        unhang(old);
        hanging.push(old);
      }
      [old.up, old.job, old.p, old.s, old.e, old.sp] = [s.up, s.job, s.p, s.s, s.e, s.sp];
      [old.x, old.st, old.re, old.f, old.fx] = [s.x, s.st, s.re, s.f, s.fx];
    }
    for (const number of g.gone) {
      const n = this.nodes.get(number);
      if (n) unhang(n);
      this.nodes.delete(number);
    }
    for (const n of this.tops) { // those that came before the one they are under
      if (n.up && this.nodes.has(n.up) && !going.get(this.tops)?.has(n)) {
        unhang(n);
        hanging.push(n);
      }
    }
    if (g.gone.length) this.sorted = this.sorted.filter((n) => this.nodes.get(n.n) === n);
    for (const [list, set] of going) list.splice(0, list.length, ...list.filter((n) => !set.has(n)));
    for (const n of hanging) if (this.nodes.has(n.n)) hang(n);
    for (const list of unsorted) list.sort((a, b) => a.s - b.s || a.n - b.n);
    [this.peers, this.newest] = [g.peers, g.newest];
    return g.set.length + g.gone.length > 0 || g.all;
  }
}
