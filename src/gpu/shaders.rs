//! Pipelines and shader modules. A module joins a few files in shaders/, so that only the code that a gather needs is compiled.

use super::combine::CombineRows;
use super::find_rows::FindRows;
use super::kernel::{Kernel, Unit};
use super::unit::decoding_overrides;
use super::update::{FoldPass, IndexRowsPass, Update};
use super::wgsl::wgsl;
use crate::encoding::{Encoding, FloatKind};
use crate::reduce::NumberKind;

/// Pipelines depend on the entry point and on aliasing, not on a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) entry_point: EntryPoint,
    /// True if an operand that is only read shares a buffer with a written one. All are then bound for writing.
    pub(crate) aliased: bool,
}

/// The entry points in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryPoint {
    Gather {
        kernel: Kernel,
        find: FindRows,
        report: bool,
    },
    Scatter {
        kernel: Kernel,
        find: FindRows,
        update: Update,
    },
    /// A pass over a scatter's index rows.
    IndexRows {
        pass: IndexRowsPass,
        find: FindRows,
    },
    /// An entry point of a sort or of a mask's numbers. An app that calls neither does not hold its code.
    Alone(&'static Alone),
    /// A pass over a scatter's sorted index rows.
    Fold {
        pass: FoldPass,
        unit: Unit,
        update: Update,
    },
    /// Combines the rows of bags.
    Bags(CombineRows),
    /// Rounds `f32`s to halves.
    Narrow(FloatKind),
    FinishReport,
    CountRows,
    /// Writes the mask of bad rows.
    OutOfRange,
}

/// An entry point of which nothing but overrides varies.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Alone {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) bindings: &'static [u32],
    pub(crate) overrides: &'static [(&'static str, u32)],
    /// The most workgroup memory that an entry point of its file uses.
    pub(crate) workgroup_bytes: u32,
}

impl EntryPoint {
    pub(crate) const fn key(self, aliased: bool) -> PipelineKey {
        PipelineKey {
            entry_point: self,
            aliased,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gather { kernel, report, .. } => kernel.name(report),
            Self::Scatter {
                kernel: Kernel::WordParts,
                update: Update::AssignLast,
                ..
            } => "word_parts_last",
            Self::Scatter { kernel, .. } => kernel.name(false),
            Self::IndexRows { pass, .. } => pass.name(),
            Self::Alone(of) => of.name,
            Self::Fold { pass, .. } => pass.name(),
            Self::Bags(of) => of.name(),
            Self::Narrow(_) => "narrow",
            Self::FinishReport => "finish_report",
            Self::CountRows => "count_rows",
            Self::OutOfRange => "out_of_range",
        }
    }

    /// The bindings that the entry point reads or writes, in the order of their numbers.
    pub(crate) const fn bindings(self) -> &'static [u32] {
        use binding::*;

