// Making and changing elements. Text goes in by textContent only.

/** @typedef {Node | string | null} Child */

/** @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, string>} [attributes] @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]} */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children.filter((c) => c !== null));
  return e;
}

/** @param {Element} e @param {string} text */
export function say(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/** @param {Element} e @param {boolean} on */
export function show(e, on) {
  e.toggleAttribute("hidden", !on);
}

/** @param {string} id */
export function byID(id) {
  const e = document.getElementById(id);
  if (!e) throw new Error(`the page has no ${id}`);
  return e;
}

/** A letter in a box. @param {[string, string]} sign */
export const badge = ([letter, tone]) => el("span", { class: `badge ${tone}`, "aria-hidden": "true" }, letter);

/** @param {Element} e @param {[string, string]} sign */
export function setBadge(e, [letter, tone]) {
  say(e, letter);
  if (e.className !== `badge ${tone}`) e.className = `badge ${tone}`;
}

/** Keeps the children of an element the same as a list, so that what has the focus or is selected stays.
 * @template T @param {Element} parent @param {T[]} items @param {(item: T) => string} key
 * @param {(item: T) => Element} make @param {(e: Element, item: T) => void} update */
export function keep(parent, items, key, make, update) {
  /** @type {Map<string, Element[]>} several may have one key */
  const have = new Map();
  for (const e of parent.children) {
    const of = e.getAttribute("data-key") ?? "";
    have.set(of, [...(have.get(of) ?? []), e]);
  }
  let at = parent.firstElementChild;
  for (const item of items) {
    let e = have.get(key(item))?.shift();
    if (!e) {
      e = make(item);
      e.setAttribute("data-key", key(item));
    }
    update(e, item);
    if (e === at) at = at.nextElementSibling;
    else parent.insertBefore(e, at);
  }
  for (const e of [...have.values()].flat()) e.remove();
}

/** @template T @typedef {{head: string, number?: boolean, sign?: (item: T) => [string, string], text: (item: T) => string}} Column */

/** A table of things. On a phone each thing is a block of labelled lines. @template T */
export class Table {
  /** @param {string} caption @param {Column<T>[]} columns @param {(item: T) => string} key */
  constructor(caption, columns, key) {
    this.columns = columns;
    this.key = key;
    this.body = el("tbody");
    const head = el("tr", {}, ...columns.map((c) => el("th", c.number ? { scope: "col", class: "number" } : { scope: "col" }, c.head)));
    this.node = el("div", { class: "scroll live", role: "region", "aria-label": caption, tabindex: "0" },
      el("table", { class: "folds", "aria-label": caption }, el("thead", {}, head), this.body));
  }
  /** @param {T[]} items */
  update(items) {
    keep(this.body, items, this.key, () => el("tr", {}, ...this.columns.map((c) => {
      const text = el("span");
      return el("td", c.number ? { class: "number", "data-label": c.head } : { "data-label": c.head }, el("span", {}, c.sign ? badge(["", ""]) : null, text));
    })), (row, item) => {
      this.columns.forEach((c, i) => {
        const cell = row.children[i]?.firstElementChild;
        if (cell?.lastElementChild) say(cell.lastElementChild, c.text(item));
        if (c.sign && cell?.firstElementChild) setBadge(cell.firstElementChild, c.sign(item));
      });
    });
  }
}

/** A list of names and values. */
export class Facts {
  node = el("dl", { class: "live" });
  /** @param {[string, string][]} facts those with no value are not shown */
  update(facts) {
    const shown = facts.filter(([, value]) => value !== "").flatMap(([name, value]) => [["dt", name, name], ["dd", name, value]]);
    keep(this.node, shown, ([tag, name]) => `${tag} ${name}`, ([tag]) => document.createElement(tag ?? "dt"), (e, [, , text]) => say(e, text ?? ""));
  }
}
