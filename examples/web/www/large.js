// The times of a large gather, as a table.
import { answer } from './answer.js';
import { Large } from './page.js';

const at = (id) => document.getElementById(id);

// Numbers in a typed array are sorted by their values.
const median = (times) => times.sort()[times.length >> 1];

function showTimes(large, timed) {
  const rate = (bytes, ms) => (ms > 0 ? (bytes / ms / 1e6).toFixed(1) : 'too short to time');
  const rows = [
    ['gather, ms', ({ gather_ms }) => gather_ms.toFixed(2)],
    ['gather, GB/s', ({ gather_ms }) => rate(large.moved_bytes, gather_ms)],
    ['plain copy, ms', ({ copy_ms }) => copy_ms.toFixed(2)],
    ['plain copy, GB/s', ({ copy_ms }) => rate(large.copied_bytes, copy_ms)],
    ['right', ({ right }) => (right ? 'yes' : 'no')],
  ];
  const line = ([name, show]) => {
    const cells = timed.map(([, { values, error }]) => `<td>${escaped(error ?? show(values))}</td>`);
    return `<tr><th scope="row">${name}</th>${cells.join('')}</tr>`;
  };
  const devices = timed.map(([name]) => `<th scope="col">${name}</th>`).join('');
  const told = timed.map(([name, { values, error }]) => `${name}: ${error ?? `${values.gather_ms.toFixed(2)} ms`}`);
  at('timed').textContent = `A gather takes: ${told.join('; ')}.`;
  at('times').innerHTML = `<p>${escaped(large.shape)}</p>
    <table aria-label="The times"><thead><tr><td></td>${devices}</tr></thead><tbody>${rows.map(line).join('')}</tbody></table>
    <p class="legend">Medians of 5; GB/s of bytes read and written; a copy moves the output's bytes. The indices are random.</p>`;
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// The answer with the median of each list of times.
function medians({ values, error }) {
  if (error) return { error };
  const { gather_ms, copy_ms, right } = values;
  return { values: { gather_ms: median(gather_ms), copy_ms: median(copy_ms), right } };
}

export async function time(device, gpuName) {
  at('time').disabled = true;
  at('times').replaceChildren();
  at('timed').textContent = 'Timing …';
  // The browser gets to draw that.
  await new Promise((resolve) => setTimeout(resolve, 30));
  try {
    const large = new Large(Number(at('mebibytes').value), Number(at('row-bytes').value), at('table').value === 'Q8_0');
    const timed = [];
    if (device) timed.push([gpuName, medians(await answer(() => large.time_on_gpu(device)))]);
    timed.push(['CPU path in this page (wasm, one thread)', medians(answer(() => large.time_on_cpu()))]);
    showTimes(large, timed);
    large.free();
  } catch (error) {
    at('timed').textContent = error.message ?? String(error);
  }
  at('time').disabled = false;
}
