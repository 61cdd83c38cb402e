// What the owner of this machine allows its jobs: the settings that a daemon takes up while it runs.

/** @import {Live} from "./live.js" */
/** @import {Preference} from "./types.js" */
import { el, keep, say, show } from "./dom.js";
import { plain } from "./format.js";

/** How values are written in a field, and read from it. @param {string[]} values */
const written = (values) => values.join(", ");
/** @param {string} text */
const read = (text) => text.split(",").map((t) => t.trim()).filter((t) => t);

export class Allowed {
  #live;
  #rows = el("div", { class: "settings" });
  #said = el("p", { role: "status", class: "dim" });
  /** @type {Preference[]} */
  #list = [];
  node = el("section", {}, el("h2", {}, "When this machine computes"), this.#rows, this.#said);

  /** @param {Live} live */
  constructor(live) {
    this.#live = live;
    show(this.node, false);
    this.node.addEventListener("change", (event) => {
      const field = event.target;
      if (!(field instanceof HTMLInputElement)) return;
      const values = field.type === "checkbox" ? [String(field.checked)] : read(field.value);
      void this.#put(field.name, values);
    });
  }

  /** Asks for what is in force. @param {boolean} mayAct */
  async fetch(mayAct) {
    this.#list = (await this.#live.read("/preferences")) ?? [];
    show(this.node, this.#list.length > 0);
    keep(this.#rows, this.#list, (p) => p.name, (p) => this.#row(p), (e, p) => this.#fill(e, p, mayAct));
  }

  /** @param {string} name @param {string[]} values */
  async #put(name, values) {
    const why = await this.#live.act("/preferences", { name, values });
    say(this.#said, why ? `Not changed: ${plain(why)}` : `${name} is changed, and kept.`);
    await this.fetch(true);
  }

  /** @param {Preference} p */
  #row(p) {
    const id = `allowed-${p.name}`;
    const field = el("input", { id, name: p.name, type: p.kind === "yes_or_no" ? "checkbox" : "text", autocomplete: "off", "aria-describedby": `${id}-about` });
    return el("div", { class: "allowed" }, el("label", { for: id }, plain(p.name)), field, el("p", { class: "dim", id: `${id}-about` }));
  }

  /** @param {Element} row @param {Preference} p @param {boolean} mayAct */
  #fill(row, p, mayAct) {
    const field = row.querySelector("input");
    if (!field) return;
    field.disabled = !mayAct || Boolean(p.from);
    if (field.type === "checkbox") field.checked = p.values[0] === "true";
    else if (field !== document.activeElement) field.value = written(p.values.map(plain));
    const about = row.querySelector("p");
    if (about) say(about, plain(p.about) + (p.from ? ` It is set by ${plain(p.from)} until the daemon is started again.` : ""));
  }
}
