//! Titles of captured sessions: the one that the transcript gives, or else the first sentence that
//! the person wrote.

use super::Agent;
use super::harness;
use super::reader::{TitleFact, TitledBy};
use crate::secrets::redact_secrets;
use crate::sessions::fetch_session;
use oneiro_model::host::PageRequest;
use oneiro_model::{Lineage, Message, Part, Result, Role, SessionId, Title, parts};
use oneiro_store::{SessionRef, Tx, messages, sessions, titles};
use serde_json::{Value, json};

/// Messages at the beginning of a session among which a sentence is looked for.
const FIRST_MESSAGES: usize = 32;

/// Sentences of fewer characters are joined with the next: "Hi!" says too little.
const SHORT_SENTENCE_CHARS: usize = 8;

/// A paragraph of more lines is pasted unless most of them are prose.
const TYPED_LINES: usize = 6;

/// A captured session that gets a title.
pub(super) struct Titled<'a> {
    pub(super) key: i64,
    pub(super) id: &'a SessionId,
    pub(super) agent: Agent,
}

impl Titled<'_> {
    /// Gives the session the best title its transcript has for it. One that a person gave it here
    /// stays: only a title that came from a transcript is replaced by a better one.
    pub(super) fn set_best(&self, tx: &Tx<'_>, given: &[TitleFact]) -> Result<()> {
        let mut best: Option<(Title, TitledBy)> = None;
        for title in given.iter().filter(|title| !harness::is_harness(self.agent, &title.text)) {
            let is_of_session = match &title.of_message {
                Some(message) => messages::by_external_id(tx, self.key, message)?.is_some(),
                None => true,
            };
            let is_better = best.as_ref().is_none_or(|(_, by)| title.by >= *by);
            if is_of_session && is_better {
                best = Title::shorten(&redact_secrets(&title.text))
                    .map(|text| (text, title.by))
                    .or(best);
            }
        }
        match best {
            Some((title, by)) => self.set(tx, &title, by),
            None => self.set_sentence(tx),
        }
    }

    /// Gives a session without a title the first sentence of the person. What a subagent is asked
    /// is not the person's.
    pub(super) fn set_sentence(&self, tx: &Tx<'_>) -> Result<()> {
        let Some(session) = sessions::get_without_prompt(tx, self.key)? else { return Ok(()) };
        if session.title.is_some() || session.lineage == Some(Lineage::Delegate) {
            return Ok(());
        }
        let first = PageRequest { after: 0, limit: FIRST_MESSAGES, hidden: true };
        for message in messages::page(tx, SessionRef { key: self.key, id: self.id }, first)? {
            let title = sentence_of(self.agent, message);
            let title = title.as_deref().map(redact_secrets);
            if let Some(title) = title.as_deref().and_then(Title::shorten) {
                return self.set(tx, &title, TitledBy::Sentence);
            }
        }
        Ok(())
    }

    fn set(&self, tx: &Tx<'_>, title: &Title, by: TitledBy) -> Result<()> {
        let session = fetch_session(tx, self.key)?;
        let last = session.metadata.get("titled");
        let last_text = |name: &str| last.and_then(|last| last.get(name)).and_then(Value::as_str);
        if last_text("text") == Some(title.as_str()) {
            return Ok(());
        }
        if let Some(current) = &session.title {
            let is_ours = last_text("title") == Some(current);
            let was_by = last_text("by").and_then(TitledBy::parse);
            if !is_ours || was_by > Some(by) {
                return Ok(());
            }
        }
        let free = match titles::session_with(tx, title.as_str())? {
            Some(holder) if holder != self.key => titles::next(tx, title.as_str())?,
            _ => title.as_str().to_owned(),
        };
        titles::set(tx, self.key, Some(&free))?;
        let mut metadata = session.metadata;
        let titled = json!({"by": by.as_str(), "text": title.as_str(), "title": free});
        metadata.insert("titled".to_owned(), titled);
        let metadata = Some(Value::Object(metadata).to_string());
        let fields = sessions::Fields { metadata, ..sessions::Fields::default() };
        sessions::overwrite(tx, self.key, &fields)
    }
}

/// Removes the title of a session if it comes from a message that is being erased.
pub(crate) fn remove_title_of_message(tx: &Tx<'_>, key: i64, message: &Message) -> Result<()> {
    let session = fetch_session(tx, key)?;
    let text_of = |name: &str| session.metadata.get("titled")?.get(name)?.as_str();
    let is_sentence = text_of("by") == Some(TitledBy::Sentence.as_str());
    if !text_of("text").is_some_and(|text| is_sentence && has_words(message, text)) {
        return Ok(());
    }
    if session.title.as_deref() == text_of("title") {
        titles::set(tx, key, None)?;
    }
    let mut metadata = session.metadata;
    metadata.shift_remove("titled");
    let metadata = Some(Value::Object(metadata).to_string());
    sessions::overwrite(tx, key, &sessions::Fields { metadata, ..sessions::Fields::default() })
}

