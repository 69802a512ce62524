//! `wgpu-gather run` on damaged .npz archives: an error or the right rows.

use std::fs;

use crate::archives::{DEFLATED, STORED, npz};
use crate::support::{Folder, npy, numbers};

/// Random numbers, the same on every machine: xorshift.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap()
}

/// Less than a quarter of the rows is selected, by indices in the same archive. Any byte may be damaged.
pub fn damaged_members_give_an_error_or_the_right_rows() {
    let folder = Folder::new("damaged");
    let bytes = |count: usize| -> Vec<u8> { (0..=250).cycle().take(count).collect() };
    let ids: Vec<i32> = (0..10).map(|n| n * 7 % 48).collect();
    let members = [
        ("t.npy", npy("|u1", "(48, 16)", &bytes(768))),
        (
            "ids.npy",
            npy("<i4", "(10,)", &numbers(&ids, i32::to_le_bytes)),
        ),
    ];
    let command = "gather a.npz:t a.npz:ids -o out.npy --device cpu";
    let mut state = 1;
    for method in [STORED, DEFLATED] {
        let archive = npz(method, &members);
        folder.write("a.npz", archive.clone());
        folder.gathers(command, "uint8 [10, 16]");
        let expected = folder.read("out.npy");
        let mut errors = 0;
        for turn in 0..100 {
            let mut damaged = archive.clone();
            let (first, count) = (random(&mut state) % archive.len(), 1 + turn % 3);
            for byte in damaged.iter_mut().skip(first).take(count) {
                *byte ^= u8::try_from(1 + random(&mut state) % 255).unwrap();
            }
            folder.write("a.npz", damaged);
            let _ = fs::remove_file(folder.0.join("out.npy"));
            let ran = folder.run(command);
            let at = format!("{count} bytes at {first} of {method:?}");
            match ran.code {
                0 => assert!(folder.read("out.npy") == expected, "{at}: other rows"),
                1 => {
                    assert_eq!(ran.stderr.lines().count(), 1, "{at}: {ran:?}");
                    errors += 1;
                }
                code => panic!("{at}: {code}, {ran:?}"),
            }
        }
        assert!(errors > 60, "{method:?}: {errors} errors");
    }
}

/// Of a large uncompressed member, damage to a row that is not selected is found only with `--verify`, in little memory.
pub fn large_members_are_checked_if_asked() {
    const ROWS: usize = (64 << 20) / 4096 + 1;

    let folder = Folder::new("damaged-large");
    let member = npy("|u1", &format!("({ROWS}, 4096)"), &vec![7; ROWS * 4096]);
    let mut archive = npz(STORED, &[("t.npy", member)]);
    folder.write("t.npz", archive.clone());
    let row = npy("|u1", "(1, 4096)", &[7; 4096]);
    for option in ["", "--verify"] {
        let command = format!("gather t.npz:t --at 9 {option}");
        folder.makes(&command, "uint8 [1, 4096]", &row);
    }
    let middle = archive.len() / 2;
    archive[middle] ^= 1;
    folder.write("t.npz", archive);
    folder.makes("gather t.npz:t --at 9", "uint8 [1, 4096]", &row);
    let error = "t.npz:t: the member is damaged: Invalid checksum";
    folder.refuses("gather t.npz:t --at 9 --verify", error);
    #[cfg(target_os = "linux")]
    {
        let line = "ulimit -v 51200; \
                    exec \"$0\" run gather t.npz:t --at 9 --verify -o new.npy --device cpu";
        let ran = crate::faults::shell(&folder, line);
        assert_eq!((ran.code, ran.stderr), (1, format!("error: {error}\n")));
    }
    fs::remove_file(folder.0.join("t.npz")).unwrap();
}
