// Finds the row of an index row of any depth, with dims and rows of up to 63 bits, and for gather_elements.

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// The high word of a product of two words comes from products of half words.
fn multiply(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = (a.x & 0xffffu) * (b.x & 0xffffu);
    let middle_0 = (a.x & 0xffffu) * (b.x >> 16u);
    let middle_1 = (a.x >> 16u) * (b.x & 0xffffu);
    let carry = (low >> 16u) + (middle_0 & 0xffffu) + (middle_1 & 0xffffu);
    let high = (a.x >> 16u) * (b.x >> 16u) + (middle_0 >> 16u) + (middle_1 >> 16u) + (carry >> 16u);
    return vec2<u32>(a.x * b.x, high + a.x * b.y + a.y * b.x);
}

// The remainder of a modulo b, by long division.
fn remainder(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    var rest = vec2<u32>();
    for (var bit = 0u; bit < 64u; bit++) {
        let word = select(a.y, a.x, bit >= 32u);
        rest = add(rest, rest) + vec2<u32>((word >> (31u - bit % 32u)) & 1u, 0u);
        rest = select(subtract(rest, b), rest, less(rest, b));
    }
    return rest;
}

// place(n) of the formula, for index row n of a batch.
fn place_offset(n: u32) -> u32 {
    var rest = n;
    var offset = 0u;
    let dims = gather.place_dims;
    for (var k = 0u; k < gather.place_dim_count; k++) {
        let dim = pair(k, dims);
        let outer = rest / dim.x;
        offset += (rest - outer * dim.x) * dim.y;
        rest = outer;
    }
    return offset;
}

fn source_row_of(place: Place) -> SourceRow {
    let dims = gather.dims;
    var in_range = true;
    var row = vec2<u32>();
    var word = gather.indices_start + index_row_of(place) * gather.index_depth * gather.index_words;
    for (var k = 0u; k < gather.index_depth; k++) {
        let dim = pair(k, dims);
        let low = indices[word];
        let top = indices[word + gather.index_words - 1u];
        let is_negative = (top & gather.sign) != 0u;
        var at = vec2<u32>(low, select(select(0u, BAD, is_negative), top, gather.index_words == 2u));
        if gather.wraps > 0u {
            // The complement of a number below zero is -1 less the number.
            let rest = remainder(select(at, ~at, is_negative), dim);
            at = select(rest, subtract(dim, add(rest, vec2<u32>(1u, 0u))), is_negative);
        } else {
            at = add(at, select(vec2<u32>(), dim, (top & gather.from_end) != 0u));
        }
        let nearest = select(subtract(dim, vec2<u32>(1u, 0u)), vec2<u32>(), (at.y & gather.lowest) != 0u);
        at = select(at, nearest, gather.unclamped == 0u && !less(at, dim));
        in_range = in_range && less(at, dim);
        row = add(multiply(row, dim), at);
        word += gather.index_words;
    }
    if gather.place_dim_count > 0u {
        row = vec2<u32>(row.x * gather.index_stride + place_offset(gather.first_n + place.n), 0u);
    }
    let held_row = subtract(row, gather.first_row);
    let held = in_range && less(held_row, gather.held_rows);
    let block_row = subtract(multiply(vec2<u32>(place.block, 0u), gather.held_rows), gather.window_first_row);
    let params_row = add(block_row, select(vec2<u32>(), held_row, held));
    return SourceRow(place, params_row.y == 0u && params_row.x < gather.window_rows, in_range, held, params_row.x);
}
