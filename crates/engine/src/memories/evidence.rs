//! Evidence: looks up quotes in captured messages and judges how far their words are trusted.

use super::relation::is_negated;
use crate::sessions::{key_of, message_in};
use crate::transcripts::outside_harness;
use oneiro_model::{
    Citation, DistrustKind, MessageId, MessageRef, Part, Result, Role, SessionId, Timestamp, Trust,
    parts, searchable_split,
};
use oneiro_store::message_rows::{self, MessageRow};
use oneiro_store::{SessionRef, Tx, distrusts, sessions};
use oneiro_text::{Analyzer, Kind, Phrase};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Newest messages of a session in which a quote is looked up.
const SESSION_MESSAGES: usize = 512;

/// Newest messages of the space in which a quote without a session is looked up.
const SPACE_MESSAGES: usize = 256;

/// Least words of a quote that makes an agent's statement active.
const QUOTE_WORDS: usize = 3;

/// Least characters of such a quote in a script without spaces.
const QUOTE_CHARACTERS: usize = 6;

/// Words before a quote, in its clause, in which a negation denies it.
const WORDS_BEFORE: usize = 4;

/// Words after a quote, in its clause, in which a negation denies it.
const WORDS_AFTER: usize = 2;

/// What ends a clause.
const CLAUSE_ENDS: [char; 12] = ['.', '!', '?', ';', ':', ',', '\n', '。', '！', '？', '，', '、'];

/// Elements that are looked at in one text; what follows is not taken for the user's.
const ELEMENTS_MAX: usize = 1_000;

/// Where a quote should stand.
#[derive(Debug, Clone, Default)]
pub(super) struct QuotePlace {
    pub(super) session: Option<SessionId>,
    pub(super) message: Option<MessageRef>,
}

/// A quote that was looked up.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) citation: Citation,
    /// When the quoted message was said; `None` if no captured message holds the quote.
    pub(crate) said_at: Option<Timestamp>,
    /// Why the quote does not show that the user said what is claimed.
    pub(crate) problem: Option<&'static str>,
}

/// Where the words of a quote stand in a message.
enum Found {
    /// In what its speaker wrote.
    OwnWords,
    /// In what its speaker wrote, and a negation beside it says the opposite.
    Negated,
    /// In a result of a tool, in text of the harness, or in what the speaker quoted.
    OtherWords,
}

/// Looks up the quote of a claim. The most trusted message that holds it counts, then the newest.
pub(super) fn look_up(
    tx: &Tx<'_>,
    (quote, claim): (&str, &str),
    place: &QuotePlace,
) -> Result<Evidence> {
    let phrase = Phrase::new(quote);
    let mut best: Option<(Trust, MessageRow, SessionId)> = None;
    let mut is_negated = false;
    for row in candidates(tx, place)? {
        let Some(found) = find(&phrase, quote, &row) else { continue };
        let (trust, session) = judge(tx, &row)?;
        let trust = match found {
            Found::OwnWords => trust,
            Found::OtherWords => trust.min(Trust::Tool),
            Found::Negated => {
                is_negated = true;
                continue;
            }
        };
        if best.as_ref().is_none_or(|(best, ..)| trust > *best) {
            best = Some((trust, row, session));
        }
    }
    let quote = quote.trim().to_owned();
    Ok(match best {
        Some((trust, row, session)) => Evidence {
            said_at: Some(row.at),
            problem: weakness(&quote, claim),
            citation: Citation {
                message_id: Some(MessageId(row.seq)),
                session_id: Some(session),
                quote,
                trust,
            },
        },
        None => Evidence {
            said_at: None,
            problem: Some(if is_negated {
                "the message says the opposite of the quote"
            } else {
                "no captured message holds the quote"
            }),
            citation: Citation { message_id: None, session_id: None, quote, trust: Trust::Agent },
        },
    })
}

fn candidates(tx: &Tx<'_>, place: &QuotePlace) -> Result<Vec<MessageRow>> {
    let session = match &place.session {
        Some(id) => Some(SessionRef { key: key_of(tx, id)?, id }),
        None => None,
    };
    match (&place.message, session) {
        (Some(message), session) => {
            let id = message_in(tx, message, session)?;
            message_rows::by_ids(tx, &[id.0])
        }
        (None, Some(session)) => {
            message_rows::session_before(tx, session.key, i64::MAX, SESSION_MESSAGES)
        }
        (None, None) => message_rows::before(tx, i64::MAX, SPACE_MESSAGES),
    }
}

fn find(phrase: &Phrase, quote: &str, row: &MessageRow) -> Option<Found> {
    let searchable = searchable_split(&row.role, &row.body);
    phrase.find(&searchable.text)?;
    let own_words = match row.role {
        Role::User => typed_by_user(&row.body),
        _ => vec![searchable.text.get(..searchable.said).unwrap_or_default().to_owned()],
    };
    let mut found = Found::OtherWords;
    for text in &own_words {
        let mut rest = text.as_str();
        while let Some(range) = phrase.find(rest) {
            let (before, after) = (rest.get(..range.start)?, rest.get(range.end..)?);
            if !is_negated_by(quote, before, after) {
                return Some(Found::OwnWords);
            }
            found = Found::Negated;
            rest = after;
        }
    }
    Some(found)
}

