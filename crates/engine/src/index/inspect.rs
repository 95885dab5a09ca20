//! Looking for damage in the index: every block must be readable, segments must follow each other,
//! and every message they cover must be in them.

use super::merge::load;
use super::terms::TermReader;
use oneiro_model::{ErrorKind, IndexStats, Result};
use oneiro_store::segments::{self, Segment};
use oneiro_store::{Tx, is_missing_table, said};
use std::collections::BTreeSet;

/// Blocks read at once.
const BLOCKS: usize = 256;

/// What is wrong with the index, in words; empty when nothing is.
pub(crate) fn inspect(tx: &Tx<'_>) -> Result<Vec<String>> {
    let state = segments::state(tx)?;
    let live = segments::live(tx, state.build)?;
    let mut problems = Vec::new();
    let mut covered = 0;
    for segment in &live {
        if segment.first_seq <= covered {
            problems.push(format!("segment {} overlaps the one before", segment.id));
        }
        match inspect_one(tx, segment) {
            Ok(found) => problems.extend(found),
            Err(error) if error.kind() == ErrorKind::Corrupt && !is_missing_table(&error) => {
                problems.push(format!("segment {}: {}", segment.id, error.message()));
            }
            Err(error) => return Err(error),
        }
        let between = said::seqs_between(tx, covered + 1, segment.first_seq - 1)?;
        if !between.is_empty() {
            problems.push(format!(
                "{} messages before segment {} are in none",
                between.len(),
                segment.id
            ));
        }
        covered = segment.last_seq;
    }
    if live.iter().any(|segment| segment.analyzer < i64::from(oneiro_text::VERSION)) {
        problems.push("an older analyzer made it".to_owned());
    }
    Ok(problems)
}

fn inspect_one(tx: &Tx<'_>, segment: &Segment) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let (docs, bits) = load(tx, segment, segment.embedder.is_some())?;
    if docs.len() as i64 != segment.docs {
        let (found, said) = (docs.len(), segment.docs);
        problems.push(format!("segment {}: {found} documents of {said}", segment.id));
    }
    if segment.embedder.is_some() && bits.len() != docs.len() {
        problems.push(format!(
            "segment {}: {} vectors are missing",
            segment.id,
            docs.len().abs_diff(bits.len())
        ));
    }
    let indexed: BTreeSet<i64> =
        (0..docs.len()).filter_map(|at| docs.get(at)).map(|doc| doc.seq).collect();
    let stored = said::seqs_between(tx, segment.first_seq, segment.last_seq)?;
    let missing = stored.iter().filter(|seq| !indexed.contains(seq)).count();
    if missing > 0 {
        problems.push(format!("segment {}: {missing} messages are missing", segment.id));
    }
    if docs.messages() as i64 != segment.messages {
        let (found, said) = (docs.messages(), segment.messages);
        problems.push(format!("segment {}: {found} messages of {said}", segment.id));
    }
    let mut from = 0;
    let mut last = Vec::new();
    let mut part = 0;
    let mut postings = 0u64;
    loop {
        let blocks = segments::term_blocks(tx, segment.id, from, BLOCKS)?;
        if blocks.is_empty() {
            break;
        }
        from += blocks.len() as i64;
        for block in &blocks {
            let mut reader = TermReader::new(&block.data)?;
            // A part of a long list follows the one before; every other block begins a term.
            let follows = block.part > 0 && block.part == part + 1 && block.first_term == last;
            part = block.part;
            if block.part > 0 && !follows {
                problems.push(format!("segment {}: a part of a list is missing", segment.id));
                return Ok(problems);
            }
            let mut is_first = true;
            while let Some((term, list)) = reader.next()? {
                if std::mem::take(&mut is_first) && term != block.first_term {
                    problems.push(format!("segment {}: a block is out of place", segment.id));
                    return Ok(problems);
                }
                if term < last.as_slice() {
                    problems.push(format!("segment {}: terms are out of order", segment.id));
                    return Ok(problems);
                }
                if list.last >= docs.len() as u32 {
                    problems.push(format!("segment {}: a document too many", segment.id));
                    return Ok(problems);
                }
                postings += u64::from(list.count);
                last = term.to_owned();
            }
        }
    }
    if from != segment.blocks {
        let (found, said) = (from, segment.blocks);
        problems.push(format!("segment {}: {found} blocks of terms of {said}", segment.id));
    }
    if postings == 0 && segment.words > 0 {
        problems.push(format!("segment {}: its terms are missing", segment.id));
    }
    Ok(problems)
}

/// Figures of the index.
pub(crate) fn figures(tx: &Tx<'_>) -> Result<IndexStats> {
    let live = segments::live(tx, segments::state(tx)?.build)?;
    let reach = live.iter().map(|segment| segment.last_seq).max().unwrap_or(0);
    let model = live.first().and_then(|first| first.embedder.clone());
    Ok(IndexStats {
        segments: live.len(),
        docs: live.iter().map(|segment| segment.docs).sum(),
        tail: said::count_after(tx, reach)?,
        vectors: model.filter(|_| {
            live.windows(2).all(|pair| match pair {
                [a, b] => a.embedder == b.embedder,
                _ => true,
            })
        }),
    })
}
