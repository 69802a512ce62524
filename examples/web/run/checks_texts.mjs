// Checks of the page's texts about the gather that it shows.
import assert from 'node:assert/strict';
import { EXAMPLES, POLICIES } from './www/examples.js';

const ABOUT = Object.fromEntries(EXAMPLES.map(({ name, shows }) => [name, shows]));

const FORMULAS = {
  'rows of a table': ['output[i, j] = params[indices[i], j]', 'output[2, 2] = params[indices[2] = 2, 2] = 8'],
  columns: ['output[i, j] = params[i, indices[j]]', 'output[2, 1] = params[2, indices[1] = 0] = 8'],
  'of each batch its own': ['output[i, j] = params[i, indices[i, j]]', 'output[2, 1] = params[2, indices[2, 1] = 3] = 13'],
  'bad indices': [
    'output[i, j] = params[indices[i], j]',
    'output[3, 2] = 0 on the GPU, an error on the CPU, because indices[3] = -1 is not in [0, 4)',
  ],
  points: [
    'output[i] = params[indices[i, 0], indices[i, 1]]',
    'output[2] = params[indices[2, 0] = 1, indices[2, 1] = 0] = 4',
  ],
  'slices at points': [
    'output[i, j] = params[indices[i, 0], indices[i, 1], j]',
    'output[1, 3] = params[indices[1, 0] = 1, indices[1, 1] = 0, 3] = 15',
  ],
  'points of each matrix': [
    'output[i, j] = params[i, indices[j, 0], indices[j, 1]]',
    'output[1, 1] = params[1, indices[1, 0] = 2, indices[1, 1] = 0] = 15',
  ],
  'from the end': [
    'output[i, j, k] = params[i, indices[i, j, 0], k]',
    'output[1, 0, 2] = params[1, (indices[1, 0, 0] = -2) + 2 = 0, 2] = 8',
  ],
  'an element of each row': ['output[i, j] = params[i, indices[i, j]]', 'output[3, 0] = params[3, indices[3, 0] = 2] = 11'],
  'one order for all rows': ['output[i, j] = params[i, indices[0, j]]', 'output[2, 1] = params[2, indices[0, 1] = 0] = 8'],
  'colours of a palette': [
    'output[i, j, k] = params[indices[i, j], k]',
    'output[1, 2, 2] = params[indices[1, 2] = 2, 2] = 106',
  ],
};

export const checks = {
  async formula_of_each_example(shown) {
    for (const [name, [formula, worked]] of Object.entries(FORMULAS)) {
      await shown.page.mouse.move(0, 0);
      await shown.page.selectOption('#example', { label: name });
      await shown.shows('formula', formula);
      await shown.forgetChosen();
      await shown.shows('worked', worked);
    }
  },

  // The formula comes from the page and the outputs from the library: for each element they give the same number.
  async formula_of_each_output_element(shown) {
    for (const name of Object.keys(FORMULAS)) {
      await shown.page.selectOption('#example', { label: name });
      for (const policy of ['Fill', 'Clamp', 'Wrap']) {
        for (const negative of ['invalid', 'from-end']) {
          await shown.page.selectOption('#policy', policy);
          await shown.page.selectOption('#negative', negative);
          const found = await shown.workedOutputs();
          const expected = await shown.cells('cpu');
          assert.ok(expected.length >= 3);
          assert.deepEqual(found, expected, `${name}, ${policy}, ${negative}`);
        }
      }
    }
  },

  async formula_of_bad_indices(shown) {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.cell('gpu', 4).focus();
    await shown.page.selectOption('#policy', 'Fill');
    await shown.shows('worked', 'output[1, 1] = 0, because indices[1] = 7 is not in [0, 4)');
    await shown.page.selectOption('#negative', 'from-end');
    await shown.shows('worked', 'output[1, 1] = 0, because indices[1] = 7 is not in [-4, 4)');
    await shown.page.selectOption('#policy', 'Clamp');
    await shown.shows('worked', 'output[1, 1] = params[clamp(indices[1] = 7) = 3, 1] = 10');
    await shown.cell('indices', 1).fill('-9');
    await shown.shows('worked', 'output[1, 0] = params[clamp((indices[1] = -9) + 4) = 0, 0] = 0');
    await shown.page.selectOption('#policy', 'Wrap');
    await shown.shows('worked', 'output[1, 0] = params[(indices[1] = -9) mod 4 = 3, 0] = 9');
    await shown.page.selectOption('#policy', 'Error');
    await shown.shows('worked', 'no output, because indices[1] = -9 is not in [-4, 4)');
    await shown.cell('indices', 1).fill('1');
    await shown.shows('worked', 'output[1, 0] = params[indices[1] = 1, 0] = 3');
    await shown.set('indices-shape', '0');
    await shown.shows('worked', 'the output has no elements');
    await shown.set('indices-shape', '');
    await shown.shows('formula', 'output[i] = params[indices, i]');
    await shown.set('axis', '5');
    await shown.shows('worked', '');
    await shown.shows('formula', '');
  },

  async sentence_of_each_example(shown) {
    for (const [name, sentence] of Object.entries(ABOUT)) {
      await shown.page.selectOption('#example', { label: name });
      await shown.shows('about-example', sentence);
    }
    const names = await shown.page.locator('#example option:enabled').allInnerTexts();
    assert.deepEqual(names.toSorted(), Object.keys(ABOUT).toSorted());
    await shown.page.selectOption('#example', { label: 'an element of each row' });
    const chosen = () => shown.page.locator('#example option:checked').innerText();
    for (const [id, own, given] of [
      ['axis', '0', '1'],
      ['params-shape', '4,4', '4,3'],
      ['params-shape', '4,', '4,3'],
    ]) {
      await shown.set(id, own);
      await shown.shows('about-example', 'The form and the numbers are your own.');
      assert.equal(await chosen(), 'your own');
      await shown.set(id, given);
    }
    for (const [id, own, given] of [
      ['params', '7.5', '0'],
      ['indices', '1', '0'],
    ]) {
      await shown.page.selectOption('#example', { label: 'rows of a table' });
      await shown.page.selectOption('#example', { label: 'an element of each row' });
      await shown.cell(id, 0).fill(own);
      await shown.shows('about-example', 'The form and the numbers are your own.');
      await shown.cell(id, 0).fill(given);
      await shown.shows('about-example', ABOUT['an element of each row']);
    }
  },

  async sentence_of_each_policy(shown) {
    const policies = await shown.page.locator('#policy option').allInnerTexts();
    assert.deepEqual(policies.toSorted(), Object.keys(POLICIES).toSorted());
    for (const [policy, sentence] of Object.entries(POLICIES)) {
      await shown.page.selectOption('#policy', policy);
      await shown.shows('about-policy', sentence);
    }
  },
};
