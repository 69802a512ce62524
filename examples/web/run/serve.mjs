// Serves the folder www beside this file, to this machine only.
//   node serve.mjs [PORT]
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const WWW = new URL('./www/', import.meta.url);
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
};

// Port 0 stands for any free port.
export async function serve(port) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const file = new URL(`.${pathname === '/' ? '/index.html' : pathname}`, WWW);
    const type = TYPES[extname(file.pathname)];
    try {
      if (!type || !file.href.startsWith(WWW.href)) throw new Error('no such file');
      const bytes = await readFile(file);
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve(Number(argv[2] ?? 8080));
  console.log(`http://localhost:${server.address().port}`);
}
