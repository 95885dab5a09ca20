//! Ids of calls and names of tools as providers accept them, each made from what was given alone
//! and from the calls before it, so that more messages change none of them.

use super::super::part::Call;
use oneiro_model::MessageId;
use rustc_hash::FxHashMap;

/// The name of a tool that has none.
const UNNAMED: &str = "unnamed";

/// Gives each call an id that no other call was given.
#[derive(Default)]
pub(super) struct CallIds {
    /// How often each id was asked for.
    asked: FxHashMap<String, usize>,
}

impl CallIds {
    /// The id of a call: its own as `spelled`, with a number behind it if that is taken; one made
    /// of its place where it has none.
    pub(super) fn give(
        &mut self,
        call: &Call<'_>,
        made_in: (MessageId, usize),
        spelled: fn(&str) -> String,
    ) -> String {
        let own = if call.id.is_empty() {
            format!("call_{}_{}", made_in.0, made_in.1)
        } else {
            spelled(&call.id)
        };
        let mut id = own.clone();
        while self.asked.contains_key(&id) {
            let count = self.asked.entry(own.clone()).or_insert(1);
            *count += 1;
            id = format!("{own}_{count}");
        }
        self.asked.insert(id.clone(), 1);
        id
    }
}

/// Letters, digits, `_` and `-`, which every provider takes; anything else becomes `_`.
pub(super) fn spelled(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// The name of a tool, as every provider takes it.
pub(super) fn tool_name(name: &str) -> String {
    match name.trim() {
        "" => UNNAMED.to_owned(),
        name => spelled(name).chars().take(64).collect(),
    }
}

/// Whether a provider takes a name as it is.
pub(super) fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
