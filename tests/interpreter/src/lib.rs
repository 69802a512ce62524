#![doc = include_str!("../README.md")]

mod expressions;
#[cfg(test)]
mod tests;
mod values;

use naga::{Binding, Block, BuiltIn, EntryPoint, Function, Module, Statement, SwitchValue};

use values::{Value, Vector};

/// Most turns of an invocation, over all its loops.
const MOST_TURNS: u32 = 1 << 20;

/// One access of a buffer by one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// A hash of the path to the executed instruction: calls, branches and turns of loops. Invocations in lockstep are
    /// at one site at a time.
    pub site: u64,
    /// The number of the binding in group 0.
    pub binding: u32,
    /// Bytes from the start of the binding; may need more than 32 bits.
    pub offset: u64,
    /// 4 times the number of words.
    pub bytes: u32,
    /// True for a word that the shader declares as an atomic.
    pub is_atomic: bool,
}

/// The buffers of an invocation. An implementation checks that accesses stay in their bindings.
pub trait Memory {
    /// Returns the words of the access, first; the rest of the array is ignored.
    fn load(&mut self, access: Access) -> [u32; 4];
    /// Takes the words of the access.
    fn store(&mut self, access: Access, words: &[u32]);
    /// Replaces a word by `change` of the word, and returns the old word. Not called for atomic loads and stores.
    fn atomic(&mut self, access: Access, change: &dyn Fn(u32) -> u32) -> u32;
    /// The size of a binding, for `arrayLength`.
    fn bytes(&self, binding: u32) -> u64;
}

/// An entry point of a module in which the overrides have their values.
pub struct Machine<'a> {
    module: &'a Module,
    entry_point: &'a EntryPoint,
}

impl<'a> Machine<'a> {
    /// The machine of the entry point of this name, which the module must have.
    pub fn new(module: &'a Module, entry_point: &str) -> Self {
        let mut entry_points = module.entry_points.iter();
        let found = entry_points.find(|found| found.name == entry_point);
        Self {
            module,
            entry_point: found.expect("the module has the entry point"),
        }
    }

    /// Runs the invocation with `local_invocation_index` `lane` to its end.
    pub fn run(&self, workgroup: [u32; 3], lane: u32, memory: &mut dyn Memory) {
        let size = self.entry_point.workgroup_size;
        let local = [
            lane % size[0],
            lane / size[0] % size[1],
            lane / size[0] / size[1],
        ];
        assert!(local[2] < size[2], "lane {lane} of {size:?}");
        let global = [0, 1, 2].map(|axis| workgroup[axis] * size[axis] + local[axis]);
        let function = &self.entry_point.function;
        let arguments = function.arguments.iter().map(|argument| {
            Value::Vector(match argument.binding {
                Some(Binding::BuiltIn(BuiltIn::WorkGroupId)) => Vector::from_u32s(&workgroup),
                Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => Vector::from_u32s(&[lane]),
                Some(Binding::BuiltIn(BuiltIn::LocalInvocationId)) => Vector::from_u32s(&local),
                Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)) => Vector::from_u32s(&global),
                _ => panic!("{argument:?} is not interpreted"),
            })
        });
        let mut invocation = Invocation {
            module: self.module,
            memory,
            locals: Vec::with_capacity(1 << 10),
            values: Vec::with_capacity(1 << 10),
            function,
            frame: 0,
            in_constant: false,
            turns: 0,
        };
        invocation.values.extend(arguments);
        invocation.call(function, 0, 1);
    }
}

/// How a block ends.
enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(Value<'a>),
}

struct Invocation<'a, 'm> {
    module: &'a Module,
    memory: &'m mut dyn Memory,
    /// The variables and composites of all active calls. A scalar's word is at the index of its offset in bytes, so
    /// that the layout is that of buffers; indices between two offsets are unused.
    locals: Vec<u32>,
    /// For each active call its arguments, then its expressions, then pointers to its variables.
    values: Vec<Value<'a>>,
    function: &'a Function,
    /// The start of the innermost call's values.
    frame: usize,
    /// True while handles are of the module's expressions, not of the function's.
    in_constant: bool,
    turns: u32,
}

