// Runs the cases where it is loaded, in a browser's page or in Node, and posts each result. Gives the adapter's name.

// `gpu` is what `navigator.gpu` is to be: in turn nothing, without an adapter, and the real one.
export async function runCases(cases, setGpu, gpu, post) {
  const expected = 'NoAdapter("no WebGPU adapter here")';
  for (const [name, without] of [
    ['without_webgpu', undefined],
    ['without_adapters', { requestAdapter: async () => null }],
  ]) {
    setGpu(without);
    const found = await cases.error_without_adapter();
    post(`gpu::no_adapter::${name}`, found === expected ? null : `${found}, expected ${expected}`);
  }
  setGpu(gpu);
  await cases.run(post);
  const { info } = await gpu.requestAdapter();
  return [info.vendor, info.architecture, info.description].filter(Boolean).join(' ');
}
