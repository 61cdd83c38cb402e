// The colours of peers: four of them are told apart in both themes, running or done, by those too who see no red or no green.

import assert from "node:assert/strict";
import test from "node:test";
import { Palette } from "../colours.js";

/** Linear red, green and blue of hsl(h s% l%). */
function linear(text) {
  const [h, s, l] = text.match(/[\d.]+/g).map(Number), a = (s / 100) * Math.min(l / 100, 1 - l / 100);
  return [0, 8, 4].map((n) => {
    const k = (n + h / 30) % 12, c = l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
}

const times = (m, v) => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));

/** CIELAB, where distances are what is seen. */
function lab(rgb) {
  const xyz = times([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], rgb);
  const [x, y, z] = [0.9505, 1, 1.089].map((white, i) => {
    const t = Math.max(0, xyz[i]) / white;
    return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009
const eyes = {
  "all colours": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};
const least = { "all colours": 30, "no red": 15, "no green": 15 }; // 2.3 can just be told when they lie side by side

test("four peers are told apart by colour", () => {
  for (const theme of ["light", "dark"]) for (const clusters of [["a", "a", "a", "a"], ["a", "a", "b", "b"]]) {
    globalThis.document = { documentElement: { dataset: { theme } } };
    const palette = new Palette();
    palette.learn(clusters.map((cluster, i) => ({ peer: String(i), cluster })));
    for (const bright of [true, false]) for (const [eye, sees] of Object.entries(eyes)) {
      const seen = clusters.map((_, i) => lab(times(sees, linear(palette.fill(i, bright)))));
      for (let i = 0; i < 4; i++) for (let j = 0; j < i; j++) {
        const d = Math.hypot(...seen[i].map((x, k) => x - seen[j][k]));
        assert.ok(d >= least[eye], `${theme}, ${bright ? "running" : "done"}, who sees ${eye}: peers ${j} and ${i} are ${d.toFixed(1)} apart`);
      }
    }
    for (let i = 0; i < 4; i++) {
      const [running, done] = [true, false].map((bright) => lab(linear(palette.fill(i, bright))));
      assert.ok(Math.hypot(...running.map((x, k) => x - done[k])) >= 20, `${theme}: what runs and what is done of peer ${i} look alike`);
    }
  }
});

// Guards against peers that are shown under others' letters: a daemon that was started again lists them in another order, and a peer may
// come to be in another cluster.
test("a sign is that of the peer and the cluster in its place now", () => {
  globalThis.document = { documentElement: { dataset: {} } };
  const palette = new Palette(), signs = (...places) => {
    palette.learn(places.map(([peer, cluster]) => ({ peer, cluster })));
    return palette.signs.map((s) => `${s.label} in ${palette.clusters[s.cluster]}`);
  };
  assert.deepEqual(signs(["a", "here"]), ["A1 in here"]);
  assert.deepEqual(signs(["a", "here"], ["b", "there"]), ["A1 in here", "B1 in there"]);
  assert.deepEqual(signs(["b", "there"], ["a", "here"]), ["A1 in there", "B1 in here"]);
  assert.deepEqual(signs(["b", "here"], ["a", "here"]), ["A1 in here", "A2 in here"]);
  assert.deepEqual(signs(["c", "far"]), ["A1 in far"]);
});
