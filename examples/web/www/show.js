// Draws what page.wasm says of a gather, and asks it again on each change.
import init, { Device, Planned } from './page.js';
import { answer } from './answer.js';
import { fragmentOf, readFragment } from './address.js';
import { EXAMPLES, OWN, POLICIES, exampleOf } from './examples.js';
import { FIELDS, formValues, indexBytes, readGather, readShape, setForm } from './form.js';
import { formula, indexDepth, indexRows, worked } from './formula.js';
import { time } from './large.js';
import { showShader } from './shader.js';
import { choose, drawInputs, drawOutput, markSources, workedOutput } from './tensors.js';
import { showVerdict } from './verdict.js';

// The most elements of each operand that the page shows.
const MOST = { params: 256, indices: 64, output: 512 };

const at = (id) => document.getElementById(id);
const size = (shape) => shape.reduce((product, dim) => product * dim, 1);
const written = (shape) => `[${[...shape].join(',')}]`;

const state = { params: [], indices: [], paramsShape: [], indicesShape: [] };
let device = null;
let noDevice = null;
let gpuName = 'GPU';
// The gather that the page shows, and the shape of its output.
let shown = null;
// Each change has a number: an answer of the GPU to an earlier one is late.
let change = 0;

function resized(values, length, value) {
  return Array.from({ length }, (_, n) => values[n] ?? value(n));
}

// Takes up new shapes; the values that still have a place stay.
function reshape() {
  for (const what of ['params', 'indices']) {
    const shape = readShape(`${what}-shape`);
    if (size(shape) > MOST[what]) {
      throw new Error(`${what} of at most ${MOST[what]} elements are shown here, found ${size(shape)}`);
    }
    state[`${what}Shape`] = shape;
  }
  state.params = resized(state.params, size(state.paramsShape), (n) => n);
  state.indices = resized(state.indices, size(state.indicesShape), () => 0);
}

// Params, if its rows are colours of three bytes and indices are bytes, as pixels are. Numbers that count from 0 are not
// meant as colours.
function paletteOf({ operation, indexType, paramsShape, params, axis }) {
  const isByte = (value) => Number.isInteger(value) && value >= 0 && value < 256;
  const areColours = params.every(isByte) && !params.every((value, n) => value === n);
  const isTable = operation === 'gather' && axis === 0 && paramsShape.length === 2 && paramsShape[1] === 3;
  return isTable && indexType === 'u8' && areColours ? [...params] : undefined;
}

function drawOperands() {
  for (const what of ['params', 'indices']) {
    const shape = state[`${what}Shape`];
    at(`${what}-at`).textContent = written(shape);
    drawInputs(at(what), what, shape, state[what], (n, value) => {
      state[what][n] = value;
      run();
    });
  }
}

function plan({ operation, axis, batchDims, broadcast, paramsShape, indicesShape, policy, fromEnd, indexType }) {
  at('batch-dims').disabled = operation === 'gather_elements';
  at('broadcast').disabled = operation !== 'gather_elements';
  const planned = new Planned(
    operation,
    Uint32Array.from(paramsShape),
    Uint32Array.from(indicesShape),
    axis,
    batchDims,
    broadcast,
    policy,
    fromEnd,
    indexType,
  );
  if (size([...planned.output_shape]) > MOST.output) {
    throw new Error(`an output of at most ${MOST.output} elements is shown here, found ${written(planned.output_shape)}`);
  }
  return planned;
}

// Says which example is shown, and what the policy does.
function describeChoice() {
  const number = exampleOf(formValues(), state.params, state.indices);
  at('example').value = number;
  at('about-example').textContent = (EXAMPLES[number] ?? OWN).shows;
  at('about-policy').textContent = POLICIES[at('policy').value];
}

