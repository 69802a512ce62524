// Clicks through the page in headless Chromium and checks its texts and numbers.
//   node clicks.mjs [PATH OF CHROMIUM [FOLDER FOR SCREENSHOTS]]
import assert from 'node:assert/strict';
import { closing, open } from './browser.mjs';
import { ofAddress } from './checks_address.mjs';
import { checks as ofGathers } from './checks_gather.mjs';
import { checks as ofRoles } from './checks_roles.mjs';
import { onOtherScreens } from './checks_screens.mjs';
import { checks as ofTexts } from './checks_texts.mjs';
import { Shown } from './shown.mjs';

const [executable, folder] = process.argv.slice(2);

let failed = 0;
const check = async (name, run) => {
  try {
    await run();
    console.log(`passed ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
};
await closing(await open(executable), async ({ browser, url }) => {
  const shown = await Shown.load(browser, url);
  for (const [name, run] of Object.entries({ ...ofGathers, ...ofTexts, ...ofRoles })) await check(name, () => run(shown));
  await check('no_errors_in_the_console', () => assert.deepEqual(shown.errors, []));
  await check('address', () => ofAddress(browser, url));
  await check('other_screens_and_no_gpu', () => onOtherScreens(browser, url, folder));
});
console.log(failed === 0 ? 'the page: all passed' : `the page: ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
