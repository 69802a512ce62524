//! Gathers of ndarray arrays in every layout, compared with the oracle and with ndarray's own `select`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use allocation_counter::measure;
use ndarray::{
    Array, Array1, Array2, Array3, ArrayD, ArrayRef, Axis, Dimension, IxDyn, ShapeBuilder, Slice,
    arr0, s,
};
use ndarray::{array, aview1};
use testkit::cases;
use testkit::oracle::{Case, Op};
use wgpu_gather::{
    BadIndices, Gather, GatherElements, GatherNd, Index, NegativeIndices, Operand, PlanError,
    Reduce, RunError,
};

/// Four arrays of these elements: row-major, column-major, backwards, and with gaps between the elements.
fn layouts<T: Copy + Default>(shape: &[usize], elements: &[T]) -> [ArrayD<T>; 4] {
    let standard = ArrayD::from_shape_vec(IxDyn(shape), elements.to_vec()).unwrap();
    let column_major = ArrayD::default(IxDyn(shape).f());
    let mut backwards = standard.clone();
    // An empty array has no gaps, and doubling its other dims could overflow.
    let (stride, step) = if standard.is_empty() { (1, 1) } else { (2, 2) };
    let gapped: Vec<_> = shape.iter().map(|dim| stride * dim).collect();
    let mut gaps = ArrayD::default(gapped);
    for axis in (0..shape.len()).map(Axis) {
        backwards.invert_axis(axis);
        gaps.slice_axis_inplace(axis, Slice::new(step - 1, None, step));
    }
    let mut layouts = [standard.clone(), column_major, backwards, gaps];
    for layout in &mut layouts[1..] {
        layout.assign(&standard);
    }
    layouts
}

/// Plans for the shapes of arrays, and gathers.
trait GatherArray {
    fn gather_array<T: Copy + Default + Send + Sync, I: Index>(
        &self,
        params: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
    ) -> Result<ArrayD<T>, RunError>;
}

macro_rules! gather_array {
    ($($operation:ty)*) => {$(
        impl GatherArray for $operation {
            fn gather_array<T: Copy + Default + Send + Sync, I: Index>(
                &self,
                params: &ArrayRef<T, impl Dimension>,
                indices: &ArrayRef<I, impl Dimension>,
            ) -> Result<ArrayD<T>, RunError> {
                let plan = self.plan(params.shape(), indices.shape())?;
                plan.gather_array(params, indices)
            }
        }
    )*};
}
gather_array! { Gather GatherNd GatherElements }

fn gather_case<I: Index>(
    case: &Case,
    bad_indices: BadIndices,
    params: &ArrayD<u32>,
    indices: &ArrayD<I>,
) -> Result<ArrayD<u32>, RunError> {
    let negative_indices = if case.from_end {
        NegativeIndices::FromEnd
    } else {
        NegativeIndices::Invalid
    };
    match case.op {
        Op::Gather { axis, batch_dims } => axis
            .map_or(Gather::new(), |axis| Gather::new().axis(axis))
            .batch_dims(batch_dims)
            .bad_indices(bad_indices)
            .negative_indices(negative_indices)
            .gather_array(params, indices),
        Op::GatherNd { axis, batch_dims } => axis
            .map_or(GatherNd::new(), |axis| GatherNd::new().axis(axis))
            .batch_dims(batch_dims)
            .bad_indices(bad_indices)
            .negative_indices(negative_indices)
            .gather_array(params, indices),
        Op::GatherElements { axis, broadcast } => GatherElements::new()
            .broadcast(broadcast)
            .axis(axis)
            .bad_indices(bad_indices)
            .negative_indices(negative_indices)
            .gather_array(params, indices),
    }
}

