//! Vectors of a remote embedder. They are requested in batches outside any transaction, stored in
//! full because requesting them again costs time and money, and copied to segments as signs.
//! Another model, or another number of dimensions, starts over; until it is complete, searches use
//! words only.

use super::storage::Segments;
use super::texts::texts;
use crate::Embedder;
use oneiro_index::{Bits, Segment, Source, Storage, encode_bits, indexed, signs, text_numbers};
use oneiro_model::{Error, ErrorKind, Result};
use oneiro_store::segments::ChunkRef;
use oneiro_store::segments::{self, Stage};
use oneiro_store::{Store, Tx};
use rustc_hash::FxHashMap;

/// Chunks per request.
const BATCH_CHUNKS: usize = 64;

/// The name under which the vectors of a model are stored. It includes the number of dimensions,
/// because vectors of different lengths cannot be compared.
pub(crate) fn vector_set_name(embedder: &dyn Embedder, dims: usize) -> String {
    format!("{}/{dims}", embedder.id())
}

/// Adds vectors to segments until none lacks them or `stopped` returns true.
pub(crate) fn embed_all(
    store: &Store,
    embedder: &dyn Embedder,
    stopped: &dyn Fn() -> bool,
) -> Result<()> {
    // The name that belongs to the latest answer of the model.
    let mut current = None;
    let mut changes = 0;
    while !stopped() {
        let live = store.read(|tx| Segments::answering(tx)?.segments())?;
        let ours = format!("{}/", embedder.id());
        let is_ours = |name: &&String| name.starts_with(&ours);
        let newest =
            live.iter().rev().find_map(|segment| segment.embedder.as_ref().filter(is_ours));
        let wanted = current.clone().or_else(|| newest.cloned());
        let lacks = |segment: &&Segment| segment.docs > 0 && segment.embedder != wanted;
        let is_empty = |segment: &&Segment| segment.docs > 0 && segment.embedder.is_none();
        // Start with a segment without vectors: the answer tells the current dimensions.
        let next = live.iter().rev().find(is_empty).or_else(|| live.iter().rev().find(lacks));
        let Some(segment) = next else { break };
        match embed_segment(store, embedder, segment, (wanted, stopped))? {
            Embedded::Done(name) => current = name.or(current),
            Embedded::Stopped => break,
            Embedded::Changed(_) if changes >= DIMENSION_CHANGES_MAX => {
                let id = embedder.id();
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    format!("{id} answers with vectors of ever other lengths"),
                )
                .remedy("name a model that keeps to one, or set `embedder` to static"));
            }
            Embedded::Changed(name) => {
                changes += 1;
                current = Some(name);
            }
        }
    }
    Ok(())
}

/// Changes of the dimensions after which the model is rejected.
const DIMENSION_CHANGES_MAX: usize = 3;

/// The outcome for one segment.
enum Embedded {
    /// The segment has its vectors, stored under this name.
    Done(Option<String>),
    /// Stopped before the end.
    Stopped,
    /// The model has other dimensions now; all vectors must be requested again under this name.
    Changed(String),
}

