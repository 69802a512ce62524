//! Shapes and attributes from a fuzzer's bytes: valid more often than by chance, but not always.

use arbitrary::{Result, Unstructured};

use testkit::oracle::{Case, Op};

/// A dim from a fuzzer's bytes.
pub type AnyDim = fn(&mut Unstructured) -> Result<usize>;

/// A case without index values, valid or not. Params has up to `max_rank` dims, and indices as many beside shared ones.
pub fn any_case(u: &mut Unstructured, max_rank: usize, dim: AnyDim) -> Result<Case> {
    let params_shape = any_shape(u, max_rank, dim)?;
    let shared = u.int_in_range(0..=params_shape.len())?;
    let own = any_shape(u, max_rank, dim)?;
    let mut indices_shape = [&params_shape[..shared], &own].concat();
    if u.ratio(1, 4)? {
        return any_elements(u, params_shape, max_rank, dim);
    }
    let is_nd = u.arbitrary()?;
    if is_nd && u.ratio(7, 8)? {
        indices_shape.push(u.int_in_range(0..=params_shape.len() - shared + 1)?);
    }

    let (shared, params_rank) = (signed(shared), signed(params_shape.len()));
    let from_indices_end = shared - signed(indices_shape.len());
    let batch_dims = any_attribute(u, &[shared, from_indices_end, 0])?;
    let axis = u.int_in_range(shared..=params_rank)?;
    let axis = any_attribute(u, &[axis, axis - params_rank, shared])?;
    let axis = u.ratio(3, 4)?.then_some(axis);
    let op = if is_nd {
        Op::GatherNd { axis, batch_dims }
    } else {
        Op::Gather { axis, batch_dims }
    };
    Ok(Case {
        op,
        params_shape,
        indices_shape,
        indices: Vec::new(),
        from_end: u.arbitrary()?,
    })
}

/// A case of gather_elements. Indices mostly has the shape of params or smaller dims, and any dim along the axis; with
/// broadcasting, half of the dims of one of the two are 1.
fn any_elements(
    u: &mut Unstructured,
    params_shape: Vec<usize>,
    max_rank: usize,
    dim: AnyDim,
) -> Result<Case> {
    let rank = signed(params_shape.len());
    let place = u.int_in_range(0..=params_shape.len())?;
    let axis = any_attribute(u, &[signed(place), signed(place) - rank, 0])?;
    let mut indices_shape = if u.ratio(1, 8)? {
        any_shape(u, max_rank, dim)?
    } else {
        params_shape.clone()
    };
    for entries in &mut indices_shape {
        if u.ratio(1, 3)? {
            *entries = u.int_in_range(0..=*entries)?;
        }
    }
    let broadcast = u.arbitrary()?;
    let mut params_shape = params_shape;
    if broadcast {
        for (params, indices) in params_shape.iter_mut().zip(&mut indices_shape) {
            let stretched = if u.arbitrary()? { params } else { indices };
            if u.ratio(1, 2)? {
                *stretched = 1;
            }
        }
    }
    if let Some(entries) = indices_shape.get_mut(place) {
        *entries = dim(u)?;
    }
    Ok(Case {
        op: Op::GatherElements { axis, broadcast },
        params_shape,
        indices_shape,
        indices: Vec::new(),
        from_end: u.arbitrary()?,
    })
}

fn any_shape(u: &mut Unstructured, max_rank: usize, dim: AnyDim) -> Result<Vec<usize>> {
    let rank = u.int_in_range(0..=max_rank)?;
    (0..rank).map(|_| dim(u)).collect()
}

/// Mostly one of the likely values.
fn any_attribute(u: &mut Unstructured, likely: &[i64]) -> Result<i64> {
    match u.int_in_range(0..=9)? {
        0..=6 => u.choose(likely).copied(),
        7 => u.int_in_range(-20..=20),
        8 => u.choose(&[i64::MIN, i64::MIN + 1, i64::MAX]).copied(),
        _ => u.arbitrary(),
    }
}

fn signed(rank: usize) -> i64 {
    i64::try_from(rank).expect("a small rank")
}