#[test]
fn every_layout_of_every_case_equals_the_oracle() {
    let mut copied = 0;
    for case in cases::table() {
        let plan = case.plan(BadIndices::Error);
        let Ok(indices) = (case.indices.iter())
            .map(|&index| i64::try_from(index))
            .collect::<Result<Vec<_>, _>>()
        else {
            continue;
        };
        if let Err(error) = plan {
            // A rejected shape may have more elements than memory holds.
            let mut dims = case.params_shape.iter().chain(&case.indices_shape);
            if dims.all(|&dim| dim < 100) {
                let params = ArrayD::default(IxDyn(&case.params_shape));
                let indices = ArrayD::<i64>::default(IxDyn(&case.indices_shape));
                let found = gather_case(&case, BadIndices::Error, &params, &indices);
                assert_eq!(found, Err(RunError::Plan(error)), "{case:?}");
            }
            continue;
        }
        let elements: Vec<u32> = (1..).take(case.params_shape.iter().product()).collect();
        let answer = case.answer();
        let expected = answer.elements.iter();
        let expected: Vec<u32> = expected.map(|at| at.map_or(0, |at| elements[at])).collect();
        let expected = Array::from_shape_vec(plan.unwrap().output_shape(), expected).unwrap();
        let bad_index = answer.bad_rows.first().map(|&row| case.bad_index_text(row));

        for params in layouts(&case.params_shape, &elements) {
            for indices in layouts(&case.indices_shape, &indices) {
                copied += usize::from(!params.is_standard_layout());
                let zeros = gather_case(&case, BadIndices::Fill, &params, &indices).unwrap();
                assert_eq!(zeros, expected, "{case:?}");
                assert!(zeros.is_standard_layout());
                let result = gather_case(&case, BadIndices::Error, &params, &indices);
                match &bad_index {
                    None => assert_eq!(result.unwrap(), expected, "{case:?}"),
                    Some(text) => assert_eq!(result.unwrap_err().to_string(), *text, "{case:?}"),
                }
            }
        }
    }
    assert!(copied > 1000, "only {copied} gathers of views with gaps");
}

#[test]
fn one_axis_gives_what_select_gives() {
    let table = Array3::from_shape_fn((4, 5, 6), |(i, j, k)| 100 * i + 10 * j + k);
    let views = [
        table.view(),
        table.t(),
        table.slice(s![.., ..;-1, ..]),
        table.slice(s![1..;2, ..4, ..;-2]),
        table.view().permuted_axes([1, 2, 0]),
        table.slice(s![..1, .., ..]),
    ];
    for view in views {
        for (axis, &dim) in view.shape().iter().enumerate() {
            let selected: Vec<usize> = (0..7).map(|n| n * 3 % dim).collect();
            let expected = view.select(Axis(axis), &selected).into_dyn();
            let indices: Array1<u64> = selected.iter().map(|&index| index as u64).collect();
            let axis = i64::try_from(axis).unwrap();
            for axis in [axis, axis - 3] {
                let gather = Gather::new().axis(axis);
                assert_eq!(gather.gather_array(&view, &indices).unwrap(), expected);
                // The 7 indices, backwards, in every other place of a longer array.
                let mut gaps = Array1::from_elem(13, u64::MAX);
                gaps.slice_mut(s![..;-2]).assign(&indices);
                let gaps = gaps.slice(s![..;-2]);
                assert_eq!(gather.gather_array(&view, &gaps).unwrap(), expected);
            }
        }
    }
}

#[test]
fn batches_are_gathered_one_by_one() {
    let params = Array3::from_shape_fn((3, 4, 5), |(b, o, n)| 100 * b + 10 * o + n);
    let indices = array![[4_u32, 0], [1, 1], [2, 3]];
    let output = Gather::new().batch_dims(1).axis(2);
    let output = output.gather_array(&params.slice(s![..;-1, .., ..]), &indices);
    assert_eq!(
        output.unwrap(),
        Array3::from_shape_fn((3, 4, 2), |(b, o, n)| {
            100 * (2 - b) + 10 * o + indices[[b, n]] as usize
        })
        .into_dyn()
    );
    let rows = GatherNd::new().batch_dims(1);
    let rows = rows.gather_array(&params.view().permuted_axes([0, 2, 1]), &indices.t());
    assert_eq!(
        rows.unwrap_err().to_string(),
        "batch dims must be equal: params.shape[0] = 3, indices.shape[0] = 2"
    );
}

