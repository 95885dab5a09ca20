//! Slots: values that a host keeps in the space, changed all at once or by compare-and-set. It must
//! not know what they mean.

use crate::sessions::key_of;
use crate::views::Host;
use oneiro_model::{Result, SessionId, Slot, SlotName, SlotSwap};
use oneiro_store::{Tx, sessions, slots};
use serde_json::Value;

/// Slots of one scope to set together.
#[derive(Debug, Clone, Default)]
pub struct SetSlots {
    /// The scope.
    pub scope: String,
    /// Names and values; nothing empties a slot.
    pub values: Vec<(String, Option<Value>)>,
    /// Empty every other slot of the scope.
    pub replace: bool,
    /// The session they go with when that is deleted or erased; it must exist.
    pub session: Option<SessionId>,
}

impl Host<'_> {
    /// What a slot holds.
    pub fn slot(&self, slot: &SlotName) -> Result<Option<Slot>> {
        self.oneiro.store.read(|tx| slots::get(tx, slot))
    }

    /// Every slot of a scope, by name.
    pub fn slots(&self, scope: &str) -> Result<Vec<Slot>> {
        let scope = SlotName::new(scope, "")?;
        self.oneiro.store.read(|tx| slots::of_scope(tx, scope.scope()))
    }

    /// The scopes that begin so and have a slot.
    pub fn slot_scopes(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = SlotName::new(prefix, "")?;
        self.oneiro.store.read(|tx| slots::scopes(tx, prefix.scope()))
    }

    /// Sets slots of one scope, all of them or none.
    pub fn set_slots(&self, request: SetSlots) -> Result<()> {
        let scope = SlotName::new(&*request.scope, "")?;
        let values = request
            .values
            .into_iter()
            .map(|(name, value)| {
                value.as_ref().map_or(Ok(()), Slot::check_value)?;
                Ok((SlotName::new(&*request.scope, name)?, value))
            })
            .collect::<Result<Vec<_>>>()?;
        let (session, replace, now) = (request.session, request.replace, self.oneiro.now());
        self.oneiro.store.write(move |tx| {
            let session = session.as_ref().map(|id| key_of(tx, id)).transpose()?;
            if replace {
                slots::remove_scope(tx, scope.scope())?;
            }
            values.iter().try_for_each(|(slot, value)| match value {
                Some(value) => slots::put(tx, slot, (value, session), now),
                None => slots::remove(tx, slot),
            })
        })
    }

    /// Changes a slot if it holds what is expected; answers whether it did.
    pub fn swap_slot(&self, swap: SlotSwap) -> Result<bool> {
        swap.value.as_ref().map_or(Ok(()), Slot::check_value)?;
        let now = self.oneiro.now();
        self.oneiro.store.write(move |tx| {
            let held = slots::get(tx, &swap.slot)?.map(|slot| slot.value);
            if held != swap.expected {
                return Ok(false);
            }
            match &swap.value {
                Some(value) => slots::put(tx, &swap.slot, (value, bound(tx, &swap)?), now)?,
                None => slots::remove(tx, &swap.slot)?,
            }
            Ok(true)
        })
    }
}

/// The session a swapped slot goes with, if there is one: a lock may be taken before its session
/// begins.
fn bound(tx: &Tx<'_>, swap: &SlotSwap) -> Result<Option<i64>> {
    match &swap.session {
        Some(id) => sessions::key(tx, id),
        None => Ok(None),
    }
}
