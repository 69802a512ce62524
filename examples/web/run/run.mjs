// Runs the cases in a browser's page or in Node, posts each result, and returns the adapter's name. `setGpu` sets
// `navigator.gpu`: to nothing, then to a GPU without adapters, then to `gpu`, the real one.
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