#[test]
fn arrays_of_no_dims_and_of_no_elements_are_gathered() {
    let letters = array!["a", "b", "c"];
    let one = Gather::new().gather_array(&letters, &arr0(2));
    assert_eq!(one.unwrap(), arr0("c").into_dyn());
    let one = GatherNd::new().gather_array(&letters, &array![1]);
    assert_eq!(one.unwrap(), arr0("b").into_dyn());
    let none = Gather::new().gather_array(&letters, &aview1::<i32>(&[]));
    assert_eq!(none.unwrap(), Array1::<&str>::default(0).into_dyn());

    // The dims of params without elements still give the output's shape.
    let none =
        Gather::new().gather_array(&Array2::<u8>::default((0, 1 << 40)), &aview1::<i32>(&[]));
    assert_eq!(none.unwrap().shape(), [0, 1 << 40]);
    let none = Gather::new().axis(1);
    let none = none.gather_array(&Array2::<u8>::default((0, 3)).t(), &array![[0_u32, 0]]);
    assert_eq!(
        none.unwrap_err().to_string(),
        "indices[0,0] = 0 is not in [0, 0)"
    );
    let all = GatherNd::new().gather_array(&letters, &Array2::<i32>::default((2, 0)));
    assert_eq!(
        all.unwrap(),
        array![["a", "b", "c"], ["a", "b", "c"]].into_dyn()
    );
}

#[test]
fn elements_of_any_type_are_gathered() {
    let words = array![["one", "two"], ["three", "four"]];
    let gather = Gather::new().axis(-1).bad_indices(BadIndices::Fill);
    let output = gather.gather_array(&words.slice(s![..;-1, ..]), &array![1, 2]);
    assert_eq!(
        output.unwrap(),
        array![["four", ""], ["two", ""]].into_dyn()
    );

    let numbers = array![f32::from_bits(0x7fc0_1234), -0.0, 1.0];
    let output = Gather::new().gather_array(&numbers.slice(s![..;-1]), &array![2, 1]);
    let bits: Vec<u32> = output
        .unwrap()
        .iter()
        .map(|number| number.to_bits())
        .collect();
    assert_eq!(bits, [0x7fc0_1234, 0x8000_0000]);
}

#[test]
fn mistakes_are_the_errors_of_plan_and_run() {
    let params = Array2::<u8>::default((2, 3));
    let error = Gather::new().axis(2).gather_array(&params, &array![0]);
    assert_eq!(
        error,
        Err(RunError::Plan(PlanError::AxisOutOfRange {
            axis: 2,
            given: true,
            params_rank: 2
        }))
    );
    let error = GatherNd::new().gather_array(&params, &arr0(0)).unwrap_err();
    assert_eq!(error, PlanError::IndicesScalar.into());
    assert_eq!(error.to_string(), "indices must be at least a vector");

    // The error gives the bad index's position in the view, not in the underlying array.
    let indices = array![[0_i64, 5], [1, 1]];
    let error = Gather::new().gather_array(&params, &indices.slice(s![..;-1, ..;-1]));
    let Err(RunError::BadIndex(bad)) = error else {
        panic!("{error:?}");
    };
    assert_eq!((&bad.position[..], &bad.index[..]), (&[1, 0][..], &[5][..]));
    assert_eq!(bad.to_string(), "indices[1,0] = 5 is not in [0, 2)");
}

