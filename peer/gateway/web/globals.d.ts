// The script of the Go distribution that runs its programs; it is served beside the page.
declare module "*/wasm_exec.js";
