// How the page keeps its elements the same as a list.

import assert from "node:assert/strict";
import test from "node:test";
import { keep } from "../dom.js";

/** As much of an element as keep needs. */
class Part {
  children = [];
  #attributes = {};
  get firstElementChild() { return this.children[0] ?? null; }
  get nextElementSibling() { return this.above.children[this.above.children.indexOf(this) + 1] ?? null; }
  getAttribute(name) { return this.#attributes[name] ?? null; }
  setAttribute(name, value) { this.#attributes[name] = value; }
  remove() { this.above?.children.splice(this.above.children.indexOf(this), 1); }
  insertBefore(e, at) {
    e.remove();
    e.above = this;
    this.children.splice(at ? this.children.indexOf(at) : this.children.length, 0, e);
  }
}

// Guards against a list that grows each time it is looked at, as that of what is wrong did by two runs that failed alike.
test("what is there twice is shown twice, by the same elements, however often it is looked at", () => {
  const list = new Part();
  const show = (items) => {
    keep(list, items, (x) => x[0], () => new Part(), (e, x) => { e.shows = x; });
    assert.deepEqual(list.children.map((e) => e.shows), items);
    return list.children.slice();
  };
  const [, a1, a2] = show(["b1", "a1", "a2"]);
  for (let i = 0; i < 3; i++) assert.deepEqual(show(["a1", "b1", "a2"]).filter((e) => e === a1 || e === a2), [a1, a2]);
  assert.deepEqual(show(["a3"]), [a1]);
  show([]);
});
