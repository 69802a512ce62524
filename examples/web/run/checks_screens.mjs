// Checks of the page in other colours, on a phone's screen, and without a GPU.
import assert from 'node:assert/strict';
import { Shown } from './shown.mjs';

const PHONE = { width: 390, height: 844 };

export async function onOtherScreens(browser, url, folder) {
  const picture = async (shown, name) => {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.cell('indices', 2).focus();
    await shown.page.selectOption('#mebibytes', '4');
    await shown.page.click('#time');
    await shown.matches('#timed', /^A gather of slices/, 60_000);
    await shown.shot(name);
    const width = await shown.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= shown.page.viewportSize().width, `${name} is ${width} wide`);
  };
  const background = (shown) => shown.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const backgrounds = [];
  for (const [name, options] of [
    ['desktop-light', {}],
    ['desktop-dark', { colorScheme: 'dark' }],
    ['phone-light', { viewport: PHONE }],
    ['phone-dark', { viewport: PHONE, colorScheme: 'dark' }],
  ]) {
    const shown = await Shown.load(browser, url, { ...options, folder });
    await picture(shown, name);
    backgrounds.push(await background(shown));
    assert.deepEqual(shown.errors, []);
    await shown.page.close();
  }
  assert.deepEqual(backgrounds, ['rgb(255, 255, 255)', 'rgb(21, 22, 26)', 'rgb(255, 255, 255)', 'rgb(21, 22, 26)']);

  const without = await Shown.load(browser, url, { gpu: false, folder });
  await without.shows(
    'device',
    'Only the CPU path in this page runs (no GPU: no WebGPU adapter here).',
  );
  await without.shows('verdict', 'There is no GPU here: only the CPU ran.');
  assert.deepEqual(await without.cells('cpu'), [9, 10, 11, 0, 1, 2, 6, 7, 8]);
  assert.match(await without.text('shader'), /, if there were a GPU/);
  await without.page.click('#time');
  await without.matches('#timed', /^A gather of slices of 4 KiB moves: CPU \(wasm, one thread\): /, 60_000);
  assert.equal(await without.page.locator('#times circle').count(), 12);
  await without.shot('without-gpu');
  assert.deepEqual(without.errors, []);
}
