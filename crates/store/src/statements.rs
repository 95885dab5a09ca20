//! The closed list of SQL: every statement is declared through [`statements!`], so that one test
//! can prepare them all on both engines.

/// Declares SQL constants and the module's list of them.
macro_rules! statements {
    ($($(#[$meta:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$meta])* const $name: &str = $sql;)*

        /// Every statement of this module, by name.
        pub(crate) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}

/// Every statement of the store: module, name, SQL.
pub fn all_statements() -> Vec<(&'static str, &'static str, &'static str)> {
    let modules: &[(&str, &[(&str, &str)])] = &[
        ("amends", crate::amends::STATEMENTS),
        ("backups", crate::backups::STATEMENTS),
        ("changes", crate::changes::STATEMENTS),
        ("contexts", crate::contexts::STATEMENTS),
        ("costs", crate::costs::STATEMENTS),
        ("digests", crate::digests::STATEMENTS),
        ("groups", crate::groups::STATEMENTS),
        ("jobs", crate::jobs::STATEMENTS),
        ("lineage", crate::lineage::STATEMENTS),
        ("messages", crate::messages::STATEMENTS),
        ("payloads", crate::payloads::STATEMENTS),
        ("said", crate::said::STATEMENTS),
        ("segments", crate::segments::STATEMENTS),
        ("sequence", crate::sequence::STATEMENTS),
        ("sessions", crate::sessions::STATEMENTS),
        ("settings", crate::settings::STATEMENTS),
        ("shown", crate::shown::STATEMENTS),
        ("slots", crate::slots::STATEMENTS),
        ("summaries", crate::summaries::STATEMENTS),
        ("titles", crate::titles::STATEMENTS),
        ("tokens", crate::tokens::STATEMENTS),
        ("transcripts", crate::transcripts::STATEMENTS),
        ("usage", crate::usage::STATEMENTS),
    ];
    let flat = modules.iter().flat_map(|(module, statements)| {
        statements.iter().map(|(name, sql)| (*module, *name, *sql))
    });
    flat.collect()
}
