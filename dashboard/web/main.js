// The frame of the page: views, theme, keys, and the banner that says when what is shown is not of now.

import { byID, el, say, show } from "./dom.js";
import { plain, useUnits } from "./format.js";
import { Live } from "./live.js";
import { Machine } from "./machine.js";
import { Model } from "./model.js";
import { Overview } from "./overview.js";
import { Runs } from "./runs.js";
import { Swarm } from "./swarm.js";
import { Timeline } from "./timeline.js";
import { Tree } from "./tree.js";

const model = new Model();
const live = new Live(model, draw);
const swarm = new Swarm();
const views = { overview: new Overview(), tree: new Tree(live), timeline: new Timeline(live), swarm, runs: new Runs(live), machine: new Machine(live) };

/** @import {Prefs} from "./types.js" */
/** @typedef {keyof typeof views} Name */
const names = /** @type {Name[]} */ (Object.keys(views));
const content = byID("content");
const links = new Map(names.map((name) => [name, el("a", { href: `#${name}` }, views[name].title)]));
const waiting = el("p", { class: "dim" }, "Connecting to the daemon…");
const refused = el("p", { class: "lead" }, "The daemon does not know this page, as each of its starts needs a new link: ", el("code", {}, "satin-peer dashboard"), " opens one.");

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
  if (content.firstElementChild !== node) content.replaceChildren(node); // first, so that canvases have a size
  view.update(model);
  const text = model.connection === "lost" ? "The daemon does not answer. This is how it was; it is tried again."
    : model.trouble ? `This is how it was: ${plain(model.trouble)}` : "";
  say(byID("banner"), text);
  show(byID("banner"), text !== "");
  content.classList.toggle("stale", text !== "");
}

/** Theme and units: as the daemon has kept them, or for who may only look, as this browser has. */
function startPrefs() {
  const theme = /** @type {HTMLSelectElement} */ (byID("theme")), units = /** @type {HTMLSelectElement} */ (byID("units"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => {
    document.documentElement.dataset.theme = theme.value === "system" ? (dark.matches ? "dark" : "light") : theme.value;
    useUnits(units.value);
    draw();
  };
  const take = (/** @type {Partial<Prefs>} */ kept) => {
    theme.value = kept.theme === "light" || kept.theme === "dark" ? kept.theme : "system";
    units.value = kept.units === "binary" ? "binary" : "decimal";
    set();
  };
  const change = () => {
    const prefs = { theme: theme.value, units: units.value };
    localStorage.setItem("theme", prefs.theme);
    localStorage.setItem("units", prefs.units);
    set();
    if (model.level === "control") void live.act("/prefs", prefs);
  };
  theme.addEventListener("change", change);
  units.addEventListener("change", change);
  dark.addEventListener("change", set);
  take({ theme: localStorage.getItem("theme") ?? "", units: localStorage.getItem("units") ?? "" });
  return async () => {
    const kept = /** @type {Prefs | null} */ (await live.read("/prefs"));
    if (kept && model.level === "control") take(kept);
  };
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
const readPrefs = startPrefs();
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#login=")) location.reload(); // a new link, in a page that is open
  if (!names.includes(/** @type {Name} */ (location.hash.slice(1)))) return; // the skip link
  draw();
  scrollTo(0, 0);
  if (!content.contains(document.activeElement)) content.focus({ preventScroll: true }); // the search may have it already
});
addEventListener("keydown", key);
setInterval(() => {
  if (model.connection !== "open" || document.hidden) return;
  model.sample();
  if (chosen() === "overview") draw();
}, 1000);
await live.login();
await live.connect();
await readPrefs();