/// Whether the words beside a quote deny it: "I don't | live in Paris", "ich mag Tee | nicht".
fn is_negated_by(quote: &str, before: &str, after: &str) -> bool {
    let before = before.rsplit(CLAUSE_ENDS).next().unwrap_or_default();
    let after = after.split(CLAUSE_ENDS).next().unwrap_or_default();
    let words_before: Vec<&str> = before.split_whitespace().rev().take(WORDS_BEFORE).collect();
    let words_before: Vec<&str> = words_before.into_iter().rev().collect();
    let words_after: Vec<&str> = after.split_whitespace().take(WORDS_AFTER).collect();
    let beside = format!("{} {}", words_before.join(" "), words_after.join(" "));
    is_negated(&beside) && !is_negated(quote)
}

/// Why a quote says too little about a claim.
fn weakness(quote: &str, claim: &str) -> Option<&'static str> {
    let has_letter = |word: &&str| word.contains(char::is_alphanumeric);
    let words = quote.split_whitespace().filter(has_letter).count();
    let characters = quote.chars().filter(|letter| is_unspaced(*letter)).count();
    if words < QUOTE_WORDS && characters < QUOTE_CHARACTERS {
        return Some("the quote is too short to show that the user said it");
    }
    if content_words(quote).is_disjoint(&content_words(claim)) {
        return Some("the quote shares no word with the statement");
    }
    None
}

/// Whether a character is of a script that puts no spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// The stems of the words that carry meaning; pairs of characters where no spaces separate words.
fn content_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    Analyzer::default().tokens(text, |token| {
        if !token.stop && !matches!(token.kind, Kind::Cjk | Kind::Emoji) {
            words.extend([token.term.to_owned(), token.norm.to_owned()]);
        }
    });
    words
}

/// What the user typed of a message.
pub(crate) fn typed_text(body: &Map<String, Value>) -> String {
    typed_by_user(body).join("\n")
}

/// What the user typed of a message, in stretches: without results and calls of tools, attached
/// documents, text of the harness, fenced blocks and quoted lines.
fn typed_by_user(body: &Map<String, Value>) -> Vec<String> {
    let mut body = body.clone();
    if let Some(Value::Array(blocks)) = body.get_mut("content") {
        for block in blocks {
            let kind = block.get("type").and_then(Value::as_str);
            if !(block.is_string() || matches!(kind, Some("text" | "input_text"))) {
                // The harness text of later blocks is found by their number.
                *block = Value::Null;
            }
        }
    }
    let mut stretches = Vec::new();
    for part in parts(&Role::User, &body) {
        if let Part::Text(text) = part {
            let outside = outside_harness(text).into_iter().flat_map(outside_elements);
            outside.for_each(|text| stretches.extend(outside_quotes(text)));
        }
    }
    stretches
}

/// The text outside elements such as `<system-reminder>...</system-reminder>`. What follows an opening
/// tag with a hyphen or an underscore in its name that is not closed is not the user's either.
fn outside_elements(text: &str) -> Vec<&str> {
    let mut outside = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut unclosed = BTreeSet::new();
    for _ in 0..ELEMENTS_MAX {
        let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|open| at + open)
        else {
            outside.extend(text.get(start..));
            return outside;
        };
        at = open + 1;
        let rest = text.get(at..).unwrap_or_default();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        let name = rest.get(..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()));
        let name = name.unwrap_or_default();
        if !name.starts_with(char::is_alphabetic) || unclosed.contains(name) {
            continue;
        }
        let close = format!("</{name}>");
        if let Some(end) = rest.find(&close) {
            outside.extend(text.get(start..open));
            at += end + close.len();
            start = at;
        } else if name.contains(['-', '_']) {
            outside.extend(text.get(start..open));
            return outside;
        } else {
            unclosed.insert(name);
        }
    }
    outside
}

/// The text outside fenced blocks and quoted lines.
fn outside_quotes(text: &str) -> Vec<String> {
    let mut outside = vec![String::new()];
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        let is_outside = fence.is_none() && marker.is_none() && !trimmed.starts_with('>');
        match (fence, marker) {
            (None, marker) => fence = marker,
            (Some(open), Some(marker)) if open == marker => fence = None,
            _ => {}
        }
        match outside.last_mut() {
            Some(last) if is_outside => {
                last.push_str(line);
                last.push('\n');
            }
            Some(last) if !last.is_empty() => outside.push(String::new()),
            _ => {}
        }
    }
    outside
}

/// How far the words of a message are trusted, and its session.
pub(crate) fn judge(tx: &Tx<'_>, row: &MessageRow) -> Result<(Trust, SessionId)> {
    let session = sessions::get_without_prompt(tx, row.session_key)?
        .ok_or_else(|| oneiro_model::Error::internal("a message has no session"))?;
    let targets = [
        (DistrustKind::Message, row.seq.to_string()),
        (DistrustKind::Session, session.id.to_string()),
        (DistrustKind::Source, session.source.clone()),
    ];
    for (kind, target) in targets {
        if distrusts::find(tx, kind, &target)?.is_some() {
            return Ok((Trust::External, session.id));
        }
    }
    Ok((trust_of(&row.role, &row.body), session.id))
}

/// The trust of a role, or the lower one that the message gives itself.
fn trust_of(role: &Role, body: &Map<String, Value>) -> Trust {
    let given =
        body.get("trust").and_then(Value::as_str).and_then(|trust| Trust::parse(trust).ok());
    given.map_or(Trust::of(role), |given| given.min(Trust::of(role)))
}
