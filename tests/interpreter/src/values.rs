//! Scalars and vectors with WGSL's operators, and the places of values in memory.

use super::Access;
use naga::{
    ArraySize, AtomicFunction, BinaryOperator, MathFunction, Module, RelationalFunction, Scalar,
    ScalarKind, TypeInner, UnaryOperator,
};

#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// The expression is not evaluated yet.
    Unset,
    Vector(Vector),
    Pointer(Place<'a>),
    /// A struct or an array: an immutable copy among the locals.
    Composite(Place<'a>),
}

/// A vector, or a scalar as a vector of one word. A bool is 0 or 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector {
    pub(super) kind: ScalarKind,
    pub(super) len: usize,
    pub(super) words: [u32; 4],
}

impl Vector {
    pub(super) fn new(kind: ScalarKind, from: &[u32]) -> Self {
        let mut words = [0; 4];
        words[..from.len()].copy_from_slice(from);
        let len = from.len();
        Self { kind, len, words }
    }

    pub(super) fn from_u32s(words: &[u32]) -> Self {
        Self::new(ScalarKind::Uint, words)
    }

    pub(super) fn from_bool(is: bool) -> Self {
        Self::new(ScalarKind::Bool, &[is.into()])
    }

    pub(super) fn splat(self, len: usize) -> Self {
        if self.len == len || self.len > 1 {
            return self;
        }
        Self::new(self.kind, &[self.words[0]; 4][..len])
    }

    pub(super) fn component(self, index: u32) -> Self {
        Self::new(self.kind, &[self.words[..self.len][index as usize]])
    }

    /// A vector of the components of `self` and then of `other`.
    pub(super) fn and(mut self, other: Self) -> Self {
        let start = self.len;
        self.len += other.len;
        self.words[start..self.len].copy_from_slice(&other.words[..other.len]);
        self
    }

    fn map(mut self, of: impl Fn(u32) -> u32) -> Self {
        for word in &mut self.words[..self.len] {
            *word = of(*word);
        }
        self
    }

    /// Combines the components of two vectors; a scalar is combined with each component of a vector.
    fn zip(self, other: Self, of: impl Fn(u32, u32) -> u32) -> Self {
        let (mut left, right) = (self.splat(other.len), other.splat(self.len));
        for place in 0..left.len {
            left.words[place] = of(left.words[place], right.words[place]);
        }
        left
    }

    pub(super) fn unary(self, op: UnaryOperator) -> Self {
        match op {
            UnaryOperator::Negate if self.kind == ScalarKind::Float => {
                self.map(|bits| bits ^ 1 << 31)
            }
            UnaryOperator::Negate => self.map(u32::wrapping_neg),
            UnaryOperator::LogicalNot => self.map(|word| word ^ 1),
            UnaryOperator::BitwiseNot => self.map(|word| !word),
        }
    }

    pub(super) fn binary(self, op: BinaryOperator, other: Self) -> Self {
        let mut result = self.zip(other, |a, b| binary(op, self.kind, a, b));
        if is_comparison(op) {
            result.kind = ScalarKind::Bool;
        }
        result
    }

    /// Selects components of `accept` or `reject`; `self` has one bool for all components, or one for each.
    pub(super) fn select(self, accept: Self, mut reject: Self) -> Self {
        let condition = self.splat(reject.len);
        for place in 0..reject.len {
            if condition.words[place] == 1 {
                reject.words[place] = accept.words[place];
            }
        }
        reject
    }

    pub(super) fn relational(self, fun: RelationalFunction) -> Self {
        let mut words = self.words[..self.len].iter();
        Self::from_bool(match fun {
            RelationalFunction::All => words.all(|&word| word == 1),
            RelationalFunction::Any => words.any(|&word| word == 1),
            _ => panic!("{fun:?} is not interpreted"),
        })
    }