/// Whether a message has every word of a title. Earlier versions took other sentences for titles,
/// so the sentence is not compared.
fn has_words(message: &Message, title: &str) -> bool {
    let texts = parts(&message.role, &message.body).into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Harness { text, .. } => Some(text),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    // A word that is cut short or stands in place of a secret is not in the message.
    let words = title.split_whitespace().filter(|word| !word.contains(['…', '[']));
    words.into_iter().all(|word| texts.iter().any(|text| text.contains(word)))
}

/// The first sentence of the person in a message. Messages that were captured before harness text
/// was marked are marked here, in a copy, since they stay as they are.
fn sentence_of(agent: Agent, mut message: Message) -> Option<String> {
    let is_reminder = message.body.get("kind").and_then(Value::as_str) == Some("meta");
    match message.role {
        Role::User => harness::mark(agent, &mut message.role, &mut message.body),
        Role::System if is_reminder => {
            message.role = Role::User;
            harness::mark(agent, &mut message.role, &mut message.body);
            if !message.body.contains_key("harness") {
                return None;
            }
        }
        _ => {}
    }
    if message.role != Role::User {
        return None;
    }
    parts(&message.role, &message.body).into_iter().find_map(|part| match part {
        Part::Text(text) => first_sentence(text),
        _ => None,
    })
}

/// The first sentence of a text that is prose: not a command, not code, not something pasted. Of a
/// list, the first item.
fn first_sentence(text: &str) -> Option<String> {
    for paragraph in paragraphs(text) {
        let prose: Vec<ProseLine<'_>> = paragraph.iter().filter_map(|line| prose(line)).collect();
        if paragraph.len() > TYPED_LINES && prose.len() * 2 <= paragraph.len() {
            continue;
        }
        let mut first = String::new();
        let mut is_in_list = false;
        for line in prose {
            if line.is_item && is_in_list && first.chars().count() >= SHORT_SENTENCE_CHARS {
                break;
            }
            is_in_list |= line.is_item;
            first.push_str(if first.is_empty() { "" } else { " " });
            first.push_str(line.text);
        }
        let sentence = cut_sentence(&first);
        if !sentence.is_empty() {
            return Some(sentence);
        }
    }
    None
}

/// The paragraphs of a text without fenced code, as lines.
fn paragraphs(text: &str) -> Vec<Vec<&str>> {
    let mut found = vec![Vec::new()];
    let mut is_fenced = false;
    for line in text.lines() {
        let is_fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        is_fenced ^= is_fence;
        match found.last_mut() {
            Some(open) if !is_fence && !is_fenced && !line.trim().is_empty() => open.push(line),
            _ => found.push(Vec::new()),
        }
    }
    found
}

/// What of a line is prose.
struct ProseLine<'a> {
    text: &'a str,
    /// Whether it begins an item of a list.
    is_item: bool,
}

fn prose(line: &str) -> Option<ProseLine<'_>> {
    // Text that was pasted or dropped into the prompt stands there by its number.
    let is_placeholder = line.starts_with("[Pasted text #") || line.starts_with("[Image #");
    let line =
        if is_placeholder { line.split_once(']').map_or("", |(_, rest)| rest) } else { line };
    let is_indented = line.starts_with("  ") || line.starts_with('\t');
    let line = line.trim();
    let item = list_item(line);
    let text = item.unwrap_or(line);
    if is_indented && item.is_none() && looks_like_code(text) {
        return None;
    }
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let signs = text.chars().filter(|letter| !letter.is_whitespace()).count();
    let is_markup = text.starts_with(['<', '{', '[', '|', '>', '+', '='])
        || ["$ ", "# ", "## ", "### ", "@@"].iter().any(|mark| text.starts_with(mark));
    let is_prose = letters * 2 > signs && !is_markup && !is_command(text) && !is_timed(text);
    is_prose.then_some(ProseLine { text, is_item: item.is_some() })
}

/// The first item of the list that a line begins: `- x`, or `1. x` without the `2. y` after it.
fn list_item(line: &str) -> Option<&str> {
    if let Some(item) = ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(item.trim_start());
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = line.get(..digits)?.parse().ok()?;
    let rest = line.get(digits..)?;
    let mark = ['.', ')'].into_iter().find(|mark| rest.starts_with(*mark))?;
    let item = rest.get(1..)?.strip_prefix(' ')?;
    let next = format!(" {}{mark} ", number.checked_add(1)?);
    Some(item.split_once(&next).map_or(item, |(item, _)| item).trim())
}

