// Needs: to_bf16
//
// The f32 of the bf16 in a word's low half, as bits.

fn widened(bits: u32) -> u32 {
    return bits << 16u;
}
