// The page's copy of a steal tree, and where it places the segments, against plain ways of doing the same.

import assert from "node:assert/strict";
import test from "node:test";
import { Forest } from "../forest.js";
import { place } from "../layout.js";

/** Numbers that are the same each time. */
function numbers(seed) {
  return (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
}

const growth = (all, set, gone) => ({ all, set, gone, epoch: "", from: 0, to: 0, folded: 0, peers: [], newest: 20 });

function shape(list) {
  return list.map((n) => [n.n, n.x, shape(n.kids)]);
}

/** Changes a world of segments at random, and says how. */
function change(world, rnd, next) {
  const set = [], gone = [];
  for (let k = rnd(12); k > 0; k--) {
    const n = next.number++, keys = [...world.keys()], up = keys.length && rnd(9) ? keys[rnd(keys.length)] : 0;
    const s = { n, ...(up ? { up } : {}), job: String(n), p: 0, s: rnd(100) / 10, sp: 0, x: rnd(50), st: "done", e: 11 + rnd(9) };
    world.set(n, s);
    set.push(s);
  }
  const isUnder = (m, above) => {
    for (let u = m; u; u = world.get(u)?.up) if (u === above) return true;
    return false;
  };
  for (const [n, s] of world) {
    if (rnd(10) || set.includes(s)) continue;
    const others = [...world.keys()].filter((m) => !isUnder(m, n)), moved = { ...s, x: rnd(99) };
    if (rnd(3) === 0 && others.length) moved.up = others[rnd(others.length)];
    world.set(n, moved);
    set.push(moved);
  }
  for (const n of [...world.keys()]) {
    if (rnd(12) || [...world.values()].some((s) => s.up === n) || set.some((s) => s.n === n)) continue;
    world.delete(n);
    gone.push(n);
  }
  for (let i = set.length - 1; i > 0; i--) {
    const j = rnd(i + 1);
    [set[i], set[j]] = [set[j], set[i]];
  }
  return growth(false, set, gone);
}

/** Sees that children are within their parents, and by time nothing overlaps. */
function checkPlaces(copy) {
  for (const across of ["jobs", "share", "time"]) {
    const rows = place(copy, across);
    for (const n of copy.nodes.values()) {
      assert.ok(n.from <= n.to && n.to <= 1 + 1e-9 && n.row < rows);
      if (n.above) assert.ok(across === "time" ? n.row > n.above.row : n.row === n.above.row + 1);
      if (n.above && across !== "time") assert.ok(n.from >= n.above.from - 1e-9 && n.to <= n.above.to + 1e-9);
    }
  }
  const rows = [];
  for (const n of copy.nodes.values()) (rows[n.row] ??= []).push(n);
  for (const list of rows) {
    if (!list) continue;
    list.sort((a, b) => a.weight - b.weight || a.e - b.e);
    for (let i = 1; i < list.length; i++) assert.ok(list[i - 1].e <= list[i].weight, "two segments at one time in one row");
  }
}

test("a copy that is told of changes is the same as one that begins anew", () => {
  for (let round = 1; round <= 15; round++) {
    const rnd = numbers(round), world = new Map(), copy = new Forest(), next = { number: 1 };
    for (let step = 0; step < 30; step++) {
      copy.take(change(world, rnd, next));
      const fresh = new Forest();
      fresh.take(growth(true, [...world.values()], []));
      assert.deepEqual(shape(copy.tops), shape(fresh.tops));
      checkPlaces(copy);
    }
  }
});
