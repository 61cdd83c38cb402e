// What a visitor's page keeps of its segments: npm test in dashboard/web runs this.

import assert from "node:assert/strict";
import test from "node:test";
import { Own } from "../web/own.js";

/** A segment as a core tells it. */
const one = (n, job, s, e, st = e === undefined ? "running" : "done") => ({ n, job, s, ...(e === undefined ? {} : { e }), sp: 0, x: 1, st, re: false });
const told = (part, ...list) => ({ part, list, more: false });
const shape = (list) => list.map((n) => [n.job, n.p, n.st, n.s, n.e, shape(n.kids)]);

test("segments of several cores hang below each other, and end when they are told to, or not told of any more", () => {
  const own = new Own();
  own.take(0, "r", told(1, one(1, "1", 100)), 101);
  own.take(1, "r", told(1, one(1, "1.2", 102), one(2, "2", 102.5, 103)), 104); // the first was given on by core 0
  own.take(1, "other", told(1, one(1, "1.2", 102), one(3, "1.9", 104)), 105); // of another run: above it is nothing
  own.take(0, "r", told(1, one(9, "1", 100, 100, "restarted"), one(1, "1", 100, 106)), 106);
  assert.equal(own.running, 2);
  assert.deepEqual(shape(own.forest.tops), [
    ["1", 0, "done", 0, 6, [["1.2", 1, "running", 2, undefined, []]]],
    ["2", 1, "done", 2.5, 3, []],
    ["1.9", 1, "running", 4, undefined, []],
  ]);
  own.take(1, "r", told(1, one(3, "1.9", 104)), 107);
  own.take(1, "r", { part: 1, list: [], more: true }, 108); // there was no room for what runs
  assert.equal(own.running, 1);
  own.take(1, "r", told(2, one(3, "7", 109)), 110); // the same number, of another part
  assert.equal(own.running, 1);
  own.lost(1, 111);
  assert.equal(own.running, 0);
  assert.deepEqual([...own.forest.nodes.values()].filter((n) => n.st === "unseen").map((n) => [n.job, n.e]), [["1.2", 7], ["1.9", 10], ["7", 11]]);
});

test("whichever core tells first, all before it have a place", () => {
  const own = new Own();
  own.take(2, "r", told(1, one(1, "1", 100)), 101);
  assert.deepEqual(own.forest.peers, ["0", "1", "2"].map((peer) => ({ peer, cluster: "" })));
  assert.equal(own.running, 1);
  own.lost(0, 102);
  assert.equal(own.running, 1);
});

test("the oldest are forgotten, those that run are not, nor is anything left of what is forgotten", () => {
  const own = new Own();
  for (let i = 1; i <= 1500; i++) own.take(0, "r", told(1, one(1, "1", 0.5), one(i + 1, `1.${i}`, i / 100 + 1, i / 100 + 2)), i / 100 + 2);
  assert.equal(own.forest.nodes.size, 1000);
  assert.equal(own.forest.sorted.length, 1000);
  assert.deepEqual(own.forest.tops.map((n) => [n.job, n.kids.length, n.kids[0]?.job]), [["1", 999, "1.502"]]);
  own.take(0, "r", told(1, one(1, "1", 0.5)), 2000); // long after
  assert.deepEqual(shape(own.forest.tops), [["1", 0, "running", 0, undefined, []]]);
});
