//! The text of `GatherPlan::explain` for each kernel, for empty outputs, and for plans that cannot run.

use wgpu_gather::{
    BadIndices, BlockQuantized, Call, ElementTypes, Encoding, FloatKind, Gather, GatherElements,
    IndexKind, NegativeIndices, Operand, Reduce, With, wgpu,
};

use super::{BIG, along, nd};

/// The texts of [`plans_are_explained`], in its order.
const EXPLAINED: &str = "\
gather params [2,7,64], indices [2,5], axis 1, batch_dims 1 -> output [2,5,64]
10 slices of 256 bytes out of 14 rows; params 3584 bytes, indices 80 bytes (i64), output 2560 bytes
moves 5200 bytes: reads 80 of indices and at most 2560 of params, writes 2560
kernel rows: units of 16 bytes, 1 slice a lane
1 dispatch of 1 x 1 workgroups of 256 invocations

gather_nd params [10,3], indices [400000,1], batch_dims 0 -> output [400000,3]
400000 slices of 12 bytes out of 10 rows; params 120 bytes, indices 1600000 bytes (u32), output 4800000 bytes
moves 11200000 bytes: reads 1600000 of indices and at most 4800000 of params, writes 4800000
kernel four_rows: units of 4 bytes, 4 slices a lane
1 dispatch of 1563 x 1 workgroups of 256 invocations

gather params [10,3], indices [90], axis 0, batch_dims 0 -> output [90,3]
90 slices of 3 bytes out of 10 rows; params 30 bytes, indices 720 bytes (u64), output 270 bytes
moves 1260 bytes: reads 720 of indices and at most 270 of params, writes 270
kernel bytes: 4 bytes of output a lane
1 dispatch of 1 x 1 workgroups of 256 invocations

gather params [3,0], indices [2], axis 0, batch_dims 0 -> output [2,0]
2 slices of 0 bytes out of 3 rows; params 0 bytes, indices 8 bytes (i32), output 0 bytes
empty output: nothing to gather

gather params [3,5], indices [0], axis 0, batch_dims 0 -> output [0,5]
0 slices of 20 bytes out of 3 rows; params 60 bytes, indices 0 bytes (i32), output 0 bytes
empty output: nothing to gather

gather params [3,5], indices [0], axis 0, batch_dims 0 -> output [0,5]
0 slices of 20 bytes out of 3 rows; params 60 bytes, indices 0 bytes (i32), output 0 bytes
empty output: nothing to gather
finish_report: 1 invocation

gather params [614400,128], indices [1000], axis 0, batch_dims 0 -> output [1000,128]
1000 slices of 512 bytes out of 614400 rows; params 314572800 bytes, indices 4000 bytes (u32), output 512000 bytes
no buffer of at most 268435456 bytes holds params: give Buffers::gather_shards, or call plan.gather
moves 1028000 bytes: reads 4000 of indices and at most 512000 of params, writes 512000
kernel rows: units of 16 bytes, 1 slice a lane
at least 3 dispatches, the first of 125 x 1 workgroups of 256 invocations

gather params [3,64], indices [67108864], axis 0, batch_dims 0 -> output [67108864,64]
67108864 slices of 256 bytes out of 3 rows; params 768 bytes, indices 536870912 bytes (i64), output 17179869184 bytes
no buffer of at most 268435456 bytes holds indices: gather parts by several plans, or call plan.gather
no buffer of at most 268435456 bytes holds output: gather parts by several plans, or call plan.gather
cannot run: device limit max_buffer_size must be at least 17179869184, found 268435456

gather params [2,1099511627776], indices [4194304], axis 0, batch_dims 0 -> output [4194304,1099511627776]
cannot run: output must have at most 9223372036854775807 bytes, found 4611686018427387904 elements of 8 bytes

gather params [2], indices [1], axis 0, batch_dims 0 -> output [1]
cannot run: an element must have at least 1 byte on the GPU, found 0

gather params [3], indices [1], axis 0, batch_dims 0 -> output [1]
1 slice of 4 bytes out of 3 rows; params 12 bytes, indices 4 bytes (i32), output 4 bytes
moves 12 bytes: reads 4 of indices and at most 4 of params, writes 4
kernel rows_report: units of 4 bytes, 1 slice a lane
1 dispatch of 1 x 1 workgroups of 256 invocations
after each finish_report: 1 invocation

