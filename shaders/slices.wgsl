// Needs: index_rows or general; vec4 or words or four_decoded or one_decoded or four_halves
//
// Gathers slices that are whole units. Lanes copy unit by unit.

@group(0) @binding(3) var<storage, read_write> output: array<Unit>;

// Each row is copied, whatever its number in its block.
fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return source;
}

// A slice's unit, for the output's unit `at`; any params unit if the row is not held.
fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return load_unit(gather.params_start + source.params_row * gather.params_stride, unit, source.held);
}

// Stores what `load` returned; `absent` if the row is not held. A repeated unit is stored twice.
fn store(at: u32, unit: u32, source: SourceRow, value: Unit, absent: Unit, repeats: bool) {
    output[at] = select(absent, value, source.held);
}

fn store_four(at: vec4<u32>, repeats: vec3<bool>, unit: u32, a: SourceRow, b: SourceRow, c: SourceRow, d: SourceRow,
    of_a: Unit, of_b: Unit, of_c: Unit, of_d: Unit) {
    let absent = absent_unit(unit);
    store(at.x, unit, a, of_a, absent, false);
    store(at.y, unit, b, of_b, absent, false);
    store(at.z, unit, c, of_c, absent, false);
    store(at.w, unit, d, of_d, absent, false);
}

fn store_absent(at: u32, absent: Unit) {
    output[at] = absent;
}
