// Needs: reductions; lane_units; fold_units or fold_halves
//
// Reduces rows that several index rows select, in index-row order. Pairs are sorted, so those of one row are neighbours: a run.
// A lane takes one unit of a run, and at most sum_updates of its updates:
//
//   fold_rows    reduces the first ones into the target, one by one
//   fold_later   reduces each later sum_updates by themselves, starting from their first
//   fold_sums    reduces the results of fold_later into the target, in order
//
// A stretch is sum_updates neighbouring pairs of a batch. At most one group of later updates begins in it, in the run of its
// first pair. So the stretch numbers what fold_later finds.

@group(0) @binding(16) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(19) var<storage, read_write> sums: array<Unit>;

// A lane's work: a unit of the slices in one run.
struct Share {
    // False for a lane past the last pair or unit.
    exists: bool,
    unit: u32,
    // Its n numbers a pair of the batch in fold_rows, and a stretch in the other passes.
    output_row: OutputRow,
    // The batch's first pair, and the one after its last, by number.
    first_pair: u32,
    end_pair: u32,
    // Which bound slice of updates is for the block's index row 0, modulo 2^32.
    first_update: u32,
}

fn share_of_lane(workgroup: vec3<u32>, local: u32) -> Share {
    let lane = unit_of_lane(workgroup, local, gather.units);
    if !lane.exists {
        return Share();
    }
    let output_row = output_row_of(lane.row);
    let first_pair = gather.order.zeros + gather.index_row_base.x + output_row.batch * gather.order.places;
    let first_update = output_row.block * gather.order.places - gather.order.first_update;
    return Share(true, lane.unit, output_row, first_pair, first_pair + gather.order.places, first_update);
}

// The place of a lane's unit in the target.
struct Place {
    // False if the bound window does not hold the row.
    is_bound: bool,
    // The unit's number in the binding.
    at: u32,
}

fn place_of_key(share: Share, key: u32) -> Place {
    let held_row = key - (gather.order.first_key + share.output_row.batch * (gather.held_rows.x + 1u));
    let params_row = share.output_row.block * gather.held_rows.x - gather.window_first_row.x + held_row;
    let is_bound = (held_row < gather.held_rows.x) & (params_row < gather.window_rows);
    return Place(is_bound, select(0u, gather.params_start + params_row * gather.params_stride + share.unit, is_bound));
}

// True if an index row's slice of updates is bound.
fn has_update(share: Share, number: u32) -> bool {
    return share.first_update + number < gather.order.updates;
}

fn update(share: Share, number: u32) -> Unit {
    return update_at(gather.output_start + (share.first_update + number) * gather.output_stride + share.unit);
}

// Where in `sums` fold_later stores the unit for a stretch of the block.
fn sum_place(share: Share, stretch: u32) -> u32 {
    let stretches = (gather.order.places + gather.order.sum_updates - 1u) / gather.order.sum_updates;
    let number = share.output_row.block * stretches + stretch;
    return gather.order.first_sum_unit + number * gather.order.slice_units + share.unit;
}

