// Programs that run the gather that the page shows.
import { fromStart, indexDepth, problemOf } from './formula.js';

// Items in lines of up to 100 columns.
function listed(items, indent) {
  const one = items.join(', ');
  if (one.length < 70) return `[${one}]`;
  const lines = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last && last.length + item.length < 100 - indent.length) lines.push(`${lines.pop()} ${item},`);
    else lines.push(`${indent}    ${item},`);
  }
  return `[\n${lines.join('\n')}\n${indent}]`;
}

// The fewest digits that give this number of 32 bits, as both Rust and Python read a float.
function float(value) {
  let digits = 1;
  while (Math.fround(value.toPrecision(digits)) !== value) digits += 1;
  const text = Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(digits)));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const floats = ({ params }, indent = '') => listed([...params].map(float), indent);
const integers = ({ indices }, indent = '') => listed([...indices].map(String), indent);

export function rust(gather) {
  const { operation, axis, batchDims, paramsShape, indicesShape, params, indices, policy, fromEnd } = gather;
  const type = { gather: 'Gather', gather_nd: 'GatherNd', gather_elements: 'GatherElements' }[operation];
  const used = [type, 'Gpu', policy === 'DeviceDefault' ? '' : 'BadIndices', fromEnd ? 'NegativeIndices' : ''];
  const calls = [
    axis === undefined ? '' : `.axis(${axis})`,
    batchDims === 0 ? '' : `.batch_dims(${batchDims})`,
    policy === 'DeviceDefault' ? '' : `.bad_indices(BadIndices::${policy})`,
    fromEnd ? '.negative_indices(NegativeIndices::FromEnd)' : '',
    `.plan(&[${paramsShape.join(', ')}], &[${indicesShape.join(', ')}])?;`,
  ].filter(Boolean);
  return `use wgpu_gather::{${used.filter(Boolean).sort().join(', ')}};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params: [f32; ${params.length}] = ${floats(gather, '    ')};
    let indices: [i32; ${indices.length}] = ${integers(gather, '    ')};
    let plan = ${type}::new()
        ${calls.join('\n        ')}
    println!("{plan}");
    println!("CPU: {:?}", plan.run(&params, &indices));

    let gpu = Gpu::new_blocking()?;
    println!("GPU: {:?}", gpu.gather(&plan, &params, &indices).wait());
    Ok(())
}
`;
}

const tuple = (dims) => `(${dims.join(', ')}${dims.length === 1 ? ',' : ''})`;

// The indexed dims, and the first of them.
function indexed(gather) {
  const [axis, batchDims] = fromStart(gather);
  const first = gather.operation === 'gather_nd' ? batchDims : axis;
  return { first, dims: gather.paramsShape.slice(first, first + indexDepth(gather)) };
}

// One number for gather and gather_elements, a list for gather_nd.
const perValue = ({ operation }, numbers) => (operation === 'gather_nd' ? `[${numbers.join(', ')}]` : `${numbers[0]}`);

// In a gather without output no row is bad.
const hasBadRows = (gather, outputShape) =>
  !outputShape.includes(0) && problemOf({ ...gather, policy: 'Zero' }) !== undefined;

// The lines that treat bad rows as the policy says, with the words of NumPy or TensorFlow.
function policyLines(gather, words) {
  const { operation, policy, paramsShape } = gather;
  const { first, dims } = indexed(gather);
  const given = perValue(gather, dims);
  if (policy === 'Clamp' && !dims.includes(0)) {
    return [`indices = ${words.clip}(indices, 0, ${perValue(gather, dims.map((dim) => dim - 1))})`];
  }
  const isNd = operation === 'gather_nd';
  const bad = `(indices < 0) | (indices >= ${given})`;
  const lines = [`bad = ${isNd ? words.any(bad) : bad}`];
  if (policy === 'Error' || policy === 'DeviceDefault') {
    if (policy === 'DeviceDefault') lines.push('# As on the CPU: a GPU gives zeros.');
    return [...lines, `if ${words.anyBad}:`, `    raise IndexError(f"out of range: {${words.badRows}}")`];
  }
  const pads = paramsShape.map((_, dim) => words.pair(dim === first ? 1 : 0));
  const zeros = perValue(gather, dims.map((dim, k) => (k === 0 ? dim : 0)));
  return [
    ...lines,
    '# Bad rows take zeros that are appended to params.',
    `params = ${words.pad}(params, [${pads.join(', ')}])`,
    `indices = ${words.where}(${isNd ? words.eachValue : 'bad'}, ${zeros}, indices)`,
  ];
}

