// Checks of the page's gathers: the operations, the operands, the keyboard, the times and the shader.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const MOST_LOAD_MS = 2000;

export const checks = {
  async loads_fast(shown) {
    assert.ok(shown.loadMs < MOST_LOAD_MS, `${shown.loadMs} ms`);
    assert.equal(
      await shown.text('device'),
      'A software adapter, not a GPU: google swiftshader. It runs on the CPU, so its times say nothing of a GPU.',
    );
    console.log(`  ${shown.loadMs.toFixed(0)} ms`);
  },

  async each_control_has_a_name(shown) {
    const unnamed = await shown.page.evaluate(() =>
      [...document.querySelectorAll('input, select, button, pre')]
        .filter((each) => !each.labels?.length && !each.ariaLabel && each.tagName !== 'BUTTON')
        .map((each) => each.outerHTML),
    );
    assert.deepEqual(unnamed, []);
  },

  async example(shown) {
    const output = {
      'rows of a table': [9, 10, 11, 0, 1, 2, 6, 7, 8],
      columns: [2, 0, 6, 4, 10, 8],
      'of each batch its own': [2, 4, 5, 9, 11, 13],
      points: [1, 11, 4],
      'slices at points': [8, 9, 10, 11, 12, 13, 14, 15],
      'points of each matrix': [1, 6, 10, 15],
      'from the end': [3, 4, 5, 6, 7, 8],
      'an element of each row': [0, 5, 7, 11],
      'one order for all rows': [3, 0, 7, 4, 11, 8],
      'colours of a palette': [38, 70, 83, 231, 111, 81, 231, 111, 81, 42, 157, 143, 38, 70, 83, 233, 196, 106],
    };
    for (const [name, expected] of Object.entries(output)) {
      await shown.page.selectOption('#example', { label: name });
      await shown.outputs(expected);
    }
    // Each pixel has the colour that it selects.
    const paint = (cell) => getComputedStyle(cell).backgroundColor;
    assert.equal(await shown.cell('indices', 1).evaluate(paint), 'rgb(231, 111, 81)');
    assert.equal(await shown.page.locator('#gpu .cell').nth(3).evaluate(paint), 'rgb(231, 111, 81)');
    await shown.cell('params', 9).fill('0');
    await shown.page.waitForSelector('#gpu[aria-busy=false]');
    assert.equal(await shown.page.locator('#gpu .cell').nth(3).evaluate(paint), 'rgb(0, 111, 81)');
    const names = await shown.page.locator('#example option').allInnerTexts();
    assert.deepEqual(names.toSorted(), ['bad indices', 'your own', ...Object.keys(output)].toSorted());
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.shows('verdict', 'As DeviceDefault says: the CPU gives an error, the GPU zeros.');
    await shown.shows('cpu', 'indices[1] = 7 is not in [0, 4)');
    assert.deepEqual(await shown.cells('gpu'), [3, 4, 5, 0, 0, 0, 9, 10, 11, 0, 0, 0]);
    assert.deepEqual(await shown.bad('indices'), [1, 3]);
    assert.deepEqual(await shown.bad('gpu'), [3, 4, 5, 9, 10, 11]);
    assert.deepEqual(await shown.bad('params', 'unused'), [0, 1, 2, 6, 7, 8]);
  },

  async policy_and_negative_indices(shown) {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.page.selectOption('#policy', 'Error');
    await shown.shows('verdict', 'The GPU and the CPU give the same error.');
    await shown.shows('gpu', 'indices[1] = 7 is not in [0, 4)');
    await shown.page.selectOption('#policy', 'Fill');
    await shown.outputs([3, 4, 5, 0, 0, 0, 9, 10, 11, 0, 0, 0]);
    await shown.page.selectOption('#negative', 'from-end');
    await shown.outputs([3, 4, 5, 0, 0, 0, 9, 10, 11, 9, 10, 11]);
    await shown.page.selectOption('#policy', 'Clamp');
    await shown.outputs([3, 4, 5, 9, 10, 11, 9, 10, 11, 9, 10, 11]);
    assert.deepEqual(await shown.bad('indices', 'replaced'), [1]);
    await shown.page.selectOption('#negative', 'invalid');
    await shown.outputs([3, 4, 5, 9, 10, 11, 9, 10, 11, 0, 1, 2]);
    await shown.page.selectOption('#policy', 'Wrap');
    await shown.outputs([3, 4, 5, 9, 10, 11, 9, 10, 11, 9, 10, 11]);
    assert.deepEqual(await shown.bad('indices', 'replaced'), [1, 3]);
    await shown.cell('indices', 1).fill('-10');
    await shown.outputs([3, 4, 5, 6, 7, 8, 9, 10, 11, 9, 10, 11]);
    await shown.page.selectOption('#negative', 'from-end');
    await shown.outputs([3, 4, 5, 6, 7, 8, 9, 10, 11, 9, 10, 11]);
    assert.deepEqual(await shown.bad('indices', 'replaced'), [1]);
  },

  async different_errors(shown) {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.page.selectOption('#policy', 'Error');
    await shown.shows('verdict', 'The GPU and the CPU give the same error.');
    // No gather gives two errors, so the GPU's is replaced.
    await shown.page.evaluate(async () => {
      const { Device } = await import('./page.js');
      const { gather } = Device.prototype;
      Device.prototype.gather = async () => {
        Device.prototype.gather = gather;
        throw new Error('the device is lost');
      };
    });
    await shown.cell('indices', 1).fill('8');
    await shown.shows('verdict', 'The GPU and the CPU give different errors.');
    assert.ok(await shown.page.locator('#verdict.wrong').isVisible());
    assert.equal(await shown.text('gpu'), 'the device is lost');
    assert.equal(await shown.text('cpu'), 'indices[1] = 8 is not in [0, 4)');
    await shown.cell('indices', 1).fill('7');
    await shown.shows('verdict', 'The GPU and the CPU give the same error.');
    assert.equal(await shown.page.locator('#verdict.wrong').count(), 0);
  },

  async shapes(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await shown.set('params-shape', '4, 2');
    await shown.outputs([6, 7, 0, 1, 4, 5]);
    await shown.set('indices-shape', '2x2');
    await shown.outputs([6, 7, 0, 1, 4, 5, 0, 1]);
    assert.equal(await shown.text('cpu-at'), '[2,2,2]');
    assert.equal(await shown.page.locator('#cpu table').count(), 2);
    await shown.set('indices-shape', '');
    await shown.outputs([6, 7]);
    await shown.set('indices-shape', '0');
    await shown.outputs([]);
    await shown.set('params-shape', '4,a');
    await shown.shows('problem', 'Shape of params: numbers like 4,3 expected, found 4,a');
    assert.deepEqual(await shown.cells('cpu'), []);
    await shown.set('params-shape', '1000');
    await shown.shows('problem', 'params of at most 256 elements are shown here, found 1000');
    await shown.set('params-shape', '4,3');
    await shown.set('indices-shape', '1');
    await shown.outputs([0, 1, 2]);
    await shown.shows('problem', '');
  },

  async operation_axis_and_batch_dims(shown) {
    await shown.page.selectOption('#example', { label: 'of each batch its own' });
    await shown.set('batch-dims', '0');
    await shown.shows('gpu-at', '[3,3,2]');
    await shown.set('axis', '0');
    await shown.shows('gpu-at', '[3,2,5]');
    await shown.set('axis', '2');
    await shown.shows('problem', 'axis must be in [-2, 2) for params of rank 2, found 2');
    await shown.set('axis', '');
    await shown.shows('gpu-at', '[3,2,5]');
    await shown.page.selectOption('#operation', 'gather_nd');
    await shown.shows('gpu-at', '[3]');
    await shown.set('batch-dims', '1');
    await shown.shows(
      'problem',
      'index depth (the last dim of indices) must be at most 1, the dims of params from the axis on, found 2',
    );
    await shown.page.selectOption('#operation', 'gather_elements');
    assert.ok(await shown.page.isDisabled('#batch-dims'));
    await shown.set('axis', '1');
    await shown.outputs([2, 4, 5, 9, 11, 13]);
    await shown.shows('problem', '');
  },

  async dims_of_1(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    assert.ok(await shown.page.isDisabled('#broadcast'));
    await shown.page.selectOption('#example', { label: 'one order for all rows' });
    await shown.outputs([3, 0, 7, 4, 11, 8]);
    await shown.shows('gpu-at', '[3,2]');
    await shown.cell('indices', 0).hover();
    await shown.shows('selection', 'Index row 0 = [3] takes 3 elements, from params[0, 3] to params[2, 3]');
    assert.deepEqual(await shown.bad('gpu', 'chosen'), [0, 2, 4]);
    await shown.page.selectOption('#broadcast', 'no');
    await shown.outputs([3, 0]);
    // Params stretches.
    await shown.set('params-shape', '1,4');
    await shown.set('indices-shape', '2,3');
    await shown.shows('problem', 'indices.shape[0] must be at most params.shape[0] = 1, found 2');
    await shown.page.selectOption('#broadcast', 'yes');
    await shown.outputs([3, 0, 0, 0, 0, 0]);
    await shown.shows('formula', 'output[i, j] = params[0, indices[i, j]]');
    await shown.cell('indices', 5).fill('4');
    await shown.outputs([3, 0, 0, 0, 0, 0]);
    assert.deepEqual(await shown.bad('gpu'), [5]);
    await shown.set('params-shape', '5,4');
    await shown.shows('problem', 'dims must be equal or 1 to broadcast, found params.shape[0] = 5 and indices.shape[0] = 2');
  },

  async types_of_indices(shown) {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.page.selectOption('#policy', 'Fill');
    for (const type of ['i8', 'i16', 'i32', 'i64']) {
      await shown.page.selectOption('#index-type', type);
      await shown.outputs([3, 4, 5, 0, 0, 0, 9, 10, 11, 0, 0, 0]);
      const bytes = 4 * (Number(type.slice(1)) / 8);
      await shown.matches('#explained', new RegExp(`indices ${bytes} bytes \\(${type}\\)`));
    }
    for (const type of ['u8', 'u16', 'u32', 'u64']) {
      await shown.page.selectOption('#index-type', type);
      await shown.shows('problem', `indices of type ${type} hold no -1`);
      assert.deepEqual(await shown.cells('cpu'), []);
      await shown.cell('indices', 3).fill('2');
      await shown.outputs([3, 4, 5, 0, 0, 0, 9, 10, 11, 6, 7, 8]);
      await shown.cell('indices', 3).fill('-1');
    }
    await shown.cell('indices', 3).fill('200');
    await shown.page.selectOption('#index-type', 'u8');
    await shown.page.selectOption('#policy', 'Wrap');
    await shown.outputs([3, 4, 5, 9, 10, 11, 9, 10, 11, 0, 1, 2]);
    await shown.page.selectOption('#index-type', 'i8');
    await shown.shows('problem', 'indices of type i8 hold no 200');
  },

  async params_without_elements(shown) {
    await shown.page.selectOption('#example', { label: 'points' });
    await shown.set('params-shape', '3,4,0');
    await shown.shows('problem', 'Requested more than 0 entries, but params is empty. Params shape: [3,4,0]');
    assert.deepEqual(await shown.cells('cpu'), []);
    await shown.page.selectOption('#negative', 'from-end');
    await shown.outputs([]);
    await shown.shows('gpu-at', '[3,0]');
    await shown.set('params-shape', '3,0');
    for (const policy of ['Fill', 'Clamp', 'Wrap']) {
      await shown.page.selectOption('#policy', policy);
      await shown.outputs([0, 0, 0]);
      await shown.cell('gpu', 2).focus();
      await shown.shows('worked', 'output[2] = 0, because indices[2, 1] = 0 is not in [0, 0)');
    }
  },

  async params_and_indices(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await shown.cell('params', 10).fill('-0.5');
    await shown.outputs([9, -0.5, 11, 0, 1, 2, 6, 7, 8]);
    await shown.cell('indices', 1).fill('3');
    await shown.outputs([9, -0.5, 11, 9, -0.5, 11, 6, 7, 8]);
    // A value that is no index is marked and changes nothing.
    await shown.cell('indices', 1).fill('1.5');
    assert.equal(await shown.cell('indices', 1).evaluate((cell) => cell.validity.valid), false);
    await shown.outputs([9, -0.5, 11, 9, -0.5, 11, 6, 7, 8]);
    await shown.cell('indices', 1).fill('1');
    await shown.outputs([9, -0.5, 11, 3, 4, 5, 6, 7, 8]);
  },

  // The keyboard reaches everything, from the top of the page to the cells of an output.
  async keyboard(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await shown.outputs([9, 10, 11, 0, 1, 2, 6, 7, 8]);
    await shown.page.focus('nav a');
    const reached = new Set();
    while (!reached.has('SUMMARY')) {
      await shown.page.keyboard.press('Tab');
      const name = await shown.page.evaluate(() => {
        const { id, ariaLabel, tagName } = document.activeElement;
        return id || ariaLabel || tagName;
      });
      reached.add(name);
      if (name === 'indices[1]') {
        await shown.page.keyboard.press('ArrowUp');
        await shown.outputs([9, 10, 11, 3, 4, 5, 6, 7, 8]);
        await shown.shows('selection', 'Index row 1 = [1] takes 3 elements, from params[1, 0] to params[1, 2]');
        assert.deepEqual(await shown.bad('params', 'chosen'), [3, 4, 5]);
        assert.deepEqual(await shown.bad('gpu', 'chosen'), [3, 4, 5]);
        // A line to the slice, and one on to the output.
        assert.equal(await shown.page.locator('#lines path').count(), 2);
      }
      if (name === 'output[0, 0] = 9' && (await shown.page.evaluate(() => Boolean(document.activeElement.closest('#gpu'))))) {
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await shown.page.keyboard.press(key);
        await shown.shows('selection', 'Index row 2 = [2] takes 3 elements, from params[2, 0] to params[2, 2]');
        await shown.page.keyboard.press('ArrowLeft');
      }
    }
    for (const id of ['example', 'operation', 'params-shape', 'indices-shape', 'axis', 'batch-dims', 'index-type', 'policy', 'negative', 'mebibytes', 'table', 'time', 'explained', 'SUMMARY', 'params[3, 2]', 'output[0, 0] = 9']) {
      assert.ok(reached.has(id), `${id} is not reached`);
    }
    await shown.cell('params', 0).hover();
    await shown.shows('selection', 'params[0, 0] is taken by no index');
    assert.equal(await shown.page.locator('#lines path').count(), 0);
    await shown.cell('params', 4).hover();
    await shown.shows('selection', 'params[1, 1] goes to output[1, 1]');
  },

  async large_gather(shown) {
    for (const [table, sizes] of [['words', ['4 B', '16 B', '64 B', '256 B', '1 KiB', '4 KiB']], ['Q8_0', ['128 B', '256 B', '1 KiB', '4 KiB']]]) {
      await shown.page.selectOption('#table', table);
      await shown.page.selectOption('#mebibytes', '4');
      await shown.page.click('#time');
      await shown.matches('#timed', /^A gather of slices of 4 KiB moves: /, 60_000);
      const rows = await shown.page.locator('#times tr').allInnerTexts();
      const [head, ...found] = rows.map((row) => row.split('\t'));
      const cpu = 'CPU (wasm, one thread)';
      assert.deepEqual(head, ['slice', 'software adapter', 'software adapter: copy', cpu, `${cpu}: copy`]);
      assert.deepEqual(found.map(([size]) => size), sizes);
      for (const [size, ...rates] of found) assert.ok(rates.every((rate) => Number(rate) > 0), `${size}: ${rates}`);
      // The chart has a point for each number of the table.
      assert.equal(await shown.page.locator('#times circle').count(), 4 * sizes.length);
      console.log(`  4 MiB of ${table}, GB/s: ${rows.slice(1).join('; ').replaceAll('\t', ' ')}`);
    }
    await shown.page.selectOption('#table', 'words');
  },

  async what_ran(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await shown.outputs([9, 10, 11, 0, 1, 2, 6, 7, 8]);
    assert.match(await shown.text('explained'), /1 dispatch of 1 x 1 workgroups/);
    await shown.page.click('summary');
    assert.match(await shown.text('shader'), /entry point rows(?!_)/);
    await shown.matches('#wgsl mark', /^@compute [^]*fn rows\([^]*\n}\n?$/);
    assert.equal(await shown.page.locator('#wgsl').innerText(), await wgsl('common', 'element_dims', 'index_rows', 'words', 'slices', 'rows'));
    await shown.page.selectOption('#policy', 'Error');
    await shown.outputs([9, 10, 11, 0, 1, 2, 6, 7, 8]);
    await shown.matches('#wgsl mark', /fn rows_report\(/);
    assert.ok(await shown.page.locator('#wgsl').evaluate(({ scrollTop }) => scrollTop > 0));
    // The page stays where it is while the WGSL is open.
    await shown.page.evaluate(() => scrollTo(0, 0));
    await shown.cell('indices', 0).fill('1');
    await shown.page.selectOption('#policy', 'Fill');
    await shown.outputs([3, 4, 5, 0, 1, 2, 6, 7, 8]);
    await shown.matches('#wgsl mark', /fn rows\(/);
    assert.equal(await shown.page.evaluate(() => scrollY), 0);
    await shown.page.selectOption('#policy', 'Error');
    await shown.page.selectOption('#operation', 'gather_elements');
    await shown.set('params-shape', '4,2,2');
    await shown.set('indices-shape', '3,2,1');
    await shown.matches('#wgsl mark', /fn rows_report\(/);
    await shown.matches('#explained', /kernel rows_report: units of 4 bytes/);
    await shown.matches('#wgsl', /fn element_row\(/);
    await shown.page.click('summary');
  },
};

// The text of a module that is joined of these files.
async function wgsl(...files) {
  const texts = files.map((file) => readFile(new URL(`./www/shaders/${file}.wgsl`, import.meta.url), 'utf8'));
  return `${(await Promise.all(texts)).join('\n')}\n`;
}
