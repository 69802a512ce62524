//! ggml's `get_rows` on its CPU back end: a graph of one node. It runs on one thread, whatever number is asked for.

#![expect(unsafe_code, reason = "ggml's interface is C")]

use std::marker::PhantomData;

use llama_cpp_sys_2 as ggml;
use wgpu_gather::Encoding;

/// A graph that gathers rows of a table into an output.
pub struct GetRows<'a> {
    context: *mut ggml::ggml_context,
    graph: *mut ggml::ggml_cgraph,
    gathered: *mut ggml::ggml_tensor,
    output: &'a mut [f32],
    operands: PhantomData<(&'a [u8], &'a [i32])>,
}

impl<'a> GetRows<'a> {
    /// `None` if ggml does not have the encoding.
    pub fn new(
        encoding: Encoding,
        shape: [usize; 2],
        table: &'a [u8],
        ids: &'a [i32],
        output: &'a mut [f32],
    ) -> Option<Self> {
        let kind = match encoding {
            Encoding::F16 => ggml::GGML_TYPE_F16,
            Encoding::Bf16 => ggml::GGML_TYPE_BF16,
            Encoding::Q8_0 => ggml::GGML_TYPE_Q8_0,
            Encoding::Q4_0 => ggml::GGML_TYPE_Q4_0,
            Encoding::Q4_1 => ggml::GGML_TYPE_Q4_1,
            Encoding::Q5_0 => ggml::GGML_TYPE_Q5_0,
            Encoding::Q5_1 => ggml::GGML_TYPE_Q5_1,
            Encoding::Q2K => ggml::GGML_TYPE_Q2_K,
            Encoding::Q3K => ggml::GGML_TYPE_Q3_K,
            Encoding::Q4K => ggml::GGML_TYPE_Q4_K,
            Encoding::Q5K => ggml::GGML_TYPE_Q5_K,
            Encoding::Q6K => ggml::GGML_TYPE_Q6_K,
            Encoding::Iq4Nl => ggml::GGML_TYPE_IQ4_NL,
            Encoding::Iq4Xs => ggml::GGML_TYPE_IQ4_XS,
            Encoding::Mxfp4 => ggml::GGML_TYPE_MXFP4,
            _ => return None,
        };
        let [rows, len, count] = [shape[0], shape[1], ids.len()]
            .map(|size| i64::try_from(size).expect("a size of a slice"));
        let of_context = ggml::ggml_init_params {
            mem_size: 1 << 20,
            mem_buffer: std::ptr::null_mut(),
            no_alloc: true,
        };
        // SAFETY: the context has room for three tensors and a graph of the default size. Params and indices are lent for
        // 'a, have the bytes that ggml counts, and are only read.
        let (context, graph, gathered) = unsafe {
            ggml::ggml_cpu_init();
            let context = ggml::ggml_init(of_context);
            assert!(!context.is_null());
            let params = ggml::ggml_new_tensor_2d(context, kind, len, rows);
            let indices = ggml::ggml_new_tensor_1d(context, ggml::GGML_TYPE_I32, count);
            let gathered = ggml::ggml_get_rows(context, params, indices);
            assert_eq!(ggml::ggml_nbytes(params), table.len());
            assert_eq!(ggml::ggml_nbytes(gathered), size_of_val(output));
            (*params).data = table.as_ptr().cast_mut().cast();
            (*indices).data = ids.as_ptr().cast_mut().cast();
            let graph = ggml::ggml_new_graph(context);
            ggml::ggml_build_forward_expand(graph, gathered);
            (context, graph, gathered)
        };
        Some(Self {
            context,
            graph,
            gathered,
            output,
            operands: PhantomData,
        })
    }

    /// Gathers, and returns the output.
    pub fn compute(&mut self) -> &[f32] {
        // SAFETY: context, graph and tensor come from `new`, whose operands are still lent. ggml writes the output, which
        // is borrowed exclusively.
        let status = unsafe {
            (*self.gathered).data = self.output.as_mut_ptr().cast();
            ggml::ggml_graph_compute_with_ctx(self.context, self.graph, 1)
        };
        assert_eq!(status, ggml::GGML_STATUS_SUCCESS);
        self.output
    }
}

impl Drop for GetRows<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing else uses the context.
        unsafe { ggml::ggml_free(self.context) };
    }
}
