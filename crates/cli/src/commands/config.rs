//! `oneiro config`: show and change the configuration and the settings of the space.

use crate::config::{self, KEYS, Key};
use crate::context::Context;
use crate::output::{data, table};
use anyhow::Context as _;
use clap::Subcommand;
use oneiro::{Error, ErrorKind, Oneiro, SETTINGS, Setting, SettingValue, SpaceUse};
use serde_json::{Value, json};

/// Show and change the configuration
///
/// Keys of this machine are stored in a TOML file; settings that all processes share are stored in
/// the space.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every key and setting
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Print one value
    Get {
        /// The key
        key: String,
    },
    /// Set a key in the file, or a setting in the space
    Set {
        /// The key
        key: String,
        /// The value; a list is written as JSON, ["cron:*"]
        value: String,
    },
    /// Reset a key or setting to its default
    Unset {
        /// The key
        key: String,
    },
    /// Print the path of the file
    Path,
}

/// Printed instead of a secret.
const HIDDEN: &str = "***";

/// A key with its value, as printed.
struct ConfigEntry {
    name: &'static str,
    value: Value,
    origin: &'static str,
}

impl ConfigCommand {
    /// A setting may be made before anything else is in the space.
    pub fn space_use(&self) -> SpaceUse {
        match self {
            ConfigCommand::Set { .. } => SpaceUse::CreateMissing,
            ConfigCommand::Show { .. }
            | ConfigCommand::Get { .. }
            | ConfigCommand::Unset { .. }
            | ConfigCommand::Path => SpaceUse::MustExist,
        }
    }

    /// Shows or changes.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            ConfigCommand::Show { origin } => show(context, origin),
            ConfigCommand::Get { key } => get(context, &key),
            ConfigCommand::Set { key, value } => set(context, &key, Some(&value)),
            ConfigCommand::Unset { key } => set(context, &key, None),
            ConfigCommand::Path => {
                let path = file(context)?.display().to_string();
                context.output.show(&path, String::clone)
            }
        }
    }
}

fn is_secret(key: &str) -> bool {
    Key::find(key).is_some_and(Key::is_secret)
}

fn all(context: &Context) -> anyhow::Result<Vec<ConfigEntry>> {
    let mut entries: Vec<ConfigEntry> = context
        .config
        .values
        .iter()
        .map(|(name, value)| {
            let text = match *name {
                "store" => without_password(&value.value),
                name if is_secret(name) && value.value != "none" => HIDDEN.to_owned(),
                _ => value.value.clone(),
            };
            ConfigEntry { name, value: Value::String(text), origin: value.origin.as_str() }
        })
        .collect();
    let of_space = |setting: SettingValue| ConfigEntry {
        name: setting.name,
        value: setting.value,
        origin: if setting.is_set { "space" } else { "default" },
    };
    match context.open() {
        Ok(oneiro) => entries.extend(oneiro.settings().list()?.into_iter().map(of_space)),
        // A space that does not exist yet has the default settings.
        Err(error) if is_not_found(&error) => entries.extend(SETTINGS.iter().map(default_setting)),
        Err(error) => return Err(error),
    }
    Ok(entries)
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

fn default_setting(setting: &Setting) -> ConfigEntry {
    let value = serde_json::from_str(setting.default).unwrap_or(Value::Null);
    ConfigEntry { name: setting.name, value, origin: "default" }
}

fn show(context: &Context, origin: bool) -> anyhow::Result<()> {
    let entries = all(context)?;
    if context.output.json {
        let entry = |item: &ConfigEntry| {
            if origin {
                (item.name.to_owned(), json!({"value": item.value, "origin": item.origin}))
            } else {
                (item.name.to_owned(), item.value.clone())
            }
        };
        let map: serde_json::Map<String, Value> = entries.iter().map(entry).collect();
        return data(&Value::Object(map).to_string());
    }
    let rows: Vec<Vec<String>> = entries
        .iter()
        .map(|item| {
            let mut row = vec![item.name.to_owned(), text(&item.value)];
            row.extend(origin.then(|| item.origin.to_owned()));
            row
        })
        .collect();
    data(&table(if origin { &["key", "value", "origin"] } else { &["key", "value"] }, &rows))
}

fn get(context: &Context, key: &str) -> anyhow::Result<()> {
    let found = all(context)?.into_iter().find(|item| item.name == key);
    let item = found.ok_or_else(|| config::unknown(key))?;
    context.output.show(&item.value, text)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn set(context: &Context, key: &str, value: Option<&str>) -> anyhow::Result<()> {
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == key) {
        // A setting that is one word is written as one.
        let is_word = setting.default.starts_with('"');
        let value = value.map(|text| match serde_json::from_str::<Value>(text) {
            Err(_) if is_word => Ok(Value::String(text.to_owned())),
            read => read.map_err(|_| {
                Error::field(key.to_owned(), format!("{text:?} is not JSON"))
                    .remedy(value_hint(setting))
            }),
        });
        let value = value.transpose()?;
        let set = match value {
            Some(value) => {
                let set = |oneiro: &Oneiro| Ok(oneiro.settings().set(key, Some(value.clone()))?);
                context.open_to_add(set)?.1
            }
            None => context.open()?.settings().set(key, None)?,
        };
        return context.output.show(&json!({key: set.value}), |_| {
            format!("{key} = {} (in space {})", text(&set.value), space(context))
        });
    }
    if !KEYS.iter().any(|known| known.name == key) {
        return Err(config::unknown(key).into());
    }
    if let Some(value) = value {
        config::check(key, value)?;
    }
    let path = file(context)?;
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let mut document: toml_edit::DocumentMut =
        before.parse().with_context(|| path.display().to_string())?;
    match (value, value.and_then(|value| value.parse::<i64>().ok())) {
        (Some(_), Some(number)) if Key::find(key).is_some_and(Key::is_number) => {
            document.insert(key, toml_edit::value(number));
        }
        (Some(value), _) => {
            document.insert(key, toml_edit::value(value));
        }
        (None, _) => {
            document.remove(key);
        }
    }
    write_file(&path, &document.to_string())?;
    let value = value.map(|value| if is_secret(key) { HIDDEN } else { value });
    let now = value.unwrap_or("(default)");
    context.output.show(&json!({key: value}), |_| format!("{key} = {now} (in {})", path.display()))
}

/// How to write a value of a setting.
fn value_hint(setting: &Setting) -> String {
    match serde_json::from_str(setting.default) {
        Ok(Value::Bool(_)) => "write true or false".to_owned(),
        Ok(Value::Number(number)) => format!("write a number, such as {number}"),
        Ok(Value::Array(_)) => r#"write a list, such as ["cron:*"]"#.to_owned(),
        _ => format!("write JSON; the default is {}", setting.default),
    }
}

/// Written beside and moved into place, so that a crash leaves the old file or the new one.
fn write_file(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().context("the configuration has no folder")?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut part = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut part, text.as_bytes())?;
    part.as_file().sync_all()?;
    part.persist(path).with_context(|| path.display().to_string())?;
    Ok(())
}

fn file(context: &Context) -> anyhow::Result<std::path::PathBuf> {
    let missing =
        || Error::invalid("there is no home directory").remedy("name a file: --config FILE");
    Ok(context.config.path.clone().ok_or_else(missing)?)
}

fn space(context: &Context) -> String {
    context.config.space.clone().unwrap_or_default().to_string()
}

fn without_password(store: &str) -> String {
    let Some((scheme, rest)) = store.split_once("://") else { return store.to_owned() };
    match rest.rsplit_once('@') {
        Some((login, place)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}:***@{place}")
        }
        None => store.to_owned(),
    }
}
