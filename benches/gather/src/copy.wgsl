// Copies a buffer to measure a shader's bandwidth: 16 bytes an invocation, in order.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copy: array<vec4<u32>>;

@compute @workgroup_size(64)
fn copy_vec4(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let unit = id.y * grid.x * 64u + id.x;
    if unit < arrayLength(&copy) {
        copy[unit] = source[unit];
    }
}

@compute @workgroup_size(64)
fn nothing() {}