gather params [3], indices [3000], axis 0, batch_dims 0 -> output [3000]
3000 slices of 4 bytes out of 3 rows; params 12 bytes, indices 12000 bytes (i32), output 12000 bytes
moves 36000 bytes: reads 12000 of indices and at most 12000 of params, writes 12000
kernel packed_report: 4 slices a lane
1 dispatch of 3 x 1 workgroups of 256 invocations
after each finish_report: 1 invocation
";

/// Slices in vectors, words and bytes; empty outputs; operands longer than a buffer; elements too many or without bytes; and
/// reports, which take kernels of their own.
#[test]
fn plans_are_explained() {
    let with_report = |params: &[usize], indices: &[usize]| {
        let gather = Gather::new().bad_indices(BadIndices::Error);
        gather.plan(params, indices)
    };
    let plans = [
        (along(1, 1, &[2, 7, 64], &[2, 5]), 4, IndexKind::I64),
        (nd(0, &[10, 3], &[400_000, 1]), 4, IndexKind::U32),
        (along(0, 0, &[10, 3], &[90]), 1, IndexKind::U64),
        (along(0, 0, &[3, 0], &[2]), 4, IndexKind::I32),
        (along(0, 0, &[3, 5], &[0]), 4, IndexKind::I32),
        (with_report(&[3, 5], &[0]), 4, IndexKind::I32),
        (along(0, 0, &[614_400, 128], &[1_000]), 4, IndexKind::U32),
        (along(0, 0, &[3, 64], &[1 << 26]), 4, IndexKind::I64),
        (along(0, 0, &[2, BIG], &[1 << 22]), 8, IndexKind::I32),
        (along(0, 0, &[2], &[1]), 0, IndexKind::I32),
        (with_report(&[3], &[1]), 4, IndexKind::I32),
        (with_report(&[3], &[3000]), 4, IndexKind::I32),
    ];
    let mut texts = EXPLAINED.trim_end().split("\n\n");
    for (plan, element_bytes, index_kind) in plans {
        let types = ElementTypes::new(element_bytes, index_kind);
        let text = plan.unwrap().explain(types, &wgpu::Limits::default());
        assert_eq!(Some(&text[..]), texts.next());
    }
    assert_eq!(texts.next(), None);
}

#[test]
fn a_plan_beyond_the_limits_is_cut() {
    let last_line = |params: usize, indices: usize, limits: &wgpu::Limits| {
        let text = along(0, 0, &[params], &[indices]).unwrap();
        let text = text.explain(ElementTypes::new(4, IndexKind::I32), limits);
        text.lines().last().unwrap().to_owned()
    };
    let limits = wgpu::Limits::default();
    assert_eq!(
        last_line(1 << 26, 2, &limits),
        "2 dispatches, the first of 1 x 1 workgroups of 256 invocations"
    );
    assert_eq!(
        last_line(BIG, 1 << 20, &limits),
        "more than 1000 dispatches, the first of 4096 x 1 workgroups of 256 invocations"
    );
    let limits = wgpu::Limits {
        max_compute_workgroups_per_dimension: 1,
        ..Default::default()
    };
    assert_eq!(
        last_line(2, 256, &limits),
        "2 dispatches, the first of 1 x 1 workgroups of 256 invocations"
    );
}

#[test]
fn a_buffer_holds_whole_words() {
    let explained = |bytes: usize, max_buffer_size: u64| {
        let limits = wgpu::Limits {
            max_buffer_size,
            ..Default::default()
        };
        let plan = along(0, 0, &[bytes], &[1]).unwrap();
        plan.explain(ElementTypes::new(1, IndexKind::I32), &limits)
    };
    assert!(!explained(1022, 1024).contains("no buffer"));
    assert!(explained(1022, 1023).contains("no buffer of at most 1023 bytes holds params"));
}

#[test]
fn scales_and_zero_points_are_named() {
    let quantized = BlockQuantized::new(4, 32).unwrap().with_zero_points();
    let explained = |rows: usize| {
        let encoding = Encoding::BlockQuantized(quantized);
        let types = ElementTypes::encoded(encoding, IndexKind::I32);
        let plan = along(0, 0, &[rows, 64], &[8]).unwrap();
        plan.explain(types, &wgpu::Limits::default())
    };
    let lines = [
        "gather params [100,64], indices [8], axis 0, batch_dims 0 -> output [8,64]",
        "8 slices of 256 bytes out of 100 rows; params 3200 bytes (values of 4 bits in blocks of 32), scales 800 bytes, zero points 100 bytes, \
         indices 32 bytes (i32), output 2048 bytes",
        "moves 2408 bytes: reads 32 of indices and at most 328 of params and scales and zero points, writes 2048",
        "kernel rows: units of 16 bytes, 1 slice a lane",
        "1 dispatch of 1 x 1 workgroups of 256 invocations",
    ];
    assert_eq!(explained(100), lines.join("\n"));
    let text = explained(1 << 26);
    let on_the_cpu = "no buffer of at most 268435456 bytes holds scales: gather parts by several plans, or call \
                      plan.gather_encoded";
    assert!(text.contains(on_the_cpu), "{text}");
}

