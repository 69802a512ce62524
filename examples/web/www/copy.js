// The buttons that copy the gather as a program, and the program that was copied last.
import { numpy, pytorch, rust, tensorflow } from './code.js';

const WRITE = { Rust: rust, NumPy: numpy, PyTorch: pytorch, TensorFlow: tensorflow };

const at = (id) => document.getElementById(id);
let language = null;

// Shows the program for another gather; `shown` is null if there is none.
export function showCode(shown) {
  at('copied').textContent = '';
  for (const button of at('copy').children) button.disabled = !shown;
  at('code').hidden = !shown || !language;
  at('code').textContent = shown && language ? WRITE[language](shown.gather, shown.outputShape) : '';
}

// Copies the program in the language of the button, and shows it.
export async function copy({ dataset }, shown) {
  language = dataset.language;
  showCode(shown);
  const text = at('code').textContent;
  try {
    await navigator.clipboard.writeText(text);
    at('copied').textContent = `Copied as ${language}.`;
  } catch {
    at('copied').textContent = 'This browser does not let the page copy: select the program below.';
  }
}
