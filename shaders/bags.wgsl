// Needs: index_rows or general; vec4 or words or four_decoded or one_decoded; reductions; products; lane_units
//
// Combines the rows that each bag of indices selects. A lane takes one unit of one bag, or of one block:
//
//   bag_blocks   combines each later block of a bag by itself
//   bags         combines the first places of a bag one by one, then what bag_blocks found
//
// A stretch is BLOCK_PLACES neighbouring places. At most one later block begins in it, in the bag of its first place. So the stretch
// numbers what bag_blocks finds. If offsets fall, another bag may have taken the number: then `bags` combines the block itself.

// 1 if rows are multiplied by weights.
override IS_WEIGHTED: u32 = 0u;

@group(0) @binding(3) var<storage, read_write> output: array<Unit>;
// For each stretch the units of a slice, then the number of the bag plus 1, or 0 without a block, and how many rows were good.
@group(0) @binding(19) var<storage, read_write> sums: array<Unit>;
@group(0) @binding(25) var<storage, read> offsets: array<u32>;
@group(0) @binding(26) var<storage, read> weights: array<u32>;

// How many places of a bag are summed one by one; each later so many are summed by themselves.
const BLOCK_PLACES: u32 = 1024u;
const NEGATIVE_INFINITY: u32 = 0xff800000u;

// The unit that rows are combined to, and the number of rows that were good.
struct Combined {
    value: Unit,
    rows: u32,
}

// The place where a bag begins, as an offset says, or the number of indices. Offsets out of range are clamped.
fn first_of(bag: u32) -> u32 {
    let places = gather.bags.places;
    if gather.bags.size != NONE {
        return bag * gather.bags.size;
    }
    if bag >= gather.bags.offsets {
        return places;
    }
    let at = gather.bags.offsets_start + bag * gather.bags.offset_words;
    let low = offsets[at];
    let top = offsets[at + gather.bags.offset_words - 1u];
    let is_large = (gather.bags.offset_words == 2u) & (top != 0u);
    return select(select(min(low, places), places, is_large), 0u, (top & gather.bags.offset_sign) != 0u);
}

fn end_of(bag: u32, first: u32) -> u32 {
    return max(first, first_of(bag + 1u));
}

// The last bag that begins at a place or before, if offsets are in order; else any bag.
fn bag_of(place: u32) -> u32 {
    var low = 0u;
    var high = gather.most_rows;
    while high - low > 1u {
        let middle = low + (high - low) / 2u;
        if first_of(middle) <= place {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

fn source_at(place: u32) -> SourceRow {
    return source_row_of(output_row_of(place));
}

fn unit_of(source: SourceRow, unit: u32) -> Unit {
    return load_unit(gather.params_start + source.params_row * gather.params_stride, unit, source.held);
}

// A unit for a sum or a maximum; one that changes neither if there is no row.
fn term(place: u32, value: Unit, is_there: bool) -> Unit {
    var found = value;
    if IS_WEIGHTED == 1u {
        found = products(found, weights[gather.bags.weights_start + place]);
    }
    return select(Unit(select(NEGATIVE_INFINITY, SIGN_BIT, are_float_sums())), found, is_there);
}

// Combines the rows from one place to before another, four at a time.
fn combined(first: u32, end: u32, unit: u32) -> Combined {
    var found = Combined(select(Unit(NEGATIVE_INFINITY), Unit(), are_float_sums()), 0u);
    for (var at = first; at < end; at += 4u) {
        // Places past the end repeat the last one.
        let left = end - 1u - at;
        let at_b = at + min(left, 1u);
        let at_c = at + min(left, 2u);
        let at_d = at + min(left, 3u);
        let a = source_at(at);
        let b = source_at(at_b);
        let c = source_at(at_c);
        let d = source_at(at_d);
        let of_a = unit_of(a, unit);
        let of_b = unit_of(b, unit);
        let of_c = unit_of(c, unit);
        let of_d = unit_of(d, unit);
        let has_b = b.held & (left >= 1u);
        let has_c = c.held & (left >= 2u);
        let has_d = d.held & (left >= 3u);
        let to_a = term(at, of_a, a.held);
        let to_b = term(at_b, of_b, has_b);
        let to_c = term(at_c, of_c, has_c);
        let to_d = term(at_d, of_d, has_d);
        if are_float_sums() {
            let of_two = with_magnitudes(with_magnitudes(no_magnitudes(), to_a), to_b);
            if can_begin(found.value) && are_plain(with_magnitudes(with_magnitudes(of_two, to_c), to_d)) {
                found.value = plain_sums(plain_sums(plain_sums(plain_sums(found.value, to_a), to_b), to_c), to_d);
            } else {
                found.value = float_sums(float_sums(float_sums(float_sums(found.value, to_a), to_b), to_c), to_d);
            }
        } else {
            found.value = reduced(reduced(reduced(reduced(found.value, to_a), to_b), to_c), to_d);
        }
        found.rows += u32(a.held) + u32(has_b) + u32(has_c) + u32(has_d);
    }
    return found;
}

fn with_block(found: Combined, block: Combined) -> Combined {
    return Combined(reduced(found.value, block.value), found.rows + block.rows);
}

// Where a stretch's first unit is in `sums`.
fn sums_of(stretch: u32) -> u32 {
    return stretch * (gather.units + 2u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn bag_blocks(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let lane = unit_of_lane(workgroup, local, gather.units);
    if !lane.exists {
        return;
    }
    let stretch = lane.row * BLOCK_PLACES;
    let bag = bag_of(stretch);
    let bag_first = first_of(bag);
    let bag_end = end_of(bag, bag_first);
    // The stretch's first place is in a later block, or begins one, if it is after the bag's first.
    let after = stretch - min(bag_first, stretch);
    let first = stretch + (BLOCK_PLACES - after % BLOCK_PLACES) % BLOCK_PLACES;
    let is_here = (after > 0u) & (first < bag_end) & (first >= stretch);
    let at = sums_of(lane.row);
    if is_here {
        let block = combined(first, first + min(bag_end - first, BLOCK_PLACES), lane.unit);
        sums[at + lane.unit] = block.value;
        if lane.unit == 0u {
            sums[at + gather.units + 1u] = Unit(block.rows);
        }
    }
    if lane.unit == 0u {
        sums[at + gather.units] = Unit(select(0u, bag + 1u, is_here));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn bags(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let lane = unit_of_lane(workgroup, local, gather.units);
    if !lane.exists {
        return;
    }
    let bag_first = first_of(lane.row);
    let bag_end = end_of(lane.row, bag_first);
    var first = bag_first + min(bag_end - bag_first, BLOCK_PLACES);
    var found = combined(bag_first, first, lane.unit);
    while first < bag_end {
        let end = first + min(bag_end - first, BLOCK_PLACES);
        let at = sums_of(first / BLOCK_PLACES);
        if vec4<u32>(sums[at + gather.units]).x == lane.row + 1u {
            let rows = vec4<u32>(sums[at + gather.units + 1u]).x;
            found = with_block(found, Combined(sums[at + lane.unit], rows));
        } else {
            found = with_block(found, combined(first, end, lane.unit));
        }
        first = end;
    }
    if gather.bags.is_mean == 1u {
        found.value = quotients(found.value, max(found.rows, 1u));
    }
    let at = gather.output_start + lane.row * gather.units + lane.unit;
    output[at] = select(found.value, Unit(), found.rows == 0u);
}
