// What the page knows of the time before it was opened.

import assert from "node:assert/strict";
import test from "node:test";
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
