//! Factors by which sentences are weighted: their purpose, their form, their speaker and their
//! position, each with its reason.

use oneiro_text::Analyzer;

use crate::conversation::{Conversation, Sentence};
use crate::cues::Cue;
use crate::machine::Machine;
use crate::segment::Shape;
use crate::terms::TermId;
use crate::utterance::{Source, Utterance};

/// The factor of each sentence, for the weights of its terms.
pub(crate) fn factors(conversation: &Conversation, utterances: &[Utterance<'_>]) -> Vec<f32> {
    let open = open_questions(conversation, utterances);
    let is_work = utterances.iter().any(|said| said.source == Source::Tool);
    let last = conversation.sentences.last().map_or(0, |sentence| sentence.utterance);
    let mut factors = Vec::with_capacity(conversation.sentences.len());
    for (sentence, open) in conversation.sentences.iter().zip(open) {
        let source = utterances.get(sentence.utterance as usize).map(|said| said.source);
        let mut factor = by_purpose(sentence, open) * by_form(sentence);
        if let Some(Source::Call { is_repeated }) = source {
            // That something was looked up says little; that it was tried eleven times says more.
            factor *= if is_repeated { 1.0 } else { 0.2 };
        } else if source == Some(Source::Tool) {
            // A tool says a hundred words for one that matters: mostly how it ended.
            let ended = sentence.last && sentence.machine.is_none();
            // The caller mostly says how it ended; what went wrong is only here.
            factor *= if ended || sentence.cues.has(Cue::Outcome) {
                0.6
            } else if sentence.cues.has(Cue::Error) {
                0.9
            } else {
                0.35
            };
        } else if source == Some(Source::Agent)
            && sentence.cues.has(Cue::Plan)
            && !sentence.settles()
        {
            // What an agent is about to do is in what came of it.
            factor *= 0.3;
        } else if is_work && source == Some(Source::Speaker) {
            // Whom the work is done for says what is wanted.
            factor *= 1.3;
        } else if source == Some(Source::System) {
            factor *= 0.4;
        }
        // What it began with and what it came to.
        if sentence.utterance == 0 || sentence.utterance + 1 >= last {
            factor *= 1.1;
        }
        if sentence.first {
            factor *= 1.05;
        }
        factors.push(factor);
    }
    factors
}

/// What speakers say about themselves.
const FIRST_PERSON_FACTOR: f32 = 1.2;

/// Bold text.
const BOLD_FACTOR: f32 = 1.3;

/// Amounts, versions and ticket numbers cannot be guessed.
const NUMBER_FACTOR: f32 = 1.2;

/// A sentence with a date is an event.
const DATE_FACTOR: f32 = 2.0;

fn by_purpose(sentence: &Sentence, open: bool) -> f32 {
    let mut factor = 1.0;
    for (cue, value) in [
        // What was settled is what the next turn must not ask again.
        (Cue::Decision, 1.8),
        // What replaced it, or came of it, is what is true now.
        (Cue::Correction, 1.6),
        (Cue::Outcome, 1.5),
        // Everybody announces everything: a little more than nothing.
        (Cue::Plan, 1.1),
        // What failed, and above all what a stack of frames came to.
        (Cue::Error, 1.6),
        (Cue::Raised, 2.0),
        (Cue::Open, 1.4),
        // In talk between people nearly every sentence has one, so it can only tip the scales.
        (Cue::Fact, 1.15),
        (Cue::Courtesy, 0.85),
    ] {
        if sentence.cues.has(cue) {
            factor *= value;
        }
    }
    // What somebody did, and when, is what others ask for later.
    if sentence.is_own {
        factor *= FIRST_PERSON_FACTOR;
    }
    if sentence.names_date() {
        factor *= DATE_FACTOR;
    }
    if sentence.is_emphasised {
        factor *= BOLD_FACTOR;
    }
    if sentence.has_number {
        factor *= NUMBER_FACTOR;
    }
    if sentence.is_question {
        // An answered question is in its answer.
        factor *= if open { 1.8 } else { 0.7 };
    }
    factor
}

fn by_form(sentence: &Sentence) -> f32 {
    let machine = match sentence.machine {
        Some(Machine::Command) => 1.25,
        Some(Machine::Code) => 0.4,
        Some(Machine::Log) => 0.15,
        Some(Machine::Frame) => 0.08,
        Some(Machine::Listing) => 0.15,
        None => 1.0,
    };
    let shape = match sentence.shape {
        Shape::Prose | Shape::Item => 1.0,
        Shape::Heading => 1.1,
        Shape::Code if sentence.machine == Some(Machine::Command) => 1.0,
        Shape::Code => 0.5,
    };
    machine * shape
}

/// For each sentence, whether it is a question that nobody answered: after it no other speaker
/// said anything but questions of their own.
fn open_questions(conversation: &Conversation, utterances: &[Utterance<'_>]) -> Vec<bool> {
    let speaker = |sentence: &Sentence| {
        let said = utterances.get(sentence.utterance as usize)?;
        said.source.is_spoken().then_some(said.speaker)
    };
    let mut open = vec![false; conversation.sentences.len()];
    // Who made a statement after the place that is looked at: one speaker, or more than one.
    let mut stated: Option<&str> = None;
    let mut by_several = false;
    for (sentence, open) in conversation.sentences.iter().zip(open.iter_mut()).rev() {
        let Some(by) = speaker(sentence) else { continue };
        if sentence.is_question {
            *open = !by_several && stated.is_none_or(|stated| stated == by);
        } else {
            by_several |= stated.is_some_and(|stated| stated != by);
            stated = Some(by);
        }
    }
    open
}

/// Terms of the question.
const QUESTION_TERM_FACTOR: f32 = 3.0;

/// Raises the weights of a question's terms, of the sentences with them, and of the sentences
/// around those. Without a common term nothing changes.
pub(crate) fn favour_question(
    conversation: &Conversation,
    (about, analyzer): (&str, &mut Analyzer),
    (weights, factors): (&mut [f32], &mut [f32]),
) {
    let mut question_terms: Vec<TermId> = Vec::new();
    analyzer.tokens(about, |token| question_terms.extend(conversation.terms.find(&token)));
    question_terms.sort_unstable();
    question_terms.dedup();
    let weight = |id: &TermId| weights.get(*id as usize).copied().unwrap_or_default();
    let total: f32 = question_terms.iter().map(weight).sum();
    if total <= 0.0 {
        return;
    }
    let mut matched = vec![0.0_f32; conversation.sentences.len()];
    for clause in &conversation.clauses {
        let found = conversation
            .terms_of(clause)
            .iter()
            .filter(|id| question_terms.binary_search(id).is_ok());
        if let Some(matched) = matched.get_mut(clause.sentence as usize) {
            *matched += found.map(weight).sum::<f32>() / total;
        }
    }
    let at = |place: Option<usize>| place.and_then(|place| matched.get(place)).copied();
    for (place, factor) in factors.iter_mut().enumerate() {
        // An answer comes after the question more often than before it.
        let around = [
            (Some(place), 1.0),
            (place.checked_sub(1), 0.5),
            (place.checked_sub(2), 0.3),
            (Some(place + 1), 0.3),
            (Some(place + 2), 0.15),
        ];
        let near = around.map(|(place, share)| at(place).unwrap_or_default() * share);
        *factor *= 0.05 + near.into_iter().fold(0.0, f32::max);
    }
    for id in question_terms {
        if let Some(weight) = weights.get_mut(id as usize) {
            *weight *= QUESTION_TERM_FACTOR;
        }
    }
}