    pub(super) fn math(self, fun: MathFunction, more: [Option<Self>; 2]) -> Self {
        let is_less = |a, b| binary(BinaryOperator::Less, self.kind, a, b) == 1;
        let min = |a, b| if is_less(a, b) { a } else { b };
        let max = |a, b| if is_less(a, b) { b } else { a };
        match (fun, more) {
            (MathFunction::Min, [Some(other), _]) => self.zip(other, min),
            (MathFunction::Max, [Some(other), _]) => self.zip(other, max),
            (MathFunction::Clamp, [Some(low), Some(high)]) => self.zip(low, max).zip(high, min),
            (MathFunction::Dot, [Some(other), _]) => {
                let products = self.binary(BinaryOperator::Multiply, other);
                let products = products.words[..products.len].iter();
                let sum = products.fold(0, |sum: u32, &product| sum.wrapping_add(product));
                Self::new(self.kind, &[sum])
            }
            (MathFunction::Abs, _) => self.zip(self.unary(UnaryOperator::Negate), max),
            (MathFunction::CountOneBits, _) => self.map(u32::count_ones),
            (MathFunction::CountLeadingZeros, _) => self.map(u32::leading_zeros),
            (MathFunction::CountTrailingZeros, _) => self.map(u32::trailing_zeros),
            (MathFunction::ReverseBits, _) => self.map(u32::reverse_bits),
            (MathFunction::Round, _) => {
                self.map(|word| f32::from_bits(word).round_ties_even().to_bits())
            }
            _ => panic!("{fun:?} is not interpreted"),
        }
    }

    /// The word that an atomic function replaces this word by.
    pub(super) fn atomic(self, fun: AtomicFunction, value: Self) -> Self {
        match fun {
            AtomicFunction::Add => self.binary(BinaryOperator::Add, value),
            AtomicFunction::Subtract => self.binary(BinaryOperator::Subtract, value),
            AtomicFunction::And => self.binary(BinaryOperator::And, value),
            AtomicFunction::ExclusiveOr => self.binary(BinaryOperator::ExclusiveOr, value),
            AtomicFunction::InclusiveOr => self.binary(BinaryOperator::InclusiveOr, value),
            AtomicFunction::Min => self.math(MathFunction::Min, [Some(value), None]),
            AtomicFunction::Max => self.math(MathFunction::Max, [Some(value), None]),
            AtomicFunction::Exchange { compare: None } => value,
            AtomicFunction::Exchange { .. } => panic!("{fun:?} is not interpreted"),
        }
    }

    /// The components as values of another kind.
    pub(super) fn cast(mut self, kind: ScalarKind) -> Self {
        let from = std::mem::replace(&mut self.kind, kind);
        match (from, kind) {
            (ScalarKind::Uint | ScalarKind::Sint, ScalarKind::Bool) => {
                self.map(|word| u32::from(word != 0))
            }
            #[expect(clippy::cast_precision_loss, reason = "as WGSL rounds")]
            (ScalarKind::Uint, ScalarKind::Float) => self.map(|word| (word as f32).to_bits()),
            #[expect(clippy::cast_precision_loss, reason = "as WGSL rounds")]
            (ScalarKind::Sint, ScalarKind::Float) => {
                self.map(|word| (word.cast_signed() as f32).to_bits())
            }
            (_, ScalarKind::Sint | ScalarKind::Uint) if from != ScalarKind::Float => self,
            _ => panic!("{from:?} to {kind:?} is not interpreted"),
        }
    }

    /// The bits of the components as those of another kind.
    pub(super) fn bitcast(mut self, kind: ScalarKind) -> Self {
        self.kind = kind;
        self
    }
}

fn is_comparison(op: BinaryOperator) -> bool {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(
        op,
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
    )
}

/// The bits of the result of an operator on two floats. WGSL lets a device do as it likes with infinities and NaNs:
/// such sums have bits that no test expects.
fn float(op: BinaryOperator, a: f32, b: f32) -> u32 {
    match op {
        BinaryOperator::Add if (a + b).is_finite() => (a + b).to_bits(),
        BinaryOperator::Add => 0xdead_beef,
        BinaryOperator::Subtract => (a - b).to_bits(),
        BinaryOperator::Multiply => (a * b).to_bits(),
        _ => panic!("{op:?} of floats is not interpreted"),
    }
}

