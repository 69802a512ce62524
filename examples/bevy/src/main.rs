//! A gather in bevy's render world: packs the transforms of the visible instances, by a list of their numbers, into a buffer
//! that your materials and draws can read. This program opens no window: it reads the buffer back once, checks it, and exits.

use bevy::app::ScheduleRunnerPlugin;
use bevy::core_pipeline::schedule::camera_driver;
use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_asset::RenderAssets;
use bevy::render::renderer::{RenderContext, RenderDevice, RenderGraph};
use bevy::render::storage::{GpuShaderBuffer, RenderChangedShaderBuffers, ShaderBuffer};
use bevy::render::{Render, RenderApp, RenderStartup, RenderSystems};
use bevy::window::ExitCondition;
use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Prepared, Ranges};

const INSTANCES: u16 = 1000;
const VISIBLE: [u16; 4] = [7, 999, 0, 42];

fn main() -> AppExit {
    let no_window = WindowPlugin {
        primary_window: None,
        exit_condition: ExitCondition::DontExit,
        ..default()
    };
    let frames = ScheduleRunnerPlugin::default(); // in an app with windows, winit runs the frames
    App::new()
        .add_plugins((DefaultPlugins.set(no_window), frames, PackVisible))
        .add_systems(Startup, make_buffers)
        .run()
}

/// Packs the transforms that [`Instances`] name, in each frame.
struct PackVisible;

impl Plugin for PackVisible {
    fn build(&self, app: &mut App) {
        app.add_plugins(ExtractResourcePlugin::<Instances>::default());
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return; // an app without a renderer
        };
        let prepare = prepare.run_if(resource_exists::<Instances>);
        let record = record.run_if(resource_exists::<PackGather>);
        render_app
            .add_systems(RenderStartup, make_gatherer)
            .add_systems(Render, prepare.in_set(RenderSystems::PrepareBindGroups))
            .add_systems(RenderGraph, record.before(camera_driver));
    }
}

/// Buffers: the transform of each instance, the numbers of the visible instances, and room for their transforms.
#[derive(Resource, ExtractResource, Clone)]
#[extract_app(RenderApp)]
struct Instances {
    transforms: Handle<ShaderBuffer>,
    visible: Handle<ShaderBuffer>,
    packed: Handle<ShaderBuffer>,
}

fn transform(instance: u16) -> Mat4 {
    Mat4::from_translation(Vec3::X * f32::from(instance))
}

fn make_buffers(mut commands: Commands, mut buffers: ResMut<Assets<ShaderBuffer>>) {
    let transforms = (0..INSTANCES).map(|instance| transform(instance).to_cols_array());
    let visible = VISIBLE.map(u32::from);
    let packed_bytes = VISIBLE.len() as u64 * 64; // 16 f32 each
    let instances = Instances {
        transforms: buffers.add(ShaderBuffer::from(transforms.collect::<Vec<_>>())),
        visible: buffers.add(ShaderBuffer::from(visible.to_vec())),
        packed: buffers.add(ShaderBuffer::with_size(packed_bytes, default())),
    };
    let read_back = Readback::buffer(instances.packed.clone());
    commands.spawn(read_back).observe(check);
    commands.insert_resource(instances);
}

#[derive(Resource)]
struct RenderGatherer(Gatherer);

#[derive(Resource)]
struct PackGather(Prepared);

/// Runs again if bevy recovers from an error with another device, where the old gather is of no use.
fn make_gatherer(mut commands: Commands, device: Res<RenderDevice>) {
    commands.remove_resource::<PackGather>();
    commands.insert_resource(RenderGatherer(Gatherer::new(device.wgpu_device())));
}

/// Prepares the gather when bevy has made one of the buffers. It makes another if the size changes.
fn prepare(
    mut commands: Commands,
    gatherer: Res<RenderGatherer>,
    instances: Res<Instances>,
    replaced: Res<RenderChangedShaderBuffers>,
    buffers: Res<RenderAssets<GpuShaderBuffer>>,
) -> Result {
    let handles = [&instances.transforms, &instances.visible, &instances.packed];
    if !handles.iter().any(|handle| replaced.contains(&handle.id())) {
        return Ok(());
    }
    let [Some(transforms), Some(visible), Some(packed)] = handles.map(|handle| buffers.get(handle))
    else {
        return Ok(()); // the others follow in a later frame
    };
    let plan = Gather::new().plan(&[INSTANCES.into(), 16], &[VISIBLE.len()])?;
    let ranges = Ranges {
        params: *transforms.buffer.slice(..),
        indices: *visible.buffer.slice(..),
        output: *packed.buffer.slice(..),
    };
    let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), ranges);
    let gather = gatherer.0.prepare(&plan, &buffers)?;
    commands.insert_resource(PackGather(gather));
    Ok(())
}

/// Records the gather into bevy's encoder, before the cameras draw.
fn record(mut context: RenderContext, gather: Res<PackGather>) {
    gather.0.encode(context.command_encoder());
}

fn check(packed: On<ReadbackComplete>, mut exit: MessageWriter<AppExit>) {
    assert_eq!(packed.to_shader_type::<Vec<Mat4>>(), VISIBLE.map(transform));
    println!("packed the transforms of {VISIBLE:?}");
    exit.write(AppExit::Success);
}
