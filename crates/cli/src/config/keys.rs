//! Every key of the configuration file: its name, its default, what it does. It must not know how a
//! value is read or what it leads to.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// Any text.
    Text,
    /// Text that may be written as a number.
    Number,
    /// Text that is never shown.
    Secret,
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
        kind: KeyKind::Text,
    },
    Key {
        name: "space",
        default: "default",
        doc: "Which space of the store.",
        kind: KeyKind::Text,
    },
    Key {
        name: "durability",
        default: "full",
        doc: "What an acknowledged write survives: `full` a power loss, `normal` only the death \
              of the process.",
        kind: KeyKind::Text,
    },
    Key {
        name: "busy_timeout_ms",
        default: "20000",
        doc: "How long a writer waits for other processes before it answers `busy`.",
        kind: KeyKind::Number,
    },
    Key {
        name: "statement_timeout_ms",
        default: "300000",
        doc: "How long a statement may run on a PostgreSQL server, its wait for other writers not \
              included. Migrations and the clean-up after an erasure are not limited. A server \
              that hangs is noticed within seconds, whatever this says.",
        kind: KeyKind::Number,
    },
    Key {
        name: "listen",
        default: "127.0.0.1:4747",
        doc: "Where `oneiro serve` listens; port 0 picks one.",
        kind: KeyKind::Text,
    },
    Key {
        name: "allowed_hosts",
        default: "none",
        doc: "Names, separated by commas, that requests to `oneiro serve` may use for it beside \
              `localhost` and its address: those of a proxy before it.",
        kind: KeyKind::Text,
    },
    Key {
        name: "require_token",
        default: "false",
        doc: "Require a token on loopback too; needed behind a proxy.",
        kind: KeyKind::Text,
    },
    Key {
        name: "rate_limit",
        default: "1000",
        doc: "Requests a second that one token may make; 0 is no limit.",
        kind: KeyKind::Number,
    },
    Key {
        name: "max_body_mb",
        default: "16",
        doc: "The most megabytes of one request to `oneiro serve`.",
        kind: KeyKind::Number,
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
        kind: KeyKind::Number,
    },
    Key {
        name: "llm_calls_per_hour",
        default: "120",
        doc: "How often one process may ask it in any hour; 0 is no limit.",
        kind: KeyKind::Number,
    },
    Key {
        name: "llm_tokens_per_hour",
        default: "2000000",
        doc: "How many tokens one process may have it read and write in any hour; 0 is no limit.",
        kind: KeyKind::Number,
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
        kind: KeyKind::Text,
    },
    Key {
        name: "log",
        default: "warn",
        doc: "What is logged to standard error: off, error, warn, info, debug or trace, or a \
              filter such as `oneiro=debug`.",
        kind: KeyKind::Text,
    },
];

/// Whether the key of a name has values of this kind.
pub fn is_kind(name: &str, kind: KeyKind) -> bool {
    KEYS.iter().any(|key| key.name == name && key.kind == kind)
}
