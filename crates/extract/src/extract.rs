//! One extract from end to end: read, weigh, choose, write, fit. It owns the order of these steps
//! and the promise about the target; it must not know how each is done.

use oneiro_text::Analyzer;

use crate::calls::Calls;
use crate::left_out::Missing;
use crate::lines::Lines;
use crate::reading::Reading;
use crate::render::Page;
use crate::select::{Choice, Selection};
use crate::utterance::{LeftOut, Utterances, Voice, utterances};
use crate::{ExtractRequest, left_out, render, worth};

/// Below so many tokens there is room for one clause alone.
const SMALLEST: usize = 10;

/// From so many tokens on, the last line says what was left out.
const TELLS_LEFT_OUT: usize = 40;

/// From so many tokens on, it tells what tools said apart from what was spoken.
const TELLS_APART: usize = 100;

/// Bytes to a token, at most, in a text that is worth counting before anything else.
const DENSEST: usize = 16;

/// The share of the target that the last line has, in hundredths: of talk, and of work with tools,
/// where what somebody looks for is more often in a line.
const LAST_LINE: usize = 15;
const LAST_LINE_OF_WORK: usize = 8;

/// Tokens of the last line, about: more terms than that nobody reads.
const LONGEST_LAST_LINE: usize = 120;

/// Times that the choice is widened when the count of the whole left room.
const ROUNDS: usize = 3;

/// The sentences that matter most, in order, within the target: `8 May 2023 speaker: text` in lines,
/// ` … ` where something was left out, and a last line that tells what. Relative dates are followed
/// by what they meant: `yesterday (7 May 2023)`.
///
/// It has at most `target` tokens by `count`, and at most those of what was said, written as lines.
/// The same request gives the same extract.
pub fn extract(request: &ExtractRequest<'_>) -> String {
    let calls = Calls::of(request.said);
    let utterances = utterances(request.said, &calls);
    let mut target = request.target;
    let bytes: usize = request.said.iter().map(|said| said.speaker.len() + said.text.len()).sum();
    if bytes <= target.saturating_mul(DENSEST) {
        let is_condensed = utterances.left_out != LeftOut::default();
        if is_condensed {
            // Extracts that fit become one all the same, with one last line.
            let texts: Vec<&str> = request.said.iter().map(|said| said.text).collect();
            target = target.min((request.count)(&texts.join("\n")));
        } else {
            let whole = render::whole(&utterances.all);
            let tokens = (request.count)(&whole);
            if tokens <= target {
                return whole;
            }
            target = target.min(tokens);
        }
    }
    let fits = |text: &str| (request.count)(text) <= target;
    let mut analyzer = Analyzer::default();
    let reading = Reading::of(&utterances.all, &mut analyzer);
    let mut weights = reading.terms.weights(reading.sentences.len());
    let mut factors = worth::factors(&reading, &utterances.all);
    if let Some(about) = request.about {
        worth::bend(&reading, (about, &mut analyzer), (&mut weights, &mut factors));
    }
    let lines = Lines::of(&utterances.all, request.count);
    let page = Page { reading: &reading, utterances: &utterances.all, lines: &lines };
    let choice = Choice {
        reading: &reading,
        weights: &weights,
        factors: &factors,
        lines: &lines,
        cost: &|clause| (request.count)(&page.text(clause)),
    };
    let mut selection = Selection::new(choice, target);
    if selection.best().is_none() {
        selection.widen_to_all();
    }
    let draft = Draft {
        count: request.count,
        target,
        told: request.target >= TELLS_LEFT_OUT,
        utterances: &utterances,
        page: &page,
        weights: &weights,
    };
    let best = selection.best().and_then(|best| reading.clauses.get(best as usize));
    let best = best.map(|best| page.text(best));
    if target >= SMALLEST {
        let text = draft.fill(selection);
        if !text.is_empty() {
            return text;
        }
    }
    match best {
        Some(best) if fits(&best) => best.into_owned(),
        Some(best) => render::clipped(&best, fits),
        None => String::new(),
    }
}

struct Draft<'a> {
    count: &'a dyn Fn(&str) -> usize,
    target: usize,
    /// Whether there is a last line.
    told: bool,
    utterances: &'a Utterances<'a>,
    page: &'a Page<'a>,
    weights: &'a [f32],
}

impl Draft<'_> {
    /// Chooses and writes until the target is met, from below.
    fn fill(&self, mut selection: Selection<'_>) -> String {
        let target = self.target;
        let all = Missing::of(self.page.reading, self.utterances, |_| false);
        let least = (self.count)(&all.told(target < TELLS_APART)) + 2;
        let is_work = self.utterances.all.iter().any(|said| said.voice == Voice::Tool);
        let share = if is_work { LAST_LINE_OF_WORK } else { LAST_LINE };
        let reserve = if self.told {
            (target.saturating_mul(share) / 100).min(LONGEST_LAST_LINE).max(least).min(target / 3)
        } else {
            0
        };
        let room = target - reserve;
        let mut budget = room;
        for _ in 0..ROUNDS {
            selection.fill(budget);
            let used = (self.count)(&self.lines(&selection));
            let left = room.saturating_sub(used);
            if left <= room / 50 {
                break;
            }
            if left > room / 2 {
                selection.widen();
            }
            budget = budget.saturating_add(left);
        }
        loop {
            let lines = self.lines(&selection);
            let used = (self.count)(&lines);
            let text = if used <= room { self.with_left_out(lines, &selection) } else { lines };
            let over = (self.count)(&text).saturating_sub(target);
            if over == 0 && used <= room {
                return text;
            }
            let mut freed = 0;
            let over = over.max(used.saturating_sub(room));
            while freed < over.max(1) {
                let Some(dropped) = selection.drop_last() else { return String::new() };
                freed += selection.cost_of(dropped) + 1;
            }
        }
    }

    fn lines(&self, selection: &Selection<'_>) -> String {
        self.page.lines(|clause| selection.is_chosen(clause))
    }

    fn with_left_out(&self, lines: String, selection: &Selection<'_>) -> String {
        let is_kept = |clause: u32| selection.is_chosen(clause);
        let missing = Missing::of(self.page.reading, self.utterances, is_kept);
        if !self.told || missing.is_nothing() {
            return lines;
        }
        let terms =
            left_out::terms((self.page.reading, self.weights), &self.utterances.all, is_kept);
        let room = self.target.saturating_sub((self.count)(&lines) + 1);
        match left_out::line(&missing, &terms, |line| (self.count)(line) <= room) {
            Some(line) if lines.is_empty() => line,
            Some(line) => format!("{lines}\n{line}"),
            None => lines,
        }
    }
}
