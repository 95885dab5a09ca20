//! Settings that all processes of a space share, typed, with defaults. They are stored in the space
//! and cached by generation, so that a change is seen by the next write of every process.

use crate::Oneiro;
use crate::dreams::{CronText, LooseMode, LooseNumber, Weights, ZoneName};
use crate::operations::needs_person;
use crate::views;
use oneiro_model::{
    ActorKind, DreamMode, Error, NoteName, Result, SessionId, SessionPattern, Span, Timestamp,
};
use oneiro_store::{Tx, sequence, settings};
use serde_json::Value;
use std::collections::BTreeMap;
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
    /// Sessions whose id or source matches one of these globs are run by machines: nobody typed their
    /// prompts, so these prove nothing about what people ask for.
    machine_session_patterns: Patterns = r#"["cron**", "hook**", "dream**", "heartbeat**"]"#;
    /// Whether statements of people become memories, by rules, without a model.
    learn_from_conversations: Switch = "true";
    /// Whether plain statements in a person's own words are believed at once; otherwise they wait for
    /// review like all others.
    learn_activate_own_words: Switch = "true";
    /// Projects from whose sessions nothing is learnt, as globs.
    learn_exclude_projects: Patterns = "[]";
    /// The time zone of the people of this space, such as `Europe/Lisbon`. It decides which day
    /// "yesterday" is in what they say, and on which day something counts.
    timezone: Zone = r#""UTC""#;
    /// Whether and how often the space dreams by itself: `off`, `core` (every night), `deep` (every
    /// twelve hours) or `rem` (every six hours).
    dream_mode: LooseMode = r#""off""#;
    /// Whether dreams by schedule change anything; otherwise they only say what they would change.
    dream_apply: Switch = "false";
    /// When the space dreams, as a cron expression; empty for that of the mode. An older name is
    /// `dream_frequency`.
    dream_cron: CronText = r#""""#;
    /// The time zone of the schedule of dreams, such as `Europe/Berlin`; empty for that of the space.
    dream_timezone: ZoneName = r#""""#;
    /// Maximum number of promotions by one dream; 0 turns dreams off, null is that of the mode.
    dream_limit: LooseNumber = "null";
    /// The least score of a promotion, between 0 and 1; null is that of the mode.
    dream_min_score: LooseNumber = "null";
    /// The least number of recalls of a promotion; null is that of the mode.
    dream_min_recall_count: LooseNumber = "null";
    /// The least number of different prompts of a promotion; null is that of the mode.
    dream_min_unique_queries: LooseNumber = "null";
    /// Days after which a recall counts half in the score of a dream; null is 14, 0 never fades.
    dream_half_life_days: LooseNumber = "null";
    /// The weights of the parts of a dream's score, as an object with `frequency`, `relevance`,
    /// `diversity`, `recency`, `consolidation` and `conceptual`; null is those of openclaw. They are
    /// scaled to add up to 1.
    dream_weights: Weights = "null";
    /// Maximum characters of the note MEMORY.md.
    memory_char_limit: Number<1, 1_000_000> = "2200";
    /// Maximum characters of the note USER.md.
    user_char_limit: Number<1, 1_000_000> = "1375";
    /// The notes that belong into a prompt, in order.
    prompt_notes: NoteNames = r#"["MEMORY.md", "USER.md"]"#;
    /// Texts that notes start with, by name. A note that equals its template is left out of prompts.
    note_templates: NoteTemplates = "{}";
    /// Notes that a program writes from other texts, by name, or by file name in any folder. They prove
    /// nothing: packs and searches of several kinds leave them out.
    generated_notes: NoteNames = r#"["DREAMS.md"]"#;
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

/// On or off.
pub(crate) struct Switch;

impl SettingKind for Switch {
    type Value = bool;

