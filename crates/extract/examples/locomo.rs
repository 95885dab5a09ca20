//! Measures extracts on LoCoMo, which is handed in as a file. It owns the measures; it must not
//! judge them.
//!
//! `cargo run --release -p oneiro-extract --example locomo -- locomo10.json [show]`
//!
//! Each conversation is cut into chunks, each chunk condensed to an eighth of its tokens. Of the
//! extract of the chunk that holds the evidence of a question: *answer*, the share of questions of
//! which all, or half, of the gold answer's content words are in it; *evidence*, the share of
//! evidence turns of which half of the terms are in it; *first*, the share of questions whose words
//! it has more of than the extracts of all other chunks. A set of words is all that is looked at, so
//! a word that the last line names counts as one in a sentence: *its lines* is without that line.
//! *Everything* is the whole chunk, the most there could be: answers of category 2 are dates that
//! nobody said. Weights were chosen on conversations 1-5. Of 6-10, all categories; these figures were
//! printed beside the others all along, and chose nothing:
//!
//! | chunks of 5,000 tokens | answer all | half | evidence | first |
//! |---|---|---|---|---|
//! | extract | 45.3 | 72.6 | 67.4 | 57.9 |
//! | its lines | 35.4 | 62.1 | 51.0 | 53.1 |
//! | first eighth | 9.9 | 23.9 | 28.1 | 36.1 |
//! | last eighth | 10.8 | 24.6 | 27.1 | 35.4 |
//! | random sentences | 10.6 | 28.0 | 39.0 | 37.3 |
//! | everything | 68.8 | 81.4 | 100 | 58.6 |
//!
//! | chunks of 20,000 tokens | answer all | half | evidence | first (of one or two) |
//! |---|---|---|---|---|
//! | extract | 57.5 | 83.9 | 96.4 | 95.7 |
//! | its lines | 51.6 | 79.5 | 94.3 | 95.8 |
//! | first eighth | 19.0 | 41.7 | 78.6 | 90.4 |
//! | last eighth | 17.0 | 38.7 | 72.0 | 91.7 |
//! | random sentences | 21.5 | 47.0 | 84.3 | 93.0 |
//! | everything | 71.1 | 83.2 | 100 | 96.2 |
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs
)]

use std::collections::{BTreeSet, HashMap};

use jiff::civil::Date;
use oneiro_extract::{ExtractRequest, SourceMessage, extract};
use oneiro_text::{Analyzer, Kind, is_filler};
use serde_json::Value;

struct Turn {
    id: String,
    speaker: String,
    text: String,
    day: Option<Date>,
}

struct Question {
    text: String,
    answer: String,
    category: usize,
    evidence: Vec<String>,
}

struct Conversation {
    turns: Vec<Turn>,
    questions: Vec<Question>,
}

fn turns_named(evidence: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in evidence.split('D').skip(1) {
        let mut numbers =
            piece.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        if let (Some(session), Some(turn)) = (numbers.next(), numbers.next()) {
            found.push(format!("D{session}:{turn}"));
        }
    }
    found
}

/// The day of "1:56 pm on 8 May, 2023".
fn day(text: &str) -> Option<Date> {
    Date::strptime("%d %B, %Y", text.split_once(" on ")?.1).ok()
}

fn read(path: &str) -> Vec<Conversation> {
    let data: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the file")).expect("JSON");
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut all = Vec::new();
    for sample in data.as_array().expect("a list") {
        let mut turns = Vec::new();
        for number in 1.. {
            let key = format!("session_{number}");
            if sample["conversation"].get(format!("{key}_date_time")).is_none() {
                break;
            }
            let day = day(&text(&sample["conversation"][format!("{key}_date_time")]));
            for turn in sample["conversation"][&key].as_array().into_iter().flatten() {
                turns.push(Turn {
                    id: text(&turn["dia_id"]),
                    speaker: text(&turn["speaker"]),
                    text: text(&turn["text"]),
                    day,
                });
            }
        }
        let mut questions = Vec::new();
        for question in sample["qa"].as_array().expect("questions") {
            let category = question["category"].as_u64().unwrap_or(5) as usize;
            let evidence = question["evidence"].as_array().into_iter().flatten();
            let mut evidence: Vec<String> =
                evidence.filter_map(Value::as_str).flat_map(turns_named).collect();
            evidence.retain(|id| turns.iter().any(|turn| turn.id == *id));
            if category > 4 || evidence.is_empty() {
                continue;
            }
            questions.push(Question {
                text: text(&question["question"]),
                answer: text(&question["answer"]),
                category,
                evidence,
            });
        }
        all.push(Conversation { turns, questions });
    }
    all
}

