
const BITS: u32 = 32u / UNITS_OF_WORD;

// A word of the output, of two or four units that may lie in several rows.
fn lane(i: u32) -> Lane {
    let at = i * UNITS_OF_WORD;
    var word = part(at) | (part(at + 1u) << BITS);
    if UNITS_OF_WORD == 4u {
        word |= (part(at + 2u) << (2u * BITS % 32u)) | (part(at + 3u) << (3u * BITS % 32u));
    }
    return word;
}

fn part(at: u32) -> u32 {
    let row = params_row(row_of(at));
    if !row.is_good {
        return 0u;
    }
    let unit = row.at * sizes.units + place_of(at);
    return (params[unit / UNITS_OF_WORD] >> (unit % UNITS_OF_WORD * BITS)) & ((1u << BITS) - 1u);
}
