// The comparison of the two devices' outputs, and the result as a screen reader reads it out.
import { shownNumber } from './formula.js';

// The most output elements that are read out.
const MOST_READ = 24;

const at = (id) => document.getElementById(id);
const bits = (values) => new Uint32Array(values.buffer, values.byteOffset, values.length);

// A text, and true if the devices agree or differ as the policy says.
function compared(gpu, cpu, policy) {
  if (gpu.values && cpu.values) {
    const [a, b] = [bits(gpu.values), bits(cpu.values)];
    const agree = a.length === b.length && a.every((bit, n) => bit === b[n]);
    return [agree ? 'The GPU and the CPU agree, bit for bit.' : 'The GPU and the CPU differ.', agree];
  }
  if (gpu.error && cpu.error) {
    const agree = gpu.error === cpu.error;
    return [`The GPU and the CPU give ${agree ? 'the same error' : 'different errors'}.`, agree];
  }
  if (policy === 'DeviceDefault' && cpu.error) {
    return ['As DeviceDefault says: the CPU gives an error, the GPU zeros.', true];
  }
  return ['One device gives an error, the other does not.', false];
}

// The output in words: its rows, or the errors of both devices.
function readOut(outputShape, gpu, cpu) {
  const values = gpu?.values ?? cpu.values;
  if (!values) return `No output: ${[...new Set([gpu?.error ?? cpu.error, cpu.error])].join('; ')}`;
  if (values.length === 0) return 'The output has no elements';
  const columns = outputShape.at(-1) ?? 1;
  const items = [...values.subarray(0, MOST_READ)].map(
    (value, n) => `${n === 0 ? '' : n % columns === 0 ? '; ' : ', '}${shownNumber(value)}`,
  );
  const left = values.length - items.length;
  return `Output of shape [${outputShape.join(', ')}]: ${items.join('')}${left > 0 ? ` and ${left} more` : ''}`;
}

// Shows what the devices gave; `gpu` is null if there is no GPU.
export function showVerdict({ gather, outputShape }, gpu, cpu) {
  const [text, agree] = gpu ? compared(gpu, cpu, gather.policy) : ['There is no GPU here: only the CPU ran.', true];
  at('verdict').textContent = text;
  at('verdict').classList.toggle('wrong', !agree);
  at('result').textContent = `${readOut(outputShape, gpu, cpu)}. ${text}`;
}
