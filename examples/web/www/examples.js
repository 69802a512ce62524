// Gathers to begin with.

const form = (operation, params, indices, axis, batchDims, policy = 'Zero', negative = 'invalid') => ({
  operation,
  'params-shape': params,
  'indices-shape': indices,
  axis,
  'batch-dims': batchDims,
  policy,
  negative,
});

export const EXAMPLES = [
  { name: 'rows of a table', form: form('gather', '4,3', '3', 0, 0), indices: [3, 0, 2] },
  { name: 'columns', form: form('gather', '3,4', '2', 1, 0), indices: [2, 0] },
  { name: 'of each batch its own', form: form('gather', '3,5', '3,2', 1, 1), indices: [2, 4, 0, 4, 1, 3] },
  { name: 'bad indices', form: form('gather', '4,3', '4', 0, 0, 'DeviceDefault'), indices: [1, 7, 3, -1] },
  { name: 'points', form: form('gather_nd', '3,4', '3,2', '', 0), indices: [0, 1, 2, 3, 1, 0] },
  { name: 'slices at points', form: form('gather_nd', '2,3,4', '2,2', '', 0), indices: [0, 2, 1, 0] },
  { name: 'from the end', form: form('gather_nd', '2,2,3', '2,1,1', '', 1, 'Error', 'from-end'), indices: [-1, -2] },
  { name: 'an element of each row', form: form('gather_elements', '4,3', '4,1', 1, 0), indices: [0, 2, 1, 2] },
];
