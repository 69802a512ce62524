// Checks of the programs that the page copies.
import assert from 'node:assert/strict';

const RUST = `use wgpu_gather::{Executor, Gather};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params: [f32; 12] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
    let indices: [i32; 4] = [1, 7, 3, -1];
    let plan = Gather::new()
        .axis(0)
        .plan(&[4, 3], &[4])?;
    println!("{plan}");
    println!("CPU: {:?}", plan.gather(&params, &indices));

    let gpu = Executor::gpu_blocking()?;
    let table = gpu.upload(&params, plan.params_shape())?;
    println!("GPU: {:?}", gpu.gather(&plan, &table, &indices).wait());
    Ok(())
}
`;
const NUMPY = `import numpy as np

params = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0], np.float32).reshape((4, 3))
indices = np.array([1, 7, 3, -1], np.int32).reshape((4,))
bad = (indices < 0) | (indices >= 4)
# As on the CPU: a GPU gives zeros.
if bad.any():
    raise IndexError(f"out of range: {indices[bad]}")
output = np.take(params, indices, axis=0)
print(output)
`;
const TENSORFLOW = `import tensorflow as tf

params = tf.reshape(tf.constant([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0], tf.float32), [4, 3])
indices = tf.reshape(tf.constant([1, 7, 3, -1], tf.int32), [4])
output = tf.gather(params, indices, axis=0)
print(output.numpy())
`;

// The part of a program after its operands: the plan in Rust, the output in Python.
const lines = {
  Rust: (text) => text.match(/let plan = [^]*?;/)[0].replace(/\n +/g, ''),
  NumPy: (text) => text.match(/indices = [^]*?\n([^]*)\nprint/)[1],
  PyTorch: (text) => text.match(/indices = [^]*?\n([^]*)\nprint/)[1],
  TensorFlow: (text) => text.match(/indices = [^]*?\n([^]*)\nprint/)[1],
};
const PROGRAMS = {
  'of each batch its own': {
    Rust: 'let plan = Gather::new().axis(1).batch_dims(1).bad_indices(BadIndices::Fill).plan(&[3, 5], &[3, 2])?;',
    NumPy: `output = np.array(
    [np.take(params[n], indices[n], axis=0) for n in np.ndindex(3,)], np.float32
).reshape((3, 2))`,
    PyTorch: `output = torch.stack(
    [params[n][indices[n]] for n in itertools.product(range(3))]
).reshape((3, 2))`,
    TensorFlow: 'output = tf.gather(params, indices, axis=1, batch_dims=1)',
  },
  'slices at points': {
    Rust: 'let plan = GatherNd::new().bad_indices(BadIndices::Fill).plan(&[2, 3, 4], &[2, 2])?;',
    NumPy: 'output = params[indices[..., 0], indices[..., 1]]',
    PyTorch: 'output = params[indices[..., 0], indices[..., 1]]',
    TensorFlow: 'output = tf.gather_nd(params, indices)',
  },
  'points of each matrix': {
    Rust: 'let plan = GatherNd::new().axis(1).bad_indices(BadIndices::Fill).plan(&[2, 3, 3], &[2, 2])?;',
    NumPy: 'output = params[:, indices[..., 0], indices[..., 1]]',
    PyTorch: 'output = params[:, indices[..., 0], indices[..., 1]]',
    TensorFlow: `# tf.gather_nd has no axis: the dims before it become the last ones, and come back.
params = tf.transpose(params, [1, 2, 0])
output = tf.transpose(tf.gather_nd(params, indices), [1, 0])`,
  },
  'from the end': {
    Rust: `let plan = GatherNd::new().batch_dims(1).bad_indices(BadIndices::Error)\
.negative_indices(NegativeIndices::FromEnd).plan(&[2, 2, 3], &[2, 1, 1])?;`,
    NumPy: `output = np.array(
    [params[n][indices[n][..., 0]] for n in np.ndindex(2,)], np.float32
).reshape((2, 1, 3))`,
    TensorFlow: `indices = tf.where(indices < 0, indices + [2], indices)
output = tf.gather_nd(params, indices, batch_dims=1)`,
  },
  'an element of each row': {
    Rust: 'let plan = GatherElements::new().axis(1).bad_indices(BadIndices::Fill).plan(&[4, 3], &[4, 1])?;',
    NumPy: 'output = np.take_along_axis(params, indices, axis=1)',
    PyTorch: 'output = torch.gather(params, 1, indices)',
    TensorFlow: 'output = tf.experimental.numpy.take_along_axis(params, indices, axis=1)',
  },
  'one order for all rows': {
    Rust: 'let plan = GatherElements::new().axis(1).broadcast(true).bad_indices(BadIndices::Fill).plan(&[3, 4], &[1, 2])?;',
    NumPy: 'output = np.take_along_axis(params, indices, axis=1)',
    PyTorch: 'output = torch.take_along_dim(params, indices, dim=1)',
    TensorFlow: 'output = tf.experimental.numpy.take_along_axis(params, indices, axis=1)',
  },
};

