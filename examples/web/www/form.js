// The form that says which gather it is.

const at = (id) => document.getElementById(id);

export const FIELDS = [
  'operation',
  'params-shape',
  'indices-shape',
  'axis',
  'batch-dims',
  'broadcast',
  'policy',
  'negative',
  'index-type',
];

// The array of each type of indices.
const INDEX_ARRAYS = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
};

export const formValues = () => Object.fromEntries(FIELDS.map((id) => [id, at(id).value]));

// Sets the form. A value that a control does not take becomes the control's first or empty one.
export function setForm(values) {
  for (const id of FIELDS) {
    at(id).value = values[id];
    if (at(id).selectedIndex < 0) at(id).selectedIndex = 0;
  }
}

// "4, 3" and "4 3" and "4x3"; nothing is a scalar.
export function readShape(id) {
  const text = at(id).value.replace(/[[\]]/g, '').trim();
  const dims = text === '' ? [] : text.split(/\s*[,x]\s*|\s+/);
  if (!dims.every((dim) => /^\d{1,9}$/.test(dim))) {
    throw new Error(`${at(id).parentNode.textContent.trim()}: numbers like 4,3 expected, found ${text}`);
  }
  return dims.map(Number);
}

function readInteger(id) {
  const { value } = at(id);
  return value === '' ? undefined : Number.parseInt(value, 10);
}

// The indices as bytes of their type.
export function indexBytes({ indices, indexType }) {
  const values = indexType.endsWith('64') ? [...indices].map(BigInt) : indices;
  const typed = INDEX_ARRAYS[indexType].from(values);
  const changed = [...indices].find((value, n) => value !== Number(typed[n]));
  if (changed !== undefined) throw new Error(`indices of type ${indexType} hold no ${changed}`);
  return new Uint8Array(typed.buffer);
}

// The operation, its attributes and its operands.
export function readGather(state) {
  const operation = at('operation').value;
  return {
    operation,
    axis: readInteger('axis'),
    batchDims: operation === 'gather_elements' ? 0 : (readInteger('batch-dims') ?? 0),
    broadcast: operation === 'gather_elements' && at('broadcast').value === 'yes',
    paramsShape: state.paramsShape,
    indicesShape: state.indicesShape,
    params: Float32Array.from(state.params),
    indices: Int32Array.from(state.indices),
    policy: at('policy').value,
    fromEnd: at('negative').value === 'from-end',
    indexType: at('index-type').value,
  };
}
