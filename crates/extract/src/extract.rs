//! Makes an extract: parses the conversation, weights terms and sentences, selects clauses, and
//! writes them as lines within the target.

use oneiro_text::Analyzer;
use std::cell::RefCell;

use crate::calls::Calls;
use crate::conversation::Conversation;
use crate::left_out::Omitted;
use crate::lines::Lines;
use crate::render::Page;
use crate::select::{Choice, Selection};
use crate::utterance::{LeftOut, Source, Utterances, utterances};
use crate::{ExtractRequest, left_out, render, sentence_weight};

/// Smaller targets have room for a single clause.
const MIN_LINES_TOKENS: usize = 10;

/// Smaller targets have no last line that says what was left out.
const MIN_LAST_LINE_TARGET: usize = 40;

/// Smaller targets do not count tool results separately in the last line.
const MIN_TOOL_COUNT_TARGET: usize = 100;

/// Texts with more bytes per token of the target are too long to be returned whole, and are not
/// counted.
const MAX_BYTES_PER_TOKEN: usize = 16;

/// The share of the target for the last line: of talk, and of work with tools, where readers find
/// more in the lines themselves.
const LAST_LINE_PERCENT: usize = 15;
const LAST_LINE_PERCENT_WITH_TOOLS: usize = 8;

/// Maximum tokens of the last line.
const MAX_LAST_LINE_TOKENS: usize = 120;

/// How often clauses are added after the whole was counted and had room.
const MAX_ROUNDS: usize = 3;

thread_local! {
    /// The words that this thread has analysed are known in its next extracts; extracts do not
    /// depend on it.
    static ANALYZER: RefCell<Analyzer> = RefCell::default();
}

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
    if bytes <= target.saturating_mul(MAX_BYTES_PER_TOKEN) {
        let is_condensed = utterances.left_out != LeftOut::default();
        if is_condensed {
            // Extracts that fit become one all the same, with one last line.
            let texts: Vec<&str> = request.said.iter().map(|said| said.text).collect();
            target = target.min((request.count)(&texts.join("\n")));
        } else {
            let whole = render::all_lines(&utterances.all);
            let tokens = (request.count)(&whole);
            if tokens <= target {
                return whole;
            }
            target = target.min(tokens);
        }
    }
    let fits = |text: &str| (request.count)(text) <= target;
    let mut analyzer = ANALYZER.take();
    let conversation = Conversation::of(&utterances.all, &mut analyzer);
    let mut weights = conversation.terms.weights(conversation.sentences.len());
    let mut factors = sentence_weight::factors(&conversation, &utterances.all);
    if let Some(about) = request.about {
        sentence_weight::favour_question(
            &conversation,
            (about, &mut analyzer),
            (&mut weights, &mut factors),
        );
    }
    ANALYZER.set(analyzer);
    let lines = Lines::of(&utterances.all, request.count);
    let page = Page { conversation: &conversation, utterances: &utterances.all, lines: &lines };
    let choice = Choice {
        conversation: &conversation,
        weights: &weights,
        factors: &factors,
        lines: &lines,
        cost: &|clause| (request.count)(&page.text(clause)),
    };
    let mut selection = Selection::new(choice, target);
    if selection.best().is_none() {
        selection.add_noise();
    }
    let draft = Draft {
        count: request.count,
        target,
        has_last_line: request.target >= MIN_LAST_LINE_TARGET,
        utterances: &utterances,
        page: &page,
        weights: &weights,
    };
    let best = selection.best().and_then(|best| conversation.clauses.get(best as usize));
    let best = best.map(|best| page.text(best));
    if target >= MIN_LINES_TOKENS {
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
    has_last_line: bool,
    utterances: &'a Utterances<'a>,
    page: &'a Page<'a>,
    weights: &'a [f32],
}

impl Draft<'_> {
    /// Chooses and writes until the target is met, from below.
    fn fill(&self, mut selection: Selection<'_>) -> String {
        let target = self.target;
        let all = Omitted::of(self.page.conversation, self.utterances, |_| false);
        let least = (self.count)(&all.description(target < MIN_TOOL_COUNT_TARGET)) + 2;
        let is_work = self.utterances.all.iter().any(|said| said.source == Source::Tool);
        let share = if is_work { LAST_LINE_PERCENT_WITH_TOOLS } else { LAST_LINE_PERCENT };
        let reserve = if self.has_last_line {
            (target.saturating_mul(share) / 100)
                .min(MAX_LAST_LINE_TOKENS)
                .max(least)
                .min(target / 3)
        } else {
            0
        };
        let room = target - reserve;
        let (mut budget, mut lines, mut used) = (room, String::new(), 0);
        for _ in 0..MAX_ROUNDS {
            selection.fill(budget);
            lines = self.lines(&selection);
            used = (self.count)(&lines);
            let left = room.saturating_sub(used);
            if left <= room / 50 {
                break;
            }
            if left > room / 2 {
                selection.add_filler();
            }
            budget = budget.saturating_add(left);
        }
        loop {
            let mut over = used.saturating_sub(room);
            if over == 0 {
                let text = self.with_left_out(lines, used, &selection);
                over = (self.count)(&text).saturating_sub(target);
                if over == 0 {
                    return text;
                }
            }
            let mut freed = 0;
            while freed < over {
                let Some(dropped) = selection.drop_last() else { return String::new() };
                freed += selection.cost_of(dropped) + 1;
            }
            lines = self.lines(&selection);
            used = (self.count)(&lines);
        }
    }

    fn lines(&self, selection: &Selection<'_>) -> String {
        self.page.lines(|clause| selection.is_chosen(clause))
    }

    /// The lines, which have `used` tokens, and after them what was left out.
    fn with_left_out(&self, lines: String, used: usize, selection: &Selection<'_>) -> String {
        let is_kept = |clause: u32| selection.is_chosen(clause);
        let omitted = Omitted::of(self.page.conversation, self.utterances, is_kept);
        if !self.has_last_line || omitted.is_empty() {
            return lines;
        }
        let terms =
            left_out::terms((self.page.conversation, self.weights), &self.utterances.all, is_kept);
        let room = self.target.saturating_sub(used + 1);
        match left_out::line(&omitted, &terms, |line| (self.count)(line) <= room) {
            Some(line) if lines.is_empty() => line,
            Some(line) => format!("{lines}\n{line}"),
            None => lines,
        }
    }
}
