//! Models in several .safetensors files, whose index says which part holds which tensor.

use std::fs;
use std::time::Instant;

use testkit::ran::Ran;

use crate::archives::safetensors;
use crate::support::{Folder, assert_usage, lines, npy, wgpu_gather};

const INDEX: &str = "m.safetensors.index.json";
const PARTS: [&str; 3] = [
    "m-00001-of-00003.safetensors",
    "m-00002-of-00003.safetensors",
    "m-00003-of-00003.safetensors",
];
/// The tensors, two in each part. Each has three rows, of which the first is its place here, times ten.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A file of tensors, each with its rows.
fn part(tensors: &[(&str, [u8; 3])]) -> Vec<u8> {
    let mut entries = Vec::new();
    for (at, (name, _)) in tensors.iter().enumerate() {
        let (start, end) = (at * 3, at * 3 + 3);
        entries.push(format!(
            r#""{name}":{{"dtype":"U8","shape":[3],"data_offsets":[{start},{end}]}}"#
        ));
    }
    let data: Vec<u8> = tensors.iter().flat_map(|(_, rows)| *rows).collect();
    safetensors(&format!("{{{}}}", entries.join(",")), &data)
}

fn rows(name: &str) -> [u8; 3] {
    let at = NAMES.iter().position(|other| *other == name).unwrap();
    let first = u8::try_from(at * 10).unwrap();
    [first, first + 1, first + 2]
}

fn index<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let pairs = pairs.into_iter();
    let pairs: Vec<String> = pairs
        .map(|(name, part)| format!("{name:?}: {part:?}"))
        .collect();
    let map = pairs.join(",\n    ");
    format!("{{\n  \"metadata\": {{}},\n  \"weight_map\": {{\n    {map}\n  }}\n}}\n").into_bytes()
}

/// The index of the model in the folder that [`write`] makes.
fn good_index() -> Vec<u8> {
    index(
        NAMES
            .iter()
            .enumerate()
            .map(|(at, name)| (*name, PARTS[at / 2])),
    )
}

fn write(folder: &Folder) {
    for (at, name) in PARTS.iter().enumerate() {
        let tensors = [0, 1].map(|n| NAMES[at * 2 + n]);
        folder.write(name, part(&tensors.map(|name| (name, rows(name)))));
    }
    folder.write(INDEX, good_index());
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    write(&folder);
    folder.i32("ids.npy", "(2,)", &[2, 0]);
    folder
}

fn info(folder: &Folder, source: &str) -> Ran {
    Ran::new(wgpu_gather().current_dir(&folder.0).args(["info", source]))
}

/// The names that `info` lists.
#[track_caller]
fn listed(folder: &Folder, source: &str) -> Vec<String> {
    let ran = info(folder, source);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{source}");
    let lines = ran.stdout.lines().skip(1);
    let names = lines.map(|line| line.split_whitespace().next().unwrap());
    names.map(str::to_owned).collect()
}

/// Asserts that rows 2 and 0 of the tensor are gathered.
#[track_caller]
fn gathers(folder: &Folder, source: &str, name: &str) {
    let [first, _, last] = rows(name);
    folder.makes(
        &format!("gather {source}:{name} ids.npy"),
        "uint8 [2]",
        &npy("|u1", "(2,)", &[last, first]),
    );
}

#[track_caller]
fn refuses(folder: &Folder, source: &str, error: &str) {
    folder.refuses(
        &format!("gather {source} ids.npy"),
        &format!("{source}: {error}"),
    );
    let ran = info(folder, source);
    assert_eq!(
        (ran.code, ran.stderr),
        (1, format!("error: {source}: {error}\n"))
    );
}

/// A link to a file, or a copy where links need rights.
fn link(folder: &Folder, file: &str, name: &str) {
    let name = folder.0.join(name);
    let _ = fs::remove_file(&name);
    #[cfg(unix)]
    std::os::unix::fs::symlink(file, name).unwrap();
    #[cfg(not(unix))]
    let _ = fs::copy(folder.0.join(file), name);
}

