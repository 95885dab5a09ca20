//! The vocabulary of o200k: 199,998 strings of bytes, each with its rank. It owns their form in the
//! file and in memory, and the look-up; it must not know how text becomes tokens.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHasher;

/// Written by `examples/make_table.rs`: the 256 bytes in the order of their ranks, then for each
/// further token the ranks of the two earlier ones that it is made of. The ranks lie in six planes
/// (low, middle and high bytes of all first parts, then of all second ones), because zstd finds
/// more in them so than side by side.
const FILE: &[u8] = include_bytes!("../assets/o200k.bin");

/// No token of o200k is longer, in bytes.
pub(crate) const LONGEST: usize = 128;
const SINGLE: usize = 256;
const PLANES: usize = 6;
/// How many bytes are copied at once.
const STEP: usize = 16;
/// Room for what zstd gives back.
const UNPACKED: usize = SINGLE + PLANES * (1 << RANK_BITS);

/// A slot is a rank plus one, below the bits of the hash that spare most looks at the text.
const RANK_BITS: u32 = 18;
const RANK: u32 = (1 << RANK_BITS) - 1;
/// Slots are filled to two fifths.
const SLOT_BITS: u32 = 19;

/// All tokens by rank, and where to find one by its bytes.
#[derive(Default)]
pub(crate) struct Vocabulary {
    /// The tokens, one after the other.
    text: Vec<u8>,
    /// Where each begins in the text, and where the last one ends.
    starts: Vec<u32>,
    /// An open-addressing table; 0 is an empty slot.
    slots: Vec<u32>,
}

impl Vocabulary {
    /// The one compiled in, unpacked once. If its file were not what this code was built for,
    /// which a test rules out, it would be empty, and every byte a token: too many, never too few.
    pub(crate) fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Vocabulary> =
            LazyLock::new(|| Vocabulary::unpack(FILE).unwrap_or_default());
        &BUILT_IN
    }

    fn unpack(file: &[u8]) -> Option<Self> {
        let unpacked = zstd::bulk::decompress(file, UNPACKED).ok()?;
        let (single, planes) = unpacked.split_at_checked(SINGLE)?;
        let (starts, pairs) = measure(planes)?;
        let mut vocabulary =
            Vocabulary { text: Vec::new(), starts, slots: vec![0; 1 << SLOT_BITS] };
        let end = *vocabulary.starts.last()? as usize;
        let mut text = vec![0; end + STEP];
        text.first_chunk_mut::<SINGLE>()?.copy_from_slice(single);
        for ([first, second], start) in pairs.iter().zip(vocabulary.starts.iter().skip(SINGLE)) {
            let first = vocabulary.range(*first)?;
            let second = vocabulary.range(*second)?;
            let start = *start as usize;
            let middle = start + first.len();
            copy(&mut text, first, start)?;
            copy(&mut text, second, middle)?;
        }
        text.truncate(end);
        vocabulary.text = text;
        for rank in 0..vocabulary.len() {
            vocabulary.insert(rank)?;
        }
        Some(vocabulary)
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> u32 {
        (self.starts.len() as u32).saturating_sub(1)
    }

    /// The rank of a token, which is both its number and its turn in merging.
    #[inline]
    pub(crate) fn rank(&self, token: &[u8]) -> Option<u32> {
        if token.len() > LONGEST {
            return None;
        }
        let (mut at, tag) = place(token);
        // The table is never full, so an empty slot ends the search.
        loop {
            let slot = *self.slots.get(at)?;
            let rank = (slot & RANK).checked_sub(1)?;
            if slot & !RANK == tag && self.token(rank) == Some(token) {
                return Some(rank);
            }
            at = (at + 1) & ((1 << SLOT_BITS) - 1);
        }
    }

    /// The bytes of a token.
    #[inline]
    pub(crate) fn token(&self, rank: u32) -> Option<&[u8]> {
        self.text.get(self.range(rank)?)
    }

    #[inline]
    fn range(&self, rank: u32) -> Option<Range<usize>> {
        let rank = rank as usize;
        Some(*self.starts.get(rank)? as usize..*self.starts.get(rank + 1)? as usize)
    }

    /// `None` when the token is too long or its rank too high for this table.
    fn insert(&mut self, rank: u32) -> Option<()> {
        let token = self.token(rank)?;
        if token.len() > LONGEST || rank >= RANK {
            return None;
        }
        let (mut at, tag) = place(token);
        while *self.slots.get(at)? != 0 {
            at = (at + 1) & ((1 << SLOT_BITS) - 1);
        }
        *self.slots.get_mut(at)? = tag | (rank + 1);
        Some(())
    }
}

