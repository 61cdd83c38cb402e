// One peer: the program in WebAssembly, in a thread of its own. The page's first message says what to run and where to
// connect; the program itself takes the later ones. What it tells the page is a Told (main.js).

import "./wasm_exec.js";
import { Guest } from "./guest.js";

/** @typedef {{ run(i: WebAssembly.Instance): Promise<void>, importObject: WebAssembly.Imports }} Go */

const scope = /** @type {any} */ (globalThis);
scope.Guest = Guest; // for the program

scope.addEventListener("message", /** @param {MessageEvent} e */ async (e) => {
  const { module, ...at } = /** @type {{ module: WebAssembly.Module, gateway: string, others: string[], ticket: string }} */ (e.data);
  scope.satin = at;
  try {
    const go = /** @type {Go} */ (new scope.Go());
    await go.run(await WebAssembly.instantiate(module, go.importObject));
  } catch (err) {
    scope.postMessage({ what: "gone", why: String(err), refused: false });
  }
}, { once: true });
