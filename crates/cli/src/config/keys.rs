//! Every key of the configuration file, one row each: its name, its default, what it does and which
//! values it takes.

use super::HookUse;
use super::values::{milliseconds, number, yes_or_no};
use oneiro::{Durability, Error, Result, SpaceName};
use toml_edit::Value;

/// A key of the configuration file.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name in the file; `ONEIRO_` and the name in capitals in the environment.
    pub name: &'static str,
    /// Its default, as people read it.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// What its value is.
    pub kind: KeyKind,
}

/// What the value of a key is.
#[derive(Debug, Clone, Copy)]
pub enum KeyKind {
    /// Any text.
    Text,
    /// Text that this function accepts.
    Checked(fn(&str) -> Result<()>),
    /// A whole number between these two.
    Number(u32, u32),
    /// A wait, in whole milliseconds.
    Milliseconds,
    /// True or false.
    Boolean,
    /// Names, separated by commas.
    Names,
    /// Text that is never shown.
    Secret,
}

impl Key {
    /// The key of a name.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Whether the file may have a number for it.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, KeyKind::Number(..) | KeyKind::Milliseconds)
    }

    /// Whether its value is never shown.
    pub fn is_secret(&self) -> bool {
        matches!(self.kind, KeyKind::Secret)
    }

    /// Checks a value.
    pub fn check(&self, value: &str) -> Result<()> {
        match self.kind {
            KeyKind::Text | KeyKind::Names | KeyKind::Secret => Ok(()),
            KeyKind::Checked(check) => check(value),
            KeyKind::Number(..) => number(self, value).map(|_| ()),
            KeyKind::Milliseconds => milliseconds(self.name, value).map(|_| ()),
            KeyKind::Boolean => yes_or_no(self.name, value).map(|_| ()),
        }
    }

    /// The text of a value of the file.
    pub fn text_of(&self, value: &Value) -> Result<String> {
        let wrong = || Error::field(self.name, format!("cannot be a TOML {}", value.type_name()));
        match (value, self.kind) {
            (Value::String(text), _) => Ok(text.value().clone()),
            (Value::Integer(number), _) if self.is_number() => Ok(number.value().to_string()),
            (Value::Boolean(value), KeyKind::Boolean) => Ok(value.value().to_string()),
            (Value::Array(list), KeyKind::Names) => {
                let names = list.iter().map(|name| name.as_str().ok_or(name.type_name()));
                let names = names.collect::<std::result::Result<Vec<_>, _>>();
                let holds = |kind| Error::field(self.name, format!("holds a {kind}"));
                names.map(|names| names.join(",")).map_err(holds)
            }
            _ => Err(wrong()),
        }
    }
}

fn check_store(value: &str) -> Result<()> {
    if value.trim().is_empty() {
        return Err(
            Error::field("store", "is empty").remedy("`oneiro config unset store` resets it")
        );
    }
    Ok(())
}

fn check_space(value: &str) -> Result<()> {
    SpaceName::new(value).map(|_| ())
}

fn check_durability(value: &str) -> Result<()> {
    Durability::parse(value).map(|_| ())
}

fn check_hook(value: &str) -> Result<()> {
    HookUse::parse(value).map(|_| ())
}

fn check_log(value: &str) -> Result<()> {
    tracing_subscriber::EnvFilter::try_new(value).map(|_| ()).map_err(|error| {
        Error::field("log", error).remedy("give off, error, warn, info, debug or trace")
    })
}

