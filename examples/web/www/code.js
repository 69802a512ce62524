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
  const { operation, axis, batchDims, broadcast, paramsShape, indicesShape, params, indices, policy, fromEnd, indexType } =
    gather;
  const type = { gather: 'Gather', gather_nd: 'GatherNd', gather_elements: 'GatherElements' }[operation];
  const used = [type, 'Executor', policy === 'DeviceDefault' ? '' : 'BadIndices', fromEnd ? 'NegativeIndices' : ''];
  const calls = [
    axis === undefined ? '' : `.axis(${axis})`,
    batchDims === 0 ? '' : `.batch_dims(${batchDims})`,
    broadcast ? '.broadcast(true)' : '',
    policy === 'DeviceDefault' ? '' : `.bad_indices(BadIndices::${policy})`,
    fromEnd ? '.negative_indices(NegativeIndices::FromEnd)' : '',
    `.plan(&[${paramsShape.join(', ')}], &[${indicesShape.join(', ')}])?;`,
  ].filter(Boolean);
  return `use wgpu_gather::{${used.filter(Boolean).sort().join(', ')}};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params: [f32; ${params.length}] = ${floats(gather, '    ')};
    let indices: [${indexType}; ${indices.length}] = ${integers(gather, '    ')};
    let plan = ${type}::new()
        ${calls.join('\n        ')}
    println!("{plan}");
    println!("CPU: {:?}", plan.gather(&params, &indices));

    let gpu = Executor::gpu_blocking()?;
    let table = gpu.upload(&params, plan.params_shape())?;
    println!("GPU: {:?}", gpu.gather(&plan, &table, &indices).wait());
    Ok(())
}
`;
}

const tuple = (dims) => `(${dims.join(', ')}${dims.length === 1 ? ',' : ''})`;

// The indexed dims.
function indexed(gather) {
  const [axis] = fromStart(gather);
  return gather.paramsShape.slice(axis, axis + indexDepth(gather));
}

// One number for gather and gather_elements, a list for gather_nd.
const perValue = ({ operation }, numbers, { list = (items) => items } = {}) =>
  operation === 'gather_nd' ? list(`[${numbers.join(', ')}]`) : `${numbers[0]}`;

// In a gather without output no row is bad.
const hasBadRows = (gather, outputShape) =>
  !outputShape.includes(0) && problemOf({ ...gather, policy: 'Fill' }) !== undefined;

// True if the program takes remainders of the indices. A negative index then needs no more.
const wraps = (gather, outputShape) =>
  gather.policy === 'Wrap' && !indexed(gather).includes(0) && hasBadRows(gather, outputShape);

// The lines that treat bad rows as the policy says, with the words of a library.
function policyLines(gather, words) {
  const { operation, policy, paramsShape, indicesShape } = gather;
  const [axis] = fromStart(gather);
  const dims = indexed(gather);
  const given = perValue(gather, dims, words);
  if (!dims.includes(0)) {
    const last = perValue(gather, dims.map((dim) => dim - 1), words);
    if (policy === 'Clamp') return [`indices = ${words.clip}(indices, ${words.zero?.(last) ?? 0}, ${last})`];
    if (policy === 'Wrap') return [`indices = ${words.remainder(given)}`];
  }
  const isNd = operation === 'gather_nd';
  const bad = `(indices < 0) | (indices >= ${given})`;
  const lines = [`bad = ${isNd ? words.any(bad) : bad}`];
  if (policy === 'Error' || policy === 'DeviceDefault') {
    if (policy === 'DeviceDefault') lines.push('# As on the CPU: a GPU gives zeros.');
    // tf.boolean_mask takes no scalar.
    const rows = indicesShape.length === (isNd ? 1 : 0) ? 'indices' : words.badRows;
    return [...lines, `if ${words.anyBad}:`, `    raise IndexError(f"out of range: {${rows}}")`];
  }
  // An indexed dim of 0 gets an entry too, for the index 0.
  const pads = paramsShape.map((_, k) => (k === axis || dims[k - axis] === 0 ? 1 : 0));
  const zeros = perValue(gather, dims.map((dim, k) => (k === 0 ? dim : 0)), words);
  return [
    ...lines,
    '# Bad rows take zeros that are appended to params.',
    `params = ${words.pad}(params, ${words.pads(pads)})`,
    `indices = ${words.where}(${isNd ? words.eachValue : 'bad'}, ${zeros}, indices)`,
  ];
}