// The first pair from `first` to `end` that does not sort before `other`; `end` if all do.
fn first_not_before(other: vec2<u32>, first: u32, end: u32) -> u32 {
    var low = first;
    var high = end;
    while low < high {
        let middle = low + (high - low) / 2u;
        let pair = pairs[middle];
        if (pair.x < other.x) | ((pair.x == other.x) & (pair.y < other.y)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// True if a pair is before `end` and in the run, and its update is bound.
fn goes_on(share: Share, at: u32, end: u32, pair: vec2<u32>, key: u32) -> bool {
    return (at < end) & (pair.x == key) & has_update(share, pair.y);
}

// Reduces a value with a run's bound updates, from pair `first` on and before pair `end`.
fn folded(value: Unit, share: Share, key: u32, first: u32, end: u32) -> Unit {
    var found = value;
    var is_plain = are_float_sums() && can_begin(found);
    for (var at = first; at < end; at += 4u) {
        let a = pairs[at];
        let b = pairs[min(at + 1u, end - 1u)];
        let c = pairs[min(at + 2u, end - 1u)];
        let d = pairs[min(at + 3u, end - 1u)];
        if !goes_on(share, at, end, a, key) {
            break;
        }
        let has_b = goes_on(share, at + 1u, end, b, key);
        let has_c = has_b & goes_on(share, at + 2u, end, c, key);
        let has_d = has_c & goes_on(share, at + 3u, end, d, key);
        let of_d = update(share, select(a.y, d.y, has_d));
        let of_c = update(share, select(a.y, c.y, has_c));
        let of_b = update(share, select(a.y, b.y, has_b));
        let of_a = update(share, a.y);
        if are_float_sums() {
            // -0 changes no sum.
            let to_b = select(Unit(SIGN_BIT), of_b, has_b);
            let to_c = select(Unit(SIGN_BIT), of_c, has_c);
            let to_d = select(Unit(SIGN_BIT), of_d, has_d);
            let of_a_and_b = with_magnitudes(with_magnitudes(no_magnitudes(), of_a), to_b);
            if is_plain && are_plain(with_magnitudes(with_magnitudes(of_a_and_b, to_c), to_d)) {
                found = plain_sums(plain_sums(plain_sums(plain_sums(found, of_a), to_b), to_c), to_d);
            } else {
                found = sums_by_integers(found, of_a);
                found = sums_by_integers(sums_by_integers(sums_by_integers(found, to_b), to_c), to_d);
                is_plain = false;
            }
        } else {
            found = reduced(found, of_a);
            found = select(found, reduced(found, of_b), has_b);
            found = select(found, reduced(found, of_c), has_c);
            found = select(found, reduced(found, of_d), has_d);
        }
        if !has_d {
            break;
        }
    }
    return found;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn fold_rows(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let share = share_of_lane(workgroup, local);
    if !share.exists {
        return;
    }
    let first = share.first_pair + share.output_row.n;
    let pair = pairs[first];
    let before = pairs[max(first, share.first_pair + 1u) - 1u];
    let place = place_of_key(share, pair.x);
    let follows = (share.output_row.n > 0u) & (before.x == pair.x);
    if !place.is_bound | !has_update(share, pair.y) | (follows & has_update(share, before.y)) {
        return;
    }
    var run = first;
    if follows {
        run = first_not_before(vec2<u32>(pair.x, 0u), share.first_pair, first);
    }
    let end = min(share.end_pair, run + gather.order.sum_updates);
    if first >= end {
        return;
    }
    let value = value_of_run(share, place, run, follows);
    // Most runs have one update: this way takes about half the instructions of the loop in `folded`.
    if are_float_sums() && !goes_on(share, first + 1u, end, pairs[min(first + 1u, end - 1u)], pair.x) {
        let only = update(share, pair.y);
        if can_begin(value) && are_plain(with_magnitudes(no_magnitudes(), only)) {
            store_value(share, place, run, pair.x, plain_sums(value, only));
            return;
        }
    }
    store_value(share, place, run, pair.x, folded(value, share, pair.x, first, end));
}

// A run's later updates that begin in a stretch.
struct Later {
    // False if none begin there, or if the bound window does not hold their row.
    is_here: bool,
    place: Place,
    key: u32,
    // The run's first pair, and the first pair of these updates.
    run: u32,
    first: u32,
}

fn later_of(share: Share) -> Later {
    if !share.exists {
        return Later();
    }
    let most = gather.order.sum_updates;
    let at = share.first_pair + share.output_row.n * most;
    let key = pairs[at].x;
    let place = place_of_key(share, key);
    let run = first_not_before(vec2<u32>(key, 0u), share.first_pair, at);
    let first = run + (at - run + most - 1u) / most * most;
    if !place.is_bound | (first == run) | (first >= share.end_pair) {
        return Later();
    }
    return Later(pairs[first].x == key, place, key, run, first);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn fold_later(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let share = share_of_lane(workgroup, local);
    let later = later_of(share);
    if !later.is_here {
        return;
    }
    let end = min(share.end_pair, later.first + gather.order.sum_updates);
    let block_start = share.output_row.block * gather.order.places;
    let first_number = max(gather.order.first_update, block_start) - block_start;
    let first = first_not_before(vec2<u32>(later.key, first_number), later.first, end);
    if first >= end {
        return;
    }
    let pair = pairs[first];
    if !goes_on(share, first, end, pair, later.key) {
        return;
    }
    let place = sum_place(share, share.output_row.n);
    var value: Unit;
    var next = first;
    if first == later.first {
        value = update(share, pair.y);
        next += 1u;
    } else {
        value = sums[place];
    }
    sums[place] = folded(value, share, later.key, next, end);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn fold_sums(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let share = share_of_lane(workgroup, local);
    let later = later_of(share);
    let most = gather.order.sum_updates;
    // The lane for the run's first later updates folds all its sums, once the block's last update is bound.
    if !later.is_here | (later.first != later.run + most) | !has_update(share, gather.order.places - 1u) {
        return;
    }
    var found = value_of_run(share, later.place, later.run, true);
    let stretches = (share.end_pair - later.first + most - 1u) / most;
    let end = min(stretches, gather.order.first_sum + gather.order.most_steps);
    for (var number = gather.order.first_sum; number < end; number++) {
        let first = later.first + number * most;
        if pairs[first].x != later.key {
            break;
        }
        found = reduced(found, sums[sum_place(share, (first - share.first_pair) / most)]);
    }
    store_value(share, later.place, later.run, later.key, found);
}
