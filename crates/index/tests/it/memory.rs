//! A storage in memory, and a source that is a list.

use oneiro_index::{
    Blocks, EachBlock, EachFound, Kind, ListParts, Segment, Source, Storage, TermBlock, TermRange,
    Text, Written, role,
};
use oneiro_model::{Result, Timestamp};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Segments with their blocks, by id.
#[derive(Default)]
pub struct Memory(RefCell<BTreeMap<i64, (Segment, Blocks)>>);

impl Memory {
    fn blocks<T>(&self, segment: i64, read: impl FnOnce(&Blocks) -> T) -> T {
        read(&self.0.borrow()[&segment].1)
    }
}

impl Storage for Memory {
    fn state(&self) -> (i64, i64) {
        (1, 0)
    }

    fn segments(&self) -> Result<Vec<Segment>> {
        let mut all: Vec<Segment> = self.0.borrow().values().map(|(one, _)| one.clone()).collect();
        all.sort_by_key(|segment| segment.first);
        Ok(all)
    }

    fn docs(&self, segment: i64, each: EachBlock<'_>) -> Result<()> {
        self.blocks(segment, |blocks| blocks.docs.iter().try_for_each(|block| each(block)))
    }

    fn vectors(&self, segment: i64, each: EachBlock<'_>) -> Result<()> {
        self.blocks(segment, |blocks| blocks.vectors.iter().try_for_each(|block| each(block)))
    }

    fn terms(&self, segment: i64, from: i64, limit: usize) -> Result<Vec<TermBlock>> {
        self.blocks(segment, |blocks| {
            Ok(blocks.terms.iter().skip(from as usize).take(limit).cloned().collect())
        })
    }

    fn lookup(&self, term: &[u8], each: EachFound<'_>) -> Result<()> {
        self.0.borrow().iter().try_for_each(|(id, (_, blocks))| {
            let found = blocks.terms.iter().rev().find(|block| block.first_term.as_slice() <= term);
            found.map_or(Ok(()), |block| each(*id, block.part, &block.data))
        })
    }

    fn parts(&self, list: ListParts<'_>, each: EachBlock<'_>) -> Result<()> {
        self.blocks(list.segment, |blocks| {
            let is_earlier =
                |block: &&TermBlock| block.first_term == list.term && block.part < list.before;
            blocks.terms.iter().rev().filter(is_earlier).try_for_each(|block| each(&block.data))
        })
    }

    fn between(&self, range: TermRange<'_>, each: EachBlock<'_>) -> Result<()> {
        self.blocks(range.segment, |blocks| {
            let is_between = |block: &&TermBlock| {
                let first = block.first_term.as_slice();
                first > range.after && first < range.before
            };
            let some = blocks.terms.iter().filter(is_between).take(range.limit);
            some.map(|block| block.data.as_slice()).try_for_each(each)
        })
    }

    fn insert(&self, segment: &Segment) -> Result<i64> {
        let mut all = self.0.borrow_mut();
        let id = all.keys().max().map_or(1, |last| last + 1);
        all.insert(id, (Segment { id, ..segment.clone() }, Blocks::default()));
        Ok(id)
    }

    fn write(&self, segment: i64, blocks: &Blocks, _after: Written) -> Result<Written> {
        let mut all = self.0.borrow_mut();
        let (segment, kept) = all.get_mut(&segment).unwrap();
        kept.terms.extend_from_slice(&blocks.terms);
        kept.docs.extend_from_slice(&blocks.docs);
        kept.vectors.extend_from_slice(&blocks.vectors);
        segment.blocks = kept.terms.len() as i64;
        Ok(Written::default())
    }

    fn remove(&self, segment: i64) -> Result<()> {
        self.0.borrow_mut().remove(&segment);
        Ok(())
    }
}

/// Texts of one kind, lowest number first.
pub struct List(Vec<Text>);

impl List {
    pub fn new(kind: Kind, texts: &[(i64, &str)]) -> List {
        let text = |(number, text): &(i64, &str)| Text {
            number: *number,
            kind,
            session: 1,
            at: Timestamp::from_micros(0),
            role: role::USER,
            name: None,
            text: (*text).to_owned(),
        };
        List(texts.iter().map(text).collect())
    }

    fn only(&self, wanted: impl Fn(i64) -> bool) -> Vec<Text> {
        self.0.iter().filter(|text| wanted(text.number)).cloned().collect()
    }
}

impl Source for List {
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>> {
        let mut some = self.only(|one| one > number);
        some.truncate(limit);
        Ok(some)
    }

    fn newest(&self, limit: usize) -> Result<Vec<Text>> {
        let from = self.0.len().saturating_sub(limit);
        Ok(self.0[from..].to_vec())
    }

    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>> {
        Ok(self.only(|one| numbers.contains(&one)))
    }

    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        let some = self.only(|one| (first..=last).contains(&one));
        Ok(some.into_iter().map(|text| text.number).collect())
    }

    fn count(&self, first: i64, last: i64) -> Result<i64> {
        Ok(self.numbers(first, last)?.len() as i64)
    }

    fn last(&self) -> Result<i64> {
        Ok(self.0.last().map_or(0, |text| text.number))
    }
}
