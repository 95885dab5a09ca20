//! `oneiro doctor`: check the store for damage.

use crate::context::Context;
use clap::Args;
use oneiro::{Checked, Error, ErrorKind};

/// Check the store for damage
///
/// Asks the engine to check its files, and whether every counter matches its rows.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Count anew what is counted wrong; damaged files are never touched
    #[arg(long)]
    fix: bool,
}

impl DoctorArgs {
    /// Checks; damage is an error.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro = context.open_existing()?;
        let mut checked = oneiro.check()?;
        if self.fix && checked.integrity.is_empty() && !checked.miscounted.is_empty() {
            let mended = oneiro.recount_sessions(&checked.miscounted)?;
            context.output.say(&format!("Counted {mended} sessions anew."));
            checked = oneiro.check()?;
        }
        context.output.show(&checked, describe)?;
        match (checked.ok, checked.integrity.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => {
                Err(Error::new(ErrorKind::Corrupt, "counters do not match their rows")
                    .remedy("nothing is lost: `oneiro doctor --fix` counts them anew")
                    .into())
            }
            (false, false) => Err(Error::new(ErrorKind::Corrupt, "the store is damaged")
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
