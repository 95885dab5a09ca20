//! A consistent view of the index for one search: the live segments and, in memory, the texts after them.
//! Segments stay cached between searches.

use crate::bits::Bits;
use crate::build::SegmentBuilder;
use crate::docs::{Doc, Docs};
use crate::merge::read_docs;
use crate::read::Reader;
use crate::source::{Source, Text};
use crate::storage::{ListParts, Segment, Storage, TermRange};
use crate::term_lists::{ListPart, TermLists};
use crate::terms::{TermReader, find};
use crate::{Kind, Kinds};
use oneiro_model::Result;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts of the tail read at a time.
const TAIL_BATCH_TEXTS: usize = 4_096;

/// With this many segments in memory, the tail is read again as one.
const MAX_TAIL_SEGMENTS: usize = 8;

/// The segments and the tail that stay in memory between searches.
#[derive(Default)]
pub struct Cache {
    segments: Mutex<HashMap<i64, Arc<LoadedSegment>>>,
    tail: Mutex<Tail>,
}

/// The documents of a segment, and their vectors.
struct LoadedSegment {
    docs: Docs,
    bits: Vec<Bits>,
}

/// The state of the storage, and the last number that its segments cover.
type TailState = ((i64, i64), i64);

/// The texts that no stored segment covers, as segments in memory.
#[derive(Default)]
struct Tail {
    state: Option<TailState>,
    last: i64,
    segments: Vec<Arc<SegmentBuilder>>,
}

/// A segment of a view.
struct ViewSegment {
    data: SegmentData,
    /// The number of its first document in the view.
    base: u32,
}

enum SegmentData {
    Stored(i64, Arc<LoadedSegment>),
    Memory(Arc<SegmentBuilder>),
}

impl ViewSegment {
    fn docs(&self) -> &Docs {
        match &self.data {
            SegmentData::Stored(_, loaded) => &loaded.docs,
            SegmentData::Memory(building) => building.docs(),
        }
    }

    fn bits(&self) -> &[Bits] {
        match &self.data {
            SegmentData::Stored(_, loaded) => &loaded.bits,
            SegmentData::Memory(building) => building.bits(),
        }
    }
}

/// The index in one snapshot. Documents are numbered from 0 across all segments, oldest first.
pub struct View<'s> {
    /// `None` for a view of texts alone.
    storage: Option<&'s dyn Storage>,
    segments: Vec<ViewSegment>,
    docs: u32,
    /// Whether every segment has the current index version and model.
    pub is_current: bool,
}

/// Terms with a common prefix.
pub struct Prefixed {
    /// The most frequent of them.
    pub terms: Vec<Vec<u8>>,
    /// Whether these are all.
    pub is_all: bool,
}

/// Blocks of one segment that are read for a prefix.
const MAX_PREFIX_BLOCKS: usize = 1_024;

/// Whether a model id is an earlier version of another: the same name with a lower number.
fn is_before(one: &str, other: &str) -> bool {
    let parts = |id: &str| {
        let (name, number) = id.rsplit_once('-')?;
        Some((name.to_owned(), number.parse::<u64>().ok()?))
    };
    match (parts(one), parts(other)) {
        (Some((a, before)), Some((b, after))) => a == b && before < after,
        _ => false,
    }
}

/// The segments and the texts as one transaction sees them.
pub struct Snapshot<'s, 't> {
    /// The segments.
    pub storage: &'s dyn Storage,
    /// The texts, of which those after the segments are read.
    pub texts: &'t dyn Source,
}

impl Cache {
    /// Removes everything.
    pub fn clear(&self) {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = Tail::default();
    }