        match self {
            Self::Gather { kernel, report, .. } => match (kernel.block_quantized(), report) {
                (None, false) => &[UNIFORM, PARAMS, INDICES, OUTPUT],
                (None, true) => &[UNIFORM, PARAMS, INDICES, OUTPUT, COUNTER],
                (Some(_), false) => &[UNIFORM, PARAMS, INDICES, OUTPUT, SCALES, ZERO_POINTS],
                (Some(_), true) => &[
                    UNIFORM,
                    PARAMS,
                    INDICES,
                    OUTPUT,
                    COUNTER,
                    SCALES,
                    ZERO_POINTS,
                ],
            },
            Self::Scatter { update, .. } => match update {
                Update::AssignLast => &[UNIFORM, INDICES, TARGET, UPDATES, WINNERS_FOUND],
                _ => &[UNIFORM, INDICES, TARGET, UPDATES],
            },
            Self::IndexRows { pass, .. } => match pass {
                IndexRowsPass::CountBad => &[UNIFORM, INDICES, COUNTER],
                IndexRowsPass::WriteKeys => &[UNIFORM, INDICES, SORTED_PAIRS],
                _ => &[UNIFORM, INDICES, WINNERS],
            },
            Self::Alone(of) => of.bindings,
            Self::Fold {
                pass,
                unit: Unit::Half,
                ..
            } => match pass {
                FoldPass::Rows => &[UNIFORM, TARGET, UPDATES, PAIRS, SLOTS],
                FoldPass::Later => &[UNIFORM, UPDATES, PAIRS, SUMS],
                FoldPass::Sums => &[UNIFORM, TARGET, PAIRS, SUMS, SLOTS],
            },
            Self::Fold { pass, .. } => match pass {
                FoldPass::Rows => &[UNIFORM, TARGET, UPDATES, PAIRS],
                FoldPass::Later => &[UNIFORM, UPDATES, PAIRS, SUMS],
                FoldPass::Sums => &[UNIFORM, TARGET, PAIRS, SUMS],
            },
            Self::Bags(of) => match (of.unit.block_quantized(), of.of_blocks) {
                (true, true) => &[
                    UNIFORM,
                    PARAMS,
                    INDICES,
                    SCALES,
                    ZERO_POINTS,
                    SUMS,
                    OFFSETS,
                    WEIGHTS,
                ],
                (true, false) => &[
                    UNIFORM,
                    PARAMS,
                    INDICES,
                    OUTPUT,
                    SCALES,
                    ZERO_POINTS,
                    SUMS,
                    OFFSETS,
                    WEIGHTS,
                ],
                (false, true) => &[UNIFORM, PARAMS, INDICES, SUMS, OFFSETS, WEIGHTS],
                (false, false) => &[UNIFORM, PARAMS, INDICES, OUTPUT, SUMS, OFFSETS, WEIGHTS],
            },
            Self::Narrow(_) => &[UNIFORM, OUTPUT, SINGLES],
            Self::FinishReport => &[UNIFORM, INDICES, COUNTER, REPORT],
            Self::CountRows => &[COUNT, INDIRECT_UNIFORM, WORKGROUPS],
            Self::OutOfRange => &[UNIFORM, INDICES, MASK],
        }
    }

    /// The shader's override constants.
    pub(crate) fn overrides(self) -> Vec<(&'static str, f64)> {
        let (kernel, find) = match self {
            Self::Gather { kernel, find, .. } => (kernel, find),
            Self::Scatter { find, update, .. } => {
                return [find.overrides(), update.overrides()].concat();
            }
            Self::IndexRows { find, .. } => return find.overrides(),
            Self::Fold { update, .. } => return update.overrides(),
            Self::Bags(of) => return of.overrides(),
            Self::Alone(of) => {
                let overrides = of.overrides.iter();
                return overrides
                    .map(|&(name, value)| (name, value.into()))
                    .collect();
            }
            Self::Narrow(_) | Self::FinishReport | Self::CountRows | Self::OutOfRange => {
                return Vec::new();
            }
        };
        let mut overrides = find.overrides();
        if let Some(of) = kernel.decoding() {
            let is_one = !matches!(kernel.unit(), Some(Unit::FourDecoded(_)));
            overrides.extend(decoding_overrides(of.encoding, is_one));
        }
        match kernel {
            Kernel::Packed { slice_bytes } => overrides.push(("PACKED_BYTES", slice_bytes.into())),
            Kernel::Bytes { lane_words } => overrides.push(("LANE_WORDS", lane_words.into())),
            Kernel::Rows(_)
            | Kernel::FourRows(_)
            | Kernel::Long(_)
            | Kernel::Lines
            | Kernel::Halves(_)
            | Kernel::WordParts => {}
        }
        overrides
    }
}

/// The bindings in the shaders, by number.
pub(crate) mod binding {
    pub(crate) const UNIFORM: u32 = 0;
    pub(crate) const PARAMS: u32 = 1;
    pub(crate) const INDICES: u32 = 2;
    pub(crate) const OUTPUT: u32 = 3;
    pub(crate) const COUNTER: u32 = 4;
    pub(crate) const REPORT: u32 = 5;
    pub(crate) const COUNT: u32 = 6;
    pub(crate) const INDIRECT_UNIFORM: u32 = 7;
    pub(crate) const WORKGROUPS: u32 = 8;
    pub(crate) const MASK: u32 = 9;
    pub(crate) const SCALES: u32 = 10;
    pub(crate) const ZERO_POINTS: u32 = 11;
    pub(crate) const TARGET: u32 = 12;
    pub(crate) const UPDATES: u32 = 13;
    pub(crate) const WINNERS: u32 = 14;
    pub(crate) const WINNERS_FOUND: u32 = 15;
    pub(crate) const PAIRS: u32 = 16;
    pub(crate) const SORTED_PAIRS: u32 = 17;
    pub(crate) const COUNTS: u32 = 18;
    pub(crate) const SUMS: u32 = 19;
    pub(crate) const ENTRIES: u32 = 20;
    pub(crate) const BITS: u32 = 21;
    pub(crate) const NUMBERS: u32 = 22;
    pub(crate) const FOUND: u32 = 23;
    pub(crate) const SLOTS: u32 = 24;
    pub(crate) const OFFSETS: u32 = 25;
    pub(crate) const WEIGHTS: u32 = 26;
    pub(crate) const SINGLES: u32 = 27;

