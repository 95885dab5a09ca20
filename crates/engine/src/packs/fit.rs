//! Fits lines into a budget: each band has a share, what it does not use flows on to the next bands, and
//! what is left at the end goes to lines that did not fit before.

use super::line::{Line, delimited, render_group};
use crate::echo::comparable;
use crate::memories::compare_statements;
use oneiro_model::{Band, OmitReason, PackOmission, Relation};

/// The bands in the order of trust, and their share of the budget in per cent.
const SHARES: [(Band, usize); 6] = [
    (Band::State, 20),
    (Band::Person, 10),
    (Band::Project, 25),
    (Band::Episodic, 10),
    (Band::Documents, 15),
    (Band::Messages, 20),
];

/// A line that says this much more than another is no duplicate of it.
const DUPLICATE_LENGTH_MAX: f64 = 1.5;

/// Duplicates shorter than this are equal, or none.
const CONTAINED_WORDS_MIN: usize = 4;

/// Omitted lines that are reported.
const OMITTED_MAX: usize = 50;

/// The lines of a pack.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    pub(super) text: String,
    /// In the order of the text.
    pub(super) lines: Vec<Line>,
    pub(super) omitted: Vec<PackOmission>,
}

/// A line with its place among all lines.
struct Placed {
    line: Line,
    cost: usize,
    /// The cost if it is written on the line of another.
    cost_after: usize,
    is_in: bool,
}

/// Chooses lines, which are in the order of relevance within each band.
pub(super) fn fit(lines: Vec<Line>, budget: usize) -> Fitted {
    let mut omitted = Vec::new();
    let mut placed: Vec<Placed> = Vec::new();
    for (band, _) in SHARES {
        for line in lines.iter().filter(|line| line.band == band) {
            let duplicate = placed.iter().any(|other| is_duplicate(&other.line, line));
            let duplicate = duplicate.then_some(OmitReason::Duplicate);
            match line.omit.or(duplicate).or(repeats_muted(&lines, line)) {
                Some(reason) => omitted.push(line.omission(reason)),
                None => {
                    let cost = oneiro_count::tokens(&line.render());
                    let cost_after = oneiro_count::tokens(&line.render_appended());
                    let line = line.clone();
                    placed.push(Placed { line, cost, cost_after, is_in: false });
                }
            }
        }
    }
    let frame = oneiro_count::tokens(&delimited(&[String::new()]));
    let room = budget.saturating_sub(frame);
    let mut left = 0;
    for (band, share) in SHARES {
        left += room * share / 100;
        take(&mut placed, &|line| line.band == band, &mut left);
    }
    take(&mut placed, &|_| true, &mut left);
    let mut chosen = Vec::new();
    for one in placed {
        if one.is_in {
            chosen.push(one.line);
        } else {
            omitted.push(one.line.omission(OmitReason::Budget));
        }
    }
    let mut text = render_groups(&group_by_conversation(&chosen));
    // Lines that follow each other may cost more than each alone.
    while oneiro_count::tokens(&text) > budget {
        let Some(last) = chosen.pop() else { break };
        omitted.push(last.omission(OmitReason::Budget));
        text = render_groups(&group_by_conversation(&chosen));
    }
    omitted.truncate(OMITTED_MAX);
    let lines = group_by_conversation(&chosen).into_iter().flatten().cloned().collect();
    Fitted { text, lines, omitted }
}

/// Lines that are written together, each group at the place of its first, in the order of the
/// conversation.
fn group_by_conversation(lines: &[Line]) -> Vec<Vec<&Line>> {
    let mut groups: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        let shares_line =
            |group: &&mut Vec<&Line>| group.iter().any(|other| other.shares_line_with(line));
        match groups.iter_mut().find(shares_line) {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|line| (line.at, line.id.parse::<i64>().unwrap_or_default()));
    }
    groups
}

/// A message that says what a muted memory says is muted with it.
fn repeats_muted(lines: &[Line], line: &Line) -> Option<OmitReason> {
    let mut muted = lines.iter().filter(|other| other.omit == Some(OmitReason::Muted));
    let is_message = line.band == Band::Messages;
    (is_message && muted.any(|other| is_duplicate(other, line))).then_some(OmitReason::Muted)
}

fn render_groups(groups: &[Vec<&Line>]) -> String {
    delimited(&groups.iter().map(|group| render_group(group)).collect::<Vec<_>>())
}

/// Takes every line that is wanted and fits.
fn take(placed: &mut [Placed], is_wanted: &dyn Fn(&Line) -> bool, left: &mut usize) {
    for number in 0..placed.len() {
        let Some(one) = placed.get(number).filter(|one| !one.is_in && is_wanted(&one.line)) else {
            continue;
        };
        let is_joined =
            placed.iter().any(|other| other.is_in && other.line.shares_line_with(&one.line));
        let cost = if is_joined { one.cost_after } else { one.cost };
        if let Some(one) = placed.get_mut(number).filter(|_| cost <= *left) {
            *left -= cost;
            one.is_in = true;
        }
    }
}

/// Whether a line adds nothing to one before it.
fn is_duplicate(one: &Line, other: &Line) -> bool {
    if one.kind == other.kind && one.id == other.id {
        return true;
    }
    let (a, b) = (comparable(&one.statement), comparable(&other.statement));
    if a == b {
        return one.text == other.text || other.band == Band::Messages;
    }
    let count = |text: &str| text.split_whitespace().count();
    let (shorter, longer) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    let few = count(shorter);
    let is_contained = few >= CONTAINED_WORDS_MIN
        && longer.contains(shorter.as_str())
        && count(longer) as f64 <= few as f64 * DUPLICATE_LENGTH_MAX;
    let relation = || compare_statements(&one.statement, &other.statement).relation;
    match other.band {
        // What was said adds nothing to what was learnt from it.
        Band::Messages => is_contained && relation() != Relation::Contradicts,
        _ => one.band == other.band && relation() == Relation::Same && is_contained,
    }
}
