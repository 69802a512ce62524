// The mean image of each digit, from rows that a gather has put in the order of their digits:
//
//   means[digit][pixel] = sum of rows[row][pixel] over the rows of digit / number of these rows
//
// One workgroup makes one mean image, one invocation one pixel of it.

// Images of 64 pixels of 8 bits: four pixels in a word.
@group(0) @binding(0) var<storage, read> rows: array<u32>;
// The first row of each digit, and the end of the last digit's rows.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> means: array<f32>;

@compute @workgroup_size(64)
fn mean(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) pixel: u32,
) {
    let digit = workgroup.x;
    let start = starts[digit];
    let end = starts[digit + 1u];
    var sum = 0.0;
    for (var row = start; row < end; row++) {
        let word = rows[row * 16u + pixel / 4u];
        sum += f32(extractBits(word, 8u * (pixel % 4u), 8u));
    }
    means[digit * 64u + pixel] = sum / f32(end - start);
}
