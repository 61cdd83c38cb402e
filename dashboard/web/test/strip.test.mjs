// What the strip under the chart of efficiency says, and where.

import assert from "node:assert/strict";
import test from "node:test";
import { clock } from "../format.js";
import { changesOf, marksOf } from "../strip.js";

const at = (s) => new Date(s * 1000).toISOString();
const said = (marks) => marks.map((m) => [m.at, m.sign[0], m.text]);
const time = (s) => clock(new Date(s * 1000));

test("members and what was decided of runs are along one time, as text", () => {
  const runs = [{ app: "tsp", args: ["9"], title: "", decided: [{ at: at(40), kind: "excluded", text: "cluster \u202ea excluded" }] }, { app: "x", args: [], title: "quiet" }];
  const changes = changesOf(runs, [{ at: at(10), kind: "joined", text: "joined: <b>" }, { at: at(90), kind: "left", text: "gone: <b>" }]);
  assert.deepEqual(said(marksOf(changes, 0, 100, 10)),
    [[10, "J", `${time(10)} joined: <b>`], [40, "X", `${time(40)} tsp 9: cluster \ufffda excluded`], [90, "L", `${time(90)} gone: <b>`]]);
});

test("what is too near is one mark, with the letter of the worst and the last texts", () => {
  const changes = ["joined", "released", "wanted", "readmitted", "joined", "constructor"].map((kind, i) => ({ at: 10 + i, kind, text: `${i}` }));
  assert.deepEqual(said(marksOf(changes, 0, 100, 10)), [[10, "R", `2 before, ${[2, 3, 4, 5].map((i) => `${time(10 + i)} ${i}`).join("; ")}`]]);
  assert.deepEqual(marksOf(changes, 0, 100, 100).map((m) => m.sign[0]), ["J", "R", "W", "B", "J", "?"]);
  assert.ok(marksOf(Array.from({ length: 5000 }, (_, i) => ({ at: i / 50, kind: "joined", text: "" })), 0, 100, 10).length <= 11);
});

test("what is before the chart is left out, and what another clock puts after it is at its end", () => {
  const changes = [{ at: NaN, kind: "joined", text: "" }, { at: 1, kind: "joined", text: "" }, { at: 500, kind: "left", text: "a" }, { at: 9e9, kind: "joined", text: "b" }];
  assert.deepEqual(marksOf(changes, 50, 100, 10).map((m) => [m.at, m.sign[0]]), [[100, "L"]]);
});
