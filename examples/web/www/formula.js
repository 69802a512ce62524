// The formula of an operation, with names and with the numbers of one output element.

export function coordinates(place, shape) {
  const at = [];
  for (let k = shape.length - 1; k >= 0; k -= 1) {
    at.unshift(place % shape[k]);
    place = Math.floor(place / shape[k]);
  }
  return at;
}

const place = (at, shape) => shape.reduce((sum, dim, k) => sum * dim + at[k], 0);

// The number of values of an index row.
export const indexDepth = ({ operation, indicesShape }) => (operation === 'gather_nd' ? indicesShape.at(-1) : 1);

// The shape of the index rows.
const rowsShape = ({ operation, indicesShape }) =>
  operation === 'gather_nd' ? indicesShape.slice(0, -1) : indicesShape;

// The parts of an output element's coordinates: before the indexed dims of params, of the index row, and after the
// indexed dims. `at` may hold names in place of numbers. A dim of 1 that stretches has the coordinate 0.
export function parts(gather, at) {
  const [axis, batchDims] = fromStart(gather);
  if (gather.operation === 'gather_elements') {
    const { broadcast, paramsShape, indicesShape } = gather;
    const within = (shape, other) =>
      at.map((coordinate, k) => (broadcast && k !== axis && shape[k] === 1 && other[k] !== 1 ? 0 : coordinate));
    const inParams = within(paramsShape, indicesShape);
    return {
      before: inParams.slice(0, axis),
      row: within(indicesShape, paramsShape),
      after: inParams.slice(axis + 1),
    };
  }
  const end = axis + rowsShape(gather).length - batchDims;
  const row = [...at.slice(0, batchDims), ...at.slice(axis, end)];
  return { before: at.slice(0, axis), row, after: at.slice(end) };
}

// The axis and batch_dims of a gather that the library has planned, counted from the start.
function fromStart({ operation, axis, batchDims, paramsShape, indicesShape }) {
  const counted = (dim, shape) => (dim < 0 ? dim + shape.length : dim);
  const given = axis ?? (operation === 'gather_elements' ? 0 : batchDims);
  return [counted(given, paramsShape), counted(batchDims, indicesShape)];
}

// The number of the index row of each output element.
export function indexRows(gather, outputShape) {
  const length = outputShape.reduce((product, dim) => product * dim, 1);
  const row = (_, n) => place(parts(gather, coordinates(n, outputShape)).row, rowsShape(gather));
  return Array.from({ length }, row);
}

const element = (name, at) => (at.length > 0 ? `${name}[${at.join(', ')}]` : name);

// Where an index row's values are in indices.
const valuesAt = (gather, row) =>
  gather.operation === 'gather_nd' ? Array.from({ length: indexDepth(gather) }, (_, k) => [...row, k]) : [row];

// For instance: output[i, j] = params[indices[i], j]
export function formula(gather, outputShape) {
  const names = outputShape.map((_, k) => 'ijklmnopqrstuvwxyz'[k] ?? `i${k}`);
  const { before, row, after } = parts(gather, names);
  const values = valuesAt(gather, row).map((at) => element('indices', at));
  return `${element('output', names)} = ${element('params', [...before, ...values, ...after])}`;
}

// The judgement of each value of an index row: its text, and the entry that it selects or the range that it is out of.
function judged(gather, row) {
  const { paramsShape, indicesShape, indices, policy, fromEnd } = gather;
  const [axis] = fromStart(gather);
  return valuesAt(gather, row).map((at, k) => {
    const dim = paramsShape[axis + k];
    const value = indices[place(at, indicesShape)];
    const given = `${element('indices', at)} = ${value}`;
    if (policy === 'Wrap' && dim > 0) {
      const entry = ((value % dim) + dim) % dim;
      return { text: entry === value ? given : `(${given}) mod ${dim} = ${entry}`, entry };
    }
    const counted = fromEnd && value < 0 ? value + dim : value;
    const text = counted === value ? given : `(${given}) + ${dim}`;
    if (counted >= 0 && counted < dim) return { text: counted === value ? text : `${text} = ${counted}`, entry: counted };
    if (policy === 'Clamp' && dim > 0) {
      const entry = counted < 0 ? 0 : dim - 1;
      return { text: `clamp(${text}) = ${entry}`, entry };
    }
    return { text, problem: `${given} is not in [${fromEnd ? -dim : 0}, ${dim})` };
  });
}

// The first index out of range, in words; undefined if there is none. Clamp and Wrap
// have one only in a dim of 0.
function problemOf(gather) {
  const shape = rowsShape(gather);
  const length = shape.reduce((product, dim) => product * dim, 1);
  for (let row = 0; row < length; row += 1) {
    const bad = judged(gather, coordinates(row, shape)).find(({ problem }) => problem);
    if (bad) return bad.problem;
  }
  return undefined;
}

// For instance: output[1, 2] = params[indices[1] = 3, 2] = 14
export function worked(gather, outputShape, n) {
  const { policy } = gather;
  const at = coordinates(n, outputShape);
  const output = element('output', at);
  const { before, row, after } = parts(gather, at);
  const values = judged(gather, row);
  const bad = policy === 'Error' ? problemOf(gather) : values.find(({ problem }) => problem)?.problem;
  if (bad) {
    if (policy === 'Error') return `no output, because ${bad}`;
    if (policy === 'DeviceDefault') return `${output} = 0 on the GPU, an error on the CPU, because ${bad}`;
    return `${output} = 0, because ${bad}`;
  }
  const source = [...before, ...values.map(({ entry }) => entry), ...after];
  const value = gather.params[place(source, gather.paramsShape)];
  const params = element('params', [...before, ...values.map(({ text }) => text), ...after]);
  return `${output} = ${params} = ${shownNumber(value)}`;
}

// A number in five digits.
export const shownNumber = (value) => Number(value.toPrecision(5));
