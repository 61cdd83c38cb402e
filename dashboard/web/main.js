// The frame of the page: views, theme, keys, and the banner that says when what is shown is not of now.

import { byID, el, say, show } from "./dom.js";
import { plain } from "./format.js";
import { Live } from "./live.js";
import { Machine } from "./machine.js";
import { Model } from "./model.js";
import { Overview } from "./overview.js";
import { Runs } from "./runs.js";
import { Swarm } from "./swarm.js";

const model = new Model();
const live = new Live(model, draw);
const swarm = new Swarm();
const views = { overview: new Overview(), swarm, runs: new Runs(live), machine: new Machine(live) };

/** @typedef {keyof typeof views} Name */
const names = /** @type {Name[]} */ (Object.keys(views));
const content = byID("content");
const links = new Map(names.map((name) => [name, el("a", { href: `#${name}` }, views[name].title)]));
const waiting = el("p", { class: "dim" }, "Connecting to the daemon…");
const refused = el("div", {}, el("p", { class: "lead" }, "There is no session."),
  el("p", {}, "Open the link that ", el("code", {}, "satin-peer dashboard"), " prints. It works once, and each start of the daemon needs a new one."));

/** @returns {Name} */
function chosen() {
  const name = /** @type {Name} */ (location.hash.slice(1));
  return names.includes(name) ? name : "overview";
}

function draw() {
  const name = chosen(), view = views[name];
  for (const [other, link] of links) {
    if (other === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const s = model.status;
  say(byID("swarm"), s ? plain(s.swarm) : "");
  document.title = s ? `${view.title} · ${plain(s.swarm)} · satin` : "satin";
  const node = model.connection === "refused" ? refused : s ? view.node : waiting;
  view.update(model);
  if (content.firstElementChild !== node) content.replaceChildren(node);
  const text = model.connection === "lost" ? "The daemon does not answer. This is how it was; it is tried again."
    : model.trouble ? `This is how it was: ${plain(model.trouble)}` : "";
  say(byID("banner"), text);
  show(byID("banner"), text !== "");
  content.classList.toggle("stale", text !== "");
}

function startTheme() {
  const choice = /** @type {HTMLSelectElement} */ (byID("theme"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => {
    document.documentElement.dataset.theme = choice.value === "system" ? (dark.matches ? "dark" : "light") : choice.value;
  };
  const kept = localStorage.getItem("theme");
  choice.value = kept === "light" || kept === "dark" ? kept : "system";
  choice.addEventListener("change", () => {
    localStorage.setItem("theme", choice.value);
    set();
  });
  dark.addEventListener("change", set);
  set();
}

/** @param {KeyboardEvent} event */
function key(event) {
  const at = event.target;
  if (event.ctrlKey || event.altKey || event.metaKey || at instanceof HTMLInputElement || at instanceof HTMLSelectElement) return;
  const name = names[Number(event.key) - 1];
  if (name) location.hash = name;
  if (event.key === "/") {
    event.preventDefault();
    location.hash = "swarm";
    draw();
    swarm.search();
  }
}

byID("views").append(...links.values());
startTheme();
addEventListener("hashchange", () => {
  if (!names.includes(/** @type {Name} */ (location.hash.slice(1)))) return; // the skip link
  draw();
  content.focus();
});
addEventListener("keydown", key);
setInterval(() => {
  if (model.connection !== "open" || document.hidden) return;
  model.sample();
  if (chosen() === "overview") draw();
}, 1000);
draw();
live.connect();
