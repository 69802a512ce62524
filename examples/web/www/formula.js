// The formula of an operation: the index row of each output element.

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
// indexed dims. `at` may hold names in place of numbers.
export function parts(gather, at) {
  const { operation, indicesShape } = gather;
  const [axis, batchDims] = fromStart(gather);
  if (operation === 'gather_elements') return { before: at.slice(0, axis), row: at, after: at.slice(axis + 1) };
  if (operation === 'gather_nd') {
    const rank = indicesShape.length - 1;
    return { before: at.slice(0, batchDims), row: at.slice(0, rank), after: at.slice(rank) };
  }
  const end = axis + indicesShape.length - batchDims;
  const row = [...at.slice(0, batchDims), ...at.slice(axis, end)];
  return { before: at.slice(0, axis), row, after: at.slice(end) };
}

// The axis and batch_dims of a gather that the library has planned, counted from the start.
export function fromStart({ operation, axis, batchDims, paramsShape, indicesShape }) {
  const counted = (dim, shape) => (dim < 0 ? dim + shape.length : dim);
  const given = axis ?? (operation === 'gather' ? batchDims : 0);
  return [counted(given, paramsShape), counted(batchDims, indicesShape)];
}

// The number of the index row of each output element.
export function indexRows(gather, outputShape) {
  const length = outputShape.reduce((product, dim) => product * dim, 1);
  const row = (_, n) => place(parts(gather, coordinates(n, outputShape)).row, rowsShape(gather));
  return Array.from({ length }, row);
}
