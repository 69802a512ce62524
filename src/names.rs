//! The names of the values of an enum.

/// Gives an enum `ALL`, and `Display` and `FromStr` by one table of names. A variant after the table has no name: the value
/// that it holds is printed.
macro_rules! names {
    (
        $(#[$all:meta])*
        $type:ident, $of:literal: $($variant:ident = $name:expr),* $(,)? $(; $unnamed:ident)?
    ) => {
        impl $type {
            $(#[$all])*
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant => f.pad($name),)*
                    $(Self::$unnamed(value) => value.fmt(f),)?
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::PlanError;

            /// The value whose name, as `Display` prints it, is exactly `name`: case counts.
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                const NAMES: &[&str] = &[$($name),*];
                let at = NAMES.iter().position(|known| *known == name);
                at.map(|at| Self::ALL[at])
                    .ok_or_else(|| $crate::error::PlanError::UnknownName {
                        of: $of,
                        names: NAMES,
                        found: name.to_owned(),
                    })
            }
        }
    };
}
pub(crate) use names;
