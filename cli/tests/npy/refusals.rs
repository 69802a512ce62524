//! Files and arguments that `run` refuses. Each gives an error and no output file.

use super::support::{Folder, assert_usage, file, lines, npy};

/// Headers of files without data, and their errors.
const HEADERS: &str = r#"
 | header must go on with {, found ""
{} | header must have the keys descr, fortran_order and shape
{'descr': '<f4'} | header must have the keys descr, fortran_order and shape
{'descr' '<f4'} | header must go on with :, found "'<f4'}"
{'descr | header has a string without an end
{'key': 1} | header has an unknown key "key"
{} {} | header must go on with its end, found "{}"
{'descr': '|O', 'fortran_order': False, 'shape': (1,), } | arrays of Python objects are not supported
{'descr': '<U', 'fortran_order': False, 'shape': (1,), } | dtype "<U" is not supported
{'descr': '<q8', 'fortran_order': False, 'shape': (1,), } | dtype "<q8" is not supported
{'descr': '', 'fortran_order': False, 'shape': (1,), } | dtype "" is not supported
{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), } | arrays of Python objects are not supported
{'descr': [('a', '<f4', 'fortran_order': False, 'shape': (1,), } | header has a list without an end
{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), } | header must go on with a dim, found "-1,), }"
{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), } | dim 99999999999999999999 is too large
{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), } | the size of shape overflows
{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000,), } | float32 data of shape [4000000000] must have 16000000000 bytes, found 0
"#;

pub fn hostile_files_are_refused() {
    let folder = Folder::new("hostile");
    folder.i32("indices.npy", "(1,)", &[0]);
    let header = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
    };
    let text = |text: &str| file(1, text, &[]);
    let f4 = |shape: &str, data: &[u8]| file(1, &header("'<f4'", "False", shape), data);
    let descr = |descr: &str| file(1, &header(descr, "False", "(1,)"), &[0; 8]);
    let start = |rest: &[u8]| [&b"\x93NUMPY"[..], rest].concat();
    let ends = "the file ends within its header";
    let files = [
        (vec![], "not a .npy, .npz, .safetensors or .gguf file"),
        (
            b"PK\x03\x04 an archive".to_vec(),
            "invalid Zip archive: Could not find EOCD",
        ),
        (start(&[]), ends),
        (
            start(&[9, 0, 1, 0]),
            "format version [9, 0] is not supported",
        ),
        (start(&[1, 0, 118]), ends),
        (start(&[1, 0, 255, 255]), ends),
        (
            start(&[2, 0, 255, 255, 255, 255]),
            "header must have at most 4194304 bytes, found 4294967295",
        ),
        (
            start(&[1, 0, 1, 0, 255]),
            "header must go on with {, found \"\u{ff}\"",
        ),
        (start(&[3, 0, 1, 0, 0, 0, 255]), "header must be UTF-8 text"),
        (
            text(&format!("{{'{}': 1}}", "k".repeat(60_000))),
            "header has an unknown key \"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk..kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\"",
        ),
        (
            descr(&format!("'{}'", "d".repeat(60_000))),
            "dtype \"dddddddddddddddddddd..\" is not supported",
        ),
        (
            file(3, &header("'é4'", "False", "(1,)"), &[0; 8]),
            "dtype \"é4\" is not supported",
        ),
        (
            descr(&format!("[('a', '<f4', ({}))]", "4294967295,".repeat(3))),
            "the size of the dtype overflows",
        ),
        (
            file(1, &header("'<f4'", "True", "(2, 1, 2)"), &[0; 15]),
            "float32 data of shape [2, 1, 2] must have 16 bytes, found 15",
        ),
        (
            f4(&format!("({})", "1,".repeat(65)), &[0; 4]),
            "shape must have at most 64 dims",
        ),
        (
            f4("(2,)", &[0; 7]),
            "float32 data of shape [2] must have 8 bytes, found 7",
        ),
    ];
    let headers = lines(HEADERS).map(|(header, error)| (text(header), error));
    for (bytes, error) in files.into_iter().chain(headers) {
        folder.write("bad.npy", bytes);
        let error = format!("bad.npy: {error}");
        folder.refuses("gather bad.npy indices.npy", &error);
        folder.refuses("gather indices.npy bad.npy", &error);
    }
}

