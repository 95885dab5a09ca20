//! Which utterances share a line of an extract. Talk has one line for each speaker and day; where an
//! agent works with tools, every turn begins new ones, so that what came of what stays in order.

use jiff::civil::Date;
use rustc_hash::FxHashMap;

use crate::render::line_start;
use crate::utterance::{Source, Utterance};

/// The lines that may be written, in their order.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// By utterance, its line.
    of_utterances: Vec<u32>,
    /// By line, the tokens of its start.
    tokens: Vec<f32>,
}

impl Lines {
    pub fn of(utterances: &[Utterance<'_>], count: &dyn Fn(&str) -> usize) -> Lines {
        let mut lines = Lines::default();
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let mut tokens: FxHashMap<(&str, Option<Date>), f32> = FxHashMap::default();
        let mut before: Option<&Utterance<'_>> = None;
        let mut has_worked = false;
        for said in utterances {
            let begins_turn = has_worked && said.source == Source::Speaker;
            if begins_turn || before.is_some_and(|before| before.day != said.day) {
                known.clear();
                has_worked = false;
            }
            has_worked |= matches!(said.source, Source::Agent | Source::Call { .. } | Source::Tool);
            let line = *known.entry(said.speaker).or_insert_with(|| {
                let start = tokens.entry((said.speaker, said.day)).or_insert_with(|| {
                    // And the end of the line before.
                    count(&line_start(said.day, said.speaker)) as f32 + 1.0
                });
                lines.tokens.push(*start);
                lines.tokens.len() as u32 - 1
            });
            lines.of_utterances.push(line);
            before = Some(said);
        }
        lines
    }

    pub fn count(&self) -> usize {
        self.tokens.len()
    }

    pub fn of_utterance(&self, utterance: u32) -> Option<usize> {
        self.of_utterances.get(utterance as usize).map(|line| *line as usize)
    }

    pub fn start_tokens(&self, line: usize) -> f32 {
        self.tokens.get(line).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(said: &[(&'static str, i8)]) -> Vec<u32> {
        let utterance = |(speaker, day): &(&'static str, i8)| Utterance {
            speaker,
            text: "words",
            source: match *speaker {
                "tool bash" => Source::Tool,
                "assistant" => Source::Agent,
                _ => Source::Speaker,
            },
            day: Date::new(2023, 5, *day).ok(),
        };
        let utterances: Vec<Utterance<'_>> = said.iter().map(utterance).collect();
        Lines::of(&utterances, &str::len).of_utterances
    }

    #[test]
    fn talk_has_a_line_for_each_speaker_and_day() {
        let said = [("Ana", 1), ("Ben", 1), ("Ana", 1), ("Ben", 2), ("Ana", 2), ("Ben", 2)];
        assert_eq!(lines(&said), [0, 1, 0, 2, 3, 2]);
    }

    #[test]
    fn work_has_a_line_for_each_speaker_and_turn() {
        let said = [
            ("user", 1),
            ("assistant", 1),
            ("tool bash", 1),
            ("assistant", 1),
            ("user", 1),
            ("assistant", 1),
            ("user", 1),
            ("assistant", 1),
            ("tool bash", 1),
        ];
        assert_eq!(lines(&said), [0, 1, 2, 1, 3, 4, 5, 6, 7]);
    }
}
