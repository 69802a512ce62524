// Times large gathers, one for each size of slice, and draws their GB/s as a chart and a table.
import { answer } from './answer.js';
import { Large } from './page.js';

const at = (id) => document.getElementById(id);

// Bytes of an output's slice. A slice of Q8_0 is whole blocks, of 128 bytes each when decoded.
const SLICES = { words: [4, 16, 64, 256, 1024, 4096], Q8_0: [128, 256, 1024, 4096] };
const CPU = 'CPU (wasm, one thread)';

const sizeText = (bytes) => (bytes < 1024 ? `${bytes} B` : `${bytes / 1024} KiB`);
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// Numbers in a typed array are sorted by their values.
const median = (times) => times.sort()[times.length >> 1];

// What a device does with slices of one size: `{ gather, copy }` in GB/s, undefined where the time was too short, or
// `{ error }`.
function rates(large, { values, error }) {
  if (error) return { error };
  if (!values.right) return { error: 'wrong output' };
  const rate = (bytes, times) => {
    const ms = median(times);
    return ms > 0 ? bytes / ms / 1e6 : undefined;
  };
  return { gather: rate(large.moved_bytes, values.gather_ms), copy: rate(large.copied_bytes, values.copy_ms) };
}

// The lines of the chart, each a column of the table: on each device the gather and the plain copy.
function linesOf(devices, timed) {
  return devices.flatMap((device, n) =>
    ['gather', 'copy'].map((what) => ({
      name: what === 'gather' ? device : `${device}: copy`,
      style: `of-device-${n} ${what}`,
      points: timed.map(({ bytes, rates }) => ({ bytes, rate: rates[n][what], error: rates[n].error })),
    })),
  );
}

const WIDTH = 440;
const HEIGHT = 250;
const LEFT = 46;
const BOTTOM = HEIGHT - 34;

// Both axes are logarithmic: a GPU may be a hundred times as fast as one core.
function chart(lines, sizes) {
  const found = lines.flatMap(({ points }) => points.map(({ rate }) => rate).filter((rate) => rate > 0));
  const low = Math.floor(Math.log10(Math.min(...found)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...found))), low + 1);
  const x = (bytes) => LEFT + 16 + (sizes.indexOf(bytes) * (WIDTH - LEFT - 40)) / (sizes.length - 1);
  const y = (rate) => BOTTOM - ((Math.log10(rate) - low) * (BOTTOM - 24)) / (high - low);
  const ticks = Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));
  const rows = ticks.map(
    (rate) => `<line x1="${LEFT}" x2="${WIDTH}" y1="${y(rate)}" y2="${y(rate)}"/><text class="rate" x="${LEFT - 6}" y="${y(rate) + 4}">${rate}</text>`,
  );
  const columns = sizes.map((bytes) => `<text class="size" x="${x(bytes)}" y="${BOTTOM + 16}">${sizeText(bytes)}</text>`);
  const drawn = lines.map(({ style, points }) => {
    const places = points.filter(({ rate }) => rate > 0).map(({ bytes, rate }) => [x(bytes).toFixed(1), y(rate).toFixed(1)]);
    const dots = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3"/>`).join('');
    return `<g class="${style}"><polyline points="${places.join(' ')}"/>${dots}</g>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="GB/s by slice size; the table below has the numbers">
    <text x="0" y="12">GB/s</text>${rows.join('')}${columns.join('')}
    <text class="size" x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 3}">bytes of a slice</text>${drawn.join('')}</svg>`;
}

const key = ({ name, style }) =>
  `<span><svg class="key" viewBox="0 0 28 8" aria-hidden="true"><g class="${style}"><polyline points="0,4 28,4"/></g></svg>${escaped(name)}</span>`;

function table(lines, sizes) {
  const head = lines.map(({ name }) => `<th scope="col">${escaped(name)}</th>`).join('');
  const cell = ({ rate, error }) => {
    if (error) return `<td class="wrong">${escaped(error)}</td>`;
    return `<td>${rate ? rate.toFixed(1) : 'too short to time'}</td>`;
  };
  const row = (bytes, n) =>
    `<tr><th scope="row">${sizeText(bytes)}</th>${lines.map(({ points }) => cell(points[n])).join('')}</tr>`;
  return `<table aria-label="GB/s by slice size"><thead><tr><th scope="col">slice</th>${head}</tr></thead><tbody>${sizes.map(row).join('')}</tbody></table>`;
}

function show(devices, timed) {
  const lines = linesOf(devices, timed);
  const sizes = timed.map(({ bytes }) => bytes);
  const isDrawn = sizes.length > 1 && lines.some(({ points }) => points.some(({ rate }) => rate > 0));
  at('times').innerHTML = `${isDrawn ? chart(lines, sizes) : ''}
    <p class="legend">${lines.map(key).join('')}</p>
    ${table(lines, sizes)}
    <p class="legend">Medians of 5, of the bytes read and written. A copy moves the output's bytes. The indices are random, and some rows of each output were compared with the table.</p>`;
}

// The next frame: the browser gets to draw.
const drawn = () => new Promise((resolve) => setTimeout(resolve, 30));

export async function time(device, gpuName) {
  at('time').disabled = true;
  at('times').replaceChildren();
  const kind = at('table').value;
  const devices = device ? [gpuName, CPU] : [CPU];
  const timed = [];
  try {
    for (const bytes of SLICES[kind]) {
      at('timed').textContent = `Timing slices of ${sizeText(bytes)} …`;
      await drawn();
      const large = new Large(Number(at('mebibytes').value), bytes, kind === 'Q8_0');
      const answers = [answer(() => large.time_on_cpu())];
      if (device) answers.unshift(await answer(() => large.time_on_gpu(device)));
      timed.push({ bytes, rates: answers.map((one) => rates(large, one)) });
      large.free();
      show(devices, timed);
    }
    const { bytes, rates: last } = timed.at(-1);
    const told = devices.map((name, n) => `${name}: ${last[n].error ?? `${last[n].gather?.toFixed(1) ?? 'too fast to time,'} GB/s`}`);
    at('timed').textContent = `A gather of slices of ${sizeText(bytes)} moves: ${told.join('; ')}.`;
  } catch (error) {
    at('timed').textContent = error.message ?? String(error);
  }
  at('time').disabled = false;
}
