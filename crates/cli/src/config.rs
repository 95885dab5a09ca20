//! The one typed configuration: flag, then environment, then file, then default. Only this file
//! reads the environment.

mod keys;
mod prompts;
mod values;

pub use keys::{KEYS, Key, KeyKind};

use crate::args::Global;
use oneiro::{Durability, Error, Result, SETTINGS, SpaceName};
use oneiro_inference::{ChatConfig, EmbeddingConfig, Limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml_edit::{DocumentMut, Item, Table, TomlError};
use values::{milliseconds, names, number, yes_or_no};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// The configuration file.
    File,
    /// The built-in default.
    Default,
}

impl Origin {
    /// The origin as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Flag => "flag",
            Origin::Environment => "environment",
            Origin::File => "file",
            Origin::Default => "default",
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone)]
pub struct Sourced {
    /// The value as text.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// The configuration, read and checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file, whether it exists or not.
    pub path: Option<PathBuf>,
    /// Every key with its value.
    pub values: Vec<(&'static str, Sourced)>,
    /// Where memory is kept.
    pub store: String,
    /// Which space of it, if one was named.
    pub space: Option<SpaceName>,
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// How long a writer waits.
    pub busy_timeout: Duration,
    /// How long a statement may run on a PostgreSQL server.
    pub statement_timeout: Duration,
    /// Where to listen.
    pub listen: String,
    /// Who may come in where `oneiro serve` listens.
    pub rules: oneiro_server::AuthRules,
    /// The most bytes of a request.
    pub max_body: usize,
    /// What is logged.
    pub log: String,
    /// The embedding server, if one is configured.
    pub embedder: Option<EmbeddingConfig>,
    /// The server with the model that writes, if one is named.
    pub llm: Option<ChatConfig>,
    /// What a hook may do.
    pub hook: HookUse,
    /// The folder of prompts that take the place of the built-in ones, if one is named.
    prompts: Option<PathBuf>,
}

/// What a hook may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookUse {
    /// Capture, and add what is relevant to prompts.
    On,
    /// Capture only.
    Capture,
    /// Nothing.
    Off,
}

impl HookUse {
    fn parse(text: &str) -> Result<HookUse> {
        match text {
            "on" => Ok(HookUse::On),
            "capture" => Ok(HookUse::Capture),
            "off" => Ok(HookUse::Off),
            _ => {
                Err(Error::field("hook", format!("is {text:?}")).remedy("give on, capture or off"))
            }
        }
    }
}

impl Config {
    /// Reads the configuration.
    pub fn load(global: &Global) -> Result<Config> {
        let path = config_path(global);
        let is_named = global.config.is_some() || environment("ONEIRO_CONFIG").is_some();
        let file = match &path {
            Some(path) if path.exists() || is_named => read_file(path)?,
            _ => Table::new(),
        };
        let mut values = Vec::new();
        for key in KEYS {
            values.push((key.name, sourced(key, global, &file)?));
        }
        let get = |name: &str| {
            values.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
        };
        let text = |name: &str| get(name).map(|found| found.value).unwrap_or_default();
        let named = |name: &str| Some(text(name)).filter(|text| text != "none" && !text.is_empty());
        let whole = |name: &str| match Key::find(name) {
            Some(key) => number(key, &text(name)),
            None => Err(unknown(name)),
        };
        let space = get("space").filter(|space| space.origin != Origin::Default);
        let store = at_home(&text("store"));
        if global.store.as_deref() == Some("") {
            return Err(Error::field("store", "is empty").remedy("name a folder or a file"));
        }
        if store.is_empty() {
            return Err(Error::invalid("there is no home directory to keep memory in")
                .remedy("say where: --store PATH"));
        }
        let llm_timeout = Duration::from_secs(whole("llm_timeout_s")?.into());
        let llm_limits = Limits {
            calls_per_hour: whole("llm_calls_per_hour")?,
            tokens_per_hour: whole("llm_tokens_per_hour")?.into(),
            ..Limits::default()
        };
        Ok(Config {
            space: space.map(|space| SpaceName::new(&space.value)).transpose()?,
            durability: Durability::parse(&text("durability"))?,
            busy_timeout: milliseconds("busy_timeout_ms", &text("busy_timeout_ms"))?,
            statement_timeout: milliseconds("statement_timeout_ms", &text("statement_timeout_ms"))?,
            listen: text("listen"),
            rules: oneiro_server::AuthRules {
                allowed_hosts: names(&text("allowed_hosts")),
                require_token: yes_or_no("require_token", &text("require_token"))?,
                rate_limit: whole("rate_limit")?,
            },
            max_body: (whole("max_body_mb")? as usize) << 20,
            log: text("log"),
            hook: HookUse::parse(&text("hook"))?,
            embedder: named("embedder_url").map(|url| {
                let mut embedder = EmbeddingConfig::new(url, text("embedder_model"));
                embedder.server.key = named("embedder_key");
                embedder
            }),
            llm: named("llm_url").map(|url| {
                let mut llm = ChatConfig::new(url, named("llm_model").unwrap_or_default());
                llm.server.key = named("llm_key");
                llm.server.timeout = llm_timeout;
                llm.server.total_timeout = llm_timeout * 3;
                llm.limits = llm_limits;
                llm
            }),
            prompts: named("prompts").map(|folder| at_home(&folder).into()),
            store,
            path,
            values,
        })
    }

