// Needs: scan
//
// The numbers of a mask's true entries, in order, and their count. A lane owns 32 entries, which become a word of bits; a workgroup
// owns a tile of them.
//
//   nonzero_bits       entries -> a word of bits for each lane, and how many of the tile's entries are true
//   nonzero_scan       replaces the count of each tile by the sum of those before it, and adds the sum of all after the last tile
//   nonzero_numbers    bits -> numbers, each at the place that its tile's sum gives it
//   nonzero_fill       the fill, from the count on
//
// A dispatch of the first or third takes the entries that its bindings hold. The uniform's fields mean here
//
//   rows, first_n               how many entries, and the number of the first; of nonzero_fill, its first place
//   indices_start               where the first starts in the mask's binding, in bits; units: the words in that binding
//   beyond                      the bits that an inverted mask flips: all or none
//   order.tiles, .first_key     how many tiles the dispatch has, and which is the first
//   most_rows                   the size: how many numbers there is room for, from word output_start on
//   fill                        the fill's word

// The bits of an entry: 1, 8 or 32.
override ENTRY_BITS: u32 = 1u;

// The counts or the sums of all tiles, then the sum of all.
@group(0) @binding(18) var<storage, read_write> counts: array<u32>;
@group(0) @binding(20) var<storage, read> entries: array<u32>;
@group(0) @binding(21) var<storage, read_write> bits: array<u32>;
@group(0) @binding(22) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(23) var<storage, read_write> found_count: u32;

// Tiles that a lane of nonzero_scan sums.
const LANE_COUNTS: u32 = 8u;

// Word `at` of the entries, which start within a word of the binding. No lane reads past the binding.
fn entry_word(at: u32) -> u32 {
    let first = gather.indices_start / 32u + at;
    let shift = gather.indices_start % 32u;
    let last = gather.units - 1u;
    let low = entries[min(first, last)];
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (entries[min(first + 1u, last)] << (32u - shift));
}

// A bit for each of four bytes: 1 if it is not 0.
fn true_bytes(word: u32) -> u32 {
    let high = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
    return ((high >> 7u) * 0x10204080u) >> 28u;
}

// A bit for each of the lane's entries.
fn true_entries(lane: u32) -> u32 {
    if ENTRY_BITS == 1u {
        return entry_word(lane);
    }
    var found = 0u;
    for (var k = 0u; k < ENTRY_BITS; k++) {
        let word = entry_word(lane * ENTRY_BITS + k);
        found |= select(select(0u, 1u, word != 0u) << k, true_bytes(word) << ((4u * k) & 31u), ENTRY_BITS == 8u);
    }
    return found;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn nonzero_bits(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = number_of(workgroup);
    if tile >= gather.order.tiles {
        return;
    }
    let lane = tile * WORKGROUP_SIZE + local;
    let first = lane * 32u;
    var found = 0u;
    if first < gather.rows {
        let most = min(gather.rows - first, 32u);
        found = (true_entries(lane) ^ gather.beyond) & (ALL_BITS >> (32u - most));
    }
    bits[lane] = found;
    let sums = sum_before(local, countOneBits(found));
    if local == 0u {
        counts[gather.order.first_key + tile] = sums.y;
    }
}

// One workgroup turns the counts of tiles into the number of true entries before each tile.
@compute @workgroup_size(WORKGROUP_SIZE)
fn nonzero_scan(@builtin(local_invocation_index) local: u32) {
    let tiles = gather.order.tiles;
    var before = 0u;
    for (var round = 0u; round < tiles; round += LANE_COUNTS * WORKGROUP_SIZE) {
        let first = min(round + local * LANE_COUNTS, tiles);
        let end = min(first + LANE_COUNTS, tiles);
        var sum = 0u;
        for (var at = first; at < end; at++) {
            sum += counts[at];
        }
        let sums = sum_before(local, sum);
        sum = before + sums.x;
        for (var at = first; at < end; at++) {
            let count = counts[at];
            counts[at] = sum;
            sum += count;
        }
        before += sums.y;
    }
    if local == 0u {
        counts[tiles] = before;
        found_count = min(before, gather.most_rows);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn nonzero_numbers(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = number_of(workgroup);
    if tile >= gather.order.tiles {
        return;
    }
    let lane = tile * WORKGROUP_SIZE + local;
    var left = bits[lane];
    var at = counts[gather.order.first_key + tile] + sum_before(local, countOneBits(left)).x;
    while left != 0u && at < gather.most_rows {
        numbers[gather.output_start + at] = gather.first_n + lane * 32u + countTrailingZeros(left);
        left &= left - 1u;
        at++;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn nonzero_fill(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let at = gather.first_n + number_of(workgroup) * WORKGROUP_SIZE + local;
    if at < gather.most_rows && at >= counts[gather.order.tiles] {
        numbers[gather.output_start + at] = gather.fill[0].x;
    }
}
