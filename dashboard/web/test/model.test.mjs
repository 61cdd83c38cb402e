// What the page knows, by changes, and of the time before it was opened.

import assert from "node:assert/strict";
import test from "node:test";
import { secondsTo } from "../format.js";
import { Model } from "../model.js";

test("what the daemon kept comes before what the page saw, and nothing comes twice", () => {
  const model = new Model();
  const at = (s) => new Date(s * 1000).toISOString();
  model.samples = [{ at: 95, here: 1, all: 1, busy: 50 }, { at: 101, here: 2, all: 2, busy: 60 }];
  model.recall([{ at: at(80), here: 5, all: 9 }, { at: at(100), here: 6, all: 9, busy: 0.25 }]);
  assert.deepEqual(model.samples.map((s) => [s.at, s.here, s.busy]), [[80, 5, null], [100, 6, 25], [101, 2, 60]]);
  model.recall([]);
  assert.equal(model.samples.length, 3);
});

test("a change may repeat what is known, but nothing may be missing before it", () => {
  const model = new Model();
  const change = (after, number, runs, epoch = "a") => ({ kind: after ? "delta" : "snapshot", epoch, after, number, set: { runs } });
  assert.ok(model.apply(change(0, 5, { x: { run: "x", share: 0.1, submitted: "" } })));
  assert.ok(model.apply(change(5, 7, { y: { run: "y", share: 0.2, submitted: "" } })));
  assert.ok(model.apply(change(5, 9, { x: { run: "x", share: 0.3, submitted: "" }, y: { run: "y", share: 0.2, submitted: "" } }))); // it was asked for when 5 was the last
  assert.deepEqual([model.number, ...model.runs.map((r) => r.share)], [9, 0.3, 0.2]);
  assert.ok(!model.apply(change(10, 11, {})));
  assert.ok(!model.apply(change(9, 11, {}, "b")));
  assert.equal(model.number, 9);
});

test("a time of the day is the next one", () => {
  const now = new Date(2026, 10, 22, 17, 30, 0);
  assert.deepEqual(["18:00", "17:30", "06:15", "", "6", "noon"].map((text) => secondsTo(text, now)), [1800, 86400, 45900, 0, 0, 0]);
});
