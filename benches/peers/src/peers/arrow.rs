//! arrow-select: `take` on numbers, and on rows that are fixed-size lists or bytes.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, Int32Array, Int64Array, UInt8Array,
    make_array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use bytes::Bytes;

use super::{Device, Job, Peer, made};
use crate::data::{Data, Indices, Params};
use testkit::bench::workloads::Element;

pub struct Arrow {
    name: &'static str,
    note: &'static str,
    rows_are_lists: bool,
}

pub const ARROW_LIST: Arrow = Arrow {
    name: "arrow list",
    note: "take on one thread, of numbers or of a FixedSizeList, allocates its output",
    rows_are_lists: true,
};

pub const ARROW_BINARY: Arrow = Arrow {
    name: "arrow binary",
    note: "take on one thread, of a FixedSizeBinary, allocates its output",
    rows_are_lists: false,
};

impl Peer for Arrow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn package(&self) -> Option<&'static str> {
        Some("arrow-select")
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    fn measure(&self) -> &'static str {
        "run"
    }

    fn note(&self) -> &'static str {
        self.note
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        if data.select_axis() != Some(0) {
            return Err("take selects rows of one array by one index".into());
        }
        let values = self.values(data).map_err(|error| error.to_string())?;
        let bytes = Buffer::from(Bytes::from_owner(SharedIndices(data.indices.clone())));
        let indices: ArrayRef = match &*data.indices {
            Indices::U8(_) => Arc::new(UInt8Array::new(ScalarBuffer::from(bytes), None)),
            Indices::I32(_) => Arc::new(Int32Array::new(ScalarBuffer::from(bytes), None)),
            Indices::I64(_) => Arc::new(Int64Array::new(ScalarBuffer::from(bytes), None)),
        };
        Ok(made(
            move || take(&values, &indices, None).expect("indices are in range"),
            |output| bytes_of(output).to_vec(),
        ))
    }
}

impl Arrow {
    fn values(&self, data: &Data) -> Result<ArrayRef, arrow_schema::ArrowError> {
        let element = match data.workload.element {
            Element::F32 => DataType::Float32,
            Element::F16 => DataType::Float16,
            Element::U8 => DataType::UInt8,
        };
        let slice_bytes = data.slice_bytes();
        let slice_len = slice_bytes / data.workload.element.bytes();
        let size = |size: usize| i32::try_from(size).expect("rows are short");
        let bytes = Buffer::from(Bytes::from_owner(SharedParams(data.params.clone())));
        if !self.rows_are_lists {
            let values = FixedSizeBinaryArray::try_new(size(slice_bytes), bytes, None)?;
            return Ok(Arc::new(values));
        }
        let numbers = ArrayData::builder(element.clone())
            .len(data.params.bytes().len() / data.workload.element.bytes())
            .add_buffer(bytes)
            .build()?;
        let numbers = make_array(numbers);
        if slice_len == 1 {
            return Ok(numbers);
        }
        let field = Arc::new(Field::new_list_field(element, false));
        let lists = FixedSizeListArray::try_new(field, size(slice_len), numbers, None)?;
        Ok(Arc::new(lists))
    }
}

struct SharedParams(Arc<Params>);

impl AsRef<[u8]> for SharedParams {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

struct SharedIndices(Arc<Indices>);

impl AsRef<[u8]> for SharedIndices {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

fn bytes_of(output: &ArrayRef) -> Buffer {
    match output.as_any().downcast_ref::<FixedSizeListArray>() {
        Some(lists) => lists.values().to_data().buffers()[0].clone(),
        None => output.to_data().buffers()[0].clone(),
    }
}