#[test]
fn rows_of_halves_are_named() {
    let explained = |to, len: usize| {
        let types = ElementTypes::decoded(Encoding::F16, to, IndexKind::I32);
        let plan = along(0, 0, &[100, len], &[8]).unwrap();
        plan.explain(types, &wgpu::Limits::default())
    };
    let text = explained(FloatKind::Bf16, 64);
    for part in [
        "8 slices of 128 bytes",
        "params 12800 bytes (F16 to bf16)",
        "output 1024 bytes",
        "kernel rows: units of 8 bytes, 1 slice a lane",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let odd = explained(FloatKind::Bf16, 63);
    let kernel = "kernel halves: 2 halves of output a lane, rows found by 64-bit arithmetic";
    assert!(odd.contains(kernel), "{odd}");
    // Bits are moved.
    let moved = explained(FloatKind::F16, 64);
    assert!(moved.contains("(F16 to f16)"), "{moved}");
    assert!(moved.contains("kernel rows: units of 16 bytes"), "{moved}");
}

#[test]
fn a_device_with_less_than_the_shaders_need_says_so() {
    let limits = wgpu::Limits {
        max_compute_workgroup_size_x: 32,
        ..Default::default()
    };
    let text = along(0, 0, &[3], &[1])
        .unwrap()
        .explain(ElementTypes::new(4, IndexKind::I32), &limits);
    assert_eq!(
        text.lines().last(),
        Some(
            "cannot run: device limit max_compute_workgroup_size_x must be at least 256, found 32"
        )
    );
}

#[test]
fn index_policies_change_neither_sizes_nor_kernel() {
    let plain = Gather::new();
    let other = plain
        .negative_indices(NegativeIndices::FromEnd)
        .bad_indices(BadIndices::Fill);
    let [plain, other] = [plain, other].map(|gather| {
        let plan = gather.plan(&[3], &[2]).unwrap();
        plan.explain(
            ElementTypes::new(4, IndexKind::I32),
            &wgpu::Limits::default(),
        )
    });
    assert_eq!(plain, other);
}

#[test]
fn gather_elements_too_large_for_the_shader_says_so() {
    let along_0 = |params: &[usize], indices: &[usize]| {
        let plan = GatherElements::new().plan(params, indices).unwrap();
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: 1 << 40,
            max_buffer_size: 1 << 40,
            ..Default::default()
        };
        let text = plan.explain(ElementTypes::new(1, IndexKind::I32), &limits);
        text.lines().last().unwrap().to_owned()
    };
    let refused = |rows: u64| {
        format!(
            "cannot run: params and indices of gather_elements must have at most 4294967295 elements after the leading dims that they share, found {rows}"
        )
    };
    assert_eq!(along_0(&[1 << 16, 1 << 16], &[1, 1]), refused(1 << 32));
    assert_eq!(
        along_0(&[2, 1 << 20], &[1 << 13, 1 << 20]),
        refused(1 << 33)
    );
    let within = along_0(&[1 << 16, (1 << 16) - 1], &[1, 1]);
    assert!(within.starts_with("1 dispatch of"), "{within}");
    let ninth = GatherElements::new()
        .axis(8)
        .plan(&[3; 9], &[2; 9])
        .unwrap()
        .explain(
            ElementTypes::new(1, IndexKind::I32),
            &wgpu::Limits::default(),
        );
    assert!(
        ninth.ends_with("cannot run: gather_elements on a GPU supports at most 8 dims after equal dims are merged, found 9"),
        "{ninth}"
    );
    let eighth = GatherElements::new().axis(7).plan(&[3; 8], &[2; 8]);
    let eighth = eighth.unwrap().explain(
        ElementTypes::new(1, IndexKind::I32),
        &wgpu::Limits::default(),
    );
    assert!(
        eighth.ends_with("1 dispatch of 1 x 1 workgroups of 256 invocations"),
        "{eighth}"
    );
    // The limit holds for each batch, and there may be any number of batches.
    let batches = GatherElements::new()
        .axis(2)
        .plan(&[1 << 20, 1 << 20, 9], &[1 << 20, 1 << 20, 1]);
    let limits = wgpu::Limits {
        max_buffer_size: u64::MAX,
        ..Default::default()
    };
    let types = ElementTypes::new(1, IndexKind::I32);
    let batches = batches.unwrap().explain(types, &limits);
    assert!(!batches.contains("cannot run"), "{batches}");
}