/// The result of an operator on two words, computed in 64 bits and cut to its low word.
fn binary(op: BinaryOperator, kind: ScalarKind, a: u32, b: u32) -> u32 {
    if kind == ScalarKind::Float {
        return float(op, f32::from_bits(a), f32::from_bits(b));
    }
    let number = |word: u32| match kind {
        ScalarKind::Sint => i64::from(word.cast_signed()),
        _ => i64::from(word),
    };
    let (a, b) = (number(a), number(b));
    let result = match op {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a.wrapping_mul(b),
        BinaryOperator::Divide => a.checked_div(b).expect("a divisor that is not 0"),
        BinaryOperator::Modulo => a.checked_rem(b).expect("a divisor that is not 0"),
        BinaryOperator::ShiftLeft => a << (b & 31),
        BinaryOperator::ShiftRight => a >> (b & 31),
        BinaryOperator::And | BinaryOperator::LogicalAnd => a & b,
        BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => a | b,
        BinaryOperator::ExclusiveOr => a ^ b,
        BinaryOperator::Equal => (a == b).into(),
        BinaryOperator::NotEqual => (a != b).into(),
        BinaryOperator::Less => (a < b).into(),
        BinaryOperator::LessEqual => (a <= b).into(),
        BinaryOperator::Greater => (a > b).into(),
        BinaryOperator::GreaterEqual => (a >= b).into(),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let word = result as u32;
    word
}

/// The place of a value in a buffer, or among the locals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// `None` for a place among the locals.
    pub(super) binding: Option<u32>,
    pub(super) offset: u64,
    pub(super) ty: &'a TypeInner,
}

impl<'a> Place<'a> {
    /// The length and the scalar; `None` for a struct or an array.
    pub(super) fn vector(self) -> Option<(usize, Scalar)> {
        match *self.ty {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => Some((1, scalar)),
            TypeInner::Vector { size, scalar } => Some((size as usize, scalar)),
            _ => None,
        }
    }

    /// The access of a scalar or vector in a buffer; `None` among the locals.
    pub(super) fn access(self, site: u64) -> Option<Access> {
        let binding = self.binding?;
        Some(Access {
            site,
            binding,
            offset: self.offset,
            bytes: 4 * self.ty.components().unwrap_or(1),
            is_atomic: matches!(self.ty, TypeInner::Atomic(_)),
        })
    }

    /// The index in `locals` of word `n` of a vector.
    pub(super) fn local_word(self, n: usize) -> usize {
        let width = self.ty.scalar_width().expect("words are of vectors");
        let offset = usize::try_from(self.offset).expect("locals are few");
        offset + n * usize::from(width)
    }

    /// A member, an element or a component; `None` past the last one.
    pub(super) fn element(self, index: u32, module: &'a Module) -> Option<Self> {
        let (start, ty) = match *self.ty {
            TypeInner::Vector { size, scalar } if index < size as u32 => (
                (index * u32::from(scalar.width)).into(),
                scalar_type(scalar),
            ),
            TypeInner::Array { base, size, stride } if is_in(size, index) => {
                let start = u64::from(index) * u64::from(stride);
                (start, &module.types[base].inner)
            }
            TypeInner::Struct { ref members, .. } => {
                let member = members.get(index as usize)?;
                (member.offset.into(), &module.types[member.ty].inner)
            }
            _ => return None,
        };
        let offset = self.offset + start;
        Some(Self { offset, ty, ..self })
    }
}

fn is_in(size: ArraySize, index: u32) -> bool {
    match size {
        ArraySize::Constant(size) => index < size.get(),
        ArraySize::Dynamic => true,
        ArraySize::Pending(_) => false,
    }
}

fn scalar_type(scalar: Scalar) -> &'static TypeInner {
    static U32: TypeInner = TypeInner::Scalar(Scalar::U32);
    static I32: TypeInner = TypeInner::Scalar(Scalar::I32);
    static BOOL: TypeInner = TypeInner::Scalar(Scalar::BOOL);
    match scalar {
        Scalar::U32 => &U32,
        Scalar::I32 => &I32,
        Scalar::BOOL => &BOOL,
        _ => panic!("{scalar:?} is not interpreted"),
    }
}
