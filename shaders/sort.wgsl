// Needs: scan
//
// Sorts pairs by a digit: eight bits of their keys. Pairs with equal digits keep their order, so sorting by all digits, the low
// ones first, leaves each row's index rows in order. A workgroup takes a tile of pairs, and each lane one pair in each round.
// Pairs of zeros come before the pairs, so that all tiles are full: they have the least key, so they stay there.
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
// The words in which each lane of a workgroup has a bit, and the couples that these words make.
const BIT_WORDS: u32 = WORKGROUP_SIZE / 32u;
const BIT_COUPLES: u32 = BIT_WORDS / 2u;
const ALL_LANES = vec2<u32>(0xffffffffu);

var<workgroup> digit_counts: array<atomic<u32>, DIGITS>;
// For each word of lanes and each digit, bits for the lanes whose pair has the digit.
var<workgroup> lanes_of_digit: array<array<atomic<u32>, DIGITS>, BIT_WORDS>;
// For each couple of words and each digit, where the pair of the first of these lanes goes.
var<workgroup> places: array<array<u32, DIGITS>, BIT_COUPLES>;

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
        atomicAdd(&digit_counts[digit_of(pairs[pair_number(tile, round, local)].x)], 1u);
    }
    workgroupBarrier();
    counts[local * gather.order.tiles + tile] = atomicLoad(&digit_counts[local]);
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

// How many of these lanes in a couple of words have a pair with the digit.
fn pairs_of_couple(couple: u32, digit: u32, lanes: vec2<u32>) -> u32 {
    let first = atomicLoad(&lanes_of_digit[2u * couple][digit]);
    let second = atomicLoad(&lanes_of_digit[2u * couple + 1u][digit]);
    return countOneBits(first & lanes.x) + countOneBits(second & lanes.y);
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
    let bit = 1u << (local % 32u);
    // The lanes before this one, in its couple of words.
    let before = select(vec2<u32>(bit - 1u, 0u), vec2<u32>(~0u, bit - 1u), (local & 32u) > 0u);
    for (var word = 0u; word < BIT_WORDS; word++) {
        atomicStore(&lanes_of_digit[word][local], 0u);
    }
    workgroupBarrier();
    for (var round = 0u; round < ROUNDS; round++) {
        let pair = pairs[pair_number(tile, round, local)];
        let digit = digit_of(pair.x);
        atomicOr(&lanes_of_digit[local / 32u][digit], bit);
        workgroupBarrier();
        // No loop: a checked module would count its turns.
        places[0][local] = start;
        start += pairs_of_couple(0u, local, ALL_LANES);
        places[1][local] = start;
        start += pairs_of_couple(1u, local, ALL_LANES);
        places[2][local] = start;
        start += pairs_of_couple(2u, local, ALL_LANES);
        places[3][local] = start;
        start += pairs_of_couple(3u, local, ALL_LANES);
        workgroupBarrier();
        let couple = local / 64u;
        sorted_pairs[places[couple][digit] + pairs_of_couple(couple, digit, before)] = pair;
        workgroupBarrier();
        atomicAnd(&lanes_of_digit[local / 32u][digit], ~bit);
    }
}