#[test]
fn slices_of_any_length_are_explained() {
    let plan = along(0, 0, &[2, 1 << 58], &[2]).unwrap();
    let limits = wgpu::Limits {
        max_buffer_size: u64::MAX,
        ..Default::default()
    };
    let text = plan.explain(ElementTypes::new(4, IndexKind::I32), &limits);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("more than 1000 dispatches"), "{text}");
}

#[test]
fn kernels_and_grids_of_any_size_are_explained() {
    let limits = wgpu::Limits {
        max_buffer_size: u64::MAX,
        ..Default::default()
    };
    for (plan, element_bytes, line) in [
        (
            along(0, 0, &[9, 257], &[3]),
            4,
            "kernel long: units of 4 bytes, 1 workgroup a slice",
        ),
        (
            along(0, 0, &[9, 1025], &[3]),
            4,
            "kernel long: units of 4 bytes, 2 workgroups a slice",
        ),
        (
            along(0, 0, &[9, 17], &[3]),
            1,
            "kernel bytes: 16 bytes of output a lane",
        ),
        (
            along(0, 0, &[(1 << 31) + 1], &[9]),
            16,
            "kernel rows: units of 16 bytes, 1 slice a lane, rows found by 64-bit arithmetic",
        ),
        (
            along(0, 0, &[2, 3], &[24_000_000]),
            1,
            "1 dispatch of 35157 x 2 workgroups of 256 invocations",
        ),
        (
            along(2, 1, &[2, 3, 9, 16], &[2, 5_500]),
            4,
            "1 dispatch of 22 x 3 x 2 workgroups of 256 invocations",
        ),
    ] {
        let plan = plan.unwrap();
        let text = plan.explain(ElementTypes::new(element_bytes, IndexKind::I32), &limits);
        assert!(text.lines().any(|found| found == line), "{text}");
    }
}