// Params, only as large as indices in the dims that are not the axis.
function alongAxis({ broadcast, paramsShape, indicesShape }, axis) {
  if (broadcast) return 'params';
  const cut = paramsShape.map((dim, k) => (k === axis || dim === indicesShape[k] ? ':' : `:${indicesShape[k]}`));
  return cut.every((slice) => slice === ':') ? 'params' : `params[${cut.join(', ')}]`;
}

const countedFromEnd = (gather, words) =>
  `indices = ${words.where}(indices < 0, indices + ${perValue(gather, indexed(gather), words)}, indices)`;

const NUMPY = {
  clip: 'np.clip',
  remainder: (dims) => `indices % ${dims}`,
  where: 'np.where',
  pad: 'np.pad',
  pads: (pads) => `[${pads.map((after) => `(0, ${after})`).join(', ')}]`,
  any: (bad) => `(${bad}).any(-1)`,
  anyBad: 'bad.any()',
  badRows: 'indices[bad]',
  eachValue: 'bad[..., None]',
};

// The shape of params with a dim of 1 for each dim of the index rows after the batch dims: an index depth of 0 copies
// params along them.
function copiedShape(gather) {
  const { paramsShape, indicesShape } = gather;
  const [axis, batchDims] = fromStart(gather);
  const ones = Array(indicesShape.length - 1 - batchDims).fill(1);
  return [...paramsShape.slice(0, axis), ...ones, ...paramsShape.slice(axis)];
}

