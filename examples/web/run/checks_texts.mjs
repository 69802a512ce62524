// Checks of the page's texts about the gather that it shows.
import assert from 'node:assert/strict';

const ABOUT = {
  'rows of a table': 'Each index selects a row of params, as a token id selects an embedding.',
  columns: 'Along axis 1, each index selects a column of params.',
  'of each batch its own': 'With batch_dims 1, each row of indices selects from its own row of params.',
  'bad indices': 'The indices 7 and -1 are out of range, because params has only the rows 0 to 3.',
  points: 'Each index row holds two coordinates and selects one element of params.',
  'slices at points': 'Each index row holds two of three coordinates and selects a slice along the last dim of params.',
  'from the end': 'A negative index counts from the end: -1 selects the last row of its batch.',
  'an element of each row': 'Along axis 1, each index selects an element of its own row of params.',
};
const POLICIES = {
  DeviceDefault: 'An index out of range is an error on the CPU and a slice of zeros on the GPU, as in TensorFlow.',
  Error: 'An index out of range is an error on both devices, and the error names the first bad row.',
  Zero: 'An index out of range gives a slice of zeros on both devices.',
  Clamp: 'An index beyond the end of its dim selects the last entry, and an index before the start the first.',
};

export const checks = {
  async sentence_of_each_example(shown) {
    for (const [name, sentence] of Object.entries(ABOUT)) {
      await shown.page.selectOption('#example', { label: name });
      await shown.shows('about-example', sentence);
    }
    const names = await shown.page.locator('#example option:enabled').allInnerTexts();
    assert.deepEqual(names.toSorted(), Object.keys(ABOUT).toSorted());
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
