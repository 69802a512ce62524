//! The values of expressions.

use naga::{Expression, Handle, Literal, ScalarKind, TypeInner};

use super::values::{Place, Value, Vector};
use super::{Invocation, onward};

impl<'a> Invocation<'a, '_> {
    pub(super) fn evaluate(&mut self, expression: &'a Expression, path: u64) -> Value<'a> {
        let module = self.module;
        Value::Vector(match *expression {
            Expression::Literal(Literal::U32(word)) => Vector::from_u32s(&[word]),
            Expression::Literal(Literal::I32(number)) => {
                Vector::new(ScalarKind::Sint, &[number.cast_unsigned()])
            }
            Expression::Literal(Literal::F32(number)) => {
                Vector::new(ScalarKind::Float, &[number.to_bits()])
            }
            Expression::Literal(Literal::Bool(is)) => Vector::from_bool(is),
            Expression::Constant(constant) => {
                let outer = std::mem::replace(&mut self.in_constant, true);
                let value = self.value(module.constants[constant].init);
                self.in_constant = outer;
                return value;
            }
            Expression::ZeroValue(ty) => {
                let place = self.allocate(&module.types[ty].inner);
                return self.value_in(place, path);
            }
            Expression::Compose { ty, ref components } => {
                let ty = &module.types[ty].inner;
                if let TypeInner::Vector { .. } = ty {
                    let parts = components.iter().map(|&part| self.vector(part));
                    return Value::Vector(parts.reduce(Vector::and).expect("it has parts"));
                }
                let place = self.allocate(ty);
                for (index, &component) in (0..).zip(components) {
                    let part = place.element(index, module).expect("it has the part");
                    let value = self.value(component);
                    self.store(part, value, path);
                }
                return Value::Composite(place);
            }
            Expression::Access { base, index } => {
                let index = self.word(index);
                return self.element(base, index, path);
            }
            Expression::AccessIndex { base, index } => return self.element(base, index, path),
            Expression::Splat { size, value } => self.vector(value).splat(size as usize),
            Expression::Swizzle {
                size,
                vector,
                pattern,
            } => {
                let vector = self.vector(vector);
                let words = pattern.map(|part| vector.words[part.index() as usize]);
                Vector::new(vector.kind, &words[..size as usize])
            }
            Expression::FunctionArgument(argument) => {
                return self.values[self.frame + argument as usize];
            }
            Expression::LocalVariable(local) => {
                let before = self.function.arguments.len() + self.function.expressions.len();
                return self.values[self.frame + before + local.index()];
            }
            Expression::GlobalVariable(global) => {
                let global = &module.global_variables[global];
                let bound = global.binding.expect("a global is a buffer");
                return Value::Pointer(Place {
                    binding: Some(bound.binding),
                    offset: 0,
                    ty: &module.types[global.ty].inner,
                });
            }
            Expression::Load { pointer } => {
                let mut place = self.pointer(pointer);
                if place.vector().is_none() {
                    let copy = self.allocate(place.ty);
                    self.copy(place, copy, path);
                    place = copy;
                }
                return self.value_in(place, path);
            }
            Expression::Unary { op, expr } => self.vector(expr).unary(op),
            Expression::Binary { op, left, right } => {
                self.vector(left).binary(op, self.vector(right))
            }
            Expression::Select {
                condition,
                accept,
                reject,
            } => {
                let (accept, reject) = (self.vector(accept), self.vector(reject));
                self.vector(condition).select(accept, reject)
            }
            Expression::Relational { fun, argument } => self.vector(argument).relational(fun),
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                ..
            } => {
                let more = [arg1, arg2].map(|arg| arg.map(|arg| self.vector(arg)));
                self.vector(arg).math(fun, more)
            }
            Expression::As {
                expr,
                kind,
                convert,
            } => match convert {
                Some(_) => self.vector(expr).cast(kind),
                None => self.vector(expr).bitcast(kind),
            },
            Expression::ArrayLength(pointer) => {
                let place = self.pointer(pointer);
                let binding = place.binding.expect("the array is in a buffer");
                let TypeInner::Array { stride, .. } = *place.ty else {
                    panic!("{place:?} is an array");
                };
                let len = (self.memory.bytes(binding) - place.offset) / u64::from(stride);
                Vector::from_u32s(&[u32::try_from(len).expect("a word counts the elements")])
            }
            _ => panic!("{expression:?} is not interpreted"),
        })
    }

    pub(super) fn value(&mut self, handle: Handle<Expression>) -> Value<'a> {
        if self.in_constant {
            return self.evaluate(&self.module.global_expressions[handle], 0);
        }
        let at = self.frame + self.function.arguments.len() + handle.index();
        if let Value::Unset = self.values[at] {
            // Literals, constants and references to variables are emitted by no statement.
            self.values[at] = self.evaluate(&self.function.expressions[handle], 0);
        }
        self.values[at]
    }

    pub(super) fn set(&mut self, handle: Handle<Expression>, value: Value<'a>) {
        let at = self.frame + self.function.arguments.len() + handle.index();
        self.values[at] = value;
    }

    pub(super) fn vector(&mut self, handle: Handle<Expression>) -> Vector {
        match self.value(handle) {
            Value::Vector(vector) => vector,
            other => panic!("{other:?} is a vector"),
        }
    }

    pub(super) fn word(&mut self, handle: Handle<Expression>) -> u32 {
        self.vector(handle).words[0]
    }

    pub(super) fn pointer(&mut self, handle: Handle<Expression>) -> Place<'a> {
        match self.value(handle) {
            Value::Pointer(place) => place,
            other => panic!("{other:?} is a pointer"),
        }
    }

    /// An element of a value; for a pointer, the pointer to the element.
    fn element(&mut self, base: Handle<Expression>, index: u32, path: u64) -> Value<'a> {
        let element = |place: Place<'a>| {
            let element = place.element(index, self.module);
            element.unwrap_or_else(|| panic!("{index} is not in {:?}", place.ty))
        };
        match self.value(base) {
            Value::Vector(vector) => Value::Vector(vector.component(index)),
            Value::Pointer(place) => Value::Pointer(element(place)),
            Value::Composite(place) => self.value_in(element(place), path),
            Value::Unset => panic!("{base:?} has a value"),
        }
    }

    /// Reserves a place for a value among the locals, filled with zeros.
    pub(super) fn allocate(&mut self, ty: &'a TypeInner) -> Place<'a> {
        let (binding, offset) = (None, self.locals.len() as u64);
        let size = ty.size(self.module.to_ctx()) as usize;
        self.locals.resize(self.locals.len() + size, 0);
        Place {
            binding,
            offset,
            ty,
        }
    }

    fn value_in(&mut self, place: Place<'a>, path: u64) -> Value<'a> {
        match place.vector() {
            Some(_) => Value::Vector(self.load(place, path)),
            None => Value::Composite(place),
        }
    }

    pub(super) fn store(&mut self, place: Place<'a>, value: Value<'a>, path: u64) {
        match value {
            Value::Vector(vector) => self.store_vector(place, vector, path),
            Value::Composite(from) => self.copy(from, place, path),
            other => panic!("{other:?} can be stored"),
        }
    }

    /// Copies a composite part by part, without the padding.
    fn copy(&mut self, from: Place<'a>, to: Place<'a>, path: u64) {
        if from.vector().is_some() {
            let vector = self.load(from, path);
            return self.store_vector(to, vector, path);
        }
        for index in 0.. {
            let parts = [from, to].map(|place| place.element(index, self.module));
            let [Some(from), Some(to)] = parts else {
                return;
            };
            self.copy(from, to, onward(path, index.into()));
        }
    }

    fn load(&mut self, place: Place<'a>, path: u64) -> Vector {
        let (len, scalar) = place.vector().expect("it is loaded in parts");
        let kind = scalar.kind;
        if let Some(access) = place.access(path) {
            let words = self.memory.load(access);
            return Vector { kind, len, words };
        }
        let mut words = [0; 4];
        for (n, word) in words[..len].iter_mut().enumerate() {
            *word = self.locals[place.local_word(n)];
        }
        Vector { kind, len, words }
    }

    fn store_vector(&mut self, place: Place<'a>, vector: Vector, path: u64) {
        let words = &vector.words[..vector.len];
        if let Some(access) = place.access(path) {
            return self.memory.store(access, words);
        }
        for (n, &word) in words.iter().enumerate() {
            self.locals[place.local_word(n)] = word;
        }
    }
}
