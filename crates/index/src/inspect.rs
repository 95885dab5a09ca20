//! Checks a segment for damage: every block must be readable and in order, and every text that it covers
//! must be in it.

use crate::merge::read_docs;
use crate::storage::{Segment, Storage};
use crate::terms::TermReader;
use oneiro_model::Result;
use std::collections::BTreeSet;

/// Blocks read at a time.
const READ_BLOCKS: usize = 256;

/// Describes the problems of a segment. `numbers` are the numbers of the texts in its range.
pub fn inspect(storage: &dyn Storage, segment: &Segment, numbers: &[i64]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let (docs, bits) = read_docs(storage, segment, segment.embedder.is_some())?;
    if docs.len() as i64 != segment.docs {
        let (found, expected) = (docs.len(), segment.docs);
        problems.push(format!("segment {}: {found} documents of {expected}", segment.id));
    }
    if segment.embedder.is_some() && bits.len() != docs.len() {
        problems.push(format!(
            "segment {}: {} vectors are missing",
            segment.id,
            docs.len().abs_diff(bits.len())
        ));
    }
    let indexed: BTreeSet<i64> = docs.iter().map(|doc| doc.seq).collect();
    let missing = numbers.iter().filter(|seq| !indexed.contains(seq)).count();
    if missing > 0 {
        problems.push(format!("segment {}: {missing} texts are missing", segment.id));
    }
    if docs.texts() as i64 != segment.texts {
        let (found, expected) = (docs.texts(), segment.texts);
        problems.push(format!("segment {}: {found} texts of {expected}", segment.id));
    }
    let mut from = 0;
    let mut last = Vec::new();
    let mut part = 0;
    let mut postings = 0u64;
    loop {
        let blocks = storage.terms(segment.id, from, READ_BLOCKS)?;
        if blocks.is_empty() {
            break;
        }
        from += blocks.len() as i64;
        for block in &blocks {
            let mut reader = TermReader::new(&block.data)?;
            // A part of a long list follows the part before; every other block starts a term.
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
                    problems.push(format!(
                        "segment {}: a posting of a document that does not exist",
                        segment.id
                    ));
                    return Ok(problems);
                }
                postings += u64::from(list.count);
                last = term.to_owned();
            }
        }
    }
    if from != segment.blocks {
        let (found, expected) = (from, segment.blocks);
        problems.push(format!("segment {}: {found} blocks of terms of {expected}", segment.id));
    }
    if postings == 0 && segment.words > 0 {
        problems.push(format!("segment {}: its terms are missing", segment.id));
    }
    Ok(problems)
}
