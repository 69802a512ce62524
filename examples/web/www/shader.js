// The WGSL of the kernel that ran: the files of shaders/ that the library joins to its module.

const at = (id) => document.getElementById(id);

// The file of a line like "kernel rows: units of 16 bytes, 1 slice a lane", and the files that it chooses where a line
// `Needs` has an `or`.
function chosenBy(kernel) {
  const [, file] = kernel.match(/^kernel (\w+?)(_report)?:/);
  const find = kernel.includes('64-bit') ? 'general' : 'index_rows';
  const unit = kernel.includes('units of 16 bytes') ? 'vec4' : 'words';
  return [file, [find, unit]];
}

// The names of the files of a module, each after those that its first line names: `// Needs: a; b or c`.
async function filesOf(file, choices, files = []) {
  if (files.includes(file)) return files;
  const [, needs] = (await load(file)).match(/^\/\/ Needs: (.*)/);
  for (const need of needs.split('; ').filter((need) => need !== 'nothing')) {
    const alternatives = need.split(' or ');
    // Without a choice, the first: what a gather does.
    const needed = alternatives.find((one) => choices.includes(one)) ?? alternatives[0];
    await filesOf(needed, choices, files);
  }
  files.push(file);
  return files;
}

const loaded = new Map();

function load(file) {
  if (!loaded.has(file)) {
    const text = fetch(`shaders/${file}.wgsl`).then((response) => {
      if (!response.ok) throw new Error(`shaders/${file}.wgsl is not served`);
      return response.text();
    });
    loaded.set(file, text);
  }
  return loaded.get(file);
}

// Names the entry point of the explained kernel and, where the WGSL is open, shows its module with the entry point
// marked. Without a kernel the module for units of 4 bytes is shown.
export async function showShader(hasDevice) {
  const explained = at('explained').textContent;
  const kernel = explained.match(/^kernel (\w+):.*/m);
  const without = hasDevice ? '' : ', if there were a GPU';
  at('entry').textContent = kernel ? `: entry point ${kernel[1]}` : without;
  if (!at('shader').open) return;
  let text;
  try {
    const files = await filesOf(...chosenBy(kernel?.[0] ?? 'kernel rows: units of 4 bytes'));
    text = `${(await Promise.all(files.map(load))).join('\n')}\n`;
  } catch (error) {
    at('wgsl').textContent = error.message;
    return;
  }
  if (explained !== at('explained').textContent) return;
  const entry = kernel && new RegExp(`@compute[^\\n]*\\n(//[^\\n]*\\n)*fn ${kernel[1]}\\(`);
  const start = entry ? text.search(entry) : -1;
  if (start < 0) {
    at('wgsl').textContent = text;
    return;
  }
  const end = text.indexOf('\n}\n', start) + 3;
  const mark = document.createElement('mark');
  mark.textContent = text.slice(start, end);
  at('wgsl').replaceChildren(text.slice(0, start), mark, text.slice(end));
  // Only the text scrolls, not the page.
  at('wgsl').scrollTop = mark.offsetTop - at('wgsl').offsetTop;
}