    /// The prompts that take the place of the built-in ones, by name; `known` are the names there
    /// are.
    pub fn prompts(&self, known: &[&str]) -> Result<BTreeMap<String, String>> {
        match &self.prompts {
            Some(folder) => prompts::read(folder, known),
            None => Ok(BTreeMap::new()),
        }
    }

    /// Whether a key was given on the command line.
    pub fn is_named(&self, name: &str) -> bool {
        let given = |(key, value): &(&str, Sourced)| *key == name && value.origin == Origin::Flag;
        self.values.iter().any(given)
    }
}

/// Checks a value before it is set in the file.
pub fn check(name: &str, value: &str) -> Result<()> {
    Key::find(name).map_or(Ok(()), |key| key.check(value))
}

/// A path as a shell would read it: a configuration file has no shell to expand `~`.
fn at_home(store: &str) -> String {
    match (store.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => store.to_owned(),
    }
}

fn sourced(key: &Key, global: &Global, file: &Table) -> Result<Sourced> {
    let flag = match key.name {
        "store" => global.store.clone(),
        "space" => global.space.clone(),
        _ => None,
    };
    if let Some(value) = flag {
        return Ok(Sourced { value, origin: Origin::Flag });
    }
    if let Some(value) = environment(&format!("ONEIRO_{}", key.name.to_uppercase())) {
        return Ok(Sourced { value, origin: Origin::Environment });
    }
    let value = match file.get(key.name) {
        Some(Item::Value(value)) => Some(key.text_of(value)?),
        Some(other) => {
            return Err(Error::field(key.name, format!("cannot be a TOML {}", other.type_name())));
        }
        None => None,
    };
    if let Some(value) = value {
        return Ok(Sourced { value, origin: Origin::File });
    }
    let value = match key.name {
        "store" => {
            data_folder().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
        }
        _ => key.default.to_owned(),
    };
    Ok(Sourced { value, origin: Origin::Default })
}

fn read_file(path: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::invalid(format!("the configuration {} cannot be read: {error}", path.display()))
            .remedy("check --config and ONEIRO_CONFIG")
    })?;
    let document: DocumentMut = text.parse().map_err(|error: TomlError| {
        Error::invalid(format!("{} is not TOML: {}", path.display(), error.message()))
            .remedy("fix the file, or move it away")
    })?;
    for (name, _) in document.iter() {
        known(name).map_err(|error| error.at(path.display()))?;
    }
    Ok(document.into_table())
}

