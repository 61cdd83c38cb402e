// A module beside the program, which is WebAssembly, too: what lies between the two, and what only a script can do.
// It knows words of 64 bits and promises; what they mean is in internal/module.

/** How a browser runs WebAssembly on a stack of its own. @typedef {{ Suspending: new (f: Function) => Function, promising: (f: Function) => Function }} Stacks */

const stacks = /** @type {Stacks} */ (/** @type {unknown} */ (WebAssembly));
const most = 9; // words of a call
const i64 = 0x7e;

export class Guest {
  /** @param {WebAssembly.Module} module */
  static imports(module) {
    return WebAssembly.Module.imports(module);
  }

  words = new BigUint64Array(most);
  bytes = new Uint8Array(this.words.buffer);
  /** @type {Map<string, Function>} */ calls = new Map();
  /** @type {(v: number | bigint | undefined) => void} */ woken = () => {};
  /** @type {(e: Error) => void} */ failed = () => {};

  /**
   * @param {WebAssembly.Module} module
   * @param {(which: number) => void} asked the module has called an import, by its place, with the words, and waits for answer
   * @param {(bad: string) => void} done a call has ended, with the words
   */
  constructor(module, asked, done) {
    this.done = done;
    /** @type {Record<string, Record<string, Function>>} */ const imports = {};
    Guest.imports(module).forEach(({ module: from, name }, which) => {
      (imports[from] ??= {})[name] = new stacks.Suspending((/** @type {(number | bigint)[]} */ ...given) => {
        given.forEach((x, i) => { this.words[i] = typeof x === "bigint" ? x : BigInt(x >>> 0); });
        return new Promise((woken, failed) => {
          [this.woken, this.failed] = [woken, failed];
          asked(which);
        });
      });
    });
    this.exports = new WebAssembly.Instance(module, /** @type {any} */ (imports)).exports;
  }

  /** Calls an export with so many of the words, i32 each. @param {string} name @param {number} params */
  call(name, params) {
    let f = this.calls.get(name);
    if (!f) this.calls.set(name, f = stacks.promising(/** @type {Function} */ (this.exports[name])));
    f(...Array.from(this.words.subarray(0, params), (x) => Number(BigInt.asIntN(32, x)))).then(
      (/** @type {number | bigint | undefined} */ x) => {
        if (x !== undefined) this.words[0] = typeof x === "bigint" ? x : BigInt(x >>> 0);
        this.done("");
      },
      (/** @type {Error} */ e) => this.done(`${e.message}` || "it has failed"),
    );
  }

  /** Wakes the module with the first word, or nothing. @param {number} type of the result */
  answer(type) {
    const x = this.words[0] ?? 0n;
    this.woken(type === 0 ? undefined : type === i64 ? x : Number(BigInt.asIntN(32, x)));
  }

  /** Ends the module. */
  fail() {
    this.failed(new Error("the host has ended it"));
  }
}
