//! Splits a sentence into clauses, each with at most one statement.

use crate::patterns::RuleBook;
use crate::sentence::{Sentence, TokenKind};

/// How a clause is joined to what precedes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// It begins the sentence, or has a subject of its own.
    Free,
    /// It begins with a verb whose subject is that of the clause before.
    SharedSubject,
    /// It depends on the clause before: which, although, so that.
    Subordinate,
}

/// Tokens of a sentence that make a clause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clause {
    pub from: usize,
    pub to: usize,
    pub join: Join,
}

/// Words within which a noun before "and my wife" gets its verb.
const VERB_WITHIN: usize = 5;

/// Words before a colon from which on a clause may follow it.
const COLON_AFTER: usize = 4;

/// Words of the first of two subjects, at most: "my older sister and I".
const SUBJECT_WORDS: usize = 3;

/// The clauses of a sentence, in order.
pub(crate) fn clauses(sentence: &Sentence, book: &RuleBook) -> Vec<Clause> {
    let count = without_closing(sentence, book);
    let mut all = vec![Clause { from: 0, to: count, join: Join::Free }];
    let kind = |at: usize| sentence.tokens.get(at).map(|token| token.kind);
    let mut at = 1;
    while at < count {
        let start = all.last().map_or(0, |clause| clause.from);
        let after = match kind(at) {
            Some(TokenKind::Break) => Some((at + 1, Join::Free)),
            // "From now on, please sign my mails": when it holds belongs to it.
            Some(TokenKind::Comma) if is_time(sentence, book, (start, at)) => None,
            Some(TokenKind::Comma) => after_comma(sentence, book, at + 1),
            // Fewer words before a colon may be the name of somebody else.
            Some(TokenKind::Colon) if at - start >= COLON_AFTER => {
                after_comma(sentence, book, at + 1)
            }
            Some(TokenKind::Word) if !is_compound(sentence, book, (start, at)) => {
                after_join(sentence, book, at)
            }
            _ => None,
        };
        let Some((next, join)) = after.filter(|(next, _)| *next < count) else {
            at += 1;
            continue;
        };
        if let Some(last) = all.last_mut() {
            last.to = at;
        }
        all.push(Clause { from: next, to: count, join });
        at = next.max(at + 1);
    }
    all.retain(|clause| clause.from < clause.to);
    all
}

/// Whether words only say when.
fn is_time(sentence: &Sentence, book: &RuleBook, (from, to): (usize, usize)) -> bool {
    let words = sentence.fold_of((from, to));
    book.time_leads.end(words) == Some(words.len())
}

/// How many tokens a sentence has without the words that close it: ", in case you wonder".
fn without_closing(sentence: &Sentence, book: &RuleBook) -> usize {
    let count = sentence.tokens.len();
    let is_comma =
        |at: &usize| sentence.tokens.get(*at).is_some_and(|token| token.kind == TokenKind::Comma);
    let Some(comma) = (1..count).rev().find(is_comma) else { return count };
    let last = sentence.fold_of((comma + 1, count));
    if book.closing.end(last) == Some(last.len()) { comma } else { count }
}

fn rest_of(sentence: &Sentence, at: usize) -> &str {
    sentence.fold_of((at, sentence.tokens.len()))
}

fn after_comma(sentence: &Sentence, book: &RuleBook, at: usize) -> Option<(usize, Join)> {
    let rest = rest_of(sentence, at);
    if let Some(found) = after_join(sentence, book, at) {
        return Some(found);
    }
    if book.subordinators.matches(rest) {
        return Some((at, Join::Subordinate));
    }
    starts_clause(sentence, book, at).then_some((at, Join::Free))
}

/// The clause after a conjunction, if one begins there.
fn after_join(sentence: &Sentence, book: &RuleBook, at: usize) -> Option<(usize, Join)> {
    let end = book.joins.end(rest_of(sentence, at))?;
    let base = sentence.tokens.get(at)?.fold_start;
    let tokens = sentence.tokens.iter().enumerate().skip(at);
    let next = tokens.take_while(|(_, token)| token.fold_start < base + end).last()?.0 + 1;
    if starts_clause(sentence, book, next) {
        return Some((next, Join::Free));
    }
    book.verbs.matches(rest_of(sentence, next)).then_some((next, Join::SharedSubject))
}

/// Whether the words before a conjunction are the first of two subjects.
fn is_compound(sentence: &Sentence, book: &RuleBook, (start, at): (usize, usize)) -> bool {
    let words = sentence.fold_of((start, at));
    at > start + 1
        && at - start <= SUBJECT_WORDS
        && book.possessives.matches(words)
        && !book.finite.matches(words)
}

fn starts_clause(sentence: &Sentence, book: &RuleBook, at: usize) -> bool {
    let rest = rest_of(sentence, at);
    if book.pronouns.matches(rest) {
        return true;
    }
    if !book.possessives.matches(rest) {
        return false;
    }
    let tokens = sentence.tokens.iter().enumerate().skip(at).take(VERB_WITHIN + 1);
    let until = tokens.take_while(|(_, token)| token.kind == TokenKind::Word).last();
    until.is_some_and(|(last, _)| book.finite.matches(sentence.fold_of((at + 1, last + 1))))
}
