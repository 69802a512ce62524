//! Pipelines that fail to build.

use libtest_mimic::Trial;
use wgpu_gather::{GatherError, Gatherer, wgpu};

use crate::support::{App, AppBuffers, Machine, Work, on_both};

pub fn trials() -> Vec<Trial> {
    on_both(
        "a shader that makes no pipeline is an error each time",
        no_pipeline,
    )
}

fn no_pipeline(machine: &Machine) {
    let (app, other) = (machine.app(), machine.app());
    let shaders = [
        ("empty", module(&app, "")),
        (
            "of other entry points",
            module(&app, "@compute @workgroup_size(1) fn other() {}"),
        ),
        ("not WGSL", module(&app, "no shader")),
    ];
    assert_eq!(
        app.errors_heard().len(),
        1,
        "the app's own shader is not WGSL"
    );
    for (name, shader) in shaders {
        let gatherer = Gatherer::new(app.device()).with_shader_modules(move |_, _| shader.clone());
        // A failed pipeline is not cached: the second call fails too.
        for _ in 0..2 {
            assert_rejected_and_nothing_recorded(&app, &gatherer, name);
        }
    }
    let others = other.device().clone();
    let of_others = Gatherer::new(app.device())
        .with_shader_modules(move |_, descriptor| others.create_shader_module(descriptor));
    assert_rejected_and_nothing_recorded(&app, &of_others, "of another device");
    let whole = Gatherer::new(app.device())
        .with_shader_modules(|device, descriptor| device.create_shader_module(descriptor));
    let mut encoder = app.device().create_command_encoder(&Default::default());
    let encoded = whole.encode(
        &mut encoder,
        &Work::small().plan,
        &AppBuffers::new(&app).bound(),
    );
    assert_eq!(encoded, Ok(()));
    app.assert_handlers_are_the_apps();
    other.assert_handlers_are_the_apps();
}

fn module(app: &App, wgsl: &str) -> wgpu::ShaderModule {
    app.device()
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        })
}

/// The encoder must use none of the buffers: it is submitted after they are destroyed.
fn assert_rejected_and_nothing_recorded(app: &App, gatherer: &Gatherer, name: &str) {
    let (plan, buffers) = (Work::small().plan, AppBuffers::new(app));
    let mut encoder = app.device().create_command_encoder(&Default::default());
    let encoded = gatherer.encode(&mut encoder, &plan, &buffers.bound());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    let recorded = gatherer
        .prepare(&plan, &buffers.bound())
        .map(|gather| gather.encode_in_pass(&mut pass));
    drop(pass);
    for result in [encoded, recorded] {
        let rejected = matches!(result, Err(GatherError::Rejected(_)));
        assert!(rejected, "a shader that is {name}: {result:?}");
    }
    buffers.all.iter().for_each(wgpu::Buffer::destroy);
    app.gpu.queue().submit([encoder.finish()]);
    assert_eq!(app.errors_heard(), Vec::<String>::new(), "{name}");
}