// Plans and runs what the form says, on both devices.
async function run() {
  const now = ++change;
  describeChoice();
  let gather;
  let planned;
  let indices;
  try {
    reshape();
    gather = readGather(state);
    planned = plan(gather);
    indices = indexBytes(gather);
    at('problem').textContent = '';
  } catch (error) {
    fail(error);
    return;
  }
  const { params } = gather;
  const sources = planned.sources(indices);
  const picture = {
    paramsShape: state.paramsShape,
    params: state.params.length,
    palette: paletteOf(gather),
    outputShape: [...planned.output_shape],
    indexDepth: indexDepth(gather),
    rows: indexRows(gather, [...planned.output_shape]),
    bad: planned.bad(indices),
    sources,
    indices: state.indices,
    replaced: { Clamp: 'clamped', Wrap: 'wrapped' }[gather.policy],
  };
  markSources(picture);
  shown = { gather, outputShape: picture.outputShape };
  showFormula();

  at('gpu').setAttribute('aria-busy', 'true');
  const onCpu = answer(() => planned.gather(params, indices));
  drawOutput(at('cpu'), 'CPU', picture, onCpu);
  at('cpu-at').textContent = written(picture.outputShape);
  at('gpu-at').textContent = written(picture.outputShape);
  at('explained').textContent = device ? device.explain(planned) : planned.describe();
  showShader(Boolean(device));
  if (!device) {
    drawOutput(at('gpu'), 'GPU', picture, { error: noDevice ? `not run: ${noDevice}` : 'waiting for the GPU' });
    at('gpu').setAttribute('aria-busy', 'false');
    if (!noDevice) return;
    showVerdict(shown, null, onCpu);
    return;
  }
  const onGpu = await answer(() => device.gather(planned, params, indices));
  if (now !== change) return;
  drawOutput(at('gpu'), 'GPU', picture, onGpu);
  at('gpu').setAttribute('aria-busy', 'false');
  showVerdict(shown, onGpu, onCpu);
}

// The formula, and the output element that the chosen cell has to do with, worked out.
function showFormula() {
  if (!shown) return;
  const { gather, outputShape } = shown;
  at('formula').textContent = formula(gather, outputShape);
  const n = workedOutput();
  at('worked').textContent = n < 0 ? 'the output has no elements' : worked(gather, outputShape, n);
}

function fail(error) {
  shown = null;
  at('problem').textContent = error.message ?? String(error);
  at('gpu').setAttribute('aria-busy', 'false');
  for (const id of ['gpu', 'cpu']) {
    at(id).replaceChildren();
    at(`${id}-at`).textContent = '';
  }
  for (const id of ['verdict', 'result', 'selection', 'explained', 'formula', 'worked']) at(id).textContent = '';
  markSources(null);
}

// Shows another gather: an example, or the one of an address.
function take({ form, params = [], indices }) {
  setForm(form);
  state.params = [...params];
  state.indices = [...indices];
  shapesChanged();
}

// Makes the address a link to the shown gather. The way back leads to the gather before.
function keepInAddress() {
  const fragment = fragmentOf(formValues(), state.params, state.indices);
  if (fragment !== location.hash) history.pushState(null, '', fragment);
}

function shapesChanged() {
  // Shapes that cannot be read leave the operands; the run says why.
  if (!answer(reshape).error) drawOperands();
  run();
}

async function start() {
  const own = new Option(OWN.name, -1);
  own.disabled = true;
  at('example').replaceChildren(...EXAMPLES.map((example, n) => new Option(example.name, n)), own);
  at('example').addEventListener('change', () => take(EXAMPLES[at('example').value]));
  // After the listeners of the changed control: the document is the last to hear of a change.
  document.addEventListener('change', keepInAddress);
  addEventListener('popstate', () => take(readFragment(location.hash)));
  for (const id of ['params-shape', 'indices-shape']) at(id).addEventListener('input', shapesChanged);
  for (const id of FIELDS.filter((id) => !id.endsWith('shape'))) at(id).addEventListener('input', run);
  at('form').addEventListener('submit', (event) => event.preventDefault());
  at('large').addEventListener('submit', (event) => {
    event.preventDefault();
    time(device, gpuName);
  });
  for (const event of ['focusin', 'pointerover']) {
    document.addEventListener(event, ({ target }) => {
      if (choose(target, at('selection'))) showFormula();
    });
  }
  at('shader').addEventListener('toggle', () => showShader(Boolean(device)));

  await init();
  take(readFragment(location.hash));
  try {
    device = await Device.open();
    const { info } = await navigator.gpu.requestAdapter();
    const name = [info.vendor, info.architecture, info.description].filter(Boolean).join(' ') || 'not named by this browser';
    const isSoftware = info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
    if (isSoftware) at('gpu-name').textContent = gpuName = 'software adapter';
    at('device').textContent = isSoftware
      ? `A software adapter, not a GPU: ${name}. It runs on the CPU, so its times say nothing of a GPU.`
      : `Your GPU: ${name}`;
  } catch (error) {
    noDevice = error.message ?? String(error);
    at('device').textContent = `Only the CPU path in this page runs (${noDevice}).`;
  }
  at('time').disabled = false;
  run();
}

start().catch((error) => {
  at('device').textContent = `The page cannot run: ${error.message ?? error}`;
});
