//! The macro that declares SQL statements. One test prepares all declared statements on both engines.

/// Declares SQL constants and the module's list of them.
macro_rules! statements {
    ($($(#[$meta:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$meta])* const $name: &str = $sql;)*

        /// Every statement of this module, by name.
        pub(crate) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}
