//! Pages to read: what each case gives, scatters, errors, costs, recipes, large tables, encoded rows, measurements, other
//! libraries' calls and their equals here, and back ends.

#[cfg(test)]
mod tests;

/// Makes a page of a summary, pictures and a text. The text reads on a forge too, so no code is hidden there, and its last lines
/// say where links lead; in the docs those of links.md come before. Its programs are tested with all features.
macro_rules! page {
    ($(#[$attribute:meta])* $name:ident, $summary:literal, $($text:literal),*) => {
        $(#[$attribute])*
        #[doc = $summary]
        #[doc = ""]
        #[doc = include_str!("links.md")]
        $(
            #[doc = ""]
            #[cfg_attr(any(not(doctest), all(feature = "gpu", feature = "ndarray")), doc = include_str!($text))]
        )*
        pub mod $name {}
    };
}

page! { semantics, "Which output each shape, index and policy gives.", "semantics.md" }
page! { scatter, "Write rows back, or add to them, in one order.", "scatter.md" }
page! { errors, "What each error means, and what you change.", "errors.md" }
page! { costs, "What each call submits, allocates, moves and waits for.", "costs.md" }
page! {
    #[doc(alias("boolean_mask", "masked_select", "flatnonzero"))]
    recipes, "Masks, keys, pages, records: programs to copy.", "pictures/strides.svg", "recipes.md"
}
page! { large_tables, "Tables larger than a binding, buffer, device or machine.", "pictures/windows.svg", "large_tables.md" }
page! { encoded_rows, "Rows of quantised tables, decoded as they are gathered.", "pictures/decoded.svg", "encoded_rows.md" }
page! { performance, "Times beside other libraries, and how to measure yours.", "pictures/times.svg", "performance.md" }
page! { frameworks, "Calls of 21 libraries and their equals here.", "frameworks.md" }

#[doc = "Which drivers ran the tests, and how to test yours."]
#[doc = ""]
#[doc = include_str!("links.md")]
#[doc = ""]
#[doc = include_str!("back_ends.md")]
// Its programs are for apps with and without a GPU.
pub mod back_ends {}