// Params, only as large as indices in the dims that are not the axis.
function alongAxis({ paramsShape, indicesShape }, axis) {
  const cut = paramsShape.map((dim, k) => (k === axis || dim === indicesShape[k] ? ':' : `:${indicesShape[k]}`));
  return cut.every((slice) => slice === ':') ? 'params' : `params[${cut.join(', ')}]`;
}

const countedFromEnd = (gather, where) => {
  const { dims } = indexed(gather);
  return `indices = ${where}(indices < 0, indices + ${perValue(gather, dims)}, indices)`;
};

const NUMPY = {
  clip: 'np.clip',
  where: 'np.where',
  pad: 'np.pad',
  pair: (after) => `(0, ${after})`,
  any: (bad) => `(${bad}).any(-1)`,
  anyBad: 'bad.any()',
  badRows: 'indices[bad]',
  eachValue: 'bad[..., None]',
};

export function numpy(gather, outputShape) {
  const { operation, paramsShape, indicesShape, fromEnd } = gather;
  const [axis, batchDims] = fromStart(gather);
  const lines = [];
  if (hasBadRows(gather, outputShape)) {
    if (fromEnd) lines.push(countedFromEnd(gather, 'np.where'));
    lines.push(...policyLines(gather, NUMPY));
  }
  // The slice of each batch or index row in turn.
  const each = (slice, shape) => `np.array(
    [${slice} for n in np.ndindex${tuple(shape)}], np.float32
).reshape(${tuple(outputShape)})`;
  let output;
  if (outputShape.includes(0)) {
    // NumPy checks indices here too.
    output = `np.zeros(${tuple(outputShape)}, np.float32)`;
  } else if (operation === 'gather_elements') {
    output = `np.take_along_axis(${alongAxis(gather, axis)}, indices, axis=${axis})`;
  } else if (operation === 'gather_nd') {
    const isOneStep = batchDims === 0 && indexDepth(gather) > 0;
    output = isOneStep
      ? 'params[tuple(np.moveaxis(indices, -1, 0))]'
      : each(`params[n[:${batchDims}] + tuple(indices[n])]`, indicesShape.slice(0, -1));
  } else if (batchDims > 0) {
    output = each(`np.take(params[n], indices[n], axis=${axis - batchDims})`, paramsShape.slice(0, batchDims));
  } else {
    output = `np.take(params, indices, axis=${axis})`;
  }
  return `import numpy as np

params = np.array(${floats(gather)}, np.float32).reshape(${tuple(paramsShape)})
indices = np.array(${integers(gather)}, np.int32).reshape(${tuple(indicesShape)})
${[...lines, `output = ${output}`].join('\n')}
print(output)
`;
}

const TENSORFLOW = {
  clip: 'tf.clip_by_value',
  where: 'tf.where',
  pad: 'tf.pad',
  pair: (after) => `[0, ${after}]`,
  any: (bad) => `tf.reduce_any(${bad}, -1)`,
  anyBad: 'tf.reduce_any(bad)',
  badRows: 'tf.boolean_mask(indices, bad)',
  eachValue: 'bad[..., tf.newaxis]',
};

export function tensorflow(gather, outputShape) {
  const { operation, axis, batchDims, paramsShape, indicesShape, indices, policy, fromEnd } = gather;
  const lines = [];
  if (fromEnd && indices.some((value) => value < 0)) lines.push(countedFromEnd(gather, 'tf.where'));
  const isOwnRule = policy === 'DeviceDefault' && operation !== 'gather_elements';
  if (hasBadRows(gather, outputShape) && !isOwnRule) lines.push(...policyLines(gather, TENSORFLOW));
  const attributes = [
    axis === undefined ? '' : `, axis=${axis}`,
    batchDims === 0 ? '' : `, batch_dims=${batchDims}`,
  ].join('');
  const [along] = fromStart(gather);
  let output = `tf.${operation}(params, indices${attributes})`;
  if (operation === 'gather_elements') {
    // TensorFlow's take_along_axis refuses some empty operands.
    output = indicesShape.includes(0)
      ? `tf.zeros([${indicesShape.join(', ')}])`
      : `tf.experimental.numpy.take_along_axis(${alongAxis(gather, along)}, indices, axis=${along})`;
  }
  return `import tensorflow as tf

params = tf.reshape(tf.constant(${floats(gather)}, tf.float32), [${paramsShape.join(', ')}])
indices = tf.reshape(tf.constant(${integers(gather)}, tf.int32), [${indicesShape.join(', ')}])
${[...lines, `output = ${output}`].join('\n')}
print(output.numpy())
`;
}