    /// The index as this snapshot has it, the texts after its segments included. `reader` makes the
    /// vectors of those; the vectors of segments count only when they are of the same model, or of
    /// the one `elsewhere` names.
    pub fn view<'s>(
        &self,
        snapshot: Snapshot<'s, '_>,
        reader: &mut Reader,
        elsewhere: Option<&str>,
    ) -> Result<View<'s>> {
        let Snapshot { storage, texts } = snapshot;
        let live = storage.segments()?;
        let reach = live.iter().map(|segment| segment.last).max().unwrap_or(0);
        let model = reader.model();
        let is_older = |segment: &Segment| {
            let vectors = segment.embedder.as_deref();
            segment.version < crate::VERSION
                || model
                    .is_some_and(|model| vectors.is_none_or(|vectors| is_before(vectors, model)))
        };
        // A newer version of Oneiro may use the same store; its segments count as current.
        let is_current = !live.iter().any(is_older);
        let mut view = View { storage: Some(storage), segments: Vec::new(), docs: 0, is_current };
        for segment in &live {
            let loaded = self.load(storage, segment, elsewhere.or(reader.model()))?;
            view.push(SegmentData::Stored(segment.id, loaded));
        }
        self.segments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|id, _| live.iter().any(|segment| segment.id == *id));
        for segment in self.tail(texts, (storage.state(), reach), reader)? {
            view.push(SegmentData::Memory(segment));
        }
        Ok(view)
    }

    fn load(
        &self,
        storage: &dyn Storage,
        segment: &Segment,
        model: Option<&str>,
    ) -> Result<Arc<LoadedSegment>> {
        let cached = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = model.is_some() && segment.embedder.as_deref() == model;
        // A search without vectors can use a segment with any.
        if let Some(loaded) = cached.get(&segment.id)
            && (model.is_none() || wanted != loaded.bits.is_empty())
        {
            return Ok(Arc::clone(loaded));
        }
        drop(cached);
        let (docs, mut bits) = read_docs(storage, segment, wanted)?;
        if bits.len() != docs.len() {
            bits.clear();
        }
        let loaded = Arc::new(LoadedSegment { docs, bits });
        let mut cached = self.segments.lock().unwrap_or_else(PoisonError::into_inner);
        cached.insert(segment.id, Arc::clone(&loaded));
        Ok(loaded)
    }

    fn tail(
        &self,
        texts: &dyn Source,
        state: TailState,
        reader: &mut Reader,
    ) -> Result<Vec<Arc<SegmentBuilder>>> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.state != Some(state) || tail.segments.len() >= MAX_TAIL_SEGMENTS {
            *tail = Tail { state: Some(state), last: state.1, segments: Vec::new() };
        }
        loop {
            let some = texts.after(tail.last, TAIL_BATCH_TEXTS)?;
            let Some(last) = some.last() else { break };
            tail.segments.push(Arc::new(build_in_memory(&some, reader)?));
            tail.last = last.number;
            if some.len() < TAIL_BATCH_TEXTS {
                break;
            }
        }
        Ok(tail.segments.clone())
    }
}

/// Builds a searchable segment in memory.
fn build_in_memory(texts: &[Text], reader: &mut Reader) -> Result<SegmentBuilder> {
    let mut building = SegmentBuilder::default();
    for text in texts {
        reader.read(text, &mut building)?;
    }
    building.close_lists();
    Ok(building)
}

