// The shown gather in the fragment of the page's address, so that a link leads to it.
import { EXAMPLES, exampleOf } from './examples.js';

// The names of the form's values in the address.
const NAMES = {
  operation: 'operation',
  'params-shape': 'params_shape',
  'indices-shape': 'indices_shape',
  axis: 'axis',
  'batch-dims': 'batch_dims',
  broadcast: 'broadcast',
  policy: 'policy',
  negative: 'negative_indices',
  'index-type': 'index_type',
};

const named = ({ name }) => name.replaceAll(' ', '-');

// The fragment for these values of the form and these numbers: the name of an example, or everything. Params that count
// from 0 are left out.
export function fragmentOf(values, params, indices) {
  const example = EXAMPLES[exampleOf(values, params, indices)];
  if (example) return `#example=${named(example)}`;
  const given = Object.entries(NAMES).map(([id, name]) => [name, values[id]]);
  if (!params.every((value, n) => value === n)) given.push(['params', params]);
  given.push(['indices', indices]);
  return `#${given.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`).join('&')}`;
}

// The numbers of a list; undefined in place of one that the page does not take.
function numbers(text, takes) {
  return text.split(',').map((item) => {
    const value = Number(item);
    return item.trim() !== '' && takes(value) ? value : undefined;
  });
}

export const isParam = (value) => Number.isFinite(Math.fround(value));
export const isIndex = (value) => Number.isInteger(value) && Math.abs(value) < 2 ** 31;

// The values of the form and the numbers that a fragment gives. Anything it leaves out is as in its example.
export function readFragment(fragment) {
  const given = new URLSearchParams(fragment.slice(1));
  const example = EXAMPLES.find((one) => named(one) === given.get('example')) ?? EXAMPLES[0];
  const form = { ...example.form };
  for (const [id, name] of Object.entries(NAMES)) form[id] = given.get(name) ?? form[id];
  return {
    form,
    params: given.has('params') ? numbers(given.get('params'), isParam) : (example.params ?? []),
    indices: given.has('indices') ? numbers(given.get('indices'), isIndex) : example.indices,
  };
}
