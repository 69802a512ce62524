// Needs: index_rows
//
// Slices of 4 bytes. A line is a block; in gather_elements, a stretch along the innermost element dim. It has three output
// rows or more. A lane copies LANE_ROWS slices from one line, or from one and the next, and stores them as one vector. Blocks
// are bound whole, without gaps, and output_start is in vectors.

@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4<u32>>;

// An output row: its index row, and the params row that entry 0 selects, counted from the window's first row.
struct Place {
    index_row: u32,
    params_row: u32,
    // True if the report counts it.
    counts: bool,
}

// Where a lane is in its block's element dims.
struct Elements {
    // element_offset for its first row, and for the next line's first row.
    offset: u32,
    next_offset: u32,
    // Rows in the lane's line from its first row on.
    left: u32,
}

fn elements_at(n: u32) -> Elements {
    var outer_rows = n;
    var carries = true;
    var found = Elements();
    for (var k = 0u; k < 8u; k++) {
        let dim = element_dim(k);
        if dim.x == 0u {
            break;
        }
        let next = outer_rows / dim.x;
        let coordinate = outer_rows - next * dim.x;
        if k == 0u {
            found.left = dim.x - coordinate;
        }
        // The next line starts at coordinate 0 in the innermost dim, and in each other dim whose end it steps over.
        let after = coordinate + select(0u, 1u, carries);
        carries = k == 0u || after == dim.x;
        found.offset += coordinate * dim.y;
        found.next_offset += select(after * dim.y, 0u, carries);
        outer_rows = next;
    }
    return found;
}

// The next line's first row, `left` rows on.
fn next_line(output_row: OutputRow, left: u32) -> OutputRow {
    var next = output_row;
    next.n += left;
    if next.n == gather.index_count {
        next = OutputRow(0u, next.block + 1u, next.outer + 1u, next.batch);
        if next.outer == gather.outer_size {
            next.outer = 0u;
            next.batch += 1u;
        }
    }
    return next;
}

// An output row at an offset in its block.
fn place_of(output_row: OutputRow, offset: u32) -> Place {
    let block_row = output_row.block * gather.held_rows.x - gather.window_first_row.x;
    return Place(index_row_of(output_row), block_row + offset, output_row.outer == 0u && gather.reports > 0u);
}

// The lane's row k, in one of two lines.
fn place_at(here: Place, next: Place, is_next: bool, k: u32, step: u32) -> Place {
    return Place(
        select(here.index_row, next.index_row, is_next) + k,
        select(here.params_row, next.params_row, is_next) + k * step,
        select(here.counts, next.counts, is_next),
    );
}

// Which params word in the binding an output row copies if its index selects `entry`; 0 if `entry` is NO_ROW.
fn word_of(place: Place, entry: u32) -> u32 {
    let stride = select(1u, gather.general.index_stride, ELEMENTS == 1u);
    return select(0u, gather.params_start + place.params_row + entry * stride, entry < NO_ROW);
}

fn with_place(bad_rows: BadRows, place: Place, entry: u32) -> BadRows {
    return with_index_row(bad_rows, place.index_row, place.counts && entry == NO_ROW);
}

fn copy_lines(workgroup: vec3<u32>, local: u32) -> BadRows {
    let lane = number_of(workgroup) * WORKGROUP_SIZE + local;
    let first = lane * LANE_ROWS;
    if first >= gather.rows {
        return BadRows();
    }
    let output_row = output_row_of(first);
    var elements = Elements(0u, 0u, gather.index_count - output_row.n);
    var step = 0u;
    if ELEMENTS == 1u {
        elements = elements_at(output_row.n);
        step = gather.general.element_dims[0].y;
    }
    let left = elements.left;
    let a = place_of(output_row, elements.offset);
    // Moved back by `left` rows, so that k counts from the lane's first row in both lines.
    var next = place_of(next_line(output_row, left), elements.next_offset - left * step);
    next.index_row -= left;
    let b = place_at(a, next, left <= 1u, 1u, step);
    let c = place_at(a, next, left <= 2u, 2u, step);
    let d = place_at(a, next, left <= 3u, 3u, step);
    let of_a = selected_row(a.index_row);
    let of_b = selected_row(b.index_row);
    let of_c = selected_row(c.index_row);
    let of_d = selected_row(d.index_row);
    let word_d = params[word_of(d, of_d)];
    let word_c = params[word_of(c, of_c)];
    let word_b = params[word_of(b, of_b)];
    let word_a = params[word_of(a, of_a)];
    let absent = gather.fill[0].x;
    output[gather.output_start + lane] = vec4<u32>(
        select(absent, word_a, of_a < NO_ROW), select(absent, word_b, of_b < NO_ROW),
        select(absent, word_c, of_c < NO_ROW), select(absent, word_d, of_d < NO_ROW),
    );
    let two = with_place(with_place(BadRows(), a, of_a), b, of_b);
    return with_place(with_place(two, c, of_c), d, of_d);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn lines(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_lines(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn lines_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_lines(workgroup, local));
}