async function copied(shown, language) {
  await shown.page.click(`text=Copy as ${language}`);
  await shown.shows('copied', `Copied as ${language}.`);
  const text = await shown.page.evaluate(() => navigator.clipboard.readText());
  assert.equal(await shown.page.locator('#code').textContent(), text);
  return text;
}

export const checks = {
  async program_of_each_language(shown) {
    await shown.page.selectOption('#example', { label: 'bad indices' });
    assert.equal(await copied(shown, 'Rust'), RUST);
    assert.equal(await copied(shown, 'NumPy'), NUMPY);
    assert.equal(await copied(shown, 'TensorFlow'), TENSORFLOW);
  },

  async program_of_narrow_indices(shown) {
    await shown.page.selectOption('#example', { label: 'colours of a palette' });
    assert.match(await copied(shown, 'Rust'), /^    let indices: \[u8; 6\] = \[0, 3, 3, 1, 0, 2\];$/m);
  },

  async program_of_each_operation(shown) {
    for (const [name, programs] of Object.entries(PROGRAMS)) {
      await shown.page.selectOption('#example', { label: name });
      for (const [language, expected] of Object.entries(programs)) {
        assert.equal(lines[language](await copied(shown, language)), expected);
      }
    }
  },

  async program_of_each_policy(shown) {
    const of = async (language) => lines[language](await copied(shown, language));
    const ends = { NumPy: 'output = np.take(params, indices, axis=0)', TensorFlow: 'output = tf.gather(params, indices, axis=0)' };
    await shown.page.selectOption('#example', { label: 'bad indices' });
    await shown.page.selectOption('#policy', 'Fill');
    for (const [language, tool] of [['NumPy', 'np'], ['TensorFlow', 'tf']]) {
      const pads = language === 'NumPy' ? '[(0, 1), (0, 0)]' : '[[0, 1], [0, 0]]';
      assert.equal(
        await of(language),
        `bad = (indices < 0) | (indices >= 4)
# Bad rows take zeros that are appended to params.
params = ${tool}.pad(params, ${pads})
indices = ${tool}.where(bad, 4, indices)
${ends[language]}`,
      );
    }
    assert.equal(
      await of('PyTorch'),
      `bad = (indices < 0) | (indices >= 4)
# Bad rows take zeros that are appended to params.
params = torch.nn.functional.pad(params, (0, 0, 0, 1))
indices = torch.where(bad, 4, indices)
output = params[indices]`,
    );
    await shown.page.selectOption('#policy', 'Clamp');
    await shown.page.selectOption('#negative', 'from-end');
    assert.match(await of('PyTorch'), /^indices = torch.clamp\(indices, 0, 3\)$/m);
    const turned = (tool) => `indices = ${tool}.where(indices < 0, indices + 4, indices)`;
    assert.equal(await of('NumPy'), `${turned('np')}\nindices = np.clip(indices, 0, 3)\n${ends.NumPy}`);
    assert.equal(await of('TensorFlow'), `${turned('tf')}\nindices = tf.clip_by_value(indices, 0, 3)\n${ends.TensorFlow}`);
    await shown.page.selectOption('#policy', 'Wrap');
    assert.match(await copied(shown, 'Rust'), /^        \.bad_indices\(BadIndices::Wrap\)$/m);
    assert.equal(await of('NumPy'), 'output = np.take(params, indices, axis=0, mode="wrap")');
    assert.equal(await of('TensorFlow'), `indices = tf.math.floormod(indices, 4)\n${ends.TensorFlow}`);
    await shown.page.selectOption('#policy', 'Error');
    assert.match(await of('TensorFlow'), /if tf.reduce_any\(bad\):\n    raise IndexError/);
  },

  async program_of_wrapped_index_rows(shown) {
    await shown.page.selectOption('#example', { label: 'points' });
    await shown.page.selectOption('#policy', 'Wrap');
    await shown.cell('indices', 1).fill('-9');
    assert.equal(
      lines.NumPy(await copied(shown, 'NumPy')),
      'indices = indices % [3, 4]\noutput = params[indices[..., 0], indices[..., 1]]',
    );
    assert.equal(
      lines.TensorFlow(await copied(shown, 'TensorFlow')),
      'indices = tf.math.floormod(indices, [3, 4])\noutput = tf.gather_nd(params, indices)',
    );
    await shown.set('indices-shape', '2,0');
    assert.equal(
      lines.NumPy(await copied(shown, 'NumPy')),
      'output = np.broadcast_to(params.reshape((1, 3, 4)), (2, 3, 4))',
    );
  },

  async program_of_params_without_elements(shown) {
    await shown.page.selectOption('#example', { label: 'points' });
    await shown.page.selectOption('#negative', 'from-end');
    await shown.set('params-shape', '3,4,0');
    assert.equal(lines.TensorFlow(await copied(shown, 'TensorFlow')), 'output = tf.zeros([3, 0])');
    await shown.set('params-shape', '3,0');
    assert.match(lines.NumPy(await copied(shown, 'NumPy')), /^params = np.pad\(params, \[\(0, 1\), \(0, 1\)\]\)$/m);
    await shown.page.selectOption('#policy', 'Error');
    await shown.set('indices-shape', '2');
    assert.match(await copied(shown, 'TensorFlow'), /raise IndexError\(f"out of range: {indices}"\)/);
  },

  async program_follows_the_operands(shown) {
    await shown.page.selectOption('#example', { label: 'rows of a table' });
    await copied(shown, 'NumPy');
    await shown.cell('params', 0).fill('0.1');
    await shown.cell('indices', 0).fill('2');
    await shown.shows('copied', '');
    const code = () => shown.page.locator('#code').textContent();
    assert.match(await code(), /np.array\(\[0.1, 1.0, [^]*np.array\(\[2, 0, 2\]/);
    await shown.set('indices-shape', '0');
    assert.equal(lines.NumPy(await code()), 'output = np.zeros((0, 3), np.float32)');
    await shown.set('indices-shape', '3');
    await shown.set('axis', '7');
    await shown.page.waitForSelector('#code', { state: 'hidden' });
    assert.equal(await shown.page.locator('#copy button:disabled').count(), 4);
    await shown.set('axis', '0');
    await shown.page.waitForSelector('#code');
    // 36 numbers are more than a line holds.
    await shown.set('params-shape', '12,3');
    await copied(shown, 'Rust');
    assert.ok((await code()).split('\n').every((line) => line.length <= 100));
    await shown.page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
    });
    await shown.page.click('text=Copy as NumPy');
    await shown.shows('copied', 'This browser does not let the page copy: select the program below.');
    assert.match(await code(), /import numpy/);
    await shown.page.evaluate(() => delete navigator.clipboard.writeText);
  },
};
