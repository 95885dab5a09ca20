//! The last line of an extract: counts and terms of what was left out, so that readers know what to
//! expand.

use crate::conversation::Conversation;
use crate::terms::TermId;
use crate::utterance::{LEFT_OUT, LeftOut, Source, TERMS, Utterance, Utterances};

/// Maximum number of terms considered for the line.
const MAX_TERMS: usize = 600;

/// What is not in the lines of an extract.
pub(crate) struct Omitted {
    whole: LeftOut,
    clauses: usize,
}

impl Omitted {
    /// Counts it, where `is_kept` holds for what is in the lines.
    pub fn of(
        conversation: &Conversation,
        utterances: &Utterances<'_>,
        is_kept: impl Fn(u32) -> bool,
    ) -> Omitted {
        let mut shown = vec![false; utterances.all.len()];
        let mut omitted = Omitted { whole: utterances.left_out, clauses: 0 };
        for (number, clause) in (0_u32..).zip(&conversation.clauses) {
            let utterance =
                conversation.sentence_of(clause).map_or(0, |sentence| sentence.utterance);
            match shown.get_mut(utterance as usize) {
                Some(shown) if is_kept(number) => *shown = true,
                _ => omitted.clauses += 1,
            }
        }
        for (utterance, shown) in utterances.all.iter().zip(shown) {
            match utterance.source {
                _ if shown || utterance.text.trim().is_empty() => {}
                Source::Tool => omitted.whole.tool_results += 1,
                Source::Terms | Source::Call { .. } => {}
                Source::Speaker | Source::Agent | Source::System => omitted.whole.messages += 1,
            }
        }
        omitted
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.clauses == 0 && self.whole == LeftOut::default()
    }

    /// The line without terms and without its end; the short form makes no difference between
    /// messages.
    pub fn description(&self, short: bool) -> String {
        let LeftOut { messages, tool_results } = self.whole;
        let several = |count: usize, of: &str| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {of}{plural}"))
        };
        let counts = if short {
            [several(messages + tool_results, "message"), None]
        } else {
            [several(messages, "message"), several(tool_results, "tool result")]
        };
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if counts.is_empty() {
            format!("{LEFT_OUT}details")
        } else {
            format!("{LEFT_OUT}{}", counts.join("; "))
        }
    }
}

/// The terms that are in no line, the weightiest first, as they were written.
pub(crate) fn terms<'a>(
    (conversation, weights): (&Conversation, &[f32]),
    utterances: &[Utterance<'a>],
    is_kept: impl Fn(u32) -> bool,
) -> Vec<&'a str> {
    let mut covered = vec![false; weights.len()];
    for (number, clause) in (0_u32..).zip(&conversation.clauses) {
        if is_kept(number) {
            for id in conversation.terms_of(clause) {
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
            !covered && conversation.terms.get(*id).is_some_and(|term| term.names_a_topic())
        })
        .map(|((weight, id), _)| (*weight, id))
        .collect();
    let heavier = |a: &(f32, TermId), b: &(f32, TermId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if open.len() > MAX_TERMS {
        open.select_nth_unstable_by(MAX_TERMS, heavier);
        open.truncate(MAX_TERMS);
    }
    open.sort_unstable_by(heavier);
    let shown = |id: TermId| {
        let term = conversation.terms.get(id)?;
        let text = utterances.get(term.utterance as usize)?.text;
        text.get(term.start as usize..term.end as usize).filter(|shown| shown.len() <= 48)
    };
    open.iter().filter_map(|(_, id)| shown(*id)).collect()
}

/// The line with as many terms as fit; the short form where not even the counts do, or nothing.
pub(crate) fn line(
    omitted: &Omitted,
    terms: &[&str],
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    let counts = omitted.description(false);
    let with = |count: usize| match terms.get(..count).unwrap_or_default() {
        [] => format!("{counts})"),
        terms => format!("{counts}; {TERMS}{})", terms.join(", ")),
    };
    let (mut low, mut high) = (0, terms.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&with(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let short = format!("{})", omitted.description(true));
    [with(low), short].into_iter().find(|line| fits(line))
}
