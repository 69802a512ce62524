// Tensors as tables of cells: the colour of a cell is a place in params.
import { isIndex, isParam } from './address.js';
import { coordinates, shownNumber } from './formula.js';

const NAME = { params: 'params', indices: 'indices', GPU: 'output of the GPU', CPU: 'output of the CPU path' };
const CELL = { params: [], indices: [], GPU: [], CPU: [] };
let picture = null;
// The cell that a person looks at, and where to say what it has to do with.
let chosen = null;

// A table for each of the leading coordinates, with a cell for each element.
function draw(place, name, shape, make) {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.length > 1 ? shape.at(-2) : 1;
  const leading = shape.slice(0, -2);
  const cells = [];
  const tables = [];
  if (!shape.includes(0)) {
    const count = leading.reduce((product, dim) => product * dim, 1);
    for (let n = 0; n < count; n += 1) {
      const table = document.createElement('table');
      const part = leading.length > 0 ? `[${[...coordinates(n, leading), ':', ':'].join(', ')}]` : '';
      if (part) table.createCaption().textContent = part;
      // In a grid the arrow keys go from cell to cell.
      table.role = name === 'params' || name === 'indices' ? 'table' : 'grid';
      table.ariaLabel = `${NAME[name]}${part && ` ${part}`}`;
      for (let row = 0; row < rows; row += 1) {
        const line = table.insertRow();
        for (let column = 0; column < columns; column += 1) {
          const cell = make(cells.length);
          cell.classList.add('cell');
          cell.dataset.tensor = name;
          cell.dataset.place = cells.length;
          if (cell.tagName === 'TD') line.append(cell);
          else line.insertCell().append(cell);
          cells.push(cell);
        }
      }
      tables.push(table);
    }
  }
  const none = document.createElement('p');
  none.textContent = 'no elements';
  place.replaceChildren(...(cells.length > 0 ? tables : [none]));
  CELL[name] = cells;
}

const element = (name, place, shape) => (shape.length > 0 ? `${name}[${coordinates(place, shape).join(', ')}]` : name);

// Cells that a person edits.
export function drawInputs(place, name, shape, values, changed) {
  draw(place, name, shape, (n) => {
    const input = document.createElement('input');
    input.type = 'number';
    input.step = name === 'indices' ? '1' : 'any';
    input.value = values[n];
    input.setAttribute('aria-label', element(name, n, shape));
    input.addEventListener('input', () => {
      const value = Number(input.value);
      const valid = input.value !== '' && (name === 'indices' ? isIndex(value) : isParam(value));
      input.setCustomValidity(valid ? '' : 'a number');
      if (valid) changed(n, value);
    });
    return input;
  });
}

// `{ values }` as cells, or `{ error }` in words.
export function drawOutput(place, name, { outputShape, sources, bad, replaced }, { values, error }) {
  if (error !== undefined) {
    const text = document.createElement('p');
    text.className = 'wrong';
    text.textContent = error;
    place.replaceChildren(text);
    CELL[name] = [];
    return;
  }
  draw(place, name, outputShape, (n) => {
    const cell = document.createElement('td');
    cell.textContent = shownNumber(values[n]);
    const range = bad[n] ? `, ${sources[n] < 0 ? 'out of range' : replaced}` : '';
    cell.ariaLabel = `${element('output', n, outputShape)} = ${values[n]}${range}`;
    cell.tabIndex = n === 0 ? 0 : -1;
    cell.addEventListener('keydown', move);
    colour(cell, sources[n], bad[n]);
    return cell;
  });
  showChosen();
}

