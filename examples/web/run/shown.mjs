// The page in headless Chromium, loaded by the checks of the clicks.
import assert from 'node:assert/strict';

const DESKTOP = { width: 1280, height: 900 };
export const AGREE = 'The GPU and the CPU agree, bit for bit.';

// A loaded page, with methods that read it and act on it.
export class Shown {
  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
  }

  static async load(browser, url, { viewport = DESKTOP, colorScheme = 'light', gpu = true, folder } = {}) {
    const page = await browser.newPage({ viewport, colorScheme });
    page.setDefaultTimeout(10_000);
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
    if (!gpu) await page.addInitScript(() => delete Navigator.prototype.gpu);
    const start = performance.now();
    await page.goto(url);
    await page.waitForFunction(() => document.getElementById('verdict').textContent !== '');
    const shown = new Shown(page, folder);
    shown.loadMs = performance.now() - start;
    shown.errors = errors;
    return shown;
  }

  text(id) {
    return this.page.locator(`#${id}`).innerText();
  }

  // The numbers in a tensor's cells.
  cells(id) {
    const value = (cells) => cells.map((cell) => Number(cell.value ?? cell.textContent));
    return this.page.locator(`#${id} .cell`).evaluateAll(value);
  }

  bad(id, mark = 'bad') {
    const places = (cells, mark) => cells.flatMap((cell, n) => (cell.classList.contains(mark) ? [n] : []));
    return this.page.locator(`#${id} .cell`).evaluateAll(places, mark);
  }

  // Waits until the element has the expected text, as a result from the GPU comes later.
  async shows(id, expected) {
    const has = ([id, text]) => document.getElementById(id).innerText.trim() === text;
    await this.page.waitForFunction(has, [id, expected]).catch(async () => {
      assert.equal(await this.text(id), expected);
    });
  }

  async outputs(expected, verdict = AGREE) {
    await this.page.waitForSelector('#gpu[aria-busy=false]');
    await this.shows('verdict', verdict);
    assert.deepEqual(await this.cells('gpu'), expected);
    assert.deepEqual(await this.cells('cpu'), expected);
  }

  // Waits for a mark in the WGSL that matches.
  async marked(expected) {
    const found = () => this.page.locator('#wgsl mark').innerText();
    for (let tries = 0; tries < 50 && !expected.test(await found()); tries += 1) await this.page.waitForTimeout(20);
    assert.match(await found(), expected);
  }

  async set(id, value) {
    await this.page.fill(`#${id}`, value);
  }

  cell(id, n) {
    return this.page.locator(`#${id} .cell`).nth(n);
  }

  async shot(name) {
    if (this.folder) await this.page.screenshot({ path: `${this.folder}/${name}.png`, fullPage: true });
  }
}
