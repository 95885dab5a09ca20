//! Slots: values that a host stores in the space, changed together or by compare-and-set.

use crate::sessions::key_of;
use crate::views::Host;
use oneiro_model::{Result, SessionId, Slot, SlotName, SlotSwap};
use oneiro_store::slots::SlotValue;
use oneiro_store::{Tx, sessions, slots};
use serde_json::Value;

/// Slots of one scope to set together.
#[derive(Debug, Clone, Default)]
pub struct SetSlots {
    /// The scope.
    pub scope: String,
    /// Names and values; `None` removes a slot.
    pub values: Vec<(String, Option<Value>)>,
    /// Remove every other slot of the scope.
    pub replace: bool,
    /// The slots are deleted with this session, which must exist.
    pub session: Option<SessionId>,
}

impl Host<'_> {
    /// The value of a slot.
    pub fn slot(&self, slot: &SlotName) -> Result<Option<Slot>> {
        self.oneiro.store.read(|tx| slots::get(tx, slot))
    }

    /// Every slot of a scope, by name.
    pub fn slots(&self, scope: &str) -> Result<Vec<Slot>> {
        let scope = SlotName::new(scope, "")?;
        self.oneiro.store.read(|tx| slots::of_scope(tx, scope.scope()))
    }

    /// The scopes with a prefix.
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
                Some(value) => slots::put(tx, slot, SlotValue { value, session_key: session }, now),
                None => slots::remove(tx, slot),
            })
        })
    }

    /// Compare-and-set: changes a slot if it has the expected value. Returns whether it had.
    pub fn swap_slot(&self, swap: SlotSwap) -> Result<bool> {
        swap.value.as_ref().map_or(Ok(()), Slot::check_value)?;
        let now = self.oneiro.now();
        self.oneiro.store.write(move |tx| {
            let held = slots::get(tx, &swap.slot)?.map(|slot| slot.value);
            if held != swap.expected {
                return Ok(false);
            }
            match &swap.value {
                Some(value) => {
                    let session_key = session_key(tx, &swap)?;
                    slots::put(tx, &swap.slot, SlotValue { value, session_key }, now)?;
                }
                None => slots::remove(tx, &swap.slot)?,
            }
            Ok(true)
        })
    }
}

/// The session of a slot, if it exists: a lock may be taken before its session is created.
fn session_key(tx: &Tx<'_>, swap: &SlotSwap) -> Result<Option<i64>> {
    match &swap.session {
        Some(id) => sessions::key(tx, id),
        None => Ok(None),
    }
}
