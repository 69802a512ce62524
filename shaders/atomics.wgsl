// Needs: updates
//
// Reduces integers where several index rows may select one row: the result does not depend on the order.

// The reduction: 0 add, 2 min, 3 max.
override REDUCE: u32 = 0u;

@group(0) @binding(12) var<storage, read_write> target_words: array<atomic<Unit>>;

fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return source;
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return updates[at];
}

fn store(at: u32, unit: u32, source: SourceRow, value: Unit, absent: Unit, repeats: bool) {
    if !source.held | repeats {
        return;
    }
    let place = target_place(unit, source);
    if REDUCE == 0u {
        atomicAdd(&target_words[place], value);
    } else if REDUCE == 2u {
        atomicMin(&target_words[place], value);
    } else {
        atomicMax(&target_words[place], value);
    }
}

fn store_four(at: vec4<u32>, repeats: vec3<bool>, unit: u32, a: SourceRow, b: SourceRow, c: SourceRow, d: SourceRow,
    of_a: Unit, of_b: Unit, of_c: Unit, of_d: Unit) {
    store(at.x, unit, a, of_a, Unit(), false);
    store(at.y, unit, b, of_b, Unit(), repeats.x);
    store(at.z, unit, c, of_c, Unit(), repeats.y);
    store(at.w, unit, d, of_d, Unit(), repeats.z);
}