    /// True if the entry points that use the binding write to it.
    pub(crate) const fn is_written(number: u32) -> bool {
        matches!(
            number,
            OUTPUT
                | COUNTER
                | REPORT
                | INDIRECT_UNIFORM
                | WORKGROUPS
                | MASK
                | TARGET
                | WINNERS
                | SORTED_PAIRS
                | COUNTS
                | SUMS
                | BITS
                | NUMBERS
                | FOUND
                | SLOTS
        )
    }
}

/// A shader module: a file in shaders/ that has entry points, and the files that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shader {
    file: &'static str,
    /// Where a line `Needs` leaves a choice, the chosen files: they find rows, load units, decode or update, and round halves.
    /// Without a choice, the first is taken.
    choices: [Option<&'static str>; 4],
}

/// Finds the code of a file in shaders/ by its name.
pub(crate) type Texts = fn(&str) -> &'static str;

/// Makes a [`Texts`] for these files, and for another function's. Modules share the files, so an app holds each once.
macro_rules! texts {
    ($(#[$doc:meta])* $of:ident: $($name:literal)*; $other:expr) => {
        $(#[$doc])*
        pub(crate) fn $of(file: &str) -> &'static str {
            #[cfg(test)]
            if let Some(text) = super::wgsl::changed(file) {
                return text;
            }
            match file {
                $($name => wgsl!(concat!("../../shaders/", $name, ".wgsl")),)*
                _ => $other(file),
            }
        }
    };
}

texts!(
    /// The code for gathers.
    gather_text: "common" "element_dims" "index_rows" "general" "vec4" "words" "decoded" "four_decoded" "one_decoded" "four_halves" "to_f16" "to_bf16" "halves" "slices" "rows" "four_rows" "long" "packed" "packed_words" "packed_narrow" "lines" "bytes" "report" "mask" "decode/k_scales" "decode/iq4_numbers";
    |file| Encoding::shader(file).expect("a file of shaders/")
);
texts!(
    /// The code for scatters too, which an app that never scatters does not hold.
    scatter_text: "updates" "target_units" "assign" "assign_last" "last_rows" "reduce" "reductions" "float_sums" "atomics" "signed_words" "lane_units" "word_parts" "winners" "write_keys" "scan" "sort" "fold" "fold_units" "fold_halves" "from_f16" "from_bf16";
    gather_text
);
texts!(
    /// The code for numbers of masks too.
    nonzero_text: "scan" "nonzero";
    gather_text
);
texts!(
    /// The code for sums over bags too.
    bags_text: "winners" "float_sums" "reductions" "lane_units" "products" "bags" "narrow";
    gather_text
);
#[cfg(test)]
texts!(all_texts: "nonzero" "products" "bags" "narrow"; scatter_text);

/// Stands in a line `Needs` for any file in shaders/decode/.
const DECODE: &str = "decode";

/// What a file needs, from its first line: `// Needs: a; b or c`. Each need is one file, several of which a module takes one, or
/// [`DECODE`].
fn needs(file: &str, texts: Texts) -> impl Iterator<Item = Vec<&'static str>> {
    let line = texts(file).lines().next();
    let needs = line.and_then(|line| line.strip_prefix("// Needs: "));
    let needs = needs.expect("the first line of a shader").split("; ");
    let needs = needs.filter(|&need| need != "nothing");
    needs.map(|need| need.split(" or ").collect())
}

