//! The indexed texts as the store has them, one source per kind.

use oneiro_index::{Kind, Source, Sources, Text, role_code};
use oneiro_model::{Result, searchable};
use oneiro_store::Tx;
use oneiro_store::message_rows::{self, MessageRow};

/// Everything that is indexed.
pub(crate) fn texts<'t>(tx: &'t Tx<'_>) -> Sources<'t> {
    Sources(vec![Box::new(Messages(tx))])
}

/// The messages of all sessions.
struct Messages<'t, 'c>(&'t Tx<'c>);

fn text(said: &MessageRow) -> Text {
    Text {
        number: said.seq,
        kind: Kind::Message,
        session: said.session_key,
        at: said.at,
        role: role_code(&said.role),
        name: said.body.get("name").and_then(serde_json::Value::as_str).map(str::to_owned),
        text: searchable(&said.role, &said.body),
    }
}

impl Source for Messages<'_, '_> {
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>> {
        Ok(message_rows::after(self.0, number, limit)?.iter().map(text).collect())
    }

    fn newest(&self, limit: usize) -> Result<Vec<Text>> {
        Ok(message_rows::before(self.0, i64::MAX, limit)?.iter().rev().map(text).collect())
    }

    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>> {
        Ok(message_rows::by_ids(self.0, numbers)?.iter().map(text).collect())
    }

    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        message_rows::ids_between(self.0, first, last)
    }

    fn count(&self, first: i64, last: i64) -> Result<i64> {
        message_rows::count_between(self.0, first, last)
    }

    fn last(&self) -> Result<i64> {
        message_rows::last_id(self.0)
    }
}