    fn read(name: &str, value: &Value) -> Result<bool> {
        value.as_bool().ok_or_else(|| {
            Error::field(name.to_owned(), format!("{value} is neither true nor false"))
        })
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

/// The name of a time zone in the database of IANA.
pub(crate) struct Zone;

impl SettingKind for Zone {
    type Value = jiff::tz::TimeZone;

    fn read(name: &str, value: &Value) -> Result<jiff::tz::TimeZone> {
        let wrong = || {
            Error::field(name.to_owned(), format!("{value} is not a time zone"))
                .remedy(r#"write a name such as "Europe/Lisbon" or "UTC""#)
        };
        jiff::tz::TimeZone::get(value.as_str().ok_or_else(wrong)?).map_err(|_| wrong())
    }
}

/// Names of notes.
pub(crate) struct NoteNames;

impl SettingKind for NoteNames {
    type Value = Vec<NoteName>;

    fn read(name: &str, value: &Value) -> Result<Vec<NoteName>> {
        let wrong = || {
            Error::field(name.to_owned(), "is not a list of names of notes")
                .remedy(r#"write ["MEMORY.md"]"#)
        };
        let items = value.as_array().ok_or_else(wrong)?.iter();
        items.map(|item| NoteName::parse(item.as_str().ok_or_else(wrong)?)).collect()
    }
}

/// Texts by names of notes.
pub(crate) struct NoteTemplates;

impl SettingKind for NoteTemplates {
    type Value = BTreeMap<String, String>;

    fn read(name: &str, value: &Value) -> Result<BTreeMap<String, String>> {
        let wrong = || {
            Error::field(name.to_owned(), "is not an object of texts by names of notes")
                .remedy(r##"write {"SOUL.md": "# Soul"}"##)
        };
        let mut templates = BTreeMap::new();
        for (note, text) in value.as_object().ok_or_else(wrong)? {
            NoteName::parse(note)?;
            templates.insert(note.clone(), text.as_str().ok_or_else(wrong)?.to_owned());
        }
        Ok(templates)
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

/// The day of a time where the space's people live, as YYYY-MM-DD.
pub(crate) fn day_in(tx: &Tx<'_>, at: Timestamp) -> Result<String> {
    let zone = Zone::read("timezone", &value_of("timezone", &settings::all(tx)?)?.value)?;
    let offset = Span::seconds(utc_offset_seconds(&zone, at).into());
    Ok(at.plus(offset).printable().date_text())
}

fn utc_offset_seconds(zone: &jiff::tz::TimeZone, at: Timestamp) -> i32 {
    let at = jiff::Timestamp::from_microsecond(at.printable().micros());
    at.map_or(0, |at| zone.to_offset(at).seconds())
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

impl Settings {
    /// Seconds by which clocks of the space's people are ahead of UTC at a time.
    pub(crate) fn utc_offset_seconds(&self, at: Timestamp) -> i32 {
        utc_offset_seconds(&self.timezone, at)
    }

    /// Whether the prompts of a session come from a machine.
    pub(crate) fn is_of_machine(&self, id: &SessionId, source: &str) -> bool {
        let patterns = self.machine_session_patterns.iter();
        patterns.into_iter().any(|pattern| pattern.matches(id.as_str()) || pattern.matches(source))
    }
}

/// The setting that lets scheduled dreams change beliefs.
pub(crate) const DREAM_APPLY: &str = "dream_apply";

/// The names by which hosts know some settings.
const OLDER_NAMES: &[(&str, &str)] = &[("dream_frequency", "dream_cron")];

/// Refuses an unknown mode of dreams. One that is stored means off, so that a store of another version
/// still opens.
fn check_mode(name: &str, value: &Value) -> Result<()> {
    if name != "dream_mode" {
        return Ok(());
    }
    let word = value.as_str().unwrap_or_default().trim().to_lowercase();
    let is_known = word.is_empty() || DreamMode::parse(&word).is_ok();
    if is_known {
        return Ok(());
    }
    Err(Error::field("dream_mode", format!("{value} is not a mode"))
        .remedy("write off, core, deep or rem"))
}

fn setting(name: &str) -> Result<&'static Setting> {
    // dream.mode and dream_mode are the same setting.
    let plain = name.replace('.', "_");
    let older = OLDER_NAMES.iter().find(|(older, _)| *older == plain);
    let name = older.map_or(plain.as_str(), |(_, name)| name);
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

    /// Sets a setting, or resets it to its default. Only a person lets scheduled dreams change beliefs.
    pub fn set(&self, name: &str, value: Option<Value>) -> Result<SettingValue> {
        let setting = setting(name)?;
        if let Some(value) = &value {
            (setting.check)(setting.name, value)?;
            check_mode(setting.name, value)?;
        }
        let lets_dreams_apply = setting.name == DREAM_APPLY && value == Some(Value::Bool(true));
        if lets_dreams_apply && self.oneiro.store.actor().kind != ActorKind::Person {
            return Err(needs_person("let scheduled dreams change beliefs"));
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
