//! Which of the successive texts of a note each line of the last one came with. What was found is stored
//! from time to time, so that a long history is not read again.

use super::history::text_of;
use oneiro_model::{NoteName, Result};
use oneiro_store::note_origins::{self, LineOrigins};
use oneiro_store::{Tx, revisions};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::time::{Duration, Instant};

/// Revisions of a note after which the origins of its lines are stored again: few enough that the rest
/// is read in some milliseconds.
const STORED_EVERY_REVISIONS: i64 = 256;

/// The lines of a note with the revisions that wrote them.
pub(super) struct Blamed {
    /// The ids of revisions.
    pub(super) ids: Vec<String>,
    /// The lines, with places in `ids`.
    pub(super) origins: Origins,
}

/// Follows the lines of a note from where their origins were last stored.
pub(super) fn blame(tx: &Tx<'_>, name: &NoteName) -> Result<Blamed> {
    let stored = note_origins::get(tx, name)?;
    let after = stored.as_ref().map_or(0, |it| it.key);
    let (mut ids, mut origins) = (Vec::new(), Origins::default());
    if let Some(stored) = stored {
        let text = text_of(tx, name, stored.key)?.unwrap_or_default();
        let counts = stored.runs.iter().enumerate();
        let of_line = counts.flat_map(|(at, (_, count))| std::iter::repeat_n(at, *count));
        origins = Origins { text, of_line: of_line.collect() };
        ids = stored.runs.into_iter().map(|(id, _)| id).collect();
    }
    revisions::each_text_of_note(tx, (name, after), |id, text| {
        origins.follow(text.unwrap_or_default().to_owned(), ids.len());
        ids.push(id.to_owned());
        Ok(())
    })?;
    Ok(Blamed { ids, origins })
}

/// Stores the origins of the lines of a note after its newest revision, which has this key, if many
/// revisions came since the last time.
pub(super) fn store_origins(tx: &Tx<'_>, name: &NoteName, key: i64) -> Result<()> {
    let after = note_origins::get(tx, name)?.map_or(0, |stored| stored.key);
    if revisions::count_of_note(tx, name, after)? < STORED_EVERY_REVISIONS {
        return Ok(());
    }
    let Blamed { ids, origins } = blame(tx, name)?;
    let mut runs: Vec<(String, usize)> = Vec::new();
    for (_, origin) in origins.lines() {
        let id = ids.get(origin).map(String::as_str).unwrap_or_default();
        match runs.last_mut() {
            Some((last, count)) if last == id => *count += 1,
            _ => runs.push((id.to_owned(), 1)),
        }
    }
    note_origins::put(tx, name, &LineOrigins { key, runs })
}

/// How long the comparison of two texts looks for the smallest difference; a history has many.
const BLAME_DIFF_TIMEOUT: Duration = Duration::from_millis(50);

/// Carries the origin of each line from text to text.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    text: String,
    of_line: Vec<usize>,
}

impl Origins {
    /// The next text; lines that it has in common with the last one keep their origin.
    pub(crate) fn follow(&mut self, text: String, origin: usize) {
        let (old, new): (Vec<&str>, Vec<&str>) = (lines(&self.text), lines(&text));
        let same = |(one, other): &(&&str, &&str)| one == other;
        let prefix = old.iter().zip(&new).take_while(same).count();
        let (old_rest, new_rest) =
            (old.get(prefix..).unwrap_or_default(), new.get(prefix..).unwrap_or_default());
        let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
        let old_middle = old_rest.get(..old_rest.len() - suffix).unwrap_or_default();
        let new_middle = new_rest.get(..new_rest.len() - suffix).unwrap_or_default();
        let mut origins = self.of_line.get(..prefix).unwrap_or_default().to_vec();
        origins.resize(prefix + new_middle.len(), origin);
        if !old_middle.is_empty() && !new_middle.is_empty() {
            let deadline = Some(Instant::now() + BLAME_DIFF_TIMEOUT);
            let found =
                capture_diff_slices_deadline(Algorithm::Myers, old_middle, new_middle, deadline);
            for operation in found {
                if let DiffOp::Equal { old_index, new_index, len } = operation {
                    for place in 0..len {
                        let from = self.of_line.get(prefix + old_index + place).copied();
                        let to = origins.get_mut(prefix + new_index + place);
                        if let (Some(from), Some(to)) = (from, to) {
                            *to = from;
                        }
                    }
                }
            }
        }
        origins.extend(self.of_line.get(old.len() - suffix..).unwrap_or_default());
        self.of_line = origins;
        self.text = text;
    }

    /// The lines of the last text with their origins.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&str, usize)> {
        lines(&self.text).into_iter().zip(self.of_line.iter().copied())
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(texts: &[&str]) -> Vec<usize> {
        let mut origins = Origins::default();
        for (origin, text) in texts.iter().enumerate() {
            origins.follow((*text).to_owned(), origin);
        }
        origins.lines().map(|(_, origin)| origin).collect()
    }

    #[test]
    fn a_line_comes_from_the_text_that_first_had_it_without_a_gap() {
        assert_eq!(origins(&["a\nb\n"]), [0, 0]);
        assert_eq!(origins(&["a\nb\n", "a\nx\nb\n"]), [0, 1, 0]);
        assert_eq!(origins(&["a\n", "a\nb\n", "b\nc\n"]), [1, 2]);
        assert_eq!(origins(&["a\n", "", "a\n"]), [2]);
        assert_eq!(origins(&["a\nb\nc\nd", "d\na\nx\nc"]), [1, 0, 1, 0]);
        assert_eq!(origins(&["a", "a\n"]), [0]);
    }

    proptest::proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(128))]
        #[test]
        fn every_line_has_an_origin_that_has_it(
            texts in proptest::collection::vec("([a-c]\n){0,6}", 1..6)
        ) {
            let mut origins = Origins::default();
            for (origin, text) in texts.iter().enumerate() {
                origins.follow(text.clone(), origin);
            }
            let last = texts.last().unwrap();
            proptest::prop_assert_eq!(origins.lines().count(), last.lines().count());
            for (line, origin) in origins.lines() {
                proptest::prop_assert!(texts[origin].lines().any(|other| other == line));
            }
        }
    }
}