/// The two parts of every token longer than a byte, and where each token begins. `None` when a
/// token is made of later ones.
fn measure(planes: &[u8]) -> Option<(Vec<u32>, Vec<[u32; 2]>)> {
    let planes: Vec<&[u8]> = planes.chunks_exact((planes.len() / PLANES).max(1)).collect();
    let [low, middle, high, low2, middle2, high2] = *planes.as_slice() else { return None };
    let rank =
        |((low, middle), high): ((&u8, &u8), &u8)| u32::from_le_bytes([*low, *middle, *high, 0]);
    let firsts = low.iter().zip(middle).zip(high).map(rank);
    let seconds = low2.iter().zip(middle2).zip(high2).map(rank);
    let pairs: Vec<[u32; 2]> = firsts.zip(seconds).map(|(first, second)| [first, second]).collect();

    let mut starts: Vec<u32> = Vec::with_capacity(SINGLE + pairs.len() + 1);
    starts.extend(0..=SINGLE as u32);
    let mut end = SINGLE as u32;
    for pair in &pairs {
        for part in pair {
            let part = *part as usize;
            end = end.checked_add(starts.get(part + 1)?.checked_sub(*starts.get(part)?)?)?;
        }
        starts.push(end);
    }
    Some((starts, pairs))
}

/// Copies a token to a later place. Most are short, and a fixed number of bytes is copied sooner
/// than the right one; what is too much is written over by the next.
#[inline]
fn copy(text: &mut [u8], token: Range<usize>, to: usize) -> Option<()> {
    if token.len() <= STEP {
        let token: [u8; STEP] = *text.get(token.start..)?.first_chunk()?;
        *text.get_mut(to..)?.first_chunk_mut()? = token;
    } else {
        let (before, after) = text.split_at_mut_checked(to)?;
        let token = before.get(token)?;
        after.get_mut(..token.len())?.copy_from_slice(token);
    }
    Some(())
}

/// The slot where the search for a token begins, and the bits of its hash that the slot keeps.
#[inline]
fn place(token: &[u8]) -> (usize, u32) {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    let hash = hasher.finish();
    ((hash >> (64 - SLOT_BITS)) as usize, (hash as u32) & !RANK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Of `o200k_base.tiktoken` as OpenAI publishes it, whose SHA-256 is
    /// 446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d.
    const PUBLISHED: &str = "77500c1d2b9e0f606d2ab99ff39e9ebaed9221b4531c6d83a503c36def0b8be8";

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let bits =
                (0..3).fold(0, |bits, at| bits << 8 | u32::from(*three.get(at).unwrap_or(&0)));
            for at in 0..4 {
                let digit = char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
                text.push(if at > three.len() { '=' } else { digit });
            }
        }
        text
    }

    #[test]
    fn the_vocabulary_is_the_published_one() {
        let vocabulary = Vocabulary::built_in();
        let mut source = String::new();
        for rank in 0..vocabulary.len() {
            writeln!(source, "{} {rank}", base64(vocabulary.token(rank).unwrap())).unwrap();
        }
        assert_eq!(blake3::hash(source.as_bytes()).to_string(), PUBLISHED);
    }

    #[test]
    fn every_token_is_found_and_nothing_else() {
        let vocabulary = Vocabulary::built_in();
        for rank in 0..vocabulary.len() {
            assert_eq!(vocabulary.rank(vocabulary.token(rank).unwrap()), Some(rank));
        }
        for other in [&b""[..], b"hellohello", b"\xff\xfe\xfd", &[b' '; LONGEST + 1]] {
            assert_eq!(vocabulary.rank(other), None);
        }
    }

    #[test]
    fn a_file_cut_short_is_refused_and_costs_tokens_only() {
        assert!(Vocabulary::unpack(&FILE[..FILE.len() - 1]).is_none());
        assert!(Vocabulary::unpack(&[]).is_none());
        assert_eq!(Vocabulary::default().rank(b"a"), None);
    }

    #[test]
    fn the_file_and_the_table_stay_small() {
        assert!(FILE.len() <= 750_000);
        let Vocabulary { text, starts, slots } = Vocabulary::built_in();
        assert!(text.capacity() + 4 * (starts.capacity() + slots.capacity()) <= 5_000_000);
    }
}
