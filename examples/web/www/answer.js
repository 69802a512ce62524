// `{ values }` or `{ error }` of a call of page.wasm, at once or promised.
export function answer(ask) {
  const failed = (error) => ({ error: error.message ?? String(error) });
  try {
    const asked = ask();
    if (asked instanceof Promise) return asked.then((values) => ({ values }), failed);
    return { values: asked };
  } catch (error) {
    return failed(error);
  }
}
