// Needs: words; from_f16 or from_bf16
//
// Halves in fold.wgsl. A unit is one half, reduced as an f32. Each pass rounds a run's value into the target. If a later pass goes
// on from it, a slot holds a sum unrounded, so that only the last rounding counts. Minima and maxima are halves, and need no slots.

@group(0) @binding(12) var<storage, read_write> target_words: array<atomic<u32>>;
@group(0) @binding(13) var<storage, read> updates: array<u32>;
@group(0) @binding(24) var<storage, read_write> slots: array<u32>;

// The half `at`, in the low half of a word; other bits may follow it.
fn half_at(at: u32) -> u32 {
    return atomicLoad(&target_words[at / 2u]) >> (at % 2u * 16u);
}

fn update_at(at: u32) -> u32 {
    return widened((updates[at / 2u] >> (at % 2u * 16u)) & 0xffffu);
}

// True if all updates of a block are in one dispatch.
fn are_updates_whole() -> bool {
    return gather.quantized.scales_start == NONE;
}

// A run's slot: that of the target's unit, or if only later updates need one, that of the stretch in which the first of them begin.
fn slot_of(share: Share, place: Place, run: u32) -> u32 {
    if are_updates_whole() {
        return sum_place(share, (run - share.first_pair) / gather.order.sum_updates + 1u);
    }
    return gather.quantized.scales_start + place.at - gather.params_start;
}

fn value_of_run(share: Share, place: Place, run: u32, is_begun: bool) -> u32 {
    if is_begun && are_float_sums() {
        return slots[slot_of(share, place, run)];
    }
    return widened(half_at(place.at) & 0xffffu);
}

// The word's other half may be another lane's, so only the bits that change are flipped.
fn store_value(share: Share, place: Place, run: u32, key: u32, value: u32) {
    let change = (half_at(place.at) ^ (rounded(value) >> 16u)) & 0xffffu;
    atomicXor(&target_words[place.at / 2u], change << (place.at % 2u * 16u));
    let later = run + gather.order.sum_updates;
    let has_later = (later < share.end_pair) && (pairs[min(later, share.end_pair - 1u)].x == key);
    if are_float_sums() && (has_later | !are_updates_whole()) {
        slots[slot_of(share, place, run)] = value;
    }
}
