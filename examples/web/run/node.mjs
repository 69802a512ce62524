// Runs the cases in Node on npm's package webgpu, which is Dawn without a browser.
//   node node.mjs
import { readFile } from 'node:fs/promises';
import { create, globals } from 'webgpu';
import init, * as cases from './www/cases.js';
import { runCases } from './run.mjs';
import { Tally } from './tally.mjs';

// wgpu recognizes a browser's main thread by the class Window.
Object.assign(globalThis, globals, { Window: class Window {} });
const setGpu = (gpu) =>
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });

const tally = new Tally();
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    tally.post('node', String(error?.stack ?? error));
    tally.finish('Node');
    process.exit(1);
  });
}

const wasm = await readFile(new URL('./www/cases_bg.wasm', import.meta.url));
await init({ module_or_path: wasm });
const post = (name, problem) => tally.post(name, problem);
const adapter = await runCases(cases, setGpu, create([]), post);
process.exit(tally.finish(`Node ${process.version} on ${adapter}`) ? 0 : 1);
