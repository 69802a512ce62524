// Needs: common
//
// Sorts pairs by a digit: eight bits of their keys. Pairs with equal digits keep their order, so sorting by all digits, the low
// ones first, leaves each row's index rows in order. A workgroup takes a tile of pairs, and each lane one pair in each round:
//
//   sort_count        counts[digit][tile] = the tile's pairs that have the digit
//   sort_scan         replaces each count by the sum of those before it, of a workgroup's SCANNED counts; stores their total
//   sort_scan_totals  replaces each total by the sum of those before it
//   sort_move         moves each pair to the place that the sums give its digit and tile, plus its rank among those of its digit

@group(0) @binding(16) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(17) var<storage, read_write> sorted_pairs: array<vec2<u32>>;
// The counts, then the totals.
@group(0) @binding(18) var<storage, read_write> counts: array<u32>;

// Values of a digit, one for each lane in a workgroup.
const DIGITS: u32 = 256u;
// Pairs in a tile, and the rounds in which a workgroup takes them.
const TILE: u32 = 4096u;
const ROUNDS: u32 = TILE / WORKGROUP_SIZE;
// Counts that a lane adds, and that its workgroup adds.
const LANE_COUNTS: u32 = 8u;
const SCANNED: u32 = LANE_COUNTS * WORKGROUP_SIZE;
// Words with one bit for each lane.
const BIT_WORDS: u32 = WORKGROUP_SIZE / 32u;

var<workgroup> digit_counts: array<atomic<u32>, DIGITS>;
var<workgroup> lane_sums: array<u32, WORKGROUP_SIZE>;
// For each word of lanes and each digit, bits for the lanes whose pair has the digit.
var<workgroup> lanes_of_digit: array<atomic<u32>, BIT_WORDS * DIGITS>;

fn digit_of(key: u32) -> u32 {
    return (key >> gather.order.shift) & (DIGITS - 1u);
}

fn pair_number(tile: u32, round: u32, local: u32) -> u32 {
    return tile * TILE + round * WORKGROUP_SIZE + local;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_count(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = number_of(workgroup);
    if tile >= gather.order.tiles {
        return;
    }
    atomicStore(&digit_counts[local], 0u);
    workgroupBarrier();
    for (var round = 0u; round < ROUNDS; round++) {
        let number = pair_number(tile, round, local);
        let key = pairs[min(number, gather.order.pairs - 1u)].x;
        atomicAdd(&digit_counts[digit_of(key)], select(0u, 1u, number < gather.order.pairs));
    }
    workgroupBarrier();
    counts[local * gather.order.tiles + tile] = atomicLoad(&digit_counts[local]);
}

// The sum over the lanes before this one, and over all.
fn sum_before(local: u32, value: u32) -> vec2<u32> {
    lane_sums[local] = value;
    for (var distance = 1u; distance < WORKGROUP_SIZE; distance <<= 1u) {
        workgroupBarrier();
        let before = select(0u, lane_sums[max(local, distance) - distance], local >= distance);
        workgroupBarrier();
        lane_sums[local] += before;
    }
    workgroupBarrier();
    let found = vec2<u32>(lane_sums[local] - value, lane_sums[WORKGROUP_SIZE - 1u]);
    workgroupBarrier();
    return found;
}

fn all_counts() -> u32 {
    return DIGITS * gather.order.tiles;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_scan(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = number_of(workgroup);
    if number * SCANNED >= all_counts() {
        return;
    }
    let first = number * SCANNED + local * LANE_COUNTS;
    let end = min(first + LANE_COUNTS, all_counts());
    var sum = 0u;
    for (var at = first; at < end; at++) {
        sum += counts[at];
    }
    let sums = sum_before(local, sum);
    var before = sums.x;
    for (var at = first; at < end; at++) {
        let count = counts[at];
        counts[at] = before;
        before += count;
    }
    if local == 0u {
        counts[all_counts() + number] = sums.y;
    }
}

// Runs as one workgroup.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_scan_totals(@builtin(local_invocation_index) local: u32) {
    let first = all_counts();
    let end = first + (first + SCANNED - 1u) / SCANNED;
    var before = 0u;
    for (var round = first; round < end; round += WORKGROUP_SIZE) {
        let at = round + local;
        var total = 0u;
        if at < end {
            total = counts[at];
        }
        let sums = sum_before(local, total);
        if at < end {
            counts[at] = before + sums.x;
        }
        before += sums.y;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_move(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = number_of(workgroup);
    if tile >= gather.order.tiles {
        return;
    }
    let count = local * gather.order.tiles + tile;
    // Where the next pair goes whose digit is the lane's number.
    var start = counts[count] + counts[all_counts() + count / SCANNED];
    let word = local / 32u * DIGITS;
    let bit = 1u << (local % 32u);
    for (var round = 0u; round < ROUNDS; round++) {
        for (var at = local; at < BIT_WORDS * DIGITS; at += DIGITS) {
            atomicStore(&lanes_of_digit[at], 0u);
        }
        workgroupBarrier();
        let number = pair_number(tile, round, local);
        let is_pair = number < gather.order.pairs;
        let pair = pairs[min(number, gather.order.pairs - 1u)];
        let own = word + digit_of(pair.x);
        atomicOr(&lanes_of_digit[own], select(0u, bit, is_pair));
        workgroupBarrier();
        let rank = countOneBits(atomicLoad(&lanes_of_digit[own]) & (bit - 1u));
        workgroupBarrier();
        // Replaces the lanes by where the first one's pair goes.
        for (var at = local; at < BIT_WORDS * DIGITS; at += DIGITS) {
            let lanes = atomicLoad(&lanes_of_digit[at]);
            atomicStore(&lanes_of_digit[at], start);
            start += countOneBits(lanes);
        }
        workgroupBarrier();
        if is_pair {
            sorted_pairs[atomicLoad(&lanes_of_digit[own]) + rank] = pair;
        }
        workgroupBarrier();
    }
}
