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
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    page.setDefaultTimeout(10_000);
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
    if (!gpu) await page.addInitScript(() => delete Navigator.prototype.gpu);
    const start = performance.now();
    await page.goto(url);
    const hasText = () => ['verdict', 'problem'].some((id) => document.getElementById(id).textContent !== '');
    await page.waitForFunction(hasText);
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

  // Waits until the text of the element that the selector finds matches.
  async matches(selector, expected, ms = 2000) {
    const text = () => this.page.locator(selector).innerText();
    for (let tries = 0; tries < ms / 20 && !expected.test(await text()); tries += 1) await this.page.waitForTimeout(20);
    assert.ok(expected.test(await text()), `${selector} does not match ${expected}`);
  }

  async set(id, value) {
    await this.page.fill(`#${id}`, value);
  }

  // Goes to a cell that the next example does not have, so that no cell is chosen there.
  async forgetChosen() {
    const chosen = await this.page.locator('#example').inputValue();
    await this.page.selectOption('#example', { label: 'slices at points' });
    await this.page.locator('#params .cell').last().focus();
    await this.page.selectOption('#example', chosen);
  }

  // The number at the end of the worked formula of each output element; 0 for a bad row.
  workedOutputs() {
    return this.page.locator('#cpu .cell').evaluateAll((cells) =>
      cells.map((cell) => {
        cell.dispatchEvent(new Event('pointerover', { bubbles: true }));
        const worked = document.getElementById('worked').textContent;
        return worked.includes('because') ? 0 : Number(worked.split('=').at(-1));
      }),
    );
  }

  cell(id, n) {
    return this.page.locator(`#${id} .cell`).nth(n);
  }

  async shot(name) {
    if (this.folder) await this.page.screenshot({ path: `${this.folder}/${name}.png`, fullPage: true });
  }
}