// Arrow keys go from cell to cell of an output.
function move(event) {
  const columns = picture.outputShape.at(-1) ?? 1;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  const next = step && CELL[event.target.dataset.tensor][Number(event.target.dataset.place) + step];
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function colour(cell, source, bad) {
  cell.classList.toggle('bad', Boolean(bad) && source < 0);
  cell.classList.toggle('replaced', Boolean(bad) && source >= 0);
  if (source >= 0) paint(cell, source);
}

// The colour of a place in params: that of its row if params is a palette.
function paint(cell, place) {
  const palette = picture?.palette;
  cell.classList.toggle('painted', Boolean(palette));
  if (palette) {
    const [red, green, blue] = palette.slice(place - (place % 3));
    cell.style.setProperty('--paint', `rgb(${red} ${green} ${blue})`);
    cell.style.setProperty('--ink', 0.3 * red + 0.6 * green + 0.1 * blue > 128 ? 'black' : 'white');
  } else {
    cell.style.setProperty('--hue', 20 + (300 * place) / Math.max(picture?.params ?? 1, 1));
  }
}

// Colours params, and each index row as the first element that it takes.
export function markSources(next) {
  picture = next;
  const cells = [...CELL.params, ...CELL.indices];
  for (const cell of cells) cell.classList.remove('unused', 'bad', 'replaced', 'chosen', 'painted');
  for (const cell of CELL.indices) cell.removeAttribute('aria-invalid');
  if (!picture) return;
  const used = new Set(picture.sources);
  CELL.params.forEach((cell, place) => {
    paint(cell, place);
    cell.classList.toggle('unused', !used.has(place));
  });
  const seen = new Set();
  picture.rows.forEach((row, n) => {
    if (seen.has(row)) return;
    seen.add(row);
    for (const cell of indexCells(row)) {
      colour(cell, picture.sources[n], picture.bad[n]);
      if (picture.bad[n]) cell.setAttribute('aria-invalid', 'true');
    }
  });
}

const indexCells = (row) => CELL.indices.slice(row * picture.indexDepth, (row + 1) * picture.indexDepth);

// Takes note of a cell to which a person has gone. Returns false for anything else.
export function choose({ dataset }, told) {
  if (dataset?.tensor === undefined) return false;
  chosen = { tensor: dataset.tensor, place: Number(dataset.place), told };
  showChosen();
  return true;
}

// Shows what belongs to the index row of the chosen cell: the row, what it takes, and where that goes.
function showChosen() {
  for (const cell of document.querySelectorAll('.chosen')) cell.classList.remove('chosen');
  drawLines([]);
  if (!picture || !chosen) return;
  const { tensor, place, told } = chosen;
  told.textContent = '';
  if (!CELL[tensor][place]) return;
  CELL[tensor][place].classList.add('chosen');
  const outputs = outputOf(tensor, place);
  const rows = new Set(outputs.map((n) => picture.rows[n]));
  const sources = [...new Set(outputs.map((n) => picture.sources[n]))].filter((source) => source >= 0);
  for (const n of outputs) {
    CELL.GPU[n]?.classList.add('chosen');
    CELL.CPU[n]?.classList.add('chosen');
  }
  for (const source of sources) CELL.params[source]?.classList.add('chosen');
  for (const row of rows) for (const cell of indexCells(row)) cell.classList.add('chosen');
  told.textContent = describe(tensor, place, rows, sources, outputs);
  const lines = [];
  for (const row of rows) {
    const of = outputs.filter((n) => picture.rows[n] === row && picture.sources[n] >= 0);
    if (of.length === 0) continue;
    const taken = of.map((n) => picture.sources[n]);
    lines.push([indexCells(row).at(-1), CELL.params[Math.min(...taken)]]);
    const output = CELL.GPU.length > 0 ? CELL.GPU : CELL.CPU;
    lines.push([CELL.params[Math.max(...taken)], output[of[0]]]);
  }
  drawLines(lines);
}

// Lines between cells, from side to side or, one below the other on a narrow screen, from bottom to top.
function drawLines(pairs) {
  const place = document.getElementById('lines');
  const frame = place.getBoundingClientRect();
  const paths = pairs.filter(([from, to]) => from && to).map(([from, to]) => {
    const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
    const isBeside = b.left >= a.right;
    const start = isBeside ? [a.right, a.top + a.height / 2] : [a.left + a.width / 2, a.bottom];
    const end = isBeside ? [b.left, b.top + b.height / 2] : [b.left + b.width / 2, b.top];
    const [[x, y], [u, v]] = [start, end].map(([x, y]) => [x - frame.left, y - frame.top]);
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    const [middle, level] = [(x + u) / 2, (y + v) / 2];
    const bend = isBeside ? `${middle} ${y} ${middle} ${v}` : `${x} ${level} ${u} ${level}`;
    path.setAttribute('d', `M${x} ${y} C${bend} ${u} ${v}`);
    return path;
  });
  place.replaceChildren(...paths);
}

addEventListener('resize', showChosen);

// The first output element of the chosen cell, or else the last output element.
export function workedOutput() {
  const last = picture.rows.length - 1;
  if (!chosen || !CELL[chosen.tensor][chosen.place]) return last;
  const { tensor, place } = chosen;
  const isOutput = tensor !== 'params' && tensor !== 'indices';
  return isOutput ? place : (outputOf(tensor, place)[0] ?? last);
}

// The output elements that a cell has to do with.
function outputOf(tensor, place) {
  const all = [...picture.rows.keys()];
  if (tensor === 'params') return all.filter((n) => picture.sources[n] === place);
  const row = tensor === 'indices' ? Math.floor(place / picture.indexDepth) : picture.rows[place];
  return all.filter((n) => picture.rows[n] === row);
}

function describe(tensor, place, rows, sources, outputs) {
  const param = (at) => element('params', at, picture.paramsShape);
  if (tensor === 'params') {
    const names = outputs.map((n) => element('output', n, picture.outputShape));
    return names.length > 0 ? `${param(place)} goes to ${names.join(', ')}` : `${param(place)} is taken by no index`;
  }
  const [row] = rows;
  if (row === undefined) return 'This index row has no output.';
  const depth = picture.indexDepth;
  const values = picture.indices.slice(row * depth, (row + 1) * depth).join(', ');
  const name = `Index row ${row} = [${values}]`;
  const isBad = picture.bad[outputs[0]] ? ' is out of range and' : '';
  if (sources.length === 0) return `${name}${isBad} takes nothing`;
  const [first, last] = [Math.min(...sources), Math.max(...sources)];
  if (first === last) return `${name}${isBad} takes ${param(first)}`;
  return `${name}${isBad} takes ${sources.length} elements, from ${param(first)} to ${param(last)}`;
}