fn embed_segment(
    store: &Store,
    embedder: &dyn Embedder,
    segment: &Segment,
    (mut kept, stopped): (Option<String>, &dyn Fn() -> bool),
) -> Result<Embedded> {
    let docs = store.read(|tx| text_numbers(&Segments::answering(tx)?, segment))?;
    let mut places: Vec<ChunkRef> = Vec::with_capacity(docs.len());
    for number in docs {
        let chunk = match places.last() {
            Some(last) if last.seq == number => last.chunk + 1,
            _ => 0,
        };
        places.push(ChunkRef { seq: number, chunk });
    }
    let mut bits: Vec<Bits> = Vec::with_capacity(places.len());
    for some in places.chunks(BATCH_CHUNKS) {
        if stopped() {
            return Ok(Embedded::Stopped);
        }
        let mut known = match &kept {
            Some(kept) => store.read(|tx| stored(tx, some, kept))?,
            None => FxHashMap::default(),
        };
        let missing: Vec<ChunkRef> =
            some.iter().filter(|place| !known.contains_key(*place)).copied().collect();
        if !missing.is_empty() {
            let chunks = store.read(|tx| chunk_texts(tx, &missing))?;
            let asked: Vec<&str> = chunks.iter().map(String::as_str).collect();
            let vectors = embedder.embed(&asked)?;
            let name = vector_set_name(embedder, vectors.first().map_or(0, Vec::len));
            if kept.as_ref().is_some_and(|kept| *kept != name) {
                return Ok(Embedded::Changed(name));
            }
            let packed: Vec<(ChunkRef, Vec<u8>)> =
                missing.iter().copied().zip(vectors.iter().map(|vector| pack(vector))).collect();
            let key = name.clone();
            store.write(move |tx| {
                for (place, data) in &packed {
                    // The text may have been deleted meanwhile, together with its vectors.
                    if texts(tx).count(place.seq, place.seq)? > 0 {
                        segments::put_embedding(tx, *place, &key, data)?;
                    }
                }
                Ok(())
            })?;
            kept = Some(name);
            known.extend(missing.into_iter().zip(vectors));
        }
        bits.extend(
            some.iter().map(|place| {
                known.get(place).map_or(Bits::default(), |vector| signs(vector, None))
            }),
        );
    }
    let Some(kept) = kept else { return Ok(Embedded::Done(None)) };
    let blocks = encode_bits(&bits);
    store.write_derived(|tx| {
        if segments::stage(tx, segment.id)? == Some(Stage::Live) {
            segments::replace_vectors(tx, segment.id, &kept, &blocks)?;
        }
        Ok(())
    })?;
    Ok(Embedded::Done(Some(kept)))
}

/// The texts of chunks. An empty chunk becomes a dash, because servers reject empty input.
fn chunk_texts(tx: &Tx<'_>, places: &[ChunkRef]) -> Result<Vec<String>> {
    let mut numbers: Vec<i64> = places.iter().map(|place| place.seq).collect();
    numbers.dedup();
    let mut chunks: FxHashMap<ChunkRef, String> = FxHashMap::default();
    for whole in texts(tx).by_numbers(&numbers)? {
        let text = indexed(&whole.text);
        for (chunk, range) in oneiro_text::chunks(text).into_iter().enumerate() {
            let words = text.get(range).unwrap_or_default().trim();
            if !words.is_empty() {
                let place = ChunkRef { seq: whole.number, chunk: chunk as i64 };
                chunks.insert(place, words.to_owned());
            }
        }
    }
    let text = |place| chunks.remove(place).unwrap_or_else(|| "-".to_owned());
    Ok(places.iter().map(text).collect())
}

/// The stored vectors of chunks.
pub(crate) fn stored(
    tx: &Tx<'_>,
    places: &[ChunkRef],
    kept: &str,
) -> Result<FxHashMap<ChunkRef, Vec<f32>>> {
    let mut found = FxHashMap::default();
    let seqs = || places.iter().map(|place| place.seq);
    let (Some(first), Some(last)) = (seqs().min(), seqs().max()) else { return Ok(found) };
    segments::embeddings(tx, first..=last, kept, |place, data| {
        found.insert(place, unpack(data));
        Ok(())
    })?;
    Ok(found)
}

/// All stored vectors of one message.
pub(crate) fn stored_vectors(
    tx: &Tx<'_>,
    seq: i64,
    kept: &str,
) -> Result<FxHashMap<i64, Vec<f32>>> {
    let found = stored(tx, &[ChunkRef { seq, chunk: 0 }], kept)?;
    Ok(found.into_iter().map(|(place, vector)| (place.chunk, vector)).collect())
}

/// Packs a normalised vector into bytes: the largest value, then each value as a fraction of it.
fn pack(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    let mut out = largest.to_le_bytes().to_vec();
    out.extend(vector.iter().map(|value| (value / largest * 127.0).round() as i8 as u8));
    out
}

fn unpack(data: &[u8]) -> Vec<f32> {
    let Some((largest, values)) = data.split_first_chunk::<4>() else { return Vec::new() };
    let scale = f32::from_le_bytes(*largest) / 127.0;
    values.iter().map(|value| f32::from(*value as i8) * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_survive_their_bytes() {
        let vector: Vec<f32> = (0..300).map(|n| (n as f32).sin() / 12.0).collect();
        let again = unpack(&pack(&vector));
        assert_eq!(again.len(), vector.len());
        assert!(vector.iter().zip(&again).all(|(a, b)| (a - b).abs() < 0.001));
        assert_eq!(unpack(&[1, 2]), [0.0; 0]);
    }
}
