// Copies a buffer to measure a shader's bandwidth: 64 bytes an invocation, in four loads.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copy: array<vec4<u32>>;

override UNITS: u32;
// Workgroups in a row of the grid.
override WIDTH: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let at = (workgroup.y * WIDTH + workgroup.x) * 1024u + local;
    if at + 768u < UNITS {
        let d = source[at + 768u];
        let c = source[at + 512u];
        let b = source[at + 256u];
        copy[at] = source[at];
        copy[at + 256u] = b;
        copy[at + 512u] = c;
        copy[at + 768u] = d;
        return;
    }
    for (var unit = at; unit < UNITS; unit += 256u) {
        copy[unit] = source[unit];
    }
}
