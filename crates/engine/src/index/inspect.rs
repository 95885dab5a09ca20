//! Checks the index for damage: segments must be valid and contiguous, and contain every text that
//! they cover.

use super::storage::Segments;
use super::texts::texts;
use oneiro_index::{Source, Storage};
use oneiro_model::{IndexStats, Result};
use oneiro_store::{Tx, is_unreadable};

/// The problems found, in words; empty if there is none.
pub(crate) fn inspect(tx: &Tx<'_>) -> Result<Vec<String>> {
    let (storage, texts) = (Segments::answering(tx)?, texts(tx));
    let live = storage.segments()?;
    let mut problems = Vec::new();
    let mut covered = 0;
    for segment in &live {
        if segment.first <= covered {
            problems.push(format!("segment {} overlaps the one before", segment.id));
        }
        let numbers = texts.numbers(segment.first, segment.last)?;
        match oneiro_index::inspect(&storage, segment, &numbers) {
            Ok(found) => problems.extend(found),
            Err(error) if oneiro_index::is_damaged(&error) || is_unreadable(&error) => {
                problems.push(format!("segment {}: {}", segment.id, error.message()));
            }
            Err(error) => return Err(error),
        }
        let between = texts.count(covered + 1, segment.first - 1)?;
        if between > 0 {
            problems.push(format!("{between} texts before segment {} are in none", segment.id));
        }
        covered = segment.last;
    }
    if live.iter().any(|segment| segment.version < oneiro_index::VERSION) {
        problems.push("an older version made it".to_owned());
    }
    Ok(problems)
}

/// Statistics of the index.
pub(crate) fn stats(tx: &Tx<'_>) -> Result<IndexStats> {
    let live = Segments::answering(tx)?.segments()?;
    let reach = live.iter().map(|segment| segment.last).max().unwrap_or(0);
    let model = live.first().and_then(|first| first.embedder.clone());
    Ok(IndexStats {
        segments: live.len(),
        docs: live.iter().map(|segment| segment.docs).sum(),
        tail: texts(tx).count(reach + 1, i64::MAX)?,
        vectors: model.filter(|_| {
            live.windows(2).all(|pair| match pair {
                [a, b] => a.embedder == b.embedder,
                _ => true,
            })
        }),
    })
}
