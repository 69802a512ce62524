// Needs: vec4 or words
//
// Numbers of 4 bytes in fold.wgsl: the target holds a run's value between its passes.

@group(0) @binding(12) var<storage, read_write> target_units: array<Unit>;
@group(0) @binding(13) var<storage, read> updates: array<Unit>;

fn update_at(at: u32) -> Unit {
    return updates[at];
}

fn value_of_run(share: Share, place: Place, run: u32, is_begun: bool) -> Unit {
    return target_units[place.at];
}

fn store_value(share: Share, place: Place, run: u32, key: u32, value: Unit) {
    target_units[place.at] = value;
}