/// About what o200k makes of English: this crate is below the one that counts exactly.
fn count(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = 0;
    for letter in text.chars() {
        if letter.is_ascii_alphabetic() {
            tokens += usize::from(run % 7 == 0);
            run += 1;
        } else {
            run = 0;
            tokens += usize::from(!letter.is_whitespace() || letter == '\n');
        }
    }
    tokens
}

fn terms(analyzer: &mut Analyzer, text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    analyzer.tokens(text, |token| {
        let informative = !token.stop && !is_filler(token.norm) && token.kind != Kind::Part;
        if informative && (token.norm.len() > 1 || token.norm.starts_with(char::is_numeric)) {
            terms.insert(token.term.to_owned());
        }
    });
    terms
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Extract,
    Lines,
    First,
    Last,
    Random,
    Whole,
}

fn line(turn: &Turn) -> String {
    format!("{}: {}", turn.speaker, turn.text)
}

/// As many lines as fit.
fn take<'a>(lines: impl Iterator<Item = &'a String>, target: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for line in lines {
        let cost = count(line) + 1;
        if used + cost > target {
            continue;
        }
        used += cost;
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn until<'a>(lines: impl Iterator<Item = &'a String>, target: usize) -> String {
    let mut used = 0;
    let fitting = lines.take_while(|line| {
        used += count(line) + 1;
        used <= target
    });
    fitting.map(|line| format!("{line}\n")).collect()
}

fn condense(way: Way, chunk: &[&Turn], target: usize) -> String {
    let lines: Vec<String> = chunk.iter().map(|turn| line(turn)).collect();
    match way {
        Way::Whole => lines.join("\n"),
        Way::First => until(lines.iter(), target),
        Way::Last => until(lines.iter().rev(), target),
        Way::Random => {
            let mut sentences: Vec<String> = Vec::new();
            for turn in chunk {
                for sentence in turn.text.split_inclusive(['.', '!', '?']) {
                    sentences.push(format!("{}: {}", turn.speaker, sentence.trim()));
                }
            }
            let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
            for at in (1..sentences.len()).rev() {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                sentences.swap(at, (seed >> 33) as usize % (at + 1));
            }
            take(sentences.iter(), target)
        }
        Way::Extract | Way::Lines => {
            let said: Vec<SourceMessage<'_>> = chunk
                .iter()
                .map(|turn| SourceMessage {
                    speaker: &turn.speaker,
                    text: &turn.text,
                    day: turn.day,
                })
                .collect();
            let text = extract(&ExtractRequest { said: &said, target, about: None, count: &count });
            assert!(count(&text) <= target);
            match text.rsplit_once('\n') {
                Some((lines, last)) if way == Way::Lines && last.starts_with("(left out: ") => {
                    lines.to_owned()
                }
                _ => text,
            }
        }
    }
}

#[derive(Default, Clone, Copy)]
struct Tally {
    questions: f64,
    all: f64,
    half: f64,
    turns: f64,
    covered: f64,
    first: f64,
}

