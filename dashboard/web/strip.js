// The strip under the chart of efficiency, along its time: who joined, left, was let go or taken back, and why.

/** @import {Run, RosterEntry} from "./types.js" */
import { badge, el, keep, say, setBadge, show } from "./dom.js";
import { clock, plain, runName } from "./format.js";

/** Something that happened, in seconds. @typedef {{at: number, kind: string, text: string}} Change */
/** Changes that are too near each other to have marks of their own. @typedef {{key: string, at: number, sign: [string, string], text: string}} Mark */

const markWidth = 28; // pixels
const mostTexts = 4; // of a mark

/** A letter and a tone for each kind, what matters most last. @type {Map<string, [string, string]>} */
const signs = new Map([["wanted", ["W", "quiet"]], ["joined", ["J", "good"]], ["readmitted", ["B", "good"]], ["left", ["L", "warn"]], ["released", ["R", "bad"]], ["excluded", ["X", "bad"]]]);
const weight = (/** @type {Change} */ c) => [...signs.keys()].indexOf(c.kind);

/** All that is known, oldest first. @param {Run[]} runs @param {RosterEntry[]} members */
export function changesOf(runs, members) {
  const change = (/** @type {RosterEntry} */ e, of = "") => ({ at: Date.parse(e.at) / 1000, kind: e.kind ?? "", text: of + plain(e.text) });
  const all = [...members.map((e) => change(e)), ...runs.flatMap((r) => (r.decided ?? []).map((e) => change(e, `${runName(r)}: `)))];
  return all.sort((a, b) => a.at - b.at);
}

/** The marks of what happened in a time that has room for so many of them. Whatever a clock that is fast puts later happened just now.
 * @param {Change[]} changes oldest first @param {number} from @param {number} to @param {number} most @returns {Mark[]} */
export function marksOf(changes, from, to, most) {
  /** @type {Change[][]} */
  const groups = [];
  for (const c of changes) {
    const at = Math.min(c.at, to), first = groups.at(-1)?.[0];
    if (!(at >= from)) continue;
    if (first && at - Math.min(first.at, to) < (to - from) / most) groups.at(-1)?.push(c);
    else groups.push([c]);
  }
  return groups.map((list) => {
    const first = list[0], worst = [...list].sort((a, b) => weight(b) - weight(a))[0], more = list.length - mostTexts;
    const texts = list.slice(-mostTexts).map((c) => `${clock(new Date(c.at * 1000))} ${c.text}`);
    return { key: `${first?.at} ${first?.text}`, at: Math.min(first?.at ?? 0, to), sign: signs.get(worst?.kind ?? "") ?? ["?", "quiet"],
      text: `${more > 0 ? `${more} before, ` : ""}${texts.join("; ")}` };
  });
}

export class Strip {
  #bar = el("div", { class: "strip", role: "toolbar", "aria-label": "Who takes part" });
  #said = el("p", { class: "chosen dim" });
  node = el("div", {}, this.#bar, this.#said);
  /** @type {Mark[]} */
  #marks = [];
  #chosen = ""; // the key of a mark; the newest if there is none

  constructor() {
    this.#bar.addEventListener("keydown", (e) => this.#key(e));
    this.#bar.addEventListener("focusout", () => this.#choose(""));
    this.#bar.addEventListener("pointerleave", () => this.#bar.contains(document.activeElement) || this.#choose(""));
  }

  /** @param {Change[]} changes @param {number} from @param {number} to @param {{left: number, width: number} | null} area where the chart has this time, in pixels */
  update(changes, from, to, area) {
    const { left, width } = area ?? { left: 0, width: 0 };
    this.#marks = area ? marksOf(changes, from, to, Math.max(1, Math.floor(width / markWidth))) : [];
    show(this.node, this.#marks.length > 0);
    const focused = this.#bar.contains(document.activeElement);
    keep(this.#bar, this.#marks, (m) => m.key, (m) => {
      const b = el("button", { type: "button" }, badge(m.sign));
      for (const event of ["focus", "pointerenter", "click"]) b.addEventListener(event, () => this.#choose(m.key));
      return b;
    }, (b, m) => {
      if (b.firstElementChild) setBadge(b.firstElementChild, m.sign);
      if (b.getAttribute("aria-label") !== m.text) b.setAttribute("aria-label", m.text);
      /** @type {HTMLElement} */ (b).style.left = `${left + (width * (m.at - from)) / Math.max(1, to - from)}px`;
    });
    this.#choose(this.#chosen);
    if (focused && !this.#bar.contains(document.activeElement)) this.#button()?.focus(); // its mark became one with another
  }

  #place() {
    const at = this.#marks.findIndex((m) => m.key === this.#chosen);
    return at < 0 ? this.#marks.length - 1 : at;
  }
  #button() { return /** @type {HTMLElement | undefined} */ (this.#bar.children[this.#place()]); }

  /** @param {string} key */
  #choose(key) {
    this.#chosen = key;
    const chosen = this.#button();
    for (const b of this.#bar.children) /** @type {HTMLElement} */ (b).tabIndex = b === chosen ? 0 : -1;
    say(this.#said, this.#marks[this.#place()]?.text ?? "");
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const at = this.#place(), last = this.#marks.length - 1;
    const to = { ArrowLeft: Math.max(0, at - 1), ArrowRight: Math.min(last, at + 1), Home: 0, End: last }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    /** @type {HTMLElement | undefined} */ (this.#bar.children[to])?.focus();
  }
}