/// Whether an indented line is code rather than words: it has few words, or signs of a program.
fn looks_like_code(line: &str) -> bool {
    line.split_whitespace().count() < 3
        || line.contains([';', '{', '}', '=', '(', '<', '`', '|'])
        || line.ends_with(':')
}

/// Whether a line is a slash command, and not a path.
fn is_command(line: &str) -> bool {
    let name = line.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| !name.contains(['/', '.']))
}

/// Whether a line begins with a time, as those of a log do.
fn is_timed(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_digit = |at: usize| first.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_clock = first.find(':').is_some_and(|at| at > 0 && is_digit(at - 1) && is_digit(at + 1));
    let is_date =
        (0..4).all(is_digit) && matches!(first.as_bytes().get(4), Some(b'-' | b'/' | b'.'));
    is_digit(0) && is_clock || is_date
}

fn cut_sentence(text: &str) -> String {
    let mut letters = text.char_indices().enumerate().peekable();
    while let Some((count, (at, letter))) = letters.next() {
        let is_last = letters.peek().is_none_or(|(_, (_, next))| next.is_whitespace());
        let ends = match letter {
            '.' | '!' | '?' | '؟' | '…' => is_last,
            '。' | '！' | '？' | '।' => true,
            _ => false,
        };
        if ends && count + 1 >= SHORT_SENTENCE_CHARS {
            let sentence = text.get(..at + letter.len_utf8()).unwrap_or(text);
            return sentence.trim_end_matches(['.', '。']).to_owned();
        }
    }
    text.trim_end_matches(['.', '。']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_prose_in_any_script() {
        for (text, want) in [
            ("Fix the parser. It fails on tabs.", Some("Fix the parser")),
            ("Hi! Can you fix the parser? Thanks", Some("Hi! Can you fix the parser?")),
            ("fix version 1.2.3 of the\nparser now", Some("fix version 1.2.3 of the parser now")),
            ("/clear", None),
            ("@src/main.rs explain this function", Some("@src/main.rs explain this function")),
            ("#42 is broken, please fix it", Some("#42 is broken, please fix it")),
            ("2026年の計画を立ててください。", Some("2026年の計画を立ててください")),
            ("100: what does this code mean?", Some("100: what does this code mean?")),
            ("/model opus\nwhy is the sky blue?", Some("why is the sky blue?")),
            ("/srv/ann/hive is full, why?", Some("/srv/ann/hive is full, why?")),
            ("```\nlet a = b;\n```\nwhat is this?", Some("what is this?")),
            ("[Pasted text #1 +20 lines] explain it", Some("explain it")),
            ("[Image #1]", None),
            ("{\"a\": 1}\n\n<div>x</div>\n\nmake it smaller", Some("make it smaller")),
            ("2026-03-02 09:00 ERROR it broke\n09:00:01 again\n\nhelp me", Some("help me")),
            ("パーサーを直してください。タブで失敗します。", Some("パーサーを直してください")),
            ("почему небо синее? я не знаю", Some("почему небо синее?")),
            ("لماذا السماء زرقاء؟ لا أعرف", Some("لماذا السماء زرقاء؟")),
            ("पार्सर को ठीक करो। यह टूटा है।", Some("पार्सर को ठीक करो।")),
            ("- fix the parser\n- then the tests", Some("fix the parser")),
            ("1. fix the parser\n2. then the tests", Some("fix the parser")),
            ("1. fix the parser 2. then the tests", Some("fix the parser")),
            (
                "1) fix the parser\n   which fails on tabs\n2) test it",
                Some("fix the parser which fails on tabs"),
            ),
            (
                "Please do this:\n1. fix the parser\n2. test it",
                Some("Please do this: fix the parser"),
            ),
            ("1. tea\n2. bread\n3. milk", Some("tea bread")),
            ("    fix the parser please", Some("fix the parser please")),
            ("  fix the parser\nplease. Now", Some("fix the parser please")),
            ("\tlet a = b;\nwhat is this?", Some("what is this?")),
            ("    return x\n\nwhat is this?", Some("what is this?")),
            ("It was 1999. What now?", Some("It was 1999")),
            ("3.5 is the version, why?", Some("3.5 is the version, why?")),
            ("", None),
        ] {
            assert_eq!(first_sentence(text).as_deref(), want, "{text:?}");
        }
    }

    #[test]
    fn a_pasted_block_is_passed_over() {
        let log: String =
            (0..9).map(|n| format!("at com.example.Main(Main.java:{n})\n    x();\n")).collect();
        assert_eq!(
            first_sentence(&format!("{log}\nwhy does it stop?")).as_deref(),
            Some("why does it stop?")
        );
    }
}
