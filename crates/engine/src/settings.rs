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
    /// What it does.
    pub doc: &'static str,
}

/// Every setting of a space.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "ignore_session_patterns",
        default: r#"["heartbeat"]"#,
        doc: "Sessions whose id matches one of these globs are not stored at all. `*` is a run \
              without a colon, `**` is anything.",
    },
    Setting {
        name: "stateless_session_patterns",
        default: "[]",
        doc: "Sessions whose id matches one of these globs may exist, but nothing said in them is \
              stored.",
    },
    Setting {
        name: "embedder",
        default: r#""static""#,
        doc: "Whose vectors searches by meaning use: `static` is the built-in model, `openai` the \
              server that `embedder_url` names, `none` is words alone.",
    },
    Setting {
        name: "leaf_chunk_tokens",
        default: "20000",
        doc: "The most tokens of messages that one leaf summary covers; a single larger message \
              has one to itself.",
    },
    Setting {
        name: "leaf_min_fanout",
        default: "8",
        doc: "The fewest messages that are worth a leaf summary, unless they are large.",
    },
    Setting {
        name: "leaf_target_tokens",
        default: "1200",
        doc: "The tokens a leaf summary should have.",
    },
    Setting {
        name: "condensed_min_fanout",
        default: "4",
        doc: "The fewest neighbouring summaries of one depth that are condensed into one.",
    },
    Setting {
        name: "condensed_target_tokens",
        default: "2000",
        doc: "The tokens a condensed summary should have.",
    },
    Setting {
        name: "fresh_tail_turns",
        default: "8",
        doc: "How many of the newest turns compaction leaves alone.",
    },
    Setting {
        name: "fresh_tail_tokens",
        default: "12000",
        doc: "The most tokens that the fresh tail may have; the newest turn belongs to it always.",
    },
    Setting {
        name: "context_threshold",
        default: "75",
        doc: "How much of a window's budget, in percent, a context may fill before it is compacted \
              in the background.",
    },
    Setting {
        name: "idle_compact_after",
        default: "0",
        doc: "After how many minutes without a message a session is compacted in the background; \
              0 is never.",
    },
    Setting {
        name: "other_sessions",
        default: r#""allow""#,
        doc: "Whether summaries and messages beyond a session's own lineage may be expanded and \
              searched by those who ask for it: `allow` or `refuse`.",
    },
];

/// The settings that are numbers, with the least and the most they may be.
const NUMBERS: &[(&str, i64, i64)] = &[
    ("leaf_chunk_tokens", 500, 1_000_000),
    ("leaf_min_fanout", 2, 1_000),
    ("leaf_target_tokens", 64, 100_000),
    ("condensed_min_fanout", 2, 1_000),
    ("condensed_target_tokens", 64, 100_000),
    ("fresh_tail_turns", 1, 10_000),
    ("fresh_tail_tokens", 0, 10_000_000),
    ("context_threshold", 10, 100),
    ("idle_compact_after", 0, 525_600),
];

/// The settings of a space, read.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sessions that are not stored at all.
    pub ignore_session_patterns: Vec<SessionPattern>,
    /// Sessions in which nothing said is stored.
    pub stateless_session_patterns: Vec<SessionPattern>,
    /// Whose vectors searches use.
    pub embedder: EmbedderChoice,
    /// How contexts are compacted.
    pub compaction: Compaction,
    /// Whether what is beyond a session's lineage may be asked for.
    pub allows_other_sessions: bool,
}

/// How contexts are compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// The most tokens under one leaf.
    pub leaf_chunk_tokens: usize,
    /// The fewest messages worth a leaf.
    pub leaf_min_fanout: usize,
    /// What a leaf should cost.
    pub leaf_target_tokens: usize,
    /// The fewest summaries worth a condensed one.
    pub condensed_min_fanout: usize,
    /// What a condensed one should cost.
    pub condensed_target_tokens: usize,
    /// Newest turns that are left alone.
    pub fresh_tail_turns: usize,
    /// Their most tokens.
    pub fresh_tail_tokens: usize,
    /// Percent of a budget after which compaction begins.
    pub context_threshold: usize,
    /// Minutes after which an idle session is compacted; 0 is never.
    pub idle_compact_after: i64,
}

/// Whose vectors searches by meaning use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedderChoice {
    /// The built-in model of words.
    Static,
    /// A server that speaks the OpenAI protocol.
    OpenAi,
    /// Nobody's: words alone.
    None,
}