pub fn any_part_stands_for_all() {
    let folder = folder("parts");
    for source in [INDEX, PARTS[0], PARTS[1], PARTS[2]] {
        assert_eq!(listed(&folder, source), NAMES, "{source}");
        for name in NAMES {
            gathers(&folder, source, name);
            assert_eq!(listed(&folder, &format!("{source}:{name}")), [name]);
        }
        refuses(
            &folder,
            &format!("{source}:x"),
            "no tensor \"x\", it has a, b, c, d, e, f",
        );
        let error = format!("{source}: name a tensor, as FILE:NAME; it has a, b, c, d, e, f");
        folder.refuses(&format!("gather {source} ids.npy"), &error);
    }
    // An index tells its format by its bytes. One that says less than its parts hold is right.
    folder.write("index", index([("d", PARTS[1])]));
    gathers(&folder, "index", "d");
    assert_eq!(listed(&folder, "index"), ["d"]);
    refuses(&folder, "index:c", "no tensor \"c\", it has d");
    // The index says which of two parts holds a tensor, but a part that is given comes first.
    folder.write(
        PARTS[0],
        part(&[("a", rows("a")), ("b", rows("b")), ("c", [7; 3])]),
    );
    gathers(&folder, INDEX, "c");
    gathers(&folder, PARTS[2], "c");
    assert_eq!(listed(&folder, INDEX), NAMES);
    let command = format!("gather {}:c ids.npy", PARTS[0]);
    folder.makes(&command, "uint8 [2]", &npy("|u1", "(2,)", &[7, 7]));
    let mut names = listed(&folder, PARTS[0]);
    names.sort();
    assert_eq!(names, NAMES);
}

/// A name in the part that is given opens no other file, and only parts that are needed are opened.
pub fn a_part_is_enough_for_its_own_tensors() {
    let folder = folder("own-part");
    for part in [PARTS[1], PARTS[2]] {
        folder.write(part, b"damaged".to_vec());
    }
    gathers(&folder, INDEX, "a");
    folder.write(INDEX, b"damaged".to_vec());
    gathers(&folder, PARTS[0], "a");
    assert_eq!(listed(&folder, &format!("{}:a", PARTS[0])), ["a"]);
    // A folder cannot be read as a file, nor be an index.
    fs::remove_file(folder.0.join(INDEX)).unwrap();
    fs::create_dir(folder.0.join(INDEX)).unwrap();
    let ran = folder.run(&format!(
        "gather {}:a ids.npy -o out.npy --device cpu",
        PARTS[0]
    ));
    assert_eq!(ran.code, 0, "{ran:?}");
    // Six digits, as some models have, and a link to a store, as downloads are.
    fs::create_dir(folder.0.join("store")).unwrap();
    let copies = [
        "x-00001-of-000002.safetensors",
        "x-00002-of-000002.safetensors",
    ];
    for (copy, name) in copies.into_iter().zip(["a", "b"]) {
        folder.write(&format!("store/{name}"), part(&[(name, rows(name))]));
        link(&folder, &format!("store/{name}"), copy);
    }
    folder.write("store/i", index([("a", copies[0]), ("b", copies[1])]));
    link(&folder, "store/i", "x.safetensors.index.json");
    for copy in copies {
        let ran = folder.run(&format!("gather {copy}:b ids.npy -o out.npy --device cpu"));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(listed(&folder, copy), ["a", "b"]);
    }
}