#[test]
fn scatters_are_explained_beside_gathers() {
    let explained = |plan: With<'_, Reduce>, call: Call<Reduce>, limits: &wgpu::Limits| {
        let text = plan.explain(call, limits);
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let plan = along(0, 0, &[1000, 3], &[500]).unwrap();
    let types = Call::scatter(ElementTypes::new(1, IndexKind::I32));
    let of_1_kib = wgpu::Limits {
        max_storage_buffer_binding_size: 1024,
        ..wgpu::Limits::default()
    };
    let sizes = "500 slices of 3 bytes into 1000 rows; target 3000 bytes, indices 2000 bytes (i32), updates 1500 bytes";
    assert_eq!(
        explained(plan.unique(), types, &wgpu::Limits::default()),
        [
            sizes,
            "kernel word_parts: 4 bytes of the target a lane",
            "1 dispatch of 4 x 1 workgroups of 256 invocations",
        ]
    );
    assert_eq!(
        explained((&plan).into(), types, &of_1_kib),
        [
            sizes,
            "rows may repeat: 4000 bytes of winners; clear_winners and find_winners: 8 dispatches each",
            "kernel word_parts: 4 bytes of the target a lane",
            "8 dispatches, the first of 2 x 1 workgroups of 256 invocations",
        ]
    );
    // Windows hold as many whole batches as a binding and a buffer of winners do.
    let batches = along(2, 1, &[1 << 20, 2, 64], &[1 << 20, 2]).unwrap();
    let words = Call::scatter(ElementTypes::new(4, IndexKind::I32));
    assert_eq!(
        explained((&batches).into(), words, &wgpu::Limits::default())[1..],
        [
            "no buffer of at most 268435456 bytes holds target: give Buffers::scatter_shards, or call plan.scatter",
            "rows may repeat: 268435456 bytes of winners; clear_winners and find_winners: 2 dispatches each",
            "kernel rows: units of 4 bytes, 1 slice a lane",
            "at least 4 dispatches, the first of 4096 x 1 workgroups of 256 invocations",
        ]
    );
    // A list of all buffers of winners would take 32 MB.
    let rows = along(0, 0, &[(1 << 32) - 1], &[4]).unwrap();
    let of_4_kib = wgpu::Limits {
        max_storage_buffer_binding_size: 4096,
        ..wgpu::Limits::default()
    };
    assert_eq!(
        explained((&rows).into(), words, &of_4_kib)[1..],
        [
            "no buffer of at most 268435456 bytes holds target: give Buffers::scatter_shards, or call plan.scatter",
            "rows may repeat: 17179869180 bytes of winners; clear_winners and find_winners: more than 1000 dispatches each",
            "kernel rows: units of 4 bytes, 1 slice a lane, rows found by 64-bit arithmetic",
            "more than 1000 dispatches, the first of 1 x 1 workgroups of 256 invocations",
        ]
    );
    let reports = Gather::new().bad_indices(BadIndices::Error);
    let reports = reports.plan(&[9], &[4]).unwrap();
    assert_eq!(
        explained(reports.unique(), words, &wgpu::Limits::default())[1..],
        [
            "bad rows are counted; count_bad: 1 dispatch; finish_report after each",
            "kernel rows: units of 4 bytes, 1 slice a lane",
            "1 dispatch of 1 x 1 workgroups of 256 invocations",
        ]
    );
    let reduced = |plan: With<'_, Reduce>, reduce| {
        let text = plan.explain(words.reduce::<f32>(reduce), &of_1_kib);
        text.lines().last().unwrap().to_owned()
    };
    assert_eq!(
        reduced((&plan).into(), Reduce::Add),
        "cannot run: device limit max_storage_buffer_binding_size must be at least 32768, found 1024"
    );
    assert_eq!(
        reduced(plan.unique(), Reduce::Add),
        "128 dispatches, the first of 1 x 1 workgroups of 256 invocations"
    );
    assert_eq!(
        reduced((&plan).into(), Reduce::Mul),
        "cannot run: a GPU has no mul of f32: GatherPlan::scatter_reduce has it, on the CPU"
    );
    let encoded = Call::scatter(ElementTypes::encoded(Encoding::Q8_0, IndexKind::I32));
    assert_eq!(
        explained((&plan).into(), encoded, &wgpu::Limits::default()),
        ["cannot run: target must hold elements, found rows of Q8_0: a scatter encodes nothing"]
    );
    let empty = along(0, 0, &[1000, 3], &[0]).unwrap();
    let least = wgpu::Limits::downlevel_webgl2_defaults();
    let of_gather = empty.explain(ElementTypes::new(1, IndexKind::I32), &least);
    assert!(
        of_gather.ends_with("\nempty output: nothing to gather"),
        "{of_gather}"
    );
    assert_eq!(
        explained((&empty).into(), types, &of_1_kib)[1..],
        ["nothing to scatter"]
    );
}

/// A report, a mask and an index count take passes of their own.
#[test]
fn options_of_a_call_are_explained() {
    let plan = along(0, 0, &[1000, 16], &[3000]).unwrap();
    let types = ElementTypes::new(4, IndexKind::I32);
    let all = [Operand::Report, Operand::Mask, Operand::IndexCount];
    let limits = wgpu::Limits::default();
    let lines = |text: String| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    let gather = all.into_iter().fold(Call::gather(types), Call::with);
    assert_eq!(
        lines(plan.explain(gather, &limits)),
        [
            "moves 396000 bytes: reads 12000 of indices and at most 192000 of params, writes 192000",
            "kernel rows_report: units of 16 bytes, 1 slice a lane",
            "1 dispatch of 47 x 1 workgroups of 256 invocations",
            "count_rows before each dispatch over indices or slices: 1 invocation",
            "after each finish_report: 1 invocation",
            "mask of 3000 index rows: 1 dispatch",
        ]
    );
    let scatter = all.into_iter().fold(Call::scatter(types), Call::with);
    assert_eq!(
        lines(plan.explain(scatter, &limits)),
        [
            "rows may repeat: 4000 bytes of winners; clear_winners and find_winners: 1 dispatch each",
            "bad rows are counted; count_bad: 1 dispatch; finish_report after each",
            "kernel rows: units of 16 bytes, 1 slice a lane",
            "1 dispatch of 47 x 1 workgroups of 256 invocations",
            "count_rows before each dispatch over indices or slices: 1 invocation",
            "mask of 3000 index rows: 1 dispatch",
        ]
    );
    let large = along(0, 0, &[1000, 16], &[1 << 20]).unwrap();
    let counted = large.explain(Call::gather(types).with(Operand::IndexCount), &limits);
    let line = "1 dispatch of the workgroups that the index count needs, of 256 invocations";
    assert!(counted.lines().any(|found| found == line), "{counted}");
}
