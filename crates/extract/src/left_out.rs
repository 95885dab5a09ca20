//! The last line of an extract: what is not in it, so that a reader knows what to expand for. It
//! owns the wording; it must not know how the rest was chosen.

use std::fmt::Write as _;

use crate::reading::Reading;
use crate::terms::TermId;
use crate::utterance::{LEFT_OUT, LeftOut, TERMS, Utterance, Utterances, Voice};

/// Terms looked at for the line.
const MOST_TERMS: usize = 600;

/// Counts what is not in the lines: whole messages, or sentences where a part of each is in.
pub(crate) fn counts(
    reading: &Reading,
    utterances: &Utterances<'_>,
    is_kept: impl Fn(u32) -> bool,
) -> Option<String> {
    let mut shown = vec![false; utterances.all.len()];
    let mut dropped = 0_usize;
    for (number, clause) in (0_u32..).zip(&reading.clauses) {
        let utterance = reading.sentence_of(clause).map_or(0, |sentence| sentence.utterance);
        match shown.get_mut(utterance as usize) {
            Some(shown) if is_kept(number) => *shown = true,
            _ => dropped += 1,
        }
    }
    let mut left_out: LeftOut = utterances.left_out;
    for (said, shown) in utterances.all.iter().zip(shown) {
        match said.voice {
            _ if shown || said.text.trim().is_empty() => {}
            Voice::Tool => left_out.tool_results += 1,
            Voice::Terms => {}
            _ => left_out.messages += 1,
        }
    }
    let mut line = LEFT_OUT.to_owned();
    for (count, one, many) in [
        (left_out.messages, "message", "messages"),
        (left_out.tool_results, "tool result", "tool results"),
    ] {
        if count > 0 {
            let comma = if line.len() > LEFT_OUT.len() { "; " } else { "" };
            let _ = write!(line, "{comma}{count} {}", if count == 1 { one } else { many });
        }
    }
    if line.len() == LEFT_OUT.len() {
        if dropped == 0 {
            return None;
        }
        line.push_str("details");
    }
    Some(line)
}

/// The terms that are in no line, the weightiest first, as they were written.
pub(crate) fn terms<'a>(
    (reading, weights): (&Reading, &[f32]),
    utterances: &[Utterance<'a>],
    is_kept: impl Fn(u32) -> bool,
) -> Vec<&'a str> {
    let mut covered = vec![false; weights.len()];
    for (number, clause) in (0_u32..).zip(&reading.clauses) {
        if is_kept(number) {
            for id in reading.terms_of(clause) {
                if let Some(covered) = covered.get_mut(*id as usize) {
                    *covered = true;
                }
            }
        }
    }
    let mut open: Vec<(f32, TermId)> = weights
        .iter()
        .zip(0..)
        .zip(covered)
        .filter(|((_, id), covered)| {
            !covered && reading.terms.get(*id).is_some_and(|term| term.names_a_topic())
        })
        .map(|((weight, id), _)| (*weight, id))
        .collect();
    let heavier = |a: &(f32, TermId), b: &(f32, TermId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if open.len() > MOST_TERMS {
        open.select_nth_unstable_by(MOST_TERMS, heavier);
        open.truncate(MOST_TERMS);
    }
    open.sort_unstable_by(heavier);
    let shown = |id: TermId| {
        let term = reading.terms.get(id)?;
        let text = utterances.get(term.utterance as usize)?.text;
        text.get(term.start as usize..term.end as usize).filter(|shown| shown.len() <= 48)
    };
    open.iter().filter_map(|(_, id)| shown(*id)).collect()
}

/// The line with as many terms as fit.
pub(crate) fn line(counts: &str, terms: &[&str], fits: impl Fn(&str) -> bool) -> String {
    let with = |count: usize| {
        let terms = terms.get(..count).unwrap_or_default();
        match terms {
            [] => format!("{counts})"),
            _ => format!("{counts}; {TERMS}{})", terms.join(", ")),
        }
    };
    // The most that fit, by halves: a count of tokens may fall by one where a term is added, but
    // never by more than the check at the end forgives.
    let (mut low, mut high) = (0, terms.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&with(middle)) { low = middle } else { high = middle - 1 }
    }
    with(low)
}
