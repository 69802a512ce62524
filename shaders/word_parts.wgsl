// Needs: index_rows or general; last_rows; lane_units
//
// Scatters slices of any size; units are bytes. A slice may touch lane_step words of the target, one for each lane. A lane
// stores a word that its slice covers whole. In any other word it changes only the slice's bytes, by atomics: the rest belong
// to other rows, batches or shards, or to none, and lanes change them at the same time.

@group(0) @binding(12) var<storage, read_write> target_words: array<atomic<u32>>;
@group(0) @binding(13) var<storage, read> updates: array<u32>;

// A lane's word of a slice, and its row, which is not held if the lane has none.
struct Part {
    source: SourceRow,
    output_row: OutputRow,
    row: u32,
    word: u32,
}

fn part_of_lane(workgroup: vec3<u32>, local: u32) -> Part {
    let lane = unit_of_lane(workgroup, local, gather.lane_step);
    if !lane.exists {
        return Part();
    }
    let output_row = output_row_of(lane.row);
    var source = source_row_of(output_row);
    source.held = source.held & source.written;
    return Part(source, output_row, lane.row, lane.unit);
}

// Four bytes of updates from byte `at` on. Those from `end` on may be wrong: the word after that of end - 1 is not loaded.
fn update_bytes(at: u32, end: u32) -> u32 {
    let low = updates[at / 4u];
    let high = updates[(end - 1u) / 4u];
    let start = at % 4u * 8u;
    return (low >> start) | ((high << 1u) << (31u - start));
}

fn assign_part(found: Part) {
    if !found.source.held {
        return;
    }
    let start = gather.params_start + found.source.params_row * gather.params_stride;
    let place = start / 4u + found.word;
    let first = max(start, place * 4u);
    let end = min(start + gather.units, place * 4u + 4u);
    if first >= end {
        return;
    }
    let taken = gather.output_start + found.row * gather.output_stride + (first - start);
    let bits = (ALL_BITS >> (32u - 8u * (end - first))) << (first % 4u * 8u);
    let value = (update_bytes(taken, taken + (end - first)) << (first % 4u * 8u)) & bits;
    if bits == ALL_BITS {
        atomicStore(&target_words[place], value);
        return;
    }
    atomicAnd(&target_words[place], ~bits);
    atomicOr(&target_words[place], value);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn word_parts(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    assign_part(part_of_lane(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn word_parts_last(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var found = part_of_lane(workgroup, local);
    found.source = last_of_row(found.source, found.output_row.n, found.output_row.batch);
    assign_part(found);
}
