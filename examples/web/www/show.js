// Runs the gather of the form on both devices, again on each change.
import init, { Device, Planned } from './page.js';

const at = (id) => document.getElementById(id);
const size = (shape) => shape.reduce((product, dim) => product * dim, 1);

// The most elements of each operand that the page takes.
const MOST = 1024;

// The values of each example: operation, shapes, indices, axis, batch_dims, policy and negative indices.
const FIELDS = ['operation', 'params-shape', 'indices-shape', 'indices', 'axis', 'batch-dims', 'policy', 'negative'];
const EXAMPLES = {
  'rows of a table': ['gather', '4,3', '3', '3,0,2', 0, 0, 'Fill', 'invalid'],
  columns: ['gather', '3,4', '2', '2,0', 1, 0, 'Fill', 'invalid'],
  'of each batch its own': ['gather', '3,5', '3,2', '2,4,0,4,1,3', 1, 1, 'Fill', 'invalid'],
  'bad indices': ['gather', '4,3', '4', '1,7,3,-1', 0, 0, 'DeviceDefault', 'invalid'],
  points: ['gather_nd', '3,4', '3,2', '0,1,2,3,1,0', '', 0, 'Fill', 'invalid'],
  'from the end': ['gather_nd', '2,2,3', '2,1,1', '-1,-2', '', 1, 'Error', 'from-end'],
  'an element of each row': ['gather_elements', '4,3', '4,1', '0,2,1,2', 1, 0, 'Fill', 'invalid'],
};

let gpu = null;
let cpu = null;
// Each change has a number: an answer of the GPU to an earlier one is late.
let change = 0;

// "4, 3" and "4 3"; nothing gives no numbers.
function numbers(id) {
  const items = at(id).value.split(/[\s,]+/).filter(Boolean);
  const values = items.map(Number);
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) throw new Error(`numbers expected, found ${items[wrong]}`);
  return values;
}

function shape(id) {
  const dims = numbers(id);
  if (!dims.every((dim) => Number.isInteger(dim) && dim >= 0)) throw new Error(`dims expected, found ${dims}`);
  if (size(dims) > MOST) throw new Error(`at most ${MOST} elements are taken here, found ${size(dims)}`);
  return Uint32Array.from(dims);
}

// The shape and the values, a line for each row.
function written(shape, values) {
  const columns = shape.at(-1) ?? 1;
  const rows = Array.from({ length: columns === 0 ? 0 : values.length / columns }, (_, row) =>
    values.slice(row * columns, (row + 1) * columns).join(' '),
  );
  return [`[${shape.join(', ')}]`, ...rows].join('\n');
}

function planned() {
  const axis = at('axis').value;
  return new Planned(
    at('operation').value,
    shape('params-shape'),
    shape('indices-shape'),
    axis === '' ? undefined : Number(axis),
    at('operation').value === 'gather_elements' ? 0 : Number(at('batch-dims').value),
    at('policy').value,
    at('negative').value === 'from-end',
  );
}

async function run() {
  const now = ++change;
  for (const id of ['problem', 'gpu', 'cpu', 'explained']) at(id).textContent = '';
  try {
    const plan = planned();
    const given = numbers('params');
    const params = given.length > 0 ? given : Array.from({ length: size(shape('params-shape')) }, (_, n) => n);
    const indices = numbers('indices');
    if (gpu) at('explained').textContent = gpu.explain(plan);
    for (const [id, device] of Object.entries({ gpu, cpu })) {
      const output = device?.gather(plan, Float32Array.from(params), Int32Array.from(indices));
      const text = await Promise.resolve(output).then(
        (values) => (values ? written([...plan.output_shape], [...values]) : 'no GPU here'),
        (error) => error.message,
      );
      if (now === change) at(id).textContent = text;
    }
  } catch (error) {
    at('problem').textContent = error.message;
  }
}

function take(example) {
  FIELDS.forEach((id, n) => (at(id).value = EXAMPLES[example][n]));
  at('params').value = '';
}

await init();
cpu = Device.cpu();
try {
  gpu = await Device.gpu();
  const { info } = await navigator.gpu.requestAdapter();
  at('device').textContent = `GPU: ${[info.vendor, info.architecture, info.description].filter(Boolean).join(' ')}`;
} catch (error) {
  at('device').textContent = error.message;
}
at('example').replaceChildren(...Object.keys(EXAMPLES).map((name) => new Option(name)));
take(at('example').value);
at('example').addEventListener('input', ({ target }) => take(target.value));
at('form').addEventListener('input', run);
run();
