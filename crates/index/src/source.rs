//! Sources of texts to index, and their combination.

use crate::Kind;
use oneiro_model::{Result, Timestamp};

/// A text to index.
#[derive(Debug, Clone)]
pub struct Text {
    /// From the one sequence that texts of all kinds share.
    pub number: i64,
    /// What it is.
    pub kind: Kind,
    /// What it belongs to: the session of a message.
    pub session: i64,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it, as [`role_code`](crate::role_code) puts it.
    pub role: u8,
    /// The speaker's name.
    pub name: Option<String>,
    /// The words.
    pub text: String,
}

/// A source of texts of one kind or several.
pub trait Source {
    /// Up to `limit` texts after a number, lowest first.
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>>;

    /// Up to `limit` texts with the highest numbers, lowest first.
    fn newest(&self, limit: usize) -> Result<Vec<Text>>;

    /// The texts among `numbers` that exist, in any order.
    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>>;

    /// Which numbers from `first` to `last` have a text, lowest first.
    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>>;

    /// How many numbers from `first` to `last` have a text.
    fn count(&self, first: i64, last: i64) -> Result<i64>;

    /// The highest number that has a text; 0 if there is none.
    fn last(&self) -> Result<i64>;
}

/// Several sources combined.
pub struct Sources<'s>(pub Vec<Box<dyn Source + 's>>);

impl Sources<'_> {
    fn gather<T>(&self, each: impl Fn(&dyn Source) -> Result<Vec<T>>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        for source in &self.0 {
            all.append(&mut each(source.as_ref())?);
        }
        Ok(all)
    }
}

impl Source for Sources<'_> {
    fn after(&self, number: i64, limit: usize) -> Result<Vec<Text>> {
        let mut all = self.gather(|source| source.after(number, limit))?;
        all.sort_by_key(|text| text.number);
        all.truncate(limit);
        Ok(all)
    }

    fn newest(&self, limit: usize) -> Result<Vec<Text>> {
        let mut all = self.gather(|source| source.newest(limit))?;
        all.sort_by_key(|text| text.number);
        all.drain(..all.len().saturating_sub(limit));
        Ok(all)
    }

    fn by_numbers(&self, numbers: &[i64]) -> Result<Vec<Text>> {
        self.gather(|source| source.by_numbers(numbers))
    }

    fn numbers(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        let mut all = self.gather(|source| source.numbers(first, last))?;
        all.sort_unstable();
        Ok(all)
    }

    fn count(&self, first: i64, last: i64) -> Result<i64> {
        self.0.iter().map(|source| source.count(first, last)).sum()
    }

    fn last(&self) -> Result<i64> {
        Ok(self.gather(|source| Ok(vec![source.last()?]))?.into_iter().max().unwrap_or(0))
    }
}