/// Texts of indexes, and serde_json's errors.
const WRONG_JSON: &str = r#"
{ | EOF while parsing an object at line 1 column 1
{} | missing field `weight_map` at line 1 column 2
{"model_type":"llama"} | missing field `weight_map` at line 1 column 22
{"weight_map":["a"]} | invalid type: sequence, expected an object of files' names at line 1 column 14
{"weight_map":{"a":7}} | invalid type: integer `7`, expected a string at line 1 column 20
{"weight_map":{"a":{"a":"b"}}} | invalid type: map, expected a string at line 1 column 19
{"weight_map":{},"weight_map":{}} | duplicate field `weight_map` at line 1 column 29
"#;

pub fn wrong_indexes_are_refused() {
    let folder = folder("wrong-index");
    let of = |part: &str| format!(r#"{{"weight_map":{{"a":{part}}}}}"#);
    let not_a_file = |shown: &str| {
        format!(
            "weight_map must have the names of files beside the index, found \"{shown}\" for \"a\""
        )
    };
    let mut wrong = Vec::new();
    for (text, error) in lines(WRONG_JSON) {
        wrong.push((text.to_owned(), format!("index is not valid: {error}")));
    }
    wrong.push((
        format!("{{\"metadata\":{}", "[".repeat(1000)),
        "index is not valid: EOF while parsing a list at line 1 column 1012".to_owned(),
    ));
    let twice = format!(
        r#"{{"weight_map":{{"a":"{}","a":"{}"}}}}"#,
        PARTS[0], PARTS[1]
    );
    wrong.push((twice, "weight_map has the name \"a\" twice".to_owned()));
    for (text, shown) in [
        ("/etc/m.safetensors", "/etc/m.safetensors"),
        ("../m.safetensors", "../m.safetensors"),
        ("store/m.safetensors", "store/m.safetensors"),
        ("./m.safetensors", "./m.safetensors"),
        (r"..\\m.safetensors", r"..\m.safetensors"),
        (r"\\\\server\\m.safetensors", r"\\server\m.safetensors"),
        ("C:m.safetensors", "C:m.safetensors"),
        ("m.safetensors:stream", "m.safetensors:stream"),
        (r"m\u0000.safetensors", "m .safetensors"),
        (r"\u001b[2J/", " [2J/"),
        ("", ""),
        (".", "."),
        ("..", ".."),
    ] {
        wrong.push((of(&format!("\"{text}\"")), not_a_file(shown)));
    }
    let long = "x".repeat(5000);
    wrong.push((
        of(&format!("\"/{long}\"")),
        not_a_file(&format!("/{}..{}", "x".repeat(39), "x".repeat(40))),
    ));
    for (text, error) in wrong {
        folder.write(INDEX, text.into_bytes());
        refuses(&folder, &format!("{INDEX}:a"), &error);
        refuses(
            &folder,
            &format!("{}:c", PARTS[0]),
            &format!("index {INDEX}: {error}"),
        );
    }
    let many: Vec<String> = (0..100_000)
        .map(|part| format!("\"{part}\":\"p{part}\""))
        .collect();
    folder.write(
        INDEX,
        format!("{{\"weight_map\":{{{}}}}}", many.join(",")).into_bytes(),
    );
    refuses(
        &folder,
        &format!("{INDEX}:a"),
        "weight_map must have at most 99999 parts",
    );
    let file = fs::File::options()
        .write(true)
        .open(folder.0.join(INDEX))
        .unwrap();
    file.set_len(100_000_001).unwrap();
    let ran = info(&folder, INDEX);
    let error = "an index must have at most 100000000 bytes, found 100000001";
    assert_eq!(
        (ran.code, ran.stderr),
        (1, format!("error: {INDEX}: {error}\n"))
    );
    folder.write(INDEX, b"no object".to_vec());
    refuses(
        &folder,
        INDEX,
        "not a .npy, .npz, .safetensors or .gguf file",
    );
    refuses(
        &folder,
        &format!("{}:c", PARTS[0]),
        &format!("index {INDEX}: not an object in JSON"),
    );
    folder.write(INDEX, b"{\"weight_map\":{}}".to_vec());
    refuses(
        &folder,
        &format!("{INDEX}:a"),
        "no tensor \"a\", it has none",
    );
    assert!(listed(&folder, INDEX).is_empty());
}

pub fn wrong_parts_are_named() {
    let folder = folder("wrong-parts");
    let [first, second, third] = PARTS;
    let of = |name: &str| format!("{first}:{name}");
    folder.write(second, part(&[("x", [0; 3])]));
    let lacks = format!("part {second}: no tensor \"c\", which the index says it has");
    for source in [of("c"), format!("{INDEX}:c")] {
        refuses(&folder, &source, &lacks);
    }
    for source in [first, INDEX] {
        let ran = info(&folder, source);
        assert_eq!(
            (ran.code, ran.stderr),
            (1, format!("error: {source}: {lacks}\n"))
        );
    }
    for bytes in [&b"PK\x03\x04 torch's"[..], b"", b"{\"weight_map\":{}}"] {
        folder.write(second, bytes.to_vec());
        refuses(
            &folder,
            &of("c"),
            &format!("part {second}: not a .safetensors file"),
        );
    }
    let mut cut = part(&[("c", rows("c")), ("d", rows("d"))]);
    cut.truncate(cut.len() - 1);
    folder.write(second, cut);
    gathers(&folder, first, "c");
    let error = "data_offsets must be in order and in the 5 bytes of data, found 3 and 6";
    let source = of("d");
    folder.refuses(
        &format!("gather {source} ids.npy"),
        &format!("{source}: part {second}: {error}"),
    );
    fs::remove_file(folder.0.join(second)).unwrap();
    for source in [of("c"), format!("{INDEX}:d")] {
        let ran = folder.run(&format!("gather {source} ids.npy -o out.npy"));
        let error = format!("error: {source}: part {second}: ");
        assert!(ran.code == 1 && ran.stderr.starts_with(&error), "{ran:?}");
    }
    gathers(&folder, third, "a");
    // An index of another model, and none.
    folder.write(INDEX, index([("a", second)]));
    let error = format!(
        "no tensor \"c\", it has a, b; another part may have it, but the index {INDEX} does not name it"
    );
    refuses(&folder, &of("c"), &error);
    assert_eq!(listed(&folder, first), ["a", "b"]);
    fs::remove_file(folder.0.join(INDEX)).unwrap();
    let error = format!(
        "no tensor \"c\", it has a, b; another part may have it, but its index {INDEX} is not beside it"
    );
    refuses(&folder, &of("c"), &error);
    assert_eq!(listed(&folder, first), ["a", "b"]);
    folder.refuses(
        &format!("gather {first} ids.npy"),
        &format!("{first}: name a tensor, as FILE:NAME; it has a, b"),
    );
}

pub fn no_output_overwrites_a_part_or_an_index() {
    let folder = folder("parts-in-place");
    let files = folder.files();
    for (at, file) in [INDEX, PARTS[0], PARTS[1], PARTS[2]]
        .into_iter()
        .enumerate()
    {
        fs::hard_link(folder.0.join(file), folder.0.join(format!("link{at}.npy"))).unwrap();
    }
    for source in [format!("{INDEX}:a"), format!("{}:a", PARTS[0])] {
        for output in [INDEX, "link0.npy", "link1.npy", "link2.npy", "link3.npy"] {
            let ran = folder.run(&format!("gather {source} ids.npy -o {output}"));
            assert_usage(&ran, &format!("--output is the file of PARAMS, {source}"));
        }
    }
    for (path, bytes) in files {
        assert_eq!(fs::read(&path).unwrap(), bytes, "{path:?}");
    }
}

/// 10,000 tensors in three parts. The bound is for a build without optimisation on a machine that does other work.
pub fn many_tensors_are_found_soon() {
    let folder = folder("many-tensors");
    let names: Vec<String> = (0..10_000)
        .map(|n| format!("model.layers.{n}.mlp.weight"))
        .collect();
    let part_of = |n: usize| PARTS[n * 3 / 10_000];
    for name in PARTS {
        let held = names
            .iter()
            .enumerate()
            .filter(|(n, _)| part_of(*n) == name);
        let held: Vec<_> = held.map(|(_, name)| (name.as_str(), rows("b"))).collect();
        folder.write(name, part(&held));
    }
    folder.write(
        INDEX,
        index(
            names
                .iter()
                .enumerate()
                .map(|(n, name)| (name.as_str(), part_of(n))),
        ),
    );
    for source in [INDEX, PARTS[2]] {
        let start = Instant::now();
        folder.gathers(
            &format!("gather {source}:{} ids.npy", names[4000]),
            "uint8 [2]",
        );
        assert_eq!(listed(&folder, source), names, "{source}");
        let seconds = start.elapsed().as_secs_f32();
        assert!(seconds < 30.0, "{source}: {seconds} s");
    }
}
