//! The arguments of a tool as agents write them: numbers as text, lists with commas, empty values
//! for absent ones. It must not know what any argument is for.

use oneiro::{Error, Result};
use serde_json::{Map, Value};

/// The most values that a list may have.
const LIST_MAX: usize = 50;

/// The arguments of one call, all of which the tool knows.
pub(crate) struct Arguments<'a> {
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Takes what was given, refusing what the input schema of the tool does not name.
    pub(crate) fn read(given: &'a Map<String, Value>, schema: &Value) -> Result<Arguments<'a>> {
        let known = schema.get("properties").and_then(Value::as_object);
        let names: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        match given.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(Arguments { given }),
            Some(unknown) => Err(refused(unknown, &names)),
        }
    }

    /// Takes what was given, whatever the tool knows.
    pub(crate) fn of(given: &'a Map<String, Value>) -> Arguments<'a> {
        Arguments { given }
    }

    /// What was given under a name; null, an empty text and an empty list are nothing.
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.given.get(name).filter(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        })
    }

    /// Whether anything was given under a name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// A text; a number is taken as it is written.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>> {
        self.value(name).map(|value| text_of(name, value)).transpose()
    }

    /// A whole number, also as text, and with the `#` that answers put before ids.
    pub(crate) fn number(&self, name: &'static str) -> Result<Option<i64>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => {
                let text = text.trim().trim_start_matches('#');
                text.parse().ok().or_else(|| whole(text.parse().ok()?))
            }
            _ => None,
        };
        number.map(Some).ok_or_else(|| {
            Error::field(name, format!("{} is not a whole number", short(value)))
                .remedy(format!("give {name} as a number, or leave it out"))
        })
    }

    /// Whether something is wanted; also as text or as a number.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool> {
        let Some(value) = self.value(name) else { return Ok(false) };
        let text = match value {
            Value::Bool(flag) => return Ok(*flag),
            other => text_of(name, other).unwrap_or_default().to_lowercase(),
        };
        match text.as_str() {
            "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" => Ok(false),
            _ => Err(Error::field(name, format!("{} is not true or false", short(value)))
                .remedy(format!("give {name} as true or false, or leave it out"))),
        }
    }

    /// A number between bounds; one beyond them is brought back, and that is said.
    pub(crate) fn bounded(
        &self,
        name: &'static str,
        (default, least, most): (usize, usize, usize),
        notes: &mut Vec<String>,
    ) -> Result<usize> {
        let Some(number) = self.number(name)? else { return Ok(default) };
        let taken = usize::try_from(number.max(0)).unwrap_or(most).clamp(least, most);
        if i64::try_from(taken) != Ok(number) {
            notes.push(format!("{name} is {least} to {most}: {number} was taken as {taken}"));
        }
        Ok(taken)
    }

    /// Says which arguments were given in vain.
    pub(crate) fn unused(&self, names: &[&str], notes: &mut Vec<String>) {
        let named: Vec<&str> = names.iter().copied().filter(|name| self.has(name)).collect();
        if !named.is_empty() {
            notes.push(format!("not used here: {}", named.join(", ")));
        }
    }

    /// Texts, as a list or with commas between them.
    pub(crate) fn list(&self, name: &'static str) -> Result<Vec<String>> {
        let found = match self.value(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().map(|item| text_of(name, item)).collect::<Result<Vec<_>>>()?
            }
            Some(value) => {
                text_of(name, value)?.split(',').map(str::trim).map(str::to_owned).collect()
            }
        };
        let found: Vec<String> = found.into_iter().filter(|item| !item.is_empty()).collect();
        match found.len() {
            0..=LIST_MAX => Ok(found),
            many => Err(Error::field(name, format!("has {many} values"))
                .remedy(format!("give at most {LIST_MAX}"))),
        }
    }
}

fn text_of(name: &'static str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Error::field(name, format!("{} is not a text", short(value)))
            .remedy(format!("give {name} as a text, or leave it out"))),
    }
}

fn whole(number: f64) -> Option<i64> {
    let fits = number.fract() == 0.0 && number.abs() < 9.0e15;
    fits.then_some(number as i64)
}

/// A value as an error shows it.
fn short(value: &Value) -> String {
    let cut = |text: &str| text.chars().take(60).collect::<String>();
    match value {
        Value::String(text) => format!("{:?}", cut(text)),
        other => cut(&other.to_string()),
    }
}

fn refused(unknown: &str, names: &[&str]) -> Error {
    let near = |name: &&&str| (strsim::jaro_winkler(name, unknown) * 1000.0) as i64;
    let shown: String = unknown.chars().take(60).collect();
    let error = Error::invalid(format!("{shown:?} is not an argument of this tool"));
    match names.iter().max_by_key(near) {
        Some(nearest) => {
            error.remedy(format!("did you mean {nearest}? It takes {}", names.join(", ")))
        }
        None => error.remedy("it takes no arguments"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"properties": {"query": {}, "session_id": {}, "limit": {}, "sources": {}}})
    }

    fn read<T>(given: Value, get: impl FnOnce(&Arguments<'_>) -> Result<T>) -> Result<T> {
        let given = given.as_object().unwrap().clone();
        get(&Arguments::read(&given, &schema())?)
    }

    #[test]
    fn numbers_are_read_as_agents_write_them() {
        for (given, want) in [
            (json!(5), Some(5)),
            (json!("5"), Some(5)),
            (json!(" #12 "), Some(12)),
            (json!(5.0), Some(5)),
            (json!("5.0"), Some(5)),
            (json!(""), None),
            (json!(null), None),
        ] {
            let number = read(json!({"limit": given}), |given| given.number("limit"));
            assert_eq!(number.unwrap(), want, "{given}");
        }
        for bad in [json!("five"), json!(1.5), json!([1]), json!(true), json!(1e300)] {
            let error = read(json!({"limit": bad}), |given| given.number("limit")).unwrap_err();
            assert!(error.remedy_text().is_some(), "{bad}");
        }
    }

    #[test]
    fn flags_are_read_as_agents_write_them() {
        for (given, want) in [
            (json!(true), true),
            (json!("True"), true),
            (json!(1), true),
            (json!("no"), false),
            (json!(null), false),
            (json!(""), false),
        ] {
            let flag = read(json!({"limit": given}), |given| given.flag("limit"));
            assert_eq!(flag.unwrap(), want, "{given}");
        }
        for bad in [json!("perhaps"), json!([true]), json!(2)] {
            assert!(read(json!({"limit": bad}), |given| given.flag("limit")).is_err(), "{bad}");
        }
    }

    #[test]
    fn lists_are_read_with_commas_or_brackets() {
        for given in [json!(["cli", "web"]), json!("cli, web"), json!("cli,,web,")] {
            let list = read(json!({"sources": given}), |given| given.list("sources")).unwrap();
            assert_eq!(list, ["cli", "web"], "{given}");
        }
        let none = read(json!({"sources": []}), |given| given.list("sources")).unwrap();
        assert!(none.is_empty());
        let many = vec!["a"; LIST_MAX + 1];
        assert!(read(json!({"sources": many}), |given| given.list("sources")).is_err());
        assert!(read(json!({"sources": {}}), |given| given.list("sources")).is_err());
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_nearest() {
        let error = read(json!({"sessionId": "x"}), |_| Ok(())).unwrap_err();
        assert!(error.remedy_text().unwrap().starts_with("did you mean session_id?"), "{error:?}");
    }
}