export function numpy(gather, outputShape) {
  const { operation, paramsShape, indicesShape, fromEnd } = gather;
  const [axis, batchDims] = fromStart(gather);
  const isWrapped = wraps(gather, outputShape);
  const mode = isWrapped && operation === 'gather' ? ', mode="wrap"' : '';
  const lines = [];
  if (hasBadRows(gather, outputShape) && !mode) {
    if (fromEnd && !isWrapped) lines.push(countedFromEnd(gather, NUMPY));
    lines.push(...policyLines(gather, NUMPY));
  }
  // The gather of each batch in turn.
  const batches = tuple(paramsShape.slice(0, batchDims));
  const inBatches = (gathered) => {
    if (batchDims === 0) return gathered('params', 'indices');
    return `np.array(
    [${gathered('params[n]', 'indices[n]')} for n in np.ndindex${batches}], np.float32
).reshape(${tuple(outputShape)})`;
  };
  let output;
  if (outputShape.includes(0)) {
    // NumPy checks indices here too.
    output = `np.zeros(${tuple(outputShape)}, np.float32)`;
  } else if (operation === 'gather_elements') {
    output = `np.take_along_axis(${alongAxis(gather, axis)}, indices, axis=${axis})`;
  } else if (operation === 'gather_nd') {
    const all = Array(axis - batchDims).fill(':');
    const selected = (indices) => Array.from({ length: indexDepth(gather) }, (_, k) => `${indices}[..., ${k}]`);
    output =
      indexDepth(gather) === 0
        ? `np.broadcast_to(params.reshape(${tuple(copiedShape(gather))}), ${tuple(outputShape)})`
        : inBatches((params, indices) => `${params}[${[...all, ...selected(indices)].join(', ')}]`);
  } else {
    output = inBatches((params, indices) => `np.take(${params}, ${indices}, axis=${axis - batchDims}${mode})`);
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
  remainder: (dims) => `tf.math.floormod(indices, ${dims})`,
  where: 'tf.where',
  pad: 'tf.pad',
  pads: (pads) => `[${pads.map((after) => `[0, ${after}]`).join(', ')}]`,
  any: (bad) => `tf.reduce_any(${bad}, -1)`,
  anyBad: 'tf.reduce_any(bad)',
  badRows: 'tf.boolean_mask(indices, bad)',
  eachValue: 'bad[..., tf.newaxis]',
};

// The numbers of `rank` dims, of which the `count` dims from `first` on come last.
function moved(rank, first, count) {
  const dims = [...Array(rank).keys()];
  return [...dims.slice(0, first), ...dims.slice(first + count), ...dims.slice(first, first + count)];
}

export function tensorflow(gather, outputShape) {
  const { operation, axis, batchDims, paramsShape, indicesShape, indices, policy, fromEnd } = gather;
  const lines = [];
  const hasNegative = fromEnd && indices.some((value) => value < 0);
  if (hasNegative && !wraps(gather, outputShape)) lines.push(countedFromEnd(gather, TENSORFLOW));
  const isOwnRule = policy === 'DeviceDefault' && operation !== 'gather_elements';
  if (hasBadRows(gather, outputShape) && !isOwnRule) lines.push(...policyLines(gather, TENSORFLOW));
  const [along, batch] = fromStart(gather);
  const attributes = [
    axis === undefined || operation === 'gather_nd' ? '' : `, axis=${axis}`,
    batchDims === 0 ? '' : `, batch_dims=${batchDims}`,
  ].join('');
  let output = `tf.${operation}(params, indices${attributes})`;
  if (operation === 'gather_nd' && paramsShape.includes(0) && outputShape.includes(0)) {
    // tf.gather_nd refuses index rows into params without elements.
    output = `tf.zeros([${outputShape.join(', ')}])`;
  } else if (operation === 'gather_nd' && along > batch) {
    const copied = along - batch;
    const last = moved(paramsShape.length, batch, copied);
    const back = moved(outputShape.length, batch, outputShape.length - batch - copied);
    lines.push('# tf.gather_nd has no axis: the dims before it become the last ones, and come back.');
    lines.push(`params = tf.transpose(params, [${last.join(', ')}])`);
    output = `tf.transpose(${output}, [${back.join(', ')}])`;
  }
  if (operation === 'gather_elements') {
    // TensorFlow's take_along_axis refuses some empty operands.
    output = outputShape.includes(0)
      ? `tf.zeros([${outputShape.join(', ')}])`
      : `tf.experimental.numpy.take_along_axis(${alongAxis(gather, along)}, indices, axis=${along})`;
  }
  return `import tensorflow as tf

params = tf.reshape(tf.constant(${floats(gather)}, tf.float32), [${paramsShape.join(', ')}])
indices = tf.reshape(tf.constant(${integers(gather)}, tf.int32), [${indicesShape.join(', ')}])
${[...lines, `output = ${output}`].join('\n')}
print(output.numpy())
`;
}

const PYTORCH = {
  clip: 'torch.clamp',
  zero: (last) => (last.startsWith('torch') ? 'torch.tensor(0)' : undefined),
  remainder: (dims) => `indices % ${dims}`,
  where: 'torch.where',
  list: (items) => `torch.tensor(${items})`,
  pad: 'torch.nn.functional.pad',
  // The last dim comes first.
  pads: (pads) => tuple([...pads].reverse().flatMap((after) => [0, after])),
  any: (bad) => `(${bad}).any(-1)`,
  anyBad: 'bad.any()',
  badRows: 'indices[bad]',
  eachValue: 'bad[..., None]',
};

export function pytorch(gather, outputShape) {
  const { operation, broadcast, paramsShape, indicesShape, indices, fromEnd } = gather;
  const [axis, batchDims] = fromStart(gather);
  const lines = [];
  const isBad = hasBadRows(gather, outputShape);
  // PyTorch counts from the end where it indexes, but not in gather and take_along_dim.
  const hasNegative = operation === 'gather_elements' && indices.some((value) => value < 0);
  if (fromEnd && (isBad || hasNegative) && !wraps(gather, outputShape)) lines.push(countedFromEnd(gather, PYTORCH));
  if (isBad) lines.push(...policyLines(gather, PYTORCH));
  const before = Array(axis - batchDims).fill(':');
  const depth = indexDepth(gather);
  const rows = (indices) =>
    operation === 'gather' ? [indices] : Array.from({ length: depth }, (_, k) => `${indices}[..., ${k}]`);
  const gathered = (params, indices) => `${params}[${[...before, ...rows(indices)].join(', ')}]`;
  let output = gathered('params', 'indices');
  if (outputShape.includes(0)) {
    output = `torch.zeros(${tuple(outputShape)})`;
  } else if (operation === 'gather_elements') {
    output = broadcast
      ? `torch.take_along_dim(params, indices, dim=${axis})`
      : `torch.gather(params, ${axis}, indices)`;
  } else if (operation === 'gather_nd' && depth === 0) {
    output = `params.reshape(${tuple(copiedShape(gather))}).broadcast_to(${tuple(outputShape)})`;
  } else if (batchDims > 0) {
    const batches = paramsShape.slice(0, batchDims).map((dim) => `range(${dim})`);
    output = `torch.stack(
    [${gathered('params[n]', 'indices[n]')} for n in itertools.product(${batches.join(', ')})]
).reshape(${tuple(outputShape)})`;
  }
  const imports = output.includes('itertools') ? 'import itertools\n\nimport torch' : 'import torch';
  return `${imports}

params = torch.tensor(${floats(gather)}).reshape(${tuple(paramsShape)})
indices = torch.tensor(${integers(gather)}, dtype=torch.int64).reshape(${tuple(indicesShape)})
${[...lines, `output = ${output}`].join('\n')}
print(output)
`;
}