fn measure(conversations: &[Conversation], way: Way, size: usize) -> [Tally; 5] {
    let mut analyzer = Analyzer::default();
    let mut tallies = [Tally::default(); 5];
    for conversation in conversations {
        let mut chunks: Vec<Vec<&Turn>> = vec![Vec::new()];
        let mut chars = 0;
        for turn in &conversation.turns {
            if chars >= size {
                chunks.push(Vec::new());
                chars = 0;
            }
            chars += turn.text.len() + turn.speaker.len() + 2;
            chunks.last_mut().unwrap().push(turn);
        }
        let mut place = HashMap::new();
        let mut frequency: HashMap<String, f64> = HashMap::new();
        for (number, chunk) in chunks.iter().enumerate() {
            for turn in chunk {
                place.insert(turn.id.as_str(), (number, *turn));
                for term in terms(&mut analyzer, &turn.text) {
                    *frequency.entry(term).or_default() += 1.0;
                }
            }
        }
        let extracts: Vec<BTreeSet<String>> = chunks
            .iter()
            .map(|chunk| {
                let tokens: usize = chunk.iter().map(|turn| count(&line(turn)) + 1).sum();
                terms(&mut analyzer, &condense(way, chunk, tokens / 8))
            })
            .collect();
        let turns = conversation.turns.len() as f64;
        for question in &conversation.questions {
            let mut tally = Tally { questions: 1.0, ..Tally::default() };
            let holding: BTreeSet<usize> =
                question.evidence.iter().map(|id| place[id.as_str()].0).collect();
            let answer = terms(&mut analyzer, &question.answer);
            let met =
                answer.iter().filter(|term| holding.iter().any(|at| extracts[*at].contains(*term)));
            let met = met.count();
            tally.all = f64::from(met == answer.len());
            tally.half = f64::from(2 * met >= answer.len());
            for id in &question.evidence {
                let (number, turn) = place[id.as_str()];
                let said = terms(&mut analyzer, &turn.text);
                let met = said.iter().filter(|term| extracts[number].contains(*term)).count();
                tally.turns += 1.0;
                tally.covered += f64::from(2 * met >= said.len());
            }
            let asked = terms(&mut analyzer, &question.text);
            let score = |extract: &BTreeSet<String>| -> f64 {
                let met = asked.iter().filter(|term| extract.contains(*term));
                met.map(|term| (turns / frequency.get(term).copied().unwrap_or(1.0)).ln()).sum()
            };
            let scores: Vec<f64> = extracts.iter().map(score).collect();
            let best = scores.iter().copied().fold(0.0, f64::max);
            let tied = scores.iter().filter(|score| **score >= best).count() as f64;
            if holding.iter().any(|at| scores[*at] >= best) {
                tally.first = 1.0 / tied;
            }
            for into in [question.category, 0] {
                let into = &mut tallies[into];
                into.questions += tally.questions;
                into.all += tally.all;
                into.half += tally.half;
                into.turns += tally.turns;
                into.covered += tally.covered;
                into.first += tally.first;
            }
        }
    }
    tallies
}

fn table(name: &str, conversations: &[Conversation], size: usize) {
    println!("\n{name}, chunks of {} tokens to an eighth", size / 4);
    println!("{:<10} {:>4}  answer all  half   evidence  first", "", "cat");
    for (way, title) in [
        (Way::Extract, "extract"),
        (Way::Lines, "its lines"),
        (Way::First, "first 1/8"),
        (Way::Last, "last 1/8"),
        (Way::Random, "random"),
        (Way::Whole, "everything"),
    ] {
        let tallies = measure(conversations, way, size);
        for (category, tally) in tallies.iter().enumerate() {
            let share = |part: f64, of: f64| 100.0 * part / of.max(1.0);
            println!(
                "{title:<10} {:>4} {:>10.1} {:>6.1} {:>9.1} {:>6.1}",
                if category == 0 { "all".to_owned() } else { category.to_string() },
                share(tally.all, tally.questions),
                share(tally.half, tally.questions),
                share(tally.covered, tally.turns),
                share(tally.first, tally.questions),
            );
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("the file locomo10.json");
    let conversations = read(&path);
    let (dev, test) = conversations.split_at(5);
    match arguments.next().as_deref() {
        Some("show") => {
            let chunk: Vec<&Turn> = conversations[0].turns.iter().take(170).collect();
            let tokens: usize = chunk.iter().map(|turn| count(&line(turn)) + 1).sum();
            println!("{}", condense(Way::Extract, &chunk, tokens / 8));
        }
        _ => {
            for (name, half) in
                [("conversations 1-5 (tuned on)", dev), ("conversations 6-10 (held out)", test)]
            {
                for size in [80_000, 20_000] {
                    table(name, half, size);
                }
            }
        }
    }
}
