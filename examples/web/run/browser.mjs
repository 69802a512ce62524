// Starts a server of www and a headless Chromium, for the programs in this folder.
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

// Chromium on Linux gives WebGPU only if asked. Its software adapter SwiftShader needs no GPU.
const GPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

export async function open(executablePath = '/usr/bin/chromium', { gpu = true } = {}) {
  const server = await serve(0);
  const args = ['--no-sandbox', ...(gpu ? GPU : ['--disable-gpu'])];
  const browser = await chromium.launch({ executablePath, args });
  return { browser, server, url: `http://localhost:${server.address().port}` };
}

export async function closing(opened, use) {
  try {
    await use(opened);
  } finally {
    await opened.browser.close();
    opened.server.close();
  }
}
