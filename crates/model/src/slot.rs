//! Slots: values that an agent's host keeps in the space under a scope and a name, so that all its
//! processes agree: routes, locks, markers. Oneiro stores them and does not know what they mean.

use crate::id::check_text;
use crate::json::check_depth;
use crate::{Error, Result, SessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;

/// The most bytes of a scope and of a name: together they make an index row.
const NAME_BYTES: usize = 1_024;

/// The most bytes of a value.
const VALUE_BYTES: usize = 4 << 20;

/// Where a value is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotName {
    scope: String,
    name: String,
}

impl SlotName {
    /// Takes a scope and a name in it.
    pub fn new(scope: impl Into<String>, name: impl Into<String>) -> Result<SlotName> {
        let (scope, name) = (scope.into(), name.into());
        check("scope", &scope)?;
        check("name", &name)?;
        if scope.is_empty() {
            return Err(Error::field("scope", "is empty").remedy("name what the value is for"));
        }
        Ok(SlotName { scope, name })
    }

    /// The scope.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The name in the scope.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn check(field: &'static str, text: &str) -> Result<()> {
    check_text(field, text)?;
    if text.len() > NAME_BYTES {
        Err(Error::field(field, format!("is longer than {NAME_BYTES} bytes")))
    } else {
        Ok(())
    }
}

/// A value that is kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slot {
    /// Its name in its scope.
    pub name: String,
    /// The value.
    pub value: Value,
    /// When it was set.
    pub updated_at: Timestamp,
}

impl Slot {
    /// Refuses a value that could be stored but not read back.
    pub fn check_value(value: &Value) -> Result<()> {
        check_depth("value", value)?;
        if value.to_string().len() > VALUE_BYTES {
            Err(Error::too_large(format!("a value is longer than {VALUE_BYTES} bytes")))
        } else {
            Ok(())
        }
    }
}

/// A change of one slot that holds only if it is as expected.
#[derive(Debug, Clone)]
pub struct SlotSwap {
    /// The slot.
    pub slot: SlotName,
    /// What it must hold now; nothing when absent.
    pub expected: Option<Value>,
    /// What it shall hold; nothing when absent.
    pub value: Option<Value>,
    /// The session it goes with when that is deleted or erased.
    pub session: Option<SessionId>,
}