/// Gathers of files that can be read, and their errors.
const MISFITS: &str = "
gather vector.npy floats.npy | floats.npy: indices must be integers, found float32
gather_nd vector.npy deep.npy | index depth (the last dim of indices) must be at most 1, the dims of params from the axis on, found 2
gather vector.npy vector.npy --axis 1 | axis must be in [-1, 1) for params of rank 1, found 1
gather . vector.npy | .: it is a folder: name a file in it
gather vector.npy vector.npy -o . | .: not a regular file
";

pub fn files_that_do_not_fit_are_refused() {
    let folder = Folder::new("misfits");
    folder.i32("vector.npy", "(2,)", &[0, 1]);
    folder.i32("deep.npy", "(1, 2)", &[0, 1]);
    folder.write("floats.npy", npy("<f4", "(1,)", &[0; 4]));
    for (command, error) in lines(MISFITS) {
        folder.refuses(command, error);
    }
    for command in [
        "gather absent.npy vector.npy -o out.npy",
        "gather vector.npy vector.npy -o absent/out.npy",
    ] {
        let result = folder.run(&format!("{command} --device cpu"));
        assert_eq!(
            (result.code, result.stderr.lines().count()),
            (1, 1),
            "{command}"
        );
        assert!(
            result.stderr.starts_with("error: absent"),
            "{}",
            result.stderr
        );
    }
}

/// Arguments after `run`, and the first line of the error.
const WRONG_ARGUMENTS: &str = r#"
 | the following required arguments were not provided:
take a b -o c | invalid value 'take' for '<OPERATION>'
gather a -o c | INDICES or --at I,J,.. is missing
gather a --at 1, -o c | invalid value '1,' for '--at <I,J,..>': an index is missing; write them without spaces, as 7,0,999
gather a b c -o d | unexpected argument 'c' found
gather a b | --output OUT.npy or --print is missing: standard output is no terminal
gather a b --at 1 -p | the argument '[INDICES]' cannot be used with '--at <I,J,..>'
gather a --at 1,x -p | invalid value '1,x' for '--at <I,J,..>': "x" is no index
gather a --at 1,2 --at 3 -p | each --at must have as many indices as the others
gather a b -p --fill 1 | --fill needs --bad-indices fill
gather a b -p --broadcast | --broadcast is for gather_elements
gather a b -p --as int3 | invalid value 'int3' for '--as <NAME>': it is neither a dtype nor an encoding
gather a b -p -o - | --print and --output - both need standard output
gather a b -o | a value is required for '--output <OUT.npy>' but none was supplied
gather a b -o c --output=d | the argument '--output <OUT.npy>' cannot be used multiple times
gather a b -o c --axes 1 | unexpected argument '--axes' found
gather a b -o c --from-end=yes | unexpected value 'yes' for '--from-end' found; no more were expected
gather a b --output= | a value is required for '--output <OUT.npy>' but none was supplied
gather a b -o c --axis one | invalid value 'one' for '--axis <N>': invalid digit found in string
gather a b -o c --batch-dims 1.5 | invalid value '1.5' for '--batch-dims <N>': invalid digit found in string
gather a b -o c --device tpu | invalid value 'tpu' for '--device <DEVICE>'
gather a b -o c --bad-indices skip | invalid value 'skip' for '--bad-indices <POLICY>'
gather_elements a b -o c --batch-dims 1 | gather_elements has no --batch-dims
gather a b -o c --device cpu --adapter d | --device cpu has no --adapter
gather a b -o c.npz | --output is a .npy file, found .npz
"#;

pub fn wrong_arguments_are_refused() {
    let folder = Folder::new("arguments");
    for (command, error) in lines(WRONG_ARGUMENTS) {
        assert_usage(&folder.run(command), error);
        assert_eq!(folder.files().len(), 0, "{command}");
    }
}
