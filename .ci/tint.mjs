// Gives the shader modules, and each pipeline of a list, to Tint, the compiler of Dawn and Chromium:
// node tint.mjs WEBGPU PIPELINES FOLDER. WEBGPU is npm's webgpu, PIPELINES a JSON file of modules, entry points and
// constants, and FOLDER has the modules, NAME.wgsl. Exits with 1 if a module or a pipeline is rejected.
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [webgpu_path, pipelines_path, folder] = process.argv.slice(2);
const { create, globals } = await import(pathToFileURL(webgpu_path));
Object.assign(globalThis, globals);
const pipelines = JSON.parse(readFileSync(pipelines_path, "utf8"));

// A global, as Dawn breaks if this object is collected.
globalThis.gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) {
    console.log("Dawn finds no adapter");
    process.exit(2);
}
const { vendor, architecture, description } = adapter.info;
console.log(`Dawn on ${description || `${vendor} ${architecture}`}`);
const device = await adapter.requestDevice();

let accepted = 0;
let rejected = 0;
// Makes an object, and prints the messages if it is rejected.
const judge = async (what, make) => {
    device.pushErrorScope("validation");
    const made = make();
    const error = await device.popErrorScope();
    const messages = error ? [error] : ((await made.getCompilationInfo?.())?.messages ?? []);
    if (messages.length > 0) {
        rejected += 1;
        messages.forEach(({ message }) => console.log(`${what}: ${message}`));
    } else {
        accepted += 1;
    }
    return made;
};
const modules = {};
for (const file of readdirSync(folder)) {
    const code = readFileSync(join(folder, file), "utf8");
    modules[basename(file, ".wgsl")] = await judge(file, () => device.createShaderModule({ label: file, code }));
}
for (const { module, entryPoint, constants } of pipelines) {
    const compute = { module: modules[module], entryPoint, constants };
    await judge(`${module}, ${entryPoint} ${JSON.stringify(constants)}`, () =>
        device.createComputePipeline({ layout: "auto", compute }),
    );
}
console.log(`${accepted} accepted, ${rejected} rejected`);
// Dawn's threads would keep the process alive.
process.exit(rejected > 0 || accepted === 0 ? 1 : 0);
