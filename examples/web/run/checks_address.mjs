// Checks of the address, which holds the gather that the page shows.
import assert from 'node:assert/strict';
import { Shown } from './shown.mjs';

const OWN = 'operation=gather&params_shape=2,2&indices_shape=3&axis=0&batch_dims=0&broadcast=no&policy=Clamp&negative_indices=from-end&index_type=i8';

const fragment = (shown) => shown.page.evaluate(() => location.hash);
const values = (shown, ids) =>
  shown.page.evaluate((ids) => ids.map((id) => document.getElementById(id).value), ids);

export async function ofAddress(browser, url) {
  const open = (fragment) => Shown.load(browser, `${url}/#${fragment}`);

  const linked = await open(`${OWN}&params=0.5,-1,2,1e30&indices=1,-2,9`);
  await linked.outputs([2, 1e30, 0.5, -1, 2, 1e30]);
  const ids = ['operation', 'params-shape', 'indices-shape', 'axis', 'batch-dims', 'broadcast', 'policy', 'negative', 'index-type'];
  assert.deepEqual(await values(linked, ids), ['gather', '2,2', '3', '0', '0', 'no', 'Clamp', 'from-end', 'i8']);
  assert.deepEqual(await linked.cells('params'), [0.5, -1, 2, 1e30]);
  assert.deepEqual(await linked.cells('indices'), [1, -2, 9]);
  await linked.page.close();

  const wrapped = OWN.replace('=gather&', '=gather_nd&').replace('2,2', '2,2,2').replace('=3', '=1,1').replace('Clamp', 'Wrap');
  const nd = await open(`${wrapped.replace('axis=0', 'axis=-1')}&indices=-5`);
  await nd.outputs([1, 3, 5, 7]);
  assert.deepEqual(await values(nd, ids), ['gather_nd', '2,2,2', '1,1', '-1', '0', 'no', 'Wrap', 'from-end', 'i8']);
  await nd.page.close();

  // Without its new names, an older link means what it did.
  const older = await open('operation=gather_elements&params_shape=2,2&indices_shape=2,1&axis=1&policy=Wrap&indices=3,0');
  await older.outputs([1, 2]);
  assert.deepEqual(await values(older, ['broadcast', 'index-type']), ['no', 'i32']);
  await older.page.close();

  const stretched = await open('operation=gather_elements&params_shape=2,2&indices_shape=1,1&axis=1&broadcast=yes&index_type=u16&indices=1');
  await stretched.outputs([1, 3]);
  assert.deepEqual(await values(stretched, ['broadcast', 'index-type']), ['yes', 'u16']);
  await stretched.page.close();

  const example = await open('example=from-the-end');
  await example.outputs([3, 4, 5, 6, 7, 8]);
  assert.equal(await example.text('about-example'), 'A negative index counts from the end: -1 selects the last row of its batch.');
  await example.page.close();

  // Back and forward, through examples, controls and cells.
  const shown = await Shown.load(browser, url);
  assert.equal(await fragment(shown), '');
  const steps = [['', [9, 10, 11, 0, 1, 2, 6, 7, 8]]];
  const step = async (expected, output) => {
    await shown.page.keyboard.press('Tab');
    assert.equal(await fragment(shown), expected);
    await shown.outputs(output);
    steps.push([expected, output]);
  };
  await shown.page.selectOption('#example', { label: 'points' });
  await step('#example=points', [1, 11, 4]);
  await shown.cell('indices', 1).fill('3');
  const points = '#operation=gather_nd&params_shape=3,4&indices_shape=3,2&axis=&batch_dims=0&broadcast=no&policy=Fill&negative_indices=invalid&index_type=i32';
  await step(`${points}&indices=0,3,2,3,1,0`, [3, 11, 4]);
  await shown.cell('params', 3).fill('-0.25');
  const params = '0,1,2,-0.25,4,5,6,7,8,9,10,11';
  await step(`${points}&params=${params}&indices=0,3,2,3,1,0`, [-0.25, 11, 4]);
  await shown.page.selectOption('#policy', 'Clamp');
  const clamped = points.replace('Fill', 'Clamp');
  await step(`${clamped}&params=${params}&indices=0,3,2,3,1,0`, [-0.25, 11, 4]);
  await shown.set('params-shape', '4,4');
  await step(`${clamped.replace('3,4', '4,4')}&params=${params},12,13,14,15&indices=0,3,2,3,1,0`, [-0.25, 11, 4]);
  for (const [expected, output] of steps.toReversed().slice(1)) {
    await shown.page.goBack();
    assert.equal(await fragment(shown), expected);
    await shown.outputs(output);
  }
  for (const [expected, output] of steps.slice(1)) {
    await shown.page.goForward();
    assert.equal(await fragment(shown), expected);
    await shown.outputs(output);
  }
  // A link of this page opens there as it does here.
  const copy = await open((await fragment(shown)).slice(1));
  await copy.outputs(steps.at(-1)[1]);
  assert.equal(await copy.page.locator('#policy').inputValue(), 'Clamp');
  await copy.page.close();
  await shown.page.close();

  // An address may hold anything.
  for (const [text, output] of [
    ['example=unknown', [9, 10, 11, 0, 1, 2, 6, 7, 8]],
    ['operation=scatter&policy=Ignore&axis=x&indices=1,a,1.5', [3, 4, 5, 0, 1, 2, 0, 1, 2]],
    ['params=1e99,,7&indices=0,3000000000,2', [0, 1, 7, 0, 1, 7, 6, 7, 8]],
    ['%%%&&==', [9, 10, 11, 0, 1, 2, 6, 7, 8]],
  ]) {
    const odd = await open(text);
    await odd.outputs(output);
    assert.deepEqual(odd.errors, []);
    await odd.page.close();
  }

  // The problem of a shape stays until the shape is right.
  const unread = await open('params_shape=4,a');
  const problem = 'Shape of params: numbers like 4,3 expected, found 4,a';
  await unread.matches('#device', /^A software adapter/);
  await unread.shows('problem', problem);
  await unread.page.selectOption('#policy', 'Clamp');
  await unread.shows('problem', problem);
  assert.deepEqual(await unread.cells('cpu'), []);
  await unread.set('params-shape', '4');
  await unread.outputs([3, 0, 2]);
  await unread.page.close();
}
