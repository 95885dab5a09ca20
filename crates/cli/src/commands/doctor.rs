//! `oneiro doctor`: check the store for damage.

use crate::context::Context;
use clap::Args;
use oneiro::{Checked, Error, ErrorKind};

/// Check the store for damage
///
/// Asks the engine to check its files, and whether every counter matches its rows. Changes nothing.
#[derive(Debug, Args)]
pub struct DoctorArgs {}

impl DoctorArgs {
    /// Checks; damage is an error.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let checked = context.open()?.check()?;
        context.output.show(&checked, describe)?;
        match checked.ok {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Corrupt, "the store is damaged")
                .remedy("stop writing to it and restore the newest backup")
                .into()),
        }
    }
}

fn describe(checked: &Checked) -> String {
    if checked.ok {
        return "The store is sound.".to_owned();
    }
    let mut lines = checked.integrity.clone();
    lines.extend(
        checked.miscounted.iter().map(|id| format!("session {id}: counters do not match its rows")),
    );
    lines.join("\n")
}
