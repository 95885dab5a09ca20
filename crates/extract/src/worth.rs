//! What a sentence is worth by what it does and where it stands. It owns these factors, with a
//! reason for each; it must not know which terms are already covered.

use oneiro_text::Analyzer;

use crate::cues::Cue;
use crate::machine::Machine;
use crate::reading::{Reading, Sentence};
use crate::segment::Shape;
use crate::terms::TermId;
use crate::utterance::{Utterance, Voice};

/// What the terms of each sentence are multiplied with.
pub(crate) fn factors(reading: &Reading, utterances: &[Utterance<'_>]) -> Vec<f32> {
    let open = open_questions(reading, utterances);
    let is_work = utterances.iter().any(|said| said.voice == Voice::Tool);
    let last = reading.sentences.last().map_or(0, |sentence| sentence.utterance);
    let mut factors = Vec::with_capacity(reading.sentences.len());
    for (sentence, open) in reading.sentences.iter().zip(open) {
        let voice = utterances.get(sentence.utterance as usize).map(|said| said.voice);
        let mut factor = by_deed(sentence, open) * by_form(sentence);
        if let Some(Voice::Call { is_repeated }) = voice {
            // That something was looked up says little; that it was tried eleven times says more.
            factor *= if is_repeated { 1.0 } else { 0.2 };
        } else if voice == Some(Voice::Tool) {
            // A tool says a hundred words for one that matters: mostly how it ended.
            let ended = sentence.last && sentence.machine.is_none();
            // Whoever called it mostly says how it ended; what went wrong stands here alone.
            factor *= if ended || sentence.cues.has(Cue::Outcome) {
                0.6
            } else if sentence.cues.has(Cue::Error) {
                0.9
            } else {
                0.35
            };
        } else if voice == Some(Voice::Agent) && sentence.cues.has(Cue::Plan) && !sentence.settles()
        {
            // What an agent is about to do is in what came of it.
            factor *= 0.3;
        } else if is_work && voice == Some(Voice::Speaker) {
            // Whom the work is done for says what is wanted.
            factor *= 1.3;
        } else if voice == Some(Voice::System) {
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

/// What speakers say of themselves is worth more than what they say of others' words.
const OWN: f32 = 1.2;

/// What its speaker set in bold.
const EMPHASISED: f32 = 1.3;

/// Amounts, versions and tickets are not to be guessed.
const NUMBERED: f32 = 1.2;

/// What has a time is an event.
const TIMED: f32 = 2.0;

fn by_deed(sentence: &Sentence, open: bool) -> f32 {
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
        factor *= OWN;
    }
    if sentence.names_date() {
        factor *= TIMED;
    }
    if sentence.is_emphasised {
        factor *= EMPHASISED;
    }
    if sentence.has_number {
        factor *= NUMBERED;
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
fn open_questions(reading: &Reading, utterances: &[Utterance<'_>]) -> Vec<bool> {
    let speaker = |sentence: &Sentence| {
        let said = utterances.get(sentence.utterance as usize)?;
        said.voice.talks().then_some(said.speaker)
    };
    let mut open = vec![false; reading.sentences.len()];
    // Who made a statement after the place that is looked at: one speaker, or more than one.
    let mut stated: Option<&str> = None;
    let mut by_several = false;
    for (sentence, open) in reading.sentences.iter().zip(open.iter_mut()).rev() {
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

/// What a word that was asked for is worth more than it would be.
const ASKED: f32 = 3.0;

/// Bends the worth of everything towards a question: its words, the sentences that have them, then
/// what was said right before and after. A question of which no word was said changes nothing.
pub(crate) fn bend(
    reading: &Reading,
    (about, analyzer): (&str, &mut Analyzer),
    (weights, factors): (&mut [f32], &mut [f32]),
) {
    let mut asked: Vec<TermId> = Vec::new();
    analyzer.tokens(about, |token| asked.extend(reading.terms.find(&token)));
    asked.sort_unstable();
    asked.dedup();
    let weight = |id: &TermId| weights.get(*id as usize).copied().unwrap_or_default();
    let total: f32 = asked.iter().map(weight).sum();
    if total <= 0.0 {
        return;
    }
    let mut met = vec![0.0_f32; reading.sentences.len()];
    for clause in &reading.clauses {
        let found = reading.terms_of(clause).iter().filter(|id| asked.binary_search(id).is_ok());
        if let Some(met) = met.get_mut(clause.sentence as usize) {
            *met += found.map(weight).sum::<f32>() / total;
        }
    }
    let at = |place: Option<usize>| place.and_then(|place| met.get(place)).copied();
    for (place, factor) in factors.iter_mut().enumerate() {
        // An answer comes after what was asked more often than before it.
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
    for id in asked {
        if let Some(weight) = weights.get_mut(id as usize) {
            *weight *= ASKED;
        }
    }
}