/// Refuses an unknown key, naming the nearest.
pub fn known(name: &str) -> Result<()> {
    if Key::find(name).is_some() {
        return Ok(());
    }
    if SETTINGS.iter().any(|setting| setting.name == name) {
        return Err(Error::field(name.to_owned(), "is a setting of the space, not of this file")
            .remedy(format!("set it with `oneiro config set {name} VALUE`")));
    }
    Err(unknown(name))
}

/// The error of an unknown key.
pub fn unknown(name: &str) -> Error {
    let names = KEYS.iter().map(|key| key.name).chain(SETTINGS.iter().map(|setting| setting.name));
    let error = Error::field(name.to_owned(), "is not a key of the configuration");
    error.remedy(match oneiro::suggest_names(name, names) {
        Some(suggestion) => format!("{suggestion} `oneiro config show` lists all keys"),
        None => "`oneiro config show` lists all keys".to_owned(),
    })
}

fn config_path(global: &Global) -> Option<PathBuf> {
    let configured =
        global.config.clone().or_else(|| environment("ONEIRO_CONFIG").map(PathBuf::from));
    configured.or_else(|| Some(own_folder("XDG_CONFIG_HOME", ".config")?.join("config.toml")))
}

/// Whether a variable of the environment is set to something.
pub fn is_set(variable: &str) -> bool {
    environment(variable).is_some_and(|value| !value.is_empty())
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourChoice {
    /// At a terminal only.
    AtTerminal,
    /// Everywhere: CLICOLOR_FORCE is set.
    Always,
    /// Nowhere: NO_COLOR is set, or the terminal has no colours.
    Never,
}

/// When the environment wants output to be coloured. NO_COLOR counts for more than CLICOLOR_FORCE.
pub fn colour_choice() -> ColourChoice {
    let has = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    if has("NO_COLOR") {
        return ColourChoice::Never;
    }
    if has("CLICOLOR_FORCE") && environment("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return ColourChoice::Always;
    }
    match environment("TERM") {
        Some(term) if term != "dumb" => ColourChoice::AtTerminal,
        _ => ColourChoice::Never,
    }
}

/// The editor of a machine on which none is named; it needs a terminal.
pub const DEFAULT_EDITOR: &str = "vi";

/// The command of the user's editor.
pub fn editor() -> String {
    let set = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| DEFAULT_EDITOR.to_owned())
}

/// The command of the user's pager; empty if none is wanted.
pub fn pager() -> String {
    environment("ONEIRO_PAGER")
        .or_else(|| environment("PAGER"))
        .unwrap_or_else(|| "less".to_owned())
}

/// The folder that a program keeps its files in: where the variable says, else in the home folder.
pub fn folder_of_agent(variable: Option<&str>, name: &str) -> Option<PathBuf> {
    let configured = variable.and_then(environment).map(PathBuf::from);
    configured.or_else(|| Some(home()?.join(name)))
}

/// The folder for configuration of programs that follow the XDG base directories on every system.
pub fn xdg_config_folder() -> Option<PathBuf> {
    let configured =
        environment("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    configured.or_else(|| Some(home()?.join(".config")))
}

/// The folder for configuration of desktop programs on this system.
pub fn desktop_config_folder() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return Some(home()?.join("Library/Application Support"));
    }
    xdg_config_folder()
}

/// Whether a program of this name, and no other, is what a shell here would run.
pub fn is_on_path(name: &str, program: &Path) -> bool {
    let folders = environment("PATH").unwrap_or_default();
    let first = std::env::split_paths(&folders).map(|folder| folder.join(name));
    let first = first.filter(|path| path.is_file()).find_map(|path| path.canonicalize().ok());
    first.is_some_and(|first| program.canonicalize().is_ok_and(|program| program == first))
}

fn data_folder() -> Option<PathBuf> {
    own_folder("XDG_DATA_HOME", ".local/share")
}

/// Our folder among those of one purpose: where the variable says, if that is absolute, as the XDG
/// base directories want it, else in the home folder.
fn own_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return Some(home()?.join("Library/Application Support/oneiro"));
    }
    let configured = environment(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(configured.or_else(|| Some(home()?.join(in_home)))?.join("oneiro"))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
