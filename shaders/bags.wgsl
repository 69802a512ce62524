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
const ONE: u32 = 0x3f800000u;

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
    return source_row_of(OutputRow(place, 0u, 0u, 0u));
}

fn unit_of(source: SourceRow, unit: u32) -> Unit {
    return load_unit(gather.params_start + source.params_row * gather.params_stride, unit, source.held);
}

// The units of four places, in order.
struct Four {
    a: Unit,
    b: Unit,
    c: Unit,
    d: Unit,
}

// The units of a window that moves on by one place: b, c and d, then a unit of the caller.
fn followed(four: Four, last: Unit) -> Four {
    return Four(four.b, four.c, four.d, last);
}

fn magnitudes_of(four: Four) -> Magnitudes {
    let of_two = with_magnitudes(with_magnitudes(no_magnitudes(), four.a), four.b);
    return with_magnitudes(with_magnitudes(of_two, four.c), four.d);
}

// A unit of a row, or one that changes neither a sum nor a maximum.
fn term(value: Unit, is_there: bool) -> Unit {
    return select(Unit(select(NEGATIVE_INFINITY, SIGN_BIT, are_float_sums())), value, is_there);
}

// A row's weight, or 1.
fn weight_at(place: u32, is_there: bool) -> u32 {
    return select(ONE, weights[gather.bags.weights_start + place], is_there);
}

// Turns of a loop over four terms: 4. Sums and products by integers take many instructions, of which such a loop has one copy. The
// compiler must not know the 4, or it would unroll the loop.
fn terms_in_loop() -> u32 {
    return 4u + gather.quantized.zero;
}

fn weighted(terms: Four, factors: vec4<u32>) -> Four {
    let units = Four(Unit(factors.x), Unit(factors.y), Unit(factors.z), Unit(factors.w));
    var found = terms;
    if are_factors(magnitudes_of(terms)) & are_factors(magnitudes_of(units)) {
        found.a = plain_products(terms.a, units.a);
        found.b = plain_products(terms.b, units.b);
        found.c = plain_products(terms.c, units.c);
        found.d = plain_products(terms.d, units.d);
        return found;
    }
    var left = factors;
    for (var turn = 0u; turn < terms_in_loop(); turn++) {
        found = followed(found, products_by_integers(found.a, Unit(left.x)));
        left = left.yzwx;
    }
    return found;
}

fn sums_in_loop(value: Unit, terms: Four) -> Unit {
    var sum = value;
    var left = terms;
    for (var turn = 0u; turn < terms_in_loop(); turn++) {
        sum = sums_by_integers(sum, left.a);
        left = followed(left, left.a);
    }
    return sum;
}

// No rows, combined.
fn nothing() -> Combined {
    return Combined(select(Unit(NEGATIVE_INFINITY), Unit(), are_float_sums()), 0u);
}

// Combines the rows from one place to before another, four at a time.
fn combined(first: u32, end: u32, unit: u32) -> Combined {
    var found = nothing();
    // True if the device may add plain terms next: the sum is plain itself, or has plain terms only.
    var is_plain = true;
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
        let has_b = b.held & (left >= 1u);
        let has_c = c.held & (left >= 2u);
        let has_d = d.held & (left >= 3u);
        // In reverse: a compiler that waits for the load that is used first has then issued all four.
        let of_d = unit_of(d, unit);
        let of_c = unit_of(c, unit);
        let of_b = unit_of(b, unit);
        let of_a = unit_of(a, unit);
        var terms = Four(term(of_a, a.held), term(of_b, has_b), term(of_c, has_c), term(of_d, has_d));
        if IS_WEIGHTED == 1u {
            let factors = vec4<u32>(weight_at(at, a.held), weight_at(at_b, has_b), weight_at(at_c, has_c), weight_at(at_d, has_d));
            terms = weighted(terms, factors);
        }
        is_plain = is_plain & are_plain(magnitudes_of(terms));
        if !are_float_sums() {
            found.value = reduced(reduced(reduced(reduced(found.value, terms.a), terms.b), terms.c), terms.d);
        } else if is_plain {
            let of_two = plain_sums(plain_sums(found.value, terms.a), terms.b);
            found.value = plain_sums(plain_sums(of_two, terms.c), terms.d);
        } else {
            found.value = sums_in_loop(found.value, terms);
            is_plain = can_begin(found.value);
        }
        found.rows += u32(a.held) + u32(has_b) + u32(has_c) + u32(has_d);
    }
    return found;
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
    let bag_end = first_of(bag + 1u);
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
    let bag_end = first_of(lane.row + 1u);
    var found = nothing();
    for (var first = bag_first; first < bag_end;) {
        let end = first + min(bag_end - first, BLOCK_PLACES);
        let at = sums_of(first / BLOCK_PLACES);
        var block: Combined;
        if first > bag_first && vec4<u32>(sums[at + gather.units]).x == lane.row + 1u {
            block = Combined(sums[at + lane.unit], vec4<u32>(sums[at + gather.units + 1u]).x);
        } else {
            block = combined(first, end, lane.unit);
        }
        found = Combined(reduced(found.value, block.value), found.rows + block.rows);
        first = end;
    }
    if gather.bags.is_mean == 1u {
        found.value = quotients(found.value, max(found.rows, 1u));
    }
    let at = gather.output_start + lane.row * gather.units + lane.unit;
    output[at] = select(found.value, Unit(), found.rows == 0u);
}
