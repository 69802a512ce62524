//! The values' names, as they are printed and read.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use wgpu_gather::{
    BadIndices, BlockQuantized, Encoding, FloatKind, IndexKind, NegativeIndices, PlanError,
};

/// Checks that each printed name is read as its value, and that nothing near it is read.
#[track_caller]
fn check_names<T>(all: &[T], of: &str, names: &str)
where
    T: Debug + Display + PartialEq + FromStr<Err = PlanError>,
{
    let printed: Vec<String> = all.iter().map(T::to_string).collect();
    assert_eq!(printed.join(", "), names);
    for (value, name) in all.iter().zip(&printed) {
        assert_eq!(format!("[{value:>20}]"), format!("[{name:>20}]"));
        assert_eq!(name.parse::<T>().as_ref(), Ok(value));
        let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let near = [format!("{name} "), format!(" {name}"), title];
        for near in near.iter().filter(|&near| near != name) {
            let error = near.parse::<T>().unwrap_err();
            let text = format!("{of} must be one of {names}, found {near:?}");
            assert_eq!(error.to_string(), text);
        }
    }
    assert!("".parse::<T>().is_err());
}

#[test]
fn names_are_read_as_they_are_printed() {
    check_names(
        BadIndices::ALL,
        "bad_indices",
        "device-default, error, fill, clamp, wrap",
    );
    check_names(
        NegativeIndices::ALL,
        "negative_indices",
        "invalid, from-end",
    );
    check_names(
        IndexKind::ALL,
        "index type",
        "i8, u8, i16, u16, i32, u32, i64, u64",
    );
    check_names(
        Encoding::ALL,
        "encoding",
        "F32, F16, BF16, F8_E4M3, F8_E5M2, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, IQ4_XS, MXFP4, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, \
         ROW_WISE_8, ROW_WISE_4",
    );
    check_names(FloatKind::ALL, "float type", "f32, f16, bf16");
}

#[test]
fn block_quantized_has_no_name() {
    let encoding = Encoding::BlockQuantized(BlockQuantized::new(4, 32).unwrap());
    let text = encoding.to_string();
    assert_eq!(text, "values of 4 bits in blocks of 32");
    assert!(text.parse::<Encoding>().is_err());
}

#[test]
fn an_unknown_name_is_kept_in_the_error() {
    let Err(PlanError::UnknownName { of, names, found }) = "skip".parse::<NegativeIndices>() else {
        panic!("skip is no name");
    };
    assert_eq!((of, found.as_str()), ("negative_indices", "skip"));
    assert_eq!(names, ["invalid", "from-end"]);
}
