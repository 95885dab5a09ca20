//! Titles are unique; a continuation may take over the title of the session it continues.

use crate::views::Sessions;
use oneiro_model::{Error, Lineage, Result, Title};
use oneiro_store::{Tx, lineage, titles};

/// Sets the title of a session. It is taken from a session that this one continues; a title of any
/// other session is refused.
pub(crate) fn set_in(tx: &Tx<'_>, key: i64, title: Option<&Title>) -> Result<()> {
    let Some(title) = title else { return titles::set(tx, key, None) };
    match titles::session_with(tx, title.as_str())? {
        Some(holder) if holder != key => {
            let chain =
                lineage::ancestors(tx, key, |link| link.lineage == Some(Lineage::Continuation))?;
            if !chain.iter().any(|link| link.key == holder) {
                let free = titles::next(tx, title.as_str())?;
                return Err(Error::conflict(format!("the title {:?} is taken", title.as_str()))
                    .remedy(format!("{free:?} is free")));
            }
            titles::set(tx, holder, None)?;
        }
        _ => {}
    }
    titles::set(tx, key, Some(title.as_str()))
}

impl Sessions<'_> {
    /// The title that would continue `title`: its base with the next free number.
    pub fn next_title(&self, title: &str) -> Result<String> {
        self.oneiro.store.read(|tx| titles::next(tx, title))
    }
}
