// Clicks through the page in headless Chromium and checks what it shows.
//   node clicks.mjs [PATH OF CHROMIUM]
import assert from 'node:assert/strict';
import { closing, open } from './browser.mjs';

async function load(browser, url, { gpu = true } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(String(error)));
  page.on('console', (line) => line.type() === 'error' && page.errors.push(line.text()));
  if (!gpu) await page.addInitScript(() => delete Navigator.prototype.gpu);
  await page.goto(url);
  return page;
}

// Waits until the element has the expected text, as a result of the GPU comes later.
async function shows(page, id, expected) {
  const has = ([id, text]) => document.getElementById(id).textContent === text;
  await page.waitForFunction(has, [id, expected]).catch(async () => {
    assert.equal(await page.locator(`#${id}`).textContent(), expected);
  });
}

const EXAMPLES = {
  'rows of a table': '[3, 3]\n9 10 11\n0 1 2\n6 7 8',
  columns: '[3, 2]\n2 0\n6 4\n10 8',
  'of each batch its own': '[3, 2]\n2 4\n5 9\n11 13',
  points: '[3]\n1 11 4',
  'from the end': '[2, 1, 3]\n3 4 5\n6 7 8',
  'an element of each row': '[4, 1]\n0\n5\n7\n11',
};

await closing(await open(process.argv[2]), async ({ browser, url }) => {
  const page = await load(browser, url);
  const outputs = async (expected) => {
    await shows(page, 'gpu', expected);
    await shows(page, 'cpu', expected);
  };
  for (const [label, expected] of Object.entries(EXAMPLES)) {
    await page.selectOption('#example', { label });
    await outputs(expected);
  }

  await page.selectOption('#example', { label: 'bad indices' });
  await shows(page, 'gpu', '[4, 3]\n3 4 5\n0 0 0\n9 10 11\n0 0 0');
  await shows(page, 'cpu', 'indices[1] = 7 is not in [0, 4)');
  assert.match(await page.locator('#explained').textContent(), /1 dispatch of 1 x 1 workgroups/);
  await page.selectOption('#policy', 'Error');
  await outputs('indices[1] = 7 is not in [0, 4)');
  await page.selectOption('#policy', 'Wrap');
  await outputs('[4, 3]\n3 4 5\n9 10 11\n9 10 11\n9 10 11');
  await page.selectOption('#policy', 'Clamp');
  await outputs('[4, 3]\n3 4 5\n9 10 11\n9 10 11\n0 1 2');
  await page.fill('#params', '0 1 2 3 4 5 6 7 8 9 -0.5 11');
  await page.selectOption('#negative', 'from-end');
  await outputs('[4, 3]\n3 4 5\n9 -0.5 11\n9 -0.5 11\n9 -0.5 11');
  await page.fill('#axis', '2');
  await shows(page, 'problem', 'axis must be in [-2, 2) for params of rank 2, found 2');
  await page.fill('#axis', '0');
  await shows(page, 'problem', '');
  assert.deepEqual(page.errors, []);

  const without = await load(browser, url, { gpu: false });
  await shows(without, 'device', 'no GPU: no WebGPU adapter here');
  await shows(without, 'gpu', 'no GPU here');
  await shows(without, 'cpu', EXAMPLES['rows of a table']);
  assert.deepEqual(without.errors, []);
});
console.log('the page: all passed');
