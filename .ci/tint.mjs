// Gives each shader file, and each pipeline of a list, to Tint, the compiler of Dawn and Chromium:
// node tint.mjs MODULE PIPELINES SHADER...   with MODULE npm's webgpu and PIPELINES a JSON file of entry points and
// constants. Exits with 1 if one is rejected.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module_path, pipelines_path, ...shaders] = process.argv.slice(2);
const { create, globals } = await import(pathToFileURL(module_path));
Object.assign(globalThis, globals);
const pipelines = JSON.parse(readFileSync(pipelines_path, "utf8"));

// Kept: Dawn breaks once this is collected.
globalThis.gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) {
    console.log("Dawn finds no adapter");
    process.exit(2);
}
const { vendor, architecture, description } = adapter.info;
console.log(`Dawn on ${description || `${vendor} ${architecture}`}`);
const device = await adapter.requestDevice();

let rejected = 0;
const reject = (what, why) => {
    rejected += 1;
    console.log(`${what}: ${why}`);
};
for (const shader of shaders) {
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ label: shader, code: readFileSync(shader, "utf8") });
    const error = await device.popErrorScope();
    if (error) {
        reject(shader, error.message);
        continue;
    }
    for (const { type, lineNum, message } of (await module.getCompilationInfo()).messages) {
        reject(`${shader}:${lineNum}`, `${type}: ${message}`);
    }
    for (const { entryPoint, constants } of pipelines) {
        device.pushErrorScope("validation");
        device.createComputePipeline({ layout: "auto", compute: { module, entryPoint, constants } });
        const error = await device.popErrorScope();
        if (error) {
            reject(`${entryPoint} ${JSON.stringify(constants)}`, error.message);
        }
    }
}
const count = shaders.length * pipelines.length;
console.log(`${Math.max(count - rejected, 0)} accepted, ${rejected} rejected`);
// Dawn's threads would keep the process.
process.exit(rejected > 0 || count === 0 ? 1 : 0);
