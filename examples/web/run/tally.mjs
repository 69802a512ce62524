// Counts the cases that a run posts and prints the missing ones. A missing case is a failure.

const EXPECTED = {
  'cpu::lines': 482,
  'cpu::documentation': 23,
  'gpu::lines': 482,
  'gpu::documentation': 23,
  'gpu::examples': 5,
  'gpu::halves': 60,
  'gpu::bags': 44,
  'gpu::faults': 6,
  'gpu::no_adapter': 2,
};

export class Tally {
  #passed = new Map();
  #failed = [];

  post(name, problem) {
    if (problem !== null) {
      this.#failed.push(`${name}: ${problem}`);
      return;
    }
    const group = name.split('::', 2).join('::');
    this.#passed.set(group, (this.#passed.get(group) ?? 0) + 1);
  }

  // Prints the failures and the counts. Returns true if all cases ran and passed.
  finish(where) {
    for (const failure of this.#failed) console.log(`FAILED ${failure}`);
    let missing = 0;
    let total = 0;
    for (const [group, expected] of Object.entries(EXPECTED)) {
      const passed = this.#passed.get(group) ?? 0;
      total += passed;
      if (passed !== expected) {
        missing += 1;
        console.log(`FAILED ${group}: ${passed} cases passed, expected ${expected}`);
      }
    }
    const groups = [...this.#passed].map(([group, passed]) => `${group} ${passed}`).join(', ');
    console.log(`${where}: ${total} passed, ${this.#failed.length} failed (${groups})`);
    return this.#failed.length === 0 && missing === 0;
  }
}
