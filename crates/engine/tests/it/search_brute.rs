//! The index against brute force: whatever was appended, folded, merged, taken back, deleted and
//! erased, a query finds exactly what reading every message with the analyzer says it should.

use crate::search_support::{Dice, fold, ids, open, rebuild, request, search};
use crate::support::{Fixed, assert_sound, id, new, user};
use oneiro::{
    EraseTarget, Expr, ListSessions, MessageId, Oneiro, Query, SearchRequest, Sort, Tier,
    Visibility, searchable,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use oneiro_text::{Analyzer, Phrase};
use std::collections::BTreeSet;

const WORDS: &[&str] = &[
    "apple",
    "apples",
    "river",
    "running",
    "runner",
    "ran",
    "house",
    "houses",
    "maison",
    "maisons",
    "rivière",
    "manger",
    "Haus",
    "Häuser",
    "laufen",
    "gelaufen",
    "casa",
    "corriendo",
    "manzana",
    "дом",
    "дома",
    "река",
    "реки",
    "東京",
    "京都",
    "東京都",
    "東",
    "カタカナ",
    "ไทย",
    "ภาษาไทย",
    "한국어",
    "foo_bar",
    "fooBar",
    "foo",
    "bar",
    "v1.2.3",
    "src/main.rs",
    "main",
    "naïve",
    "naive",
    "🦀",
    "👍🏽",
    "e-mail",
    "email",
    "don't",
    "HTTPServer",
    "2024-05-01",
    "42",
    "ñandú",
    "ångström",
];

const SESSIONS: &[&str] = &["a", "b", "c", "d"];

fn text(dice: &mut Dice) -> String {
    // Mostly short, sometimes of several chunks.
    let count = if dice.roll(9) == 0 { 90 + dice.roll(150) } else { 1 + dice.roll(9) };
    let joins = [" ", " ", " ", ", ", ". ", "\n"];
    let mut text = String::new();
    for _ in 0..count {
        if !text.is_empty() {
            let join = *dice.one(&joins);
            text.push_str(join);
        }
        let word = *dice.one(WORDS);
        text.push_str(word);
    }
    text
}

fn step(oneiro: &Fixed, dice: &mut Dice, known: &mut Vec<i64>) {
    let session = *dice.one(SESSIONS);
    let message = if known.is_empty() { 0 } else { *dice.one(known) };
    // Many of these are refused, of sessions that are not there or messages of others.
    match dice.roll(20) {
        0..=9 => {
            let messages = (0..1 + dice.roll(4)).map(|_| user(&text(dice))).collect();
            let said =
                oneiro.messages().append_or_create(&id(session), messages, new(session)).unwrap();
            known.extend(said.ids.iter().map(|id| id.0));
        }
        10..=12 => fold(oneiro),
        13 => drop(oneiro.sessions().rewind(&id(session), MessageId(message).into())),
        14 => drop(
            oneiro
                .sessions()
                .restore(&id(session), oneiro::RestoreRequest { all: dice.roll(2) == 0 }),
        ),
        15 => drop(oneiro.host().compact_messages(&id(session), MessageId(message))),
        16 if dice.roll(3) == 0 => drop(oneiro.sessions().delete(&id(session))),
        17 => drop(oneiro.erase(&EraseTarget::Message(MessageId(message)))),
        18 if dice.roll(3) == 0 => drop(oneiro.erase(&EraseTarget::Session(id(session)))),
        19 => rebuild(oneiro),
        _ => {}
    }
}

fn query(dice: &mut Dice, depth: usize) -> String {
    let word = |dice: &mut Dice| (*dice.one(WORDS)).to_owned();
    match dice.roll(if depth == 0 { 5 } else { 9 }) {
        0..=2 => word(dice),
        3 => format!("\"{} {}\"", word(dice), word(dice)),
        4 => {
            let word = word(dice);
            let letters = 1 + dice.roll(word.chars().count());
            let begin: String = word.chars().take(letters).collect();
            // A star after punctuation is another thing.
            if begin.chars().all(char::is_alphanumeric) {
                format!("{begin}*")
            } else {
                format!("\"{word}\"")
            }
        }
        5 => format!("({} {})", query(dice, depth - 1), query(dice, depth - 1)),
        6 => format!("({} AND {})", query(dice, depth - 1), query(dice, depth - 1)),
        7 => format!("({} OR {})", query(dice, depth - 1), query(dice, depth - 1)),
        _ => format!("({} NOT {})", query(dice, depth - 1), query(dice, depth - 1)),
    }
}

/// A message as the analyzer reads it.
struct Read {
    id: i64,
    text: String,
    terms: BTreeSet<String>,
    norms: BTreeSet<String>,
}

fn read_all(oneiro: &Oneiro) -> Vec<Read> {
    let mut analyzer = Analyzer::default();
    let every = ListSessions {
        all: true,
        archived: oneiro::ArchivedFilter::Any,
        ..ListSessions::default()
    };
    let mut read = Vec::new();
    for session in oneiro.sessions().list(&every).unwrap().items {
        for message in oneiro.sessions().show(&session.id, true).unwrap().messages {
            if message.visibility == Visibility::Rewound {
                continue;
            }
            let text = searchable(&message.role, &message.body);
            let (mut terms, mut norms) = (BTreeSet::new(), BTreeSet::new());
            for chunk in oneiro_text::chunks(&text) {
                analyzer.tokens(&text[chunk], |token| {
                    terms.insert(token.term.to_owned());
                    norms.insert(token.norm.to_owned());
                });
            }
            read.push(Read { id: message.id.0, text, terms, norms });
        }
    }
    read
}

fn holds(expr: &Expr, read: &Read, analyzer: &mut Analyzer) -> bool {
    meets(expr, (read, false), analyzer)
}

/// Whether a message meets a query. A word that is refused is refused as a `whole`, whatever its
/// parts do elsewhere.
fn meets(expr: &Expr, (read, whole): (&Read, bool), analyzer: &mut Analyzer) -> bool {
    let only_whole = whole;
    match expr {
        Expr::Word(text) => analyzer.query_words(text).iter().all(|word| {
            let has = |term: &String| read.terms.contains(term);
            let whole =
                if word.all { word.terms.iter().all(has) } else { word.terms.iter().any(has) };
            let first = |part: &oneiro_text::QueryWord| part.terms.first().is_some_and(has);
            let in_parts = !word.parts.is_empty() && word.parts.iter().all(first);
            whole || in_parts && (!only_whole || !word.norm.is_ascii())
        }),
        Expr::Phrase(text) => Phrase::new(text).find(&read.text).is_some(),
        Expr::Prefix(text) => {
            let begin = oneiro_text::normalise(text);
            read.norms.iter().any(|word| word.starts_with(&begin))
        }
        Expr::Infix(_) | Expr::Regex(_) => unreachable!("not asked for"),
        Expr::And(list) => list.iter().all(|one| meets(one, (read, whole), analyzer)),
        Expr::Or(list) => list.iter().any(|one| meets(one, (read, whole), analyzer)),
        Expr::Not(one) => !meets(one, (read, true), analyzer),
    }
}

/// What is wrong with the answers to `count` random queries.
fn compare(oneiro: &Fixed, dice: &mut Dice, count: usize, wrong: &mut Vec<String>) {
    let mut analyzer = Analyzer::default();
    let read = read_all(oneiro);
    for _ in 0..count {
        let text = query(dice, 2);
        // Brackets make sure that the query is taken as it is written.
        let text = if dice.roll(4) == 0 { text } else { format!("({text})") };
        let parsed = Query::parse(&text, oneiro.now()).unwrap();
        // Plain words are ranked, and an identifier among them is first of all itself.
        let is_simple = |word: &oneiro_text::QueryWord| word.parts.is_empty() && !word.all;
        let simple = analyzer.query_words(&text).iter().all(is_simple);
        if !parsed.explicit && (text.contains(' ') || !simple) {
            continue;
        }
        let expr = parsed.expr.as_ref().unwrap();
        let matching = read.iter().filter(|read| holds(expr, read, &mut analyzer));
        let mut wanted: Vec<i64> = matching.map(|read| read.id).collect();
        wanted.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        wanted.truncate(200);
        // What is relaxed because nothing matches is named so in the order of relevance.
        let ranked = search(oneiro, request(&text));
        let found = search(oneiro, SearchRequest { sort: Sort::Newest, ..request(&text) });
        let relaxed = ranked.tier != Some(Tier::Precise);
        let precise = if relaxed { Vec::new() } else { ids(&found) };
        let mut best = if relaxed { Vec::new() } else { ids(&ranked) };
        best.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        if parsed.explicit && best != precise {
            wrong.push(format!("{text}: {best:?} by relevance, {precise:?} by time"));
        }
        if precise != wanted {
            let differ = |a: &[i64], b: &[i64]| -> Vec<i64> {
                a.iter().filter(|id| !b.contains(id)).copied().collect()
            };
            let (missing, more) = (differ(&wanted, &precise), differ(&precise, &wanted));
            let example = missing.iter().chain(&more).next();
            let example = read.iter().find(|read| Some(&read.id) == example);
            let example = example.map(|read| read.text.chars().take(80).collect::<String>());
            wrong.push(format!(
                "{text}: {} of {}, missing {missing:?}, too many {more:?}, such as {example:?}",
                precise.len(),
                wanted.len()
            ));
        }
    }
}

/// What is wrong with the answers to `count` exact searches for one to three words.
fn compare_exact(oneiro: &Fixed, dice: &mut Dice, count: usize, wrong: &mut Vec<String>) {
    let mut analyzer = Analyzer::default();
    let read = read_all(oneiro);
    for _ in 0..count {
        let words: Vec<&str> = (0..1 + dice.roll(3)).map(|_| *dice.one(WORDS)).collect();
        let text = words.join(" ");
        let parsed = Query::parse(&text, oneiro.now()).unwrap();
        let expr = parsed.expr.as_ref().unwrap();
        let matching = read.iter().filter(|read| meets(expr, (read, true), &mut analyzer));
        let mut wanted: Vec<i64> = matching.map(|read| read.id).collect();
        wanted.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        wanted.truncate(200);
        let exact = |query: &str, sort| {
            search(oneiro, SearchRequest { exact: true, sort, ..request(query) })
        };
        let ranked = exact(&text, Sort::Relevance);
        let mut best = ids(&ranked);
        best.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        let newest = ids(&exact(&text, Sort::Newest));
        if best != wanted || newest != wanted {
            wrong.push(format!("{text}: {best:?} and {newest:?}, not {wanted:?}"));
        }
        // A query with an operator is answered another way, with the same scores.
        let operands = words.join(" AND ");
        let by_operators = exact(&format!("({operands}) OR zzqxwv"), Sort::Relevance);
        let scores = |found: &oneiro::Found| -> Vec<(i64, f64)> {
            found.hits.iter().map(|hit| (hit.id.0, hit.score)).collect()
        };
        if scores(&by_operators) != scores(&ranked) {
            wrong.push(format!("{text}: {:?}, not {:?}", scores(&ranked), scores(&by_operators)));
        }
    }
}

on_both_backends! {
    fn an_exact_search_for_words_finds_the_same_messages_as_a_full_scan(space) {
        let oneiro = open(space);
        let (mut wrong, mut known, mut dice) = (Vec::new(), Vec::new(), Dice(0xE8AC7));
        for _ in 0..6 {
            for _ in 0..20 {
                step(&oneiro, &mut dice, &mut known);
            }
            compare_exact(&oneiro, &mut dice, 30, &mut wrong);
        }
        assert!(wrong.is_empty(), "{} wrong answers, such as\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    }

    fn a_search_finds_the_same_messages_as_a_full_scan(space) {
        let mut wrong = Vec::new();
        let seeds: &[u64] = match space.backend {
            Backend::Sqlite => &[0x5EED, 0xBEEF, 99_991, 0xABCD_EF01],
            Backend::Postgres => &[0x5EED],
        };
        for seed in seeds {
            let space = TestSpace::new(space.backend);
            let oneiro = open(&space);
            let mut dice = Dice(*seed);
            let mut known = Vec::new();
            for _ in 0..6 {
                for _ in 0..20 {
                    step(&oneiro, &mut dice, &mut known);
                }
                compare(&oneiro, &mut dice, 40, &mut wrong);
                compare(&open(&space), &mut dice, 10, &mut wrong);
            }
            assert_sound(&oneiro);
        }
        assert!(wrong.is_empty(), "{} wrong answers, such as\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    }
}
