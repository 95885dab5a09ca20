//! Requests of the contract out of what was typed: names, bounds and times are checked there.

use oneiro::contract::{Form, Reading, Request, decode};
use oneiro::{Oneiro, Result};
use serde_json::{Map, Value};

/// The request that the fields make; null is the same as not given.
pub fn request<R: Request>(oneiro: &Oneiro, fields: Value) -> Result<R> {
    let fields = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let reading = Reading { form: Form::CommandLine, now: oneiro.now() };
    Ok(decode(fields, reading)?.request)
}
