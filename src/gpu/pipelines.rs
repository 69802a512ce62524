//! The pipelines of a device, with their shader modules and layouts. Each object is made when a gather first needs it.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::bindings::layout_entry;
use super::report::COUNTER_BYTES;
use super::scope::scoped;
use super::shaders::{PipelineKey, Shader, Texts};
use crate::error::GatherError;

/// The caller's function that makes shader modules.
type MakeShader =
    dyn Fn(&wgpu::Device, wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule + Send + Sync;

/// Objects of one device, each made once.
pub(crate) struct Pipelines {
    pub(super) device: wgpu::Device,
    pub(super) limits: wgpu::Limits,
    pub(super) make_shader: Option<Box<MakeShader>>,
    pub(super) cache: Option<wgpu::PipelineCache>,
    /// By shader, and true for aliased operands.
    shaders: Made<(Shader, bool), wgpu::ShaderModule>,
    /// By the binding numbers of an entry point, and true for aliased operands.
    layouts: Made<(&'static [u32], bool), wgpu::BindGroupLayout>,
    pipelines: Made<PipelineKey, wgpu::ComputePipeline>,
    /// The counter of bad rows. Each gather leaves it zero, so all gathers share it.
    counter: Made<(), wgpu::Buffer>,
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            limits: device.limits(),
            make_shader: None,
            cache: None,
            shaders: Made::default(),
            layouts: Made::default(),
            pipelines: Made::default(),
            counter: Made::default(),
        }
    }

    pub(super) fn get(
        &self,
        key: PipelineKey,
        texts: Texts,
    ) -> Result<wgpu::ComputePipeline, GatherError> {
        self.pipelines.get_or_make(key, || {
            let shader = self.shader(Shader::of(key.entry_point), key.aliased, texts)?;
            let layout = self.layout(key)?;
            scoped(&self.device, || self.make(key, &shader, &layout))
        })
    }

    /// The layout of the pipeline's bind group.
    pub(super) fn layout(&self, key: PipelineKey) -> Result<wgpu::BindGroupLayout, GatherError> {
        let numbers = key.entry_point.bindings();
        self.layouts.get_or_make((numbers, key.aliased), || {
            let entries: Vec<_> = numbers
                .iter()
                .map(|&number| layout_entry(number, key.aliased))
                .collect();
            scoped(&self.device, || {
                self.device
                    .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                        label: Some("wgpu-gather/operands"),
                        entries: &entries,
                    })
            })
        })
    }

    /// The counter of bad rows, which is zero between gathers.
    pub(super) fn counter(&self) -> Result<wgpu::Buffer, GatherError> {
        self.counter.get_or_make((), || {
            scoped(&self.device, || {
                let counter = self.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("wgpu-gather/counter"),
                    size: COUNTER_BYTES,
                    usage: wgpu::BufferUsages::STORAGE,
                    // wgpu zeroes a mapped buffer at once. It zeroes any other buffer in the first submission that uses
                    // the buffer, and counts the buffer as zeroed even if that submission is refused.
                    mapped_at_creation: true,
                });
                counter.unmap();
                counter
            })
        })
    }

    fn shader(
        &self,
        shader: Shader,
        aliased: bool,
        texts: Texts,
    ) -> Result<wgpu::ShaderModule, GatherError> {
        self.shaders.get_or_make((shader, aliased), || {
            let source = if aliased {
                shader.aliased_wgsl(texts)
            } else {
                shader.wgsl(texts)
            };
            let label = format!("wgpu-gather/{}", shader.name());
            let descriptor = wgpu::ShaderModuleDescriptor {
                label: Some(&label),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            };
            scoped(&self.device, || match &self.make_shader {
                Some(make) => make(&self.device, descriptor),
                None => self.device.create_shader_module(descriptor),
            })
        })
    }

    fn make(
        &self,
        key: PipelineKey,
        shader: &wgpu::ShaderModule,
        layout: &wgpu::BindGroupLayout,
    ) -> wgpu::ComputePipeline {
        let name = key.entry_point.name();
        let label = format!("wgpu-gather/{}/{name}", Shader::of(key.entry_point).name());
        let layout = self
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(&label),
                bind_group_layouts: &[Some(layout)],
                immediate_size: 0,
            });
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&label),
                layout: Some(&layout),
                module: shader,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &key.entry_point.overrides(),
                    // The shaders write their workgroup memory before they read it.
                    zero_initialize_workgroup_memory: false,
                },
                cache: self.cache.as_ref(),
            })
    }
}

impl fmt::Debug for Pipelines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipelines")
            .field("cache", &self.cache)
            .field("pipelines", &self.pipelines.slots().len())
            .finish_non_exhaustive()
    }
}

/// Objects by key, each made once. Only threads that need the same object wait while the object is made.
#[derive(Debug)]
struct Made<Key, Object>(Mutex<HashMap<Key, Arc<Slot<Object>>>>);

#[derive(Debug)]
struct Slot<Object> {
    made: OnceLock<Object>,
    making: Mutex<()>,
}

impl<Key, Object> Default for Made<Key, Object> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Key: Eq + Hash, Object: Clone> Made<Key, Object> {
    /// The object of `key`. After an error, the next call tries again.
    fn get_or_make(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Object, GatherError>,
    ) -> Result<Object, GatherError> {
        let slot = Arc::clone(self.slots().entry(key).or_insert_with(|| {
            Arc::new(Slot {
                made: OnceLock::new(),
                making: Mutex::new(()),
            })
        }));
        if let Some(object) = slot.made.get() {
            return Ok(object.clone());
        }
        let _making = slot.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = slot.made.get() {
            return Ok(object.clone());
        }
        let object = make()?;
        Ok(slot.made.get_or_init(|| object).clone())
    }
}

impl<Key, Object> Made<Key, Object> {
    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Arc<Slot<Object>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