impl EmbedderChoice {
    fn parse(value: &Value) -> Result<EmbedderChoice> {
        match value.as_str() {
            Some("static") => Ok(EmbedderChoice::Static),
            Some("openai") => Ok(EmbedderChoice::OpenAi),
            Some("none") => Ok(EmbedderChoice::None),
            _ => Err(Error::field("embedder", format!("{value} is not an embedder"))
                .remedy("give static, openai or none")),
        }
    }
}

/// Whose vectors the space wants, as this transaction sees it.
pub(crate) fn embedder_in(tx: &Tx<'_>) -> Result<EmbedderChoice> {
    EmbedderChoice::parse(&value_of("embedder", &settings::all(tx)?)?.value)
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
    pub fn ignores(&self, id: &SessionId) -> bool {
        self.ignore_session_patterns.iter().any(|pattern| pattern.matches(id.as_str()))
    }

    /// Whether nothing said in a session is stored.
    pub fn keeps_nothing_of(&self, id: &SessionId) -> bool {
        self.ignores(id)
            || self.stateless_session_patterns.iter().any(|pattern| pattern.matches(id.as_str()))
    }

    fn read(rows: &[(String, String)]) -> Result<Settings> {
        let patterns = |name| {
            let value = value_of(name, rows)?.value;
            let items = value.as_array().cloned().unwrap_or_default();
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(SessionPattern::parse).collect::<Result<Vec<_>>>()
        };
        let count = |name| Ok::<_, Error>(usize::try_from(number(name, rows)?).unwrap_or(0));
        Ok(Settings {
            ignore_session_patterns: patterns("ignore_session_patterns")?,
            stateless_session_patterns: patterns("stateless_session_patterns")?,
            embedder: EmbedderChoice::parse(&value_of("embedder", rows)?.value)?,
            compaction: Compaction {
                leaf_chunk_tokens: count("leaf_chunk_tokens")?,
                leaf_min_fanout: count("leaf_min_fanout")?,
                leaf_target_tokens: count("leaf_target_tokens")?,
                condensed_min_fanout: count("condensed_min_fanout")?,
                condensed_target_tokens: count("condensed_target_tokens")?,
                fresh_tail_turns: count("fresh_tail_turns")?,
                fresh_tail_tokens: count("fresh_tail_tokens")?,
                context_threshold: count("context_threshold")?,
                idle_compact_after: number("idle_compact_after", rows)?,
            },
            allows_other_sessions: value_of("other_sessions", rows)?.value == "allow",
        })
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
            .remedy(format!("set it again: oneiro config set {name} ..."))
            .because(error)
    })?;
    Ok(SettingValue { name: setting.name, value, is_set: stored.is_some() })
}

fn number(name: &str, rows: &[(String, String)]) -> Result<i64> {
    checked_number(name, &value_of(name, rows)?.value)
}

fn checked_number(name: &str, value: &Value) -> Result<i64> {
    let bounds = NUMBERS.iter().find(|(number, ..)| *number == name);
    let (_, least, most) = bounds.copied().unwrap_or(("", i64::MIN, i64::MAX));
    value.as_i64().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let wrong = format!("{value} is not a whole number between {least} and {most}");
        Error::field(name.to_owned(), wrong)
    })
}

/// Refuses a value that a setting cannot have.
fn check(name: &str, value: &Value) -> Result<()> {
    if name == "embedder" {
        return EmbedderChoice::parse(value).map(|_| ());
    }
    if NUMBERS.iter().any(|(number, ..)| *number == name) {
        return checked_number(name, value).map(|_| ());
    }
    if name == "other_sessions" {
        return match value.as_str() {
            Some("allow" | "refuse") => Ok(()),
            _ => Err(Error::field("other_sessions", format!("{value} is not allow or refuse"))),
        };
    }
    let list =
        || Error::field(name.to_owned(), "is not a list of strings").remedy(r#"write ["cron:*"]"#);
    for item in value.as_array().ok_or_else(list)? {
        SessionPattern::parse(item.as_str().ok_or_else(list)?)?;
    }
    Ok(())
}

impl views::Settings<'_> {
    /// Every setting with its value.
    pub fn list(&self) -> Result<Vec<SettingValue>> {
        let rows = self.oneiro.store.read(settings::all)?;
        SETTINGS.iter().map(|setting| value_of(setting.name, &rows)).collect()
    }

    /// Sets a setting, or takes it back to its default.
    pub fn set(&self, name: &str, value: Option<Value>) -> Result<SettingValue> {
        let name = setting(name)?.name;
        if let Some(value) = &value {
            check(name, value)?;
        }
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
