//! Tests of the interpreter: operators and statements of the shaders must do as WGSL's specification says.

use naga::Module;

use super::{Access, Machine, Memory};

/// The input at binding 1 and the output at binding 2, with a record of every access.
struct Buffers {
    words: [Vec<u32>; 2],
    accesses: Vec<Access>,
}

impl Buffers {
    fn words(&mut self, access: Access) -> &mut [u32] {
        self.accesses.push(access);
        let first = usize::try_from(access.offset / 4).expect("buffers are small");
        let words = &mut self.words[access.binding as usize - 1];
        &mut words[first..first + access.bytes as usize / 4]
    }
}

impl Memory for Buffers {
    fn load(&mut self, access: Access) -> [u32; 4] {
        let mut words = [0; 4];
        let found = self.words(access);
        words[..found.len()].copy_from_slice(found);
        words
    }

    fn store(&mut self, access: Access, words: &[u32]) {
        self.words(access).copy_from_slice(words);
    }

    fn atomic(&mut self, access: Access, change: &dyn Fn(u32) -> u32) -> u32 {
        let word = &mut self.words(access)[0];
        std::mem::replace(word, change(*word))
    }

    fn bytes(&self, binding: u32) -> u64 {
        self.words[binding as usize - 1].len() as u64 * 4
    }
}

fn module(output: &str, items: &str, body: &str) -> Module {
    let source = format!(
        "struct Pair {{ a: u32, b: vec2<u32> }}
        struct Notes {{ count: atomic<u32>, most: atomic<u32> }}
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        @group(0) @binding(2) var<storage, read_write> output: {output};
        {items}
        @compute @workgroup_size(8) fn main(@builtin(workgroup_id) workgroup: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {{ {body} }}"
    );
    let module = naga::front::wgsl::parse_str(&source);
    module.unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)))
}

fn run(module: &Module, lane: u32, input: &[u32]) -> Buffers {
    let mut buffers = Buffers {
        words: [input.to_vec(), vec![0; 8]],
        accesses: Vec::new(),
    };
    Machine::new(module, "main").run([5, 6, 7], lane, &mut buffers);
    buffers
}

#[test]
fn words_have_the_operators_of_wgsl() {
    const MAX: u32 = u32::MAX;
    for (a, b) in [
        (7, 3),
        (3, 7),
        (MAX, 2),
        (2, MAX),
        (5, 0),
        (1 << 31, 33),
        (9, 9),
    ] {
        for (expression, expected) in [
            ("a + b", a.wrapping_add(b)),
            ("a - b", a.wrapping_sub(b)),
            ("a * b", a.wrapping_mul(b)),
            ("a / max(b, 1u)", a / b.max(1)),
            ("a % max(b, 1u)", a % b.max(1)),
            ("(a & b) | (~a ^ b)", (a & b) | (!a ^ b)),
            ("a << b", a << (b % 32)),
            ("a >> b", a >> (b % 32)),
            (
                "u32(a < b) + 2u * u32(a <= b)",
                u32::from(a < b) + 2 * u32::from(a <= b),
            ),
            (
                "u32(a == b || a > b && b != 0u)",
                u32::from(a == b || a > b && b != 0),
            ),
            ("min(a, b) ^ max(a, 4u)", a.min(b) ^ a.max(4)),
            ("select(a, b, a < b)", a.max(b)),
            (
                "dot(vec2<u32>(a, b), vec2<u32>(3u, 5u))",
                a.wrapping_mul(3).wrapping_add(b.wrapping_mul(5)),
            ),
            (
                "select(vec2<u32>(a), vec2<u32>(b), vec2<u32>(a, b) < vec2<u32>(b, a)).y",
                a.min(b),
            ),
            ("vec4<u32>(a, b, 1u, 2u).wzyx.z", b),
        ] {
            let body = format!("let a = input[0]; let b = input[1]; output[0] = {expression};");
            let module = module("array<u32>", "", &body);
            let found = run(&module, 0, &[a, b]).words[1][0];
            assert_eq!(found, expected, "{expression} of {a} and {b}");
        }
    }
}

#[test]
fn statements_run_as_they_are_nested() {
    let items = "
        fn made(a: u32) -> Pair { if a == 0u { return Pair(); } var pair = Pair(a, vec2<u32>(a)); pair.b.y = 8u; return pair; }
        fn find(wanted: u32) -> u32 { for (var i = 0u; i < 8u; i++) { if i == wanted { return i; } } return 99u; }";
    for (body, expected) in [
        (
            "for (var i = 0u; i < 8u; i++) { if i == 2u { continue; } if i == 5u { break; } output[i] = i + 1u; }",
            [1, 2, 0, 4, 5, 0],
        ),
        (
            "var i = 0u; while i < 5u { output[i] += 1u; i += 2u; }",
            [1, 0, 1, 0, 1, 0],
        ),
        (
            "if input[0] == 1u { output[0] = 5u; return; } output[1] = 1u;",
            [5, 0, 0, 0, 0, 0],
        ),
        (
            "output[0] = find(3u); output[1] = find(40u); output[2] = made(4u).b.y; output[3] = made(0u).b.y;",
            [3, 99, 8, 0, 0, 0],
        ),
        (
            "let a = made(3u); var b = a; b.a = 7u; output[0] = a.a; output[1] = b.a; output[2] = b.b.x;",
            [3, 7, 3, 0, 0, 0],
        ),
        (
            "if input[0] == 0u && input[1u << 20u] == 0u { output[0] = 1u; } else { output[0] = 2u; }",
            [2, 0, 0, 0, 0, 0],
        ),
        (
            "output[0] = workgroup.x; output[1] = workgroup.y; output[2] = lane;",
            [5, 6, 3, 0, 0, 0],
        ),
    ] {
        let module = module("array<u32>", items, body);
        assert_eq!(run(&module, 3, &[1, 2]).words[1][..6], expected, "{body}");
    }
}

#[test]
fn atomics_and_structs_are_where_their_layout_says() {
    let body = "let old = atomicExchange(&output.most, 4u); atomicAdd(&output.count, 5u); atomicMax(&output.most, old + 9u);
        if atomicLoad(&output.most) == 9u { atomicAdd(&output.count, 1u); }";
    let notes = run(&module("Notes", "", body), 0, &[]);
    assert_eq!(notes.words[1][..2], [6, 9]);
    let pair = run(
        &module("Pair", "", "output = Pair(1u, vec2<u32>(2u, 3u));"),
        0,
        &[],
    );
    assert_eq!(pair.words[1][..4], [1, 0, 2, 3]);
    let wide = run(
        &module("array<vec4<u32>>", "", "output[input[0]].z = 7u;"),
        0,
        &[1],
    );
    assert_eq!((wide.accesses[1].offset, wide.accesses[1].bytes), (24, 4));
}

#[test]
fn lanes_in_lockstep_have_the_same_sites() {
    let items = "fn at(i: u32) -> u32 { return input[i]; }";
    let body = "if lane % 2u == 0u { output[0] = at(lane) + at(1u); } for (var i = 0u; i < lane; i++) { output[i] = 1u; }";
    let module = module("array<u32>", items, body);
    let sites = |lane| {
        let buffers = run(&module, lane, &[0; 8]);
        let sites = buffers.accesses.iter().map(|access| access.site);
        sites.collect::<Vec<_>>()
    };
    assert_eq!(
        (sites(6)[..5].to_vec(), sites(3)),
        (sites(2), sites(6)[3..6].to_vec())
    );
    let all = sites(6);
    assert!(
        (1..all.len()).all(|n| !all[..n].contains(&all[n])),
        "each turn is a site"
    );
}
