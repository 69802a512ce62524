// Gathers to begin with, each with a sentence that says what it shows, and a sentence for each policy.

const form = (operation, params, indices, axis, batchDims, policy = 'Fill', negative = 'invalid', other = {}) => ({
  operation,
  'params-shape': params,
  'indices-shape': indices,
  axis,
  'batch-dims': batchDims,
  broadcast: 'no',
  policy,
  negative,
  'index-type': 'i32',
  ...other,
});

export const EXAMPLES = [
  {
    name: 'rows of a table',
    shows: 'Each index selects a row of params, as a token id selects an embedding.',
    form: form('gather', '4,3', '3', 0, 0),
    indices: [3, 0, 2],
  },
  {
    name: 'columns',
    shows: 'Along axis 1, each index selects a column of params.',
    form: form('gather', '3,4', '2', 1, 0),
    indices: [2, 0],
  },
  {
    name: 'of each batch its own',
    shows: 'With batch_dims 1, each row of indices selects from its own row of params.',
    form: form('gather', '3,5', '3,2', 1, 1),
    indices: [2, 4, 0, 4, 1, 3],
  },
  {
    name: 'bad indices',
    shows: 'The indices 7 and -1 are out of range, because params has only the rows 0 to 3.',
    form: form('gather', '4,3', '4', 0, 0, 'DeviceDefault'),
    indices: [1, 7, 3, -1],
  },
  {
    name: 'points',
    shows: 'Each index row holds two coordinates and selects one element of params.',
    form: form('gather_nd', '3,4', '3,2', '', 0),
    indices: [0, 1, 2, 3, 1, 0],
  },
  {
    name: 'slices at points',
    shows: 'Each index row holds two of three coordinates and selects a slice along the last dim of params.',
    form: form('gather_nd', '2,3,4', '2,2', '', 0),
    indices: [0, 2, 1, 0],
  },
  {
    name: 'points of each matrix',
    shows: 'Along axis 1, each index row selects one element of each matrix of params: params[:, i, j] in NumPy.',
    form: form('gather_nd', '2,3,3', '2,2', 1, 0),
    indices: [0, 1, 2, 0],
  },
  {
    name: 'from the end',
    shows: 'A negative index counts from the end: -1 selects the last row of its batch.',
    form: form('gather_nd', '2,2,3', '2,1,1', '', 1, 'Error', 'from-end'),
    indices: [-1, -2],
  },
  {
    name: 'an element of each row',
    shows: 'Along axis 1, each index selects an element of its own row of params.',
    form: form('gather_elements', '4,3', '4,1', 1, 0),
    indices: [0, 2, 1, 2],
  },
  {
    name: 'one order for all rows',
    shows: 'Dims of 1 stretch: the one row of indices selects from each row of params, as in NumPy and JAX.',
    form: form('gather_elements', '3,4', '1,2', 1, 0, 'Fill', 'invalid', { broadcast: 'yes' }),
    indices: [3, 0],
  },
  {
    name: 'colours of a palette',
    shows: 'Each pixel is an index of one byte and selects a colour, a row of the palette.',
    form: form('gather', '4,3', '2,3', 0, 0, 'Fill', 'invalid', { 'index-type': 'u8' }),
    params: [38, 70, 83, 42, 157, 143, 233, 196, 106, 231, 111, 81],
    indices: [0, 3, 3, 1, 0, 2],
  },
];

// Shown if the form and the numbers are those of no example.
export const OWN = { name: 'your own', shows: 'The form and the numbers are your own.' };

export const POLICIES = {
  DeviceDefault: 'An index out of range is an error on the CPU and a slice of zeros on the GPU, as in TensorFlow.',
  Error: 'An index out of range is an error on both devices, and the error names the first bad row.',
  Fill: 'An index out of range gives a slice of zeros on both devices.',
  Clamp: 'An index beyond the end of its dim selects the last entry, and an index before the start the first.',
  Wrap:
    'An index out of range stands for its remainder modulo its dim: in a dim of 4, index 5 selects entry 1, and -1 entry 3.',
};

// The number of the example that has these values of the form and these numbers; -1 if there is none.
export function exampleOf(values, params, indices) {
  const same = (a, b) => a.length === b.length && a.every((value, n) => value === b[n]);
  const counted = params.map((_, n) => n);
  const isIt = ({ form, ...example }) =>
    Object.entries(form).every(([id, value]) => values[id] === String(value)) &&
    same(indices, example.indices) &&
    same(params, example.params ?? counted);
  return EXAMPLES.findIndex(isIt);
}
