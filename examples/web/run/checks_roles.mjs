// Checks of the accessibility tree: what a screen reader finds on the page, and what it reads out on its own.
import assert from 'node:assert/strict';

const HEADINGS = [
  [1, 'wgpu-gather'],
  [2, 'Operands and output'],
  [3, 'indices [3]'],
  [3, 'params [4,3]'],
  [3, 'software adapter [3,3]'],
  [3, 'CPU path in this page (wasm, one thread) [3,3]'],
  [2, 'The gather'],
  [2, 'Formula'],
  [2, 'A large gather'],
  [2, 'What ran'],
];
const REGIONS = ['Operands and output', 'The gather', 'Formula', 'A large gather', 'What ran'];
const CONTROLS = {
  combobox: ['Example', 'Operation', 'Dims of 1', 'Type of indices', 'Bad indices', 'Negative indices', 'Output', 'from a table of'],
  textbox: ['Shape of params', 'Shape of indices'],
  button: ['Time it'],
};

// Chromium's accessibility tree in document order, without the nodes that it ignores.
async function tree(shown) {
  const session = await shown.page.context().newCDPSession(shown.page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const inOrder = (node) => [node, ...(node.childIds ?? []).flatMap((id) => inOrder(byId.get(id)))];
  return inOrder(nodes[0])
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, description, properties = [] }) => ({
      role: role.value,
      name: name?.value ?? '',
      description: description?.value ?? '',
      ...Object.fromEntries(properties.map((property) => [property.name, property.value.value])),
    }));
}

const names = (nodes, role) => nodes.filter((node) => node.role === role).map(({ name }) => name);

// The texts that live regions get while `act` runs and until `last` is one of them.
async function readOut(shown, act, last) {
  await shown.page.evaluate(() => {
    window.read = [];
    window.reading = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const live = target.parentElement?.closest('[role=status], [role=alert]') ?? target.closest?.('[role=status], [role=alert]');
        if (live?.textContent) window.read.push(`${live.role}: ${live.textContent}`);
      }
    });
    window.reading.observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  await act();
  await shown.page.waitForFunction((last) => window.read.includes(last), last).catch(async () => {
    assert.fail(`not read out: ${last}\nbut: ${JSON.stringify(await shown.page.evaluate(() => window.read))}`);
  });
  return shown.page.evaluate(() => {
    window.reading.disconnect();
    return [...new Set(window.read)];
  });
}

