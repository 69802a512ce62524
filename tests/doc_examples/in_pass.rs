use wgpu_gather::{Prepared, wgpu::ComputePass};

/// Records a pass of the app: what it dispatches before writes the indices, and what it dispatches after reads the output.
pub fn frame(pass: &mut ComputePass<'_>, [before, after]: [&dyn Fn(&mut ComputePass<'_>); 2], gather: &Prepared) {
    before(pass); // sets the app's pipeline and bind groups, and dispatches
    gather.encode_in_pass(pass); // sets another pipeline and bind group 0
    after(pass);
}
