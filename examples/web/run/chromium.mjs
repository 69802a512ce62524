// Runs the cases in headless Chromium.
//   node chromium.mjs [PATH OF CHROMIUM]
import { closing, open } from './browser.mjs';
import { Tally } from './tally.mjs';

const tally = new Tally();
const post = (name, problem) => tally.post(name, problem);
await closing(await open(process.argv[2]), async ({ browser, url }) => {
  const page = await browser.newPage();
  page.on('pageerror', (error) => post('page', String(error)));
  await page.exposeFunction('post', post);
  await page.goto(`${url}/cases.html`);
  const adapter = await page.evaluate(async () => {
    const { default: init, ...cases } = await import('./cases.js');
    const { runCases } = await import('./run.mjs');
    await init();
    const gpu = navigator.gpu;
    const setGpu = (value) =>
      Object.defineProperty(navigator, 'gpu', { value, configurable: true });
    // A panic in wasm leaves the promise of the run unsettled, so errors end the wait too.
    const posted = [];
    const run = runCases(cases, setGpu, gpu, (name, problem) => posted.push([name, problem]));
    const panicked = new Promise((_, reject) => {
      addEventListener('error', (event) => reject(event.error));
      addEventListener('unhandledrejection', (event) => reject(event.reason));
    });
    try {
      return await Promise.race([run, panicked]);
    } catch (error) {
      posted.push(['page', String(error)]);
      return 'no adapter';
    } finally {
      for (const [name, problem] of posted) await window.post(name, problem);
    }
  });
  process.exitCode = tally.finish(`Chromium ${browser.version()} on ${adapter}`) ? 0 : 1;
});