#[test]
fn a_plan_of_another_shape_is_an_error() {
    let params = array![[1, 2, 3], [4, 5, 6]];
    let plan = Gather::new().plan(&[2, 3], &[1]).unwrap();
    let row = plan.gather_array(&params, &array![1]);
    assert_eq!(row, Ok(array![[4, 5, 6]].into_dyn()));
    let error = plan.gather_array(&params.t(), &array![1]).unwrap_err();
    let text = "params must have the plan's shape [2,3], found [3,2]";
    assert_eq!(error.to_string(), text);
    let error = plan.gather_array(&params, &arr0(1)).unwrap_err();
    let text = "indices must have the plan's shape [1], found []";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_broadcast_view_beyond_memory_is_an_error() {
    let one = array![7_u64];
    let many = one.broadcast(1 << 62).unwrap();
    let error = Gather::new().gather_array(&many, &array![0]).unwrap_err();
    let out_of_memory = |operand| RunError::OutOfMemory {
        operand,
        elements: 1 << 62,
        element_bytes: 8,
    };
    assert_eq!(error, out_of_memory(Operand::Params));
    assert_eq!(
        error.to_string(),
        "params of 4611686018427387904 elements of 8 bytes cannot be allocated"
    );
    let error = Gather::new().gather_array(&one, &many);
    assert_eq!(error, Err(out_of_memory(Operand::Indices)));

    let few = one
        .broadcast((3, 2))
        .unwrap_or_else(|| panic!("[1] broadcasts to [3, 2]"));
    let row = Gather::new().gather_array(&few, &array![2]);
    assert_eq!(row.unwrap(), array![[7, 7]].into_dyn());
}

#[test]
fn only_what_is_not_in_standard_layout_is_copied() {
    let params = Array2::<u64>::default((100, 1000));
    let bytes = |rows: usize, gather: &dyn Fn() -> ArrayD<u64>| {
        let mut shape = Vec::new();
        let info = measure(|| shape = gather().shape().to_vec());
        assert_eq!(shape[0], rows);
        info.bytes_total
    };
    let gather = Gather::new();
    let in_place = bytes(1, &|| gather.gather_array(&params, &array![99]).unwrap());
    assert!((8000..10_000).contains(&in_place), "{in_place} bytes");
    // A view of some rows is in standard layout too; a view of some columns is not.
    let rows = params.slice(s![50.., ..]);
    let in_place = bytes(1, &|| gather.gather_array(&rows, &array![49]).unwrap());
    assert!((8000..10_000).contains(&in_place), "{in_place} bytes");
    let columns = params.slice(s![.., ..500]);
    let copied = bytes(1, &|| gather.gather_array(&columns, &array![99]).unwrap());
    assert!((404_000..406_000).contains(&copied), "{copied} bytes");
}

#[test]
fn arrays_in_every_layout_are_scattered() {
    let plan = GatherNd::new().plan(&[3, 2], &[2, 1]).unwrap();
    let (updates, indices) = ([[1, 2], [3, 4]], [[2], [0]]);
    for updates in layouts(&[2, 2], updates.as_flattened()) {
        for indices in layouts(&[2, 1], indices.as_flattened()) {
            let mut target = Array2::zeros((3, 2));
            plan.scatter_array(&updates, &indices, &mut target).unwrap();
            assert_eq!(target, array![[3, 4], [0, 0], [1, 2]]);
            plan.scatter_reduce_array(Reduce::Add, &updates, &indices, &mut target)
                .unwrap();
            assert_eq!(target, array![[6, 8], [0, 0], [2, 4]]);
        }
    }
    // A window of whole rows is in standard layout; columns are not, and nothing is written.
    let mut table = Array2::<i32>::zeros((5, 2));
    let mut window = table.slice_mut(s![1..4, ..]);
    plan.scatter_array(&array![[7, 7], [8, 8]], &array![[0], [1]], &mut window)
        .unwrap();
    assert_eq!(table.column(0), array![0, 7, 8, 0, 0]);
    let mut columns = Array2::<i32>::zeros((3, 4));
    let mut half = columns.slice_mut(s![.., ..2]);
    let error = plan
        .scatter_array(&array![[7, 7], [8, 8]], &array![[0], [1]], &mut half)
        .unwrap_err();
    let text = "target must be in standard layout, found strides [4,1] for shape [3,2]";
    assert_eq!(error.to_string(), text);
    assert!(columns.iter().all(|&value| value == 0));
}

#[test]
fn arrays_of_shards_and_with_gaps_have_any_shape() {
    let plan = Gather::new().plan(&[4, 3], &[2]).unwrap();
    let shard = plan.shard(2..4).unwrap();
    let mut rows = array![[7, 8, 9], [10, 11, 12]];
    let found = shard.gather_array(&rows, &array![3, 0]).unwrap();
    assert_eq!(found, array![[10, 11, 12], [0, 0, 0]].into_dyn());
    let updates = array![[1, 2, 3], [4, 5, 6]];
    shard
        .scatter_array(&updates, &array![3, 0], &mut rows)
        .unwrap();
    assert_eq!(rows, array![[7, 8, 9], [1, 2, 3]]);
    let gaps = Gather::new().plan(&[2, 3], &[1]).unwrap();
    let gaps = gaps.with_params_stride(4).unwrap();
    let mut wide = array![[1, 2, 3, 0], [4, 5, 6, 0]];
    let found = gaps.gather_array(&wide, &array![1]).unwrap();
    assert_eq!(found, array![[4, 5, 6]].into_dyn());
    let updates = array![[7, 8, 9]];
    gaps.scatter_array(&updates, &array![0], &mut wide).unwrap();
    assert_eq!(wide, array![[7, 8, 9, 0], [4, 5, 6, 0]]);
    let error = gaps.gather_array(&rows, &array![1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "params must have 7 to 8 elements, found 6"
    );
}

#[test]
fn arrays_of_another_shape_are_not_scattered() {
    let plan = Gather::new().plan(&[3, 2], &[2]).unwrap();
    let mut target = Array2::<i32>::zeros((3, 2));
    let updates = Array2::<i32>::zeros((2, 2));
    let error = plan.scatter_array(&updates.slice(s![.., ..1]), &array![0, 1], &mut target);
    let text = "updates must have the plan's shape [2,2], found [2,1]";
    assert_eq!(error.unwrap_err().to_string(), text);
    let mut turned = Array2::<i32>::zeros((2, 3));
    let error = plan.scatter_array(&updates, &array![0, 1], &mut turned);
    let text = "target must have the plan's shape [3,2], found [2,3]";
    assert_eq!(error.unwrap_err().to_string(), text);
    // One update has the shape of a slice.
    plan.one_update()
        .scatter_array(&array![4, 5], &array![0, 2], &mut target)
        .unwrap();
    assert_eq!(target, array![[4, 5], [0, 0], [4, 5]]);
    let elements = GatherElements::new().axis(0).broadcast(true);
    let one = elements.plan(&[3, 2], &[2, 1]).unwrap();
    one.one_update()
        .scatter_array(&array![6, 7], &array![[1], [1]], &mut target)
        .unwrap();
    assert_eq!(target, array![[4, 5], [6, 7], [4, 5]]);
    let single = GatherElements::new()
        .axis(1)
        .plan(&[3, 2], &[3, 1])
        .unwrap();
    let single = single.one_update();
    single
        .scatter_array(&arr0(9), &array![[1], [0], [1]], &mut target)
        .unwrap();
    assert_eq!(target, array![[4, 9], [9, 7], [4, 9]]);
    // Its dims of 1 do not count; others do.
    single
        .scatter_array(&array![[8]], &array![[1], [0], [1]], &mut target)
        .unwrap();
    assert_eq!(target, array![[4, 8], [8, 7], [4, 8]]);
    let error = single.scatter_array(&array![8, 8], &array![[1], [0], [1]], &mut target);
    let text = "updates must have the plan's shape [], found [2]";
    assert_eq!(error.unwrap_err().to_string(), text);
}