/// Every key of the configuration file.
pub const KEYS: &[Key] = &[
    Key {
        name: "store",
        default: "a folder `oneiro` in the user's data directory",
        doc: "Where memory is kept: a folder of spaces, a single `.db` file, or \
              `postgres://user:password@host:5432/database`. A PostgreSQL address takes the parameters of \
              libpq: `?sslmode=` disable, prefer (the default), require, verify-ca or verify-full, \
              `&sslrootcert=` a PEM file or `system`, `&connect_timeout=` seconds (5).",
        kind: KeyKind::Checked(check_store),
    },
    Key {
        name: "space",
        default: "default",
        doc: "Which space of the store.",
        kind: KeyKind::Checked(check_space),
    },
    Key {
        name: "durability",
        default: "full",
        doc: "What an acknowledged write survives: `full` a power loss, `normal` only the death \
              of the process.",
        kind: KeyKind::Checked(check_durability),
    },
    Key {
        name: "busy_timeout_ms",
        default: "20000",
        doc: "How long a writer waits for other processes before it answers `busy`.",
        kind: KeyKind::Milliseconds,
    },
    Key {
        name: "statement_timeout_ms",
        default: "300000",
        doc: "How long a statement may run on a PostgreSQL server, its wait for other writers not \
              included. Migrations and the clean-up after an erasure are not limited. A server \
              that hangs is noticed within seconds, whatever this says.",
        kind: KeyKind::Milliseconds,
    },
    Key {
        name: "listen",
        default: "127.0.0.1:4747",
        doc: "Where `oneiro serve` listens; port 0 picks one.",
        kind: KeyKind::Checked(oneiro_server::check_listen_address),
    },
    Key {
        name: "allowed_hosts",
        default: "none",
        doc: "Names, separated by commas, that requests to `oneiro serve` may use for it beside \
              `localhost` and its address: those of a proxy before it.",
        kind: KeyKind::Names,
    },
    Key {
        name: "require_token",
        default: "false",
        doc: "Require a token on loopback too; needed behind a proxy.",
        kind: KeyKind::Boolean,
    },
    Key {
        name: "rate_limit",
        default: "1000",
        doc: "Requests a second that one token may make; 0 is no limit.",
        kind: KeyKind::Number(0, 1_000_000),
    },
    Key {
        name: "max_body_mb",
        default: "16",
        doc: "The most megabytes of one request to `oneiro serve`.",
        kind: KeyKind::Number(1, 1_024),
    },
    Key {
        name: "embedder_url",
        default: "none",
        doc: "Where a server with an OpenAI-compatible `/embeddings` is, such as \
              `http://localhost:11434/v1`; used by spaces whose setting `embedder` is `openai`.",
        kind: KeyKind::Text,
    },
    Key {
        name: "embedder_model",
        default: "text-embedding-3-small",
        doc: "The model to ask it for.",
        kind: KeyKind::Text,
    },
    Key {
        name: "embedder_key",
        default: "none",
        doc: "What is sent to it as a bearer token. Prefer the environment variable.",
        kind: KeyKind::Secret,
    },
    Key {
        name: "llm_url",
        default: "none",
        doc: "Where a server with an OpenAI-compatible `/chat/completions` is, such as \
              `http://localhost:11434/v1`; the model there writes summaries. Without one they \
              are extracts.",
        kind: KeyKind::Text,
    },
    Key {
        name: "llm_model",
        default: "none",
        doc: "The model to ask it for; it must be named.",
        kind: KeyKind::Text,
    },
    Key {
        name: "llm_key",
        default: "none",
        doc: "What is sent to it as a bearer token. Prefer the environment variable.",
        kind: KeyKind::Secret,
    },
    Key {
        name: "llm_timeout_s",
        default: "60",
        doc: "The most seconds that one request to it may take; with retries, three times as many.",
        kind: KeyKind::Number(1, 3_600),
    },
    Key {
        name: "llm_calls_per_hour",
        default: "120",
        doc: "How often one process may ask it in any hour; 0 is no limit.",
        kind: KeyKind::Number(0, 1_000_000),
    },
    Key {
        name: "llm_tokens_per_hour",
        default: "2000000",
        doc: "How many tokens one process may have it read and write in any hour; 0 is no limit.",
        kind: KeyKind::Number(0, 1_000_000_000),
    },
    Key {
        name: "prompts",
        default: "none",
        doc: "A folder of Markdown files that take the place of the built-in prompts of the same \
              names.",
        kind: KeyKind::Text,
    },
    Key {
        name: "hook",
        default: "on",
        doc: "What `oneiro hook` may do on this machine: `on` captures turns and adds relevant lines of \
              memory to prompts, `capture` only captures, `off` does neither. `ONEIRO_HOOK=off` in the \
              environment of an agent keeps one session out of memory.",
        kind: KeyKind::Checked(check_hook),
    },
    Key {
        name: "log",
        default: "warn",
        doc: "What is logged to standard error: off, error, warn, info, debug or trace, or a \
              filter such as `oneiro=debug`.",
        kind: KeyKind::Checked(check_log),
    },
];