impl View<'_> {
    /// A view of the newest texts alone, without stored segments.
    pub fn newest(texts: &dyn Source, reader: &mut Reader, limit: usize) -> Result<View<'static>> {
        View::of(&texts.newest(limit)?, reader)
    }

    /// A view of these texts, in the order of their numbers.
    pub fn of(texts: &[Text], reader: &mut Reader) -> Result<View<'static>> {
        let mut view = View { storage: None, segments: Vec::new(), docs: 0, is_current: true };
        view.push(SegmentData::Memory(Arc::new(build_in_memory(texts, reader)?)));
        Ok(view)
    }

    fn push(&mut self, data: SegmentData) {
        let segment = ViewSegment { data, base: self.docs };
        self.docs += segment.docs().len() as u32;
        self.segments.push(segment);
    }

    /// The number of documents.
    pub fn docs(&self) -> usize {
        self.docs as usize
    }

    /// The generation of the storage, which rises with every erasure; `None` without stored segments.
    pub fn generation(&self) -> Option<i64> {
        self.storage.map(|storage| storage.state().1)
    }

    /// The kinds of texts in it.
    pub fn kinds(&self) -> Kinds {
        let kinds = self.segments.iter().map(|segment| segment.docs().kinds());
        kinds.fold(Kinds::default(), Kinds::and)
    }

    /// The documents of texts of a kind, in order.
    pub fn docs_of(&self, kind: Kind) -> Vec<u32> {
        let mut found = Vec::new();
        for segment in self.segments.iter().filter(|it| it.docs().kinds().has(kind)) {
            let docs = segment.docs().of_kind(kind);
            found.extend(docs.map(|doc| segment.base + doc as u32));
        }
        found
    }

    #[inline]
    fn segment(&self, doc: u32) -> Option<(&ViewSegment, usize)> {
        let at = self.segments.partition_point(|segment| segment.base <= doc);
        let segment = self.segments.get(at.checked_sub(1)?)?;
        Some((segment, (doc - segment.base) as usize))
    }

    /// The segments, each with the number of its first document.
    fn stored(&self) -> impl Iterator<Item = (i64, u32)> {
        self.segments.iter().filter_map(|segment| match &segment.data {
            SegmentData::Stored(id, _) => Some((*id, segment.base)),
            SegmentData::Memory(_) => None,
        })
    }

    /// A document.
    #[inline]
    pub fn doc(&self, doc: u32) -> Option<Doc> {
        let (segment, at) = self.segment(doc)?;
        segment.docs().get(at)
    }

    /// Every document, oldest first.
    pub fn each_doc(&self, mut each: impl FnMut(Doc)) {
        for segment in &self.segments {
            segment.docs().iter().for_each(&mut each);
        }
    }

    /// The session of a document.
    #[inline]
    pub fn session(&self, doc: u32) -> Option<i64> {
        let (segment, at) = self.segment(doc)?;
        segment.docs().session(at).map(i64::from)
    }

    /// The first document of the text that a document belongs to.
    #[inline]
    pub fn first_chunk(&self, doc: u32) -> u32 {
        self.segment(doc)
            .map_or(doc, |(segment, at)| segment.base + segment.docs().first_chunk(at) as u32)
    }

    /// All documents of the text that a document belongs to.
    #[inline]
    pub fn chunks(&self, doc: u32) -> Range<u32> {
        self.segment(doc).map_or(doc..doc + 1, |(segment, at)| {
            let chunks = segment.docs().chunks(at);
            segment.base + chunks.start as u32..segment.base + chunks.end as u32
        })
    }

    /// The sign bits of a document's vector, if it has one.
    #[inline]
    pub fn bits(&self, doc: u32) -> Option<&Bits> {
        let (segment, at) = self.segment(doc)?;
        segment.bits().get(at)
    }

    /// The vectors of each segment, with the number of its first document.
    pub fn vectors(&self) -> impl Iterator<Item = (u32, &[Bits])> {
        self.segments.iter().map(|segment| (segment.base, segment.bits()))
    }

    /// Documents near this one, `step` of -1 or 1 at a time, that belong to other texts of its kind
    /// and session; looks no further than `reach` documents.
    pub fn nearby(&self, doc: u32, step: i64, reach: usize) -> impl Iterator<Item = u32> {
        let here = self.doc(doc);
        let mut last = here.map(|here| here.seq);
        (1..=reach as i64).filter_map(move |distance| {
            let at = u32::try_from(i64::from(doc) + distance * step).ok()?;
            let (found, here) = (self.doc(at)?, here?);
            let is_next =
                found.session == here.session && found.kind == here.kind && Some(found.seq) != last;
            if is_next {
                last = Some(found.seq);
            }
            is_next.then_some(at)
        })
    }

    /// The postings of a term; of a list in parts only the newest part, with the count of all.
    pub fn lists(&self, term: &[u8]) -> Result<TermLists> {
        let mut found = TermLists { term: term.to_owned(), ..TermLists::default() };
        for segment in self.segments.iter().rev() {
            if let SegmentData::Memory(building) = &segment.data
                && let Some(list) = building.list(term)
            {
                found.count += u64::from(list.count);
                found.lists.push(ListPart::new(segment.base, list));
            }
        }
        let Some(storage) = self.storage.filter(|_| self.stored().next().is_some()) else {
            return Ok(found);
        };
        let bases: HashMap<i64, u32> = self.stored().collect();
        storage.lookup(term, &mut |segment, part, data| {
            let Some(base) = bases.get(&segment) else { return Ok(()) };
            if let Some(list) = find(data, term)? {
                found.count += u64::from(list.before + list.list.count);
                found.lists.push(ListPart::new(*base, list.list));
                if list.before > 0 {
                    found.rest.push((segment, *base, part));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Reads the older parts of long lists, newest first, until `budget` postings are read.
    pub fn read_rest(&self, lists: &mut TermLists, budget: u64) -> Result<()> {
        let Some(storage) = self.storage else { return Ok(()) };
        let mut left = budget;
        let mut rest = std::mem::take(&mut lists.rest);
        rest.sort_unstable_by_key(|(_, base, _)| std::cmp::Reverse(*base));
        for (segment, base, part) in rest {
            if left == 0 {
                break;
            }
            let term = lists.term.clone();
            let mut read = Vec::new();
            let earlier = ListParts { segment, term: &term, before: part };
            storage.parts(earlier, &mut |data| {
                if left > 0
                    && let Some(list) = find(data, &term)?
                {
                    left = left.saturating_sub(u64::from(list.list.count));
                    read.push(ListPart::new(base, list.list));
                }
                Ok(())
            })?;
            lists.lists.append(&mut read);
        }
        Ok(())
    }

    /// The terms that begin with `prefix`, most frequent first.
    pub fn with_prefix(&self, prefix: &[u8], limit: usize) -> Result<Prefixed> {
        let mut is_all = true;
        let mut found: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut add = |data: &[u8]| -> Result<()> {
            let mut reader = TermReader::new(data)?;
            while let Some((term, list)) = reader.next()? {
                if term.starts_with(prefix) {
                    *found.entry(term.to_owned()).or_default() += u64::from(list.count);
                }
            }
            Ok(())
        };
        let mut beyond = prefix.to_owned();
        beyond.extend([0xFF; 4]);
        if let Some(storage) = self.storage {
            storage.lookup(prefix, &mut |_, _, data| add(data))?;
            for (segment, _) in self.stored() {
                let mut blocks = 0;
                let (after, before, limit) = (prefix, beyond.as_slice(), MAX_PREFIX_BLOCKS);
                let range = TermRange { segment, after, before, limit };
                storage.between(range, &mut |data| {
                    blocks += 1;
                    add(data)
                })?;
                is_all &= blocks < MAX_PREFIX_BLOCKS;
            }
        }
        for segment in &self.segments {
            if let SegmentData::Memory(building) = &segment.data {
                for term in building.terms().filter(|term| term.starts_with(prefix)) {
                    let count = building.list(term).map_or(0, |list| u64::from(list.count));
                    *found.entry(term.to_owned()).or_default() += count;
                }
            }
        }
        let mut found: Vec<(Vec<u8>, u64)> = found.into_iter().collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        is_all &= found.len() <= limit;
        found.truncate(limit);
        let terms = found.into_iter().map(|(term, _)| term).collect();
        Ok(Prefixed { terms, is_all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{List, Posting};
    use proptest::prelude::*;

    /// The list of documents in segments of `per_segment` documents, newest part first.
    fn lists_of(docs: &std::collections::BTreeSet<u32>, per_segment: u32) -> TermLists {
        let mut lists = TermLists::default();
        for base in (0..400).step_by(per_segment as usize).rev() {
            let mut list = List::default();
            let here = docs.range(base..base + per_segment);
            here.for_each(|doc| list.push(Posting { doc: doc - base, impact: (doc % 8) as u8 }));
            if list.count > 0 {
                lists.lists.push(ListPart::new(base, list.as_list_ref()));
            }
        }
        lists
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(128))]

        #[test]
        fn postings_in_ranges_are_those_that_a_filter_keeps(
            docs in prop::collection::btree_set(0u32..400, 0..120),
            bounds in prop::collection::btree_set(0u32..400, 0..30),
            per_segment in 1u32..200,
        ) {
            let bounds: Vec<u32> = bounds.into_iter().collect();
            let ranges: Vec<Range<u32>> =
                bounds.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
            let mut found = Vec::new();
            lists_of(&docs, per_segment)
                .postings_in(&ranges, |at, doc, impact| found.push((at, doc, impact)));
            let kept = docs.iter().filter_map(|doc| {
                let at = ranges.iter().position(|range| range.contains(doc))?;
                Some((at, *doc, (doc % 8) as u8))
            });
            prop_assert_eq!(found, kept.collect::<Vec<_>>());
        }
    }
}
