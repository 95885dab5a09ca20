//! What every process of a space must agree on, typed, with defaults. Kept in the space itself and
//! cached by generation, so that a change by any process is seen by the next write of every other.

use crate::Oneiro;
use crate::views;
use oneiro_model::{Error, Result, SessionId, SessionPattern};
use oneiro_store::{Tx, sequence, settings};
use serde_json::Value;
use std::sync::{Arc, PoisonError};

/// A setting of a space.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its default, as JSON.
    pub default: &'static str,
    doc: &'static str,
    /// Refuses a value that it cannot have.
    check: fn(&str, &Value) -> Result<()>,
}

impl Setting {
    /// What it does.
    pub fn doc(&self) -> &'static str {
        self.doc.trim()
    }
}

/// What a setting may hold.
pub(crate) trait SettingKind {
    /// What it is read as.
    type Value;

    fn read(name: &str, value: &Value) -> Result<Self::Value>;
}

/// Declares the settings: what each does, its name, what it may hold, and its default as JSON.
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
    /// Sessions whose id matches one of these globs may exist, but nothing said in them is
    /// stored.
    stateless_session_patterns: Patterns = "[]";
    /// Whose vectors searches by meaning use: `static` is the built-in model, `openai` the server
    /// that `embedder_url` names, `none` is words alone.
    embedder: EmbedderChoice = r#""static""#;
    /// The most tokens of messages that one leaf summary covers; a single larger message has one
    /// to itself.
    leaf_chunk_tokens: Number<500, 1_000_000> = "20000";
    /// The fewest messages that are worth a leaf summary, unless they are large.
    leaf_min_fanout: Number<2, 1_000> = "8";
    /// The tokens a leaf summary should have.
    leaf_target_tokens: Number<64, 100_000> = "1200";
    /// The fewest neighbouring summaries of one depth that are condensed into one.
    condensed_min_fanout: Number<2, 1_000> = "4";
    /// The tokens a condensed summary should have.
    condensed_target_tokens: Number<64, 100_000> = "2000";
    /// How many of the newest turns compaction leaves alone.
    fresh_tail_turns: Number<1, 10_000> = "8";
    /// The most tokens that the fresh tail may have; the newest turn belongs to it always.
    fresh_tail_tokens: Number<0, 10_000_000> = "12000";
    /// How much of a window's budget, in percent, a context may fill before it is compacted in
    /// the background.
    context_threshold: Number<10, 100> = "75";
    /// After how many minutes without a message a session is compacted in the background; 0 is
    /// never.
    idle_compact_after: Number<0, 525_600> = "0";
    /// Whether summaries and messages beyond a session's own lineage may be expanded and searched
    /// by those who ask for it: `allow` or `refuse`.
    other_sessions: OtherSessions = r#""allow""#;
}

/// A whole number within bounds.
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

/// Declares a setting that is one of a few words.
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
    /// Whose vectors searches by meaning use.
    EmbedderChoice {
        /// The built-in model of words.
        Static "static",
        /// A server that speaks the OpenAI protocol.
        OpenAi "openai",
        /// Nobody's: words alone.
        None "none",
    }
}

word_setting! {
    /// Whether what is beyond a session's lineage may be asked for.
    OtherSessions {
        /// It may.
        Allow "allow",
        /// It may not.
        Refuse "refuse",
    }
}

/// Whose vectors the space wants, as this transaction sees it.
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
    /// Whether a session must not be stored at all.
    pub(crate) fn ignores(&self, id: &SessionId) -> bool {
        self.ignore_session_patterns.iter().any(|pattern| pattern.matches(id.as_str()))
    }

    /// Whether nothing said in a session is stored.
    pub(crate) fn keeps_nothing_of(&self, id: &SessionId) -> bool {
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

    /// Sets a setting, or takes it back to its default.
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
    /// The settings as of `generation`, from memory when they have not changed since.
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