impl Shader {
    pub(crate) const fn of(entry_point: EntryPoint) -> Self {
        let (kernel, find) = match entry_point {
            EntryPoint::Gather { kernel, find, .. } => (kernel, find),
            EntryPoint::Scatter {
                kernel,
                find,
                update,
            } => {
                return Self {
                    file: kernel.name(false),
                    choices: [
                        Some(find.file()),
                        unit_file(kernel, update),
                        update_file(kernel, update),
                        None,
                    ],
                };
            }
            EntryPoint::IndexRows { pass, find } => {
                return Self {
                    file: match pass {
                        IndexRowsPass::WriteKeys => "write_keys",
                        _ => "winners",
                    },
                    choices: [Some(find.file()), None, None, None],
                };
            }
            EntryPoint::Fold { unit, update, .. } => {
                let (fold, widen) = match update {
                    Update::Fold(_, NumberKind::F16) => ("fold_halves", Some("from_f16")),
                    Update::Fold(_, NumberKind::Bf16) => ("fold_halves", Some("from_bf16")),
                    _ => ("fold_units", None),
                };
                return Self {
                    file: "fold",
                    choices: [None, Some(unit.file()), Some(fold), widen],
                };
            }
            EntryPoint::Bags(of) => {
                let decode = match of.unit.decoding() {
                    Some(of) => Some(of.encoding.file()),
                    None => None,
                };
                return Self {
                    file: "bags",
                    choices: [Some(of.find.file()), Some(of.unit.file()), decode, None],
                };
            }
            EntryPoint::Narrow(to) => {
                return Self {
                    file: "narrow",
                    choices: [None, None, None, to.rounding_file()],
                };
            }
            EntryPoint::Alone(of) => return Self::alone(of.file),
            EntryPoint::FinishReport | EntryPoint::CountRows => return Self::alone("report"),
            EntryPoint::OutOfRange => return Self::alone("mask"),
        };
        if let Kernel::Packed { .. } = kernel {
            return Self {
                file: "packed",
                choices: [Some(find.packed_file()), None, None, None],
            };
        }
        let unit = match kernel.unit() {
            Some(unit) => Some(unit.file()),
            None => None,
        };
        let (decode, round) = match kernel.decoding() {
            Some(of) => (Some(of.encoding.file()), of.rounding_file()),
            None => (None, None),
        };
        Self {
            file: kernel.name(false),
            choices: [Some(find.file()), unit, decode, round],
        }
    }

    const fn alone(file: &'static str) -> Self {
        Self {
            file,
            choices: [None; 4],
        }
    }

    /// The file's name and the chosen files' names.
    pub(crate) fn name(self) -> String {
        let choices = self.choices.into_iter().flatten();
        let names = std::iter::once(self.file).chain(choices);
        let names: Vec<_> = names.filter_map(|file| file.rsplit('/').next()).collect();
        names.join("-")
    }

    pub(crate) fn wgsl(self, texts: Texts) -> String {
        let texts: Vec<_> = self.files(texts).into_iter().map(texts).collect();
        texts.join("\n")
    }

    /// The module's files, each after those that it needs.
    pub(crate) fn files(self, texts: Texts) -> Vec<&'static str> {
        let mut files = Vec::new();
        self.add(self.file, texts, &mut files);
        files
    }

    fn add(self, file: &'static str, texts: Texts, files: &mut Vec<&'static str>) {
        if files.contains(&file) {
            return;
        }
        for need in needs(file, texts) {
            let is_chosen = |file: &&&str| self.choices.contains(&Some(**file));
            let needed = match need[..] {
                [DECODE] => self.choices[2].expect("an encoding"),
                [file] => file,
                ref files => files.iter().find(is_chosen).unwrap_or(&files[0]),
            };
            self.add(needed, texts, files);
        }
        files.push(file);
    }

    /// The source for aliased operands. If one binding of a buffer is `read_write`, wgpu requires that all are, although the
    /// shader writes to only one.
    pub(crate) fn aliased_wgsl(self, texts: Texts) -> String {
        self.wgsl(texts).replace("read>", "read_write>")
    }
}

/// The file in shaders/ that a scatter loads and stores units by.
const fn update_file(kernel: Kernel, update: Update) -> Option<&'static str> {
    match (kernel, update) {
        (Kernel::WordParts, _) | (_, Update::IndexRows | Update::Fold(..)) => None,
        (_, Update::Assign) => Some("assign"),
        (_, Update::AssignLast) => Some("assign_last"),
        (_, Update::Reduce(..)) => Some("reduce"),
        (_, Update::Atomic(..)) => Some("atomics"),
    }
}

/// The file in shaders/ that defines the type of a scatter's unit.
pub(crate) const fn unit_file(kernel: Kernel, update: Update) -> Option<&'static str> {
    match (update, kernel.unit()) {
        (Update::Atomic(_, NumberKind::I32), Some(Unit::Word)) => Some("signed_words"),
        (_, Some(unit)) => Some(unit.file()),
        (_, None) => None,
    }
}
