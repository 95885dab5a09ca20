//! Settings that all processes of a space share, typed, with defaults. They are stored in the space
//! and cached by generation, so that a change is seen by the next write of every process.

use crate::Oneiro;
use crate::views;
use oneiro_model::{Error, Result, SessionId, SessionPattern};
use oneiro_store::{Tx, sequence, settings};
use serde_json::Value;
use std::sync::{Arc, PoisonError};

/// A setting of a space.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The name.
    pub name: &'static str,
    /// The default, as JSON.
    pub default: &'static str,
    doc: &'static str,
    /// Validates a value.
    check: fn(&str, &Value) -> Result<()>,
}

impl Setting {
    /// The description.
    pub fn doc(&self) -> &'static str {
        self.doc.trim()
    }
}

/// The type of a setting.
pub(crate) trait SettingKind {
    type Value;

    fn read(name: &str, value: &Value) -> Result<Self::Value>;
}

/// Declares the settings: description, name, type, and default as JSON.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $default:literal;)*) => {
        /// Every setting of a space.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            default: $default,
            doc: concat!($($doc),+),
            check: |name, value| <$kind as SettingKind>::read(name, value).map(|_| ()),
        }),*];

        /// The settings of a space, read.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $($(#[doc = $doc])+ pub(crate) $name: <$kind as SettingKind>::Value,)*
        }

        impl Settings {
            pub(crate) fn read(rows: &[(String, String)]) -> Result<Settings> {
                Ok(Settings {
                    $($name: {
                        let name = stringify!($name);
                        <$kind as SettingKind>::read(name, &value_of(name, rows)?.value)?
                    },)*
                })
            }
        }
    };
}

settings! {
    /// Sessions whose id matches one of these globs are not stored at all. `*` is a run without a
    /// colon, `**` is anything.
    ignore_session_patterns: Patterns = r#"["heartbeat"]"#;
    /// Messages of sessions whose id matches one of these globs are not stored; the sessions
    /// themselves may exist.
    stateless_session_patterns: Patterns = "[]";
    /// Vectors for semantic search: `static` is the built-in model, `openai` the server in
    /// `embedder_url`, `none` turns it off.
    embedder: EmbedderChoice = r#""static""#;
    /// Tokens of messages that one leaf summary covers; a larger message gets a leaf of its own.
    leaf_chunk_tokens: Number<100, 1_000_000> = "3000";
    /// Minimum number of messages per leaf summary, unless they are large.
    leaf_min_fanout: Number<2, 1_000> = "8";
    /// Target length of a leaf summary, in tokens. A summary over four times as many messages is
    /// twice as long.
    leaf_target_tokens: Number<64, 100_000> = "400";
    /// Number of adjacent summaries that are condensed into one.
    condensed_min_fanout: Number<2, 1_000> = "2";
    /// Maximum length of a condensed summary, in tokens.
    condensed_target_tokens: Number<64, 100_000> = "2000";
    /// Tokens of messages under a summary from which on the model writes it. Smaller summaries are
    /// extracts: they are many, and a window shows their messages before long.
    model_chunk_tokens: Number<1, 10_000_000> = "5000";
    /// Number of newest turns that compaction leaves unchanged.
    fresh_tail_turns: Number<1, 10_000> = "8";
    /// Maximum tokens of the unchanged newest turns; the newest turn always belongs to them.
    fresh_tail_tokens: Number<0, 10_000_000> = "12000";
    /// Share of a window, in percent, that the newest messages fill before summaries of older ones
    /// get more detailed.
    fresh_share: Number<5, 95> = "25";
    /// Share of a window's budget, in percent, above which the context is compacted in the
    /// background.
    context_threshold: Number<10, 100> = "75";
    /// Minutes without a message after which a session is compacted in the background; 0 turns it
    /// off.
    idle_compact_after: Number<0, 525_600> = "0";
    /// Whether summaries and messages outside a session's lineage may be expanded and searched on
    /// request: `allow` or `refuse`.
    other_sessions: OtherSessions = r#""allow""#;
}

/// Tokens of messages that a model reads for one summary, unless the settings ask for more; above it
/// reads the summaries below.
pub(crate) const MODEL_SOURCE_TOKENS: usize = 20_000;

impl Settings {
    /// Maximum tokens that a model reads for one summary.
    pub(crate) fn model_input_tokens(&self) -> usize {
        self.model_chunk_tokens.max(self.leaf_chunk_tokens).max(MODEL_SOURCE_TOKENS) * 3 / 2
    }
}

/// An integer within bounds.
pub(crate) struct Number<const MIN: usize, const MAX: usize>;

impl<const MIN: usize, const MAX: usize> SettingKind for Number<MIN, MAX> {
    type Value = usize;

    fn read(name: &str, value: &Value) -> Result<usize> {
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.filter(|number| (MIN..=MAX).contains(number)).ok_or_else(|| {
            let wrong = format!("{value} is not a whole number between {MIN} and {MAX}");
            Error::field(name.to_owned(), wrong)
        })
    }
}