/// A path, extended by a step.
fn onward(path: u64, step: u64) -> u64 {
    let mixed = (path.rotate_left(23) ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

impl<'a> Invocation<'a, '_> {
    /// Calls a function; its arguments are the values from `frame` on.
    fn call(&mut self, function: &'a Function, frame: usize, path: u64) -> Value<'a> {
        let (caller, caller_frame) = (self.function, self.frame);
        let locals = self.locals.len();
        (self.function, self.frame) = (function, frame);
        let len = self.values.len() + function.expressions.len();
        self.values.resize(len, Value::Unset);
        for (_, local) in function.local_variables.iter() {
            let place = self.allocate(&self.module.types[local.ty].inner);
            self.values.push(Value::Pointer(place));
            if let Some(init) = local.init {
                let value = self.value(init);
                self.store(place, value, path);
            }
        }
        let result = match self.block(&function.body, path) {
            Flow::Return(value) => value,
            _ => Value::Unset,
        };
        (self.function, self.frame) = (caller, caller_frame);
        self.values.truncate(frame);
        // A composite result lies among the locals, so they are kept.
        if !matches!(result, Value::Composite(_)) {
            self.locals.truncate(locals);
        }
        result
    }

    fn block(&mut self, block: &'a Block, path: u64) -> Flow<'a> {
        for (step, statement) in (0..).zip(block.iter()) {
            let flow = self.statement(statement, onward(path, step));
            if !matches!(flow, Flow::Next) {
                return flow;
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &'a Statement, path: u64) -> Flow<'a> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let expression = &self.function.expressions[handle];
                    let value = self.evaluate(expression, onward(path, handle.index() as u64));
                    self.set(handle, value);
                }
            }
            Statement::Block(block) => return self.block(block, path),
            Statement::If {
                condition,
                accept,
                reject,
            } => {
                let (block, step) = match self.word(*condition) {
                    0 => (reject, 0),
                    _ => (accept, 1),
                };
                return self.block(block, onward(path, step));
            }
            Statement::Switch { selector, cases } => {
                let selector = self.word(*selector);
                let at = |value| cases.iter().position(|case| case.value == value);
                let first = at(SwitchValue::U32(selector))
                    .or_else(|| at(SwitchValue::I32(selector.cast_signed())))
                    .or_else(|| at(SwitchValue::Default));
                let first = first.expect("a switch has a default");
                for (step, case) in (0..).zip(cases).skip(first) {
                    match self.block(&case.body, onward(path, step)) {
                        Flow::Next if case.fall_through => {}
                        Flow::Next | Flow::Break => break,
                        flow => return flow,
                    }
                }
            }
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => {
                for turn in 0.. {
                    self.turns += 1;
                    assert!(self.turns < MOST_TURNS, "the loop ends: {statement:?}");
                    match self.block(body, onward(path, 2 * turn)) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return flow,
                    }
                    self.block(continuing, onward(path, 2 * turn + 1));
                    if break_if.is_some_and(|condition| self.word(condition) != 0) {
                        break;
                    }
                }
            }
            Statement::Break => return Flow::Break,
            Statement::Continue => return Flow::Continue,
            Statement::Return { value } => {
                return Flow::Return(value.map_or(Value::Unset, |value| self.value(value)));
            }
            Statement::Store { pointer, value } => {
                let (place, value) = (self.pointer(*pointer), self.value(*value));
                self.store(place, value, path);
            }
            &Statement::Atomic {
                pointer,
                fun,
                value,
                result,
            } => {
                let value = self.vector(value);
                let access = self.pointer(pointer).access(path);
                let access = access.expect("an atomic is in a buffer");
                let scalar = |word| Vector::new(value.kind, &[word]);
                let change = |old| scalar(old).atomic(fun, value).words[0];
                let old = self.memory.atomic(access, &change);
                if let Some(result) = result {
                    self.set(result, Value::Vector(scalar(old)));
                }
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => {
                let frame = self.values.len();
                for &argument in arguments {
                    let value = self.value(argument);
                    self.values.push(value);
                }
                let value = self.call(&self.module.functions[*function], frame, path);
                if let Some(result) = *result {
                    self.set(result, value);
                }
            }
            _ => panic!("{statement:?} is not interpreted"),
        }
        Flow::Next
    }
}