export const checks = {
  async headings_and_landmarks(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await shown.outputs([9, 10, 11, 0, 1, 2, 6, 7, 8]);
    const nodes = await tree(shown);
    const headings = nodes.filter(({ role }) => role === 'heading').map(({ level, name }) => [level, name.trim()]);
    assert.deepEqual(headings, HEADINGS);
    assert.deepEqual(names(nodes, 'region'), REGIONS);
    assert.equal(names(nodes, 'banner').length, 1);
    assert.equal(names(nodes, 'main').length, 1);
    assert.deepEqual(names(nodes, 'form'), ['The gather', 'A large gather']);
    assert.deepEqual(nodes.find(({ role }) => role === 'RootWebArea').name, 'wgpu-gather: what a gather takes');
  },

  async roles_names_and_descriptions(shown) {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.page.selectOption('#policy', 'Clamp');
    await shown.outputs([3, 4, 5, 9, 10, 11, 9, 10, 11, 0, 1, 2]);
    const nodes = await tree(shown);
    for (const [role, expected] of Object.entries(CONTROLS)) assert.deepEqual(names(nodes, role), expected);
    const spins = names(nodes, 'spinbutton');
    assert.deepEqual(spins.slice(0, 5), ['indices[0]', 'indices[1]', 'indices[2]', 'indices[3]', 'params[0, 0]']);
    assert.deepEqual(spins.slice(-2), ['axis', 'batch_dims']);
    assert.equal(spins.length, 18);
    const invalid = nodes.filter(({ invalid }) => invalid === 'true').map(({ name }) => name);
    assert.deepEqual(invalid, ['indices[1]', 'indices[3]']);
    assert.deepEqual(names(nodes, 'table').filter((name) => name !== 'GB/s by slice size'), ['indices', 'params']);
    assert.deepEqual(names(nodes, 'grid'), ['output of the GPU', 'output of the CPU path']);
    const cells = names(nodes, 'gridcell');
    assert.equal(cells.length, 24);
    assert.deepEqual(cells.slice(2, 4), ['output[0, 2] = 5', 'output[1, 0] = 9, clamped']);
    assert.ok(names(nodes, 'group').includes('The plan'));
    const described = (name) => nodes.find((node) => node.role === 'combobox' && node.name === name).description;
    assert.equal(described('Example'), await shown.text('about-example'));
    assert.equal(described('Bad indices'), await shown.text('about-policy'));
    const unnamed = nodes.filter((node) => node.focusable && node.name === '' && node.role !== 'RootWebArea');
    assert.deepEqual(unnamed, []);

    await shown.page.selectOption('#policy', 'Wrap');
    await shown.outputs([3, 4, 5, 9, 10, 11, 9, 10, 11, 9, 10, 11]);
    assert.ok(names(await tree(shown), 'gridcell').includes('output[3, 0] = 9, wrapped'));
    await shown.page.selectOption('#policy', 'Fill');
    await shown.outputs([3, 4, 5, 0, 0, 0, 9, 10, 11, 0, 0, 0]);
    assert.ok(names(await tree(shown), 'gridcell').includes('output[1, 0] = 0, out of range'));
    await shown.page.selectOption('#example', { label: 'from the end' });
    await shown.outputs([3, 4, 5, 6, 7, 8]);
    const parts = await tree(shown);
    assert.ok(names(parts, 'table').includes('params [1, :, :]'));
    assert.ok(names(parts, 'grid').includes('output of the GPU [0, :, :]'));
  },

  async results_are_read_out(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await shown.outputs([9, 10, 11, 0, 1, 2, 6, 7, 8]);
    const agree = 'The GPU and the CPU agree, bit for bit.';
    const nodes = await tree(shown);
    const live = nodes.filter(({ live }) => live).map(({ role, live }) => [role, live]);
    assert.deepEqual(live.filter(([role]) => role === 'status').map(([, live]) => live), Array(4).fill('polite'));
    assert.deepEqual(live.filter(([role]) => role === 'alert'), [['alert', 'assertive']]);

    const set = () => shown.cell('indices', 1).fill('1');
    await readOut(shown, set, `status: Output of shape [3, 3]: 9, 10, 11; 3, 4, 5; 6, 7, 8. ${agree}`);
    const focus = () => shown.cell('params', 0).focus();
    assert.deepEqual(await readOut(shown, focus, 'status: params[0, 0] is taken by no index'), [
      'status: params[0, 0] is taken by no index',
    ]);
    const tooFar = () => shown.set('axis', '2');
    await readOut(shown, tooFar, 'alert: axis must be in [-2, 2) for params of rank 2, found 2');
    const error = async () => {
      await shown.set('axis', '0');
      await shown.page.selectOption('#policy', 'Error');
      await shown.cell('indices', 0).fill('4');
    };
    const same = 'The GPU and the CPU give the same error.';
    await readOut(shown, error, `status: No output: indices[0] = 4 is not in [0, 4). ${same}`);
    const many = async () => {
      await shown.page.selectOption('#policy', 'Fill');
      await shown.set('params-shape', '4,60');
      await shown.set('indices-shape', '1');
    };
    const zeros = Array(24).fill(0).join(', ');
    await readOut(shown, many, `status: Output of shape [1, 60]: ${zeros} and 36 more. ${agree}`);
    await shown.page.selectOption('#mebibytes', '4');
    await shown.page.click('#time');
    const moves = /^A gather of slices of 4 KiB moves: software adapter: [\d.]+ GB\/s; CPU \(wasm, one thread\): [\d.]+ GB\/s\.$/;
    await shown.matches('#timed', moves, 60_000);
  },
};