/// Globs over session ids.
pub(crate) struct Patterns;

impl SettingKind for Patterns {
    type Value = Vec<SessionPattern>;

    fn read(name: &str, value: &Value) -> Result<Vec<SessionPattern>> {
        let wrong = || {
            Error::field(name.to_owned(), "is not a list of strings").remedy(r#"write ["cron:*"]"#)
        };
        let items = value.as_array().ok_or_else(wrong)?.iter();
        items.map(|item| SessionPattern::parse(item.as_str().ok_or_else(wrong)?)).collect()
    }
}

/// Declares a setting with a fixed set of values.
macro_rules! word_setting {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $value_doc:literal])+ $value:ident $word:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $value_doc])+ $value,)+
        }

        impl SettingKind for $name {
            type Value = $name;

            fn read(name: &str, value: &Value) -> Result<$name> {
                match value.as_str() {
                    $(Some($word) => Ok($name::$value),)+
                    _ => Err(Error::field(name.to_owned(), format!("{value} is none of {}",
                        [$($word),+].join(", ")))),
                }
            }
        }
    };
}

word_setting! {
    /// Which vectors semantic search uses.
    EmbedderChoice {
        /// The built-in word vectors.
        Static "static",
        /// A server with an OpenAI-compatible API.
        OpenAi "openai",
        /// None: searches use words only.
        None "none",
    }
}

word_setting! {
    /// Whether content outside a session's lineage may be requested.
    OtherSessions {
        /// Requests are allowed.
        Allow "allow",
        /// Requests are refused.
        Refuse "refuse",
    }
}

/// The embedder setting in this transaction.
pub(crate) fn embedder_in(tx: &Tx<'_>) -> Result<EmbedderChoice> {
    EmbedderChoice::read("embedder", &value_of("embedder", &settings::all(tx)?)?.value)
}

/// A setting and where its value comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingValue {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// Whether it was set in this space.
    pub is_set: bool,
}

pub(crate) struct Cached {
    generation: i64,
    settings: Arc<Settings>,
}

impl Settings {
    /// Whether a session is not stored at all.
    pub(crate) fn ignores(&self, id: &SessionId) -> bool {
        self.ignore_session_patterns.iter().any(|pattern| pattern.matches(id.as_str()))
    }

    /// Whether the messages of a session are not stored.
    pub(crate) fn is_stateless(&self, id: &SessionId) -> bool {
        self.ignores(id)
            || self.stateless_session_patterns.iter().any(|pattern| pattern.matches(id.as_str()))
    }
}

fn setting(name: &str) -> Result<&'static Setting> {
    SETTINGS
        .iter()
        .find(|setting| setting.name == name)
        .ok_or_else(|| Error::field("setting", format!("{name:?} is not a setting of a space")))
}

fn value_of(name: &str, rows: &[(String, String)]) -> Result<SettingValue> {
    let setting = setting(name)?;
    let stored = rows.iter().find(|(row, _)| row == name).map(|(_, value)| value.as_str());
    let value = serde_json::from_str(stored.unwrap_or(setting.default)).map_err(|error| {
        Error::new(oneiro_model::ErrorKind::Corrupt, format!("the setting {name} is not JSON"))
            .remedy(format!("set the setting {name} again"))
            .because(error)
    })?;
    Ok(SettingValue { name: setting.name, value, is_set: stored.is_some() })
}

impl views::Settings<'_> {
    /// Every setting with its value.
    pub fn list(&self) -> Result<Vec<SettingValue>> {
        let rows = self.oneiro.store.read(settings::all)?;
        SETTINGS.iter().map(|setting| value_of(setting.name, &rows)).collect()
    }

    /// Sets a setting, or resets it to its default.
    pub fn set(&self, name: &str, value: Option<Value>) -> Result<SettingValue> {
        let setting = setting(name)?;
        if let Some(value) = &value {
            (setting.check)(setting.name, value)?;
        }
        let name = setting.name;
        let text = value.map(|value| value.to_string());
        let now = self.oneiro.now();
        self.oneiro.store.write(move |tx| settings::put(tx, name, text.as_deref(), now))?;
        value_of(name, &self.oneiro.store.read(settings::all)?)
    }
}

impl Oneiro {
    /// The settings as of `generation`, from the cache if they have not changed.
    pub(crate) fn settings_at(&self, tx: &Tx<'_>, generation: i64) -> Result<Arc<Settings>> {
        {
            let cached = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(cached) = cached.as_ref().filter(|cached| cached.generation == generation) {
                return Ok(Arc::clone(&cached.settings));
            }
        }
        let settings = Arc::new(Settings::read(&settings::all(tx)?)?);
        let mut cached = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        *cached = Some(Cached { generation, settings: Arc::clone(&settings) });
        Ok(settings)
    }

    /// The settings as this transaction sees them.
    pub(crate) fn settings_in(&self, tx: &Tx<'_>) -> Result<Arc<Settings>> {
        self.settings_at(tx, sequence::settings_generation(tx)?)
    }
}
