//! The vocabulary of o200k: 199,998 byte strings by rank.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHasher;

/// Written by `examples/make_table.rs`: the 256 bytes in the order of their ranks, then for each
/// further token the ranks of the two tokens it consists of. The ranks are stored in six planes
/// (low, middle and high bytes of all first parts, then of all second parts), which zstd compresses
/// better.
const PACKED_VOCABULARY: &[u8] = include_bytes!("../assets/o200k.bin");

/// The length of the longest token of o200k.
pub(crate) const MAX_TOKEN_BYTES: usize = 128;
const SINGLE_BYTES: usize = 256;
const PLANES: usize = 6;
/// Bytes that are copied at once.
const COPY_BYTES: usize = 16;
/// The maximum size of the decompressed file.
const MAX_UNPACKED_BYTES: usize = SINGLE_BYTES + PLANES * (1 << RANK_BITS);

/// A slot contains a rank plus one in its low bits, and bits of the hash above, which avoid most
/// comparisons.
const RANK_BITS: u32 = 18;
const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
/// The load factor is two fifths.
const SLOT_BITS: u32 = 19;

#[derive(Default)]
pub(crate) struct Vocabulary {
    /// The concatenated tokens.
    text: Vec<u8>,
    /// The start of each token in the text, and the end of the last.
    starts: Vec<u32>,
    /// A hash table with linear probing; 0 is an empty slot.
    slots: Vec<u32>,
}

impl Vocabulary {
    /// The vocabulary compiled into the binary. If the file were invalid, which a test excludes,
    /// every byte would count as a token: too many, never too few.
    pub(crate) fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Vocabulary> =
            LazyLock::new(|| Vocabulary::unpack(PACKED_VOCABULARY).unwrap_or_default());
        &BUILT_IN
    }

    fn unpack(file: &[u8]) -> Option<Self> {
        let unpacked = zstd::bulk::decompress(file, MAX_UNPACKED_BYTES).ok()?;
        let (single, planes) = unpacked.split_at_checked(SINGLE_BYTES)?;
        let (starts, pairs) = parse_planes(planes)?;
        let mut vocabulary =
            Vocabulary { text: Vec::new(), starts, slots: vec![0; 1 << SLOT_BITS] };
        let end = *vocabulary.starts.last()? as usize;
        let mut text = vec![0; end + COPY_BYTES];
        text.first_chunk_mut::<SINGLE_BYTES>()?.copy_from_slice(single);
        for ([first, second], start) in
            pairs.iter().zip(vocabulary.starts.iter().skip(SINGLE_BYTES))
        {
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

    pub(crate) fn len(&self) -> u32 {
        (self.starts.len() as u32).saturating_sub(1)
    }

    /// The rank of a token. Lower ranks are merged first.
    #[inline]
    pub(crate) fn rank(&self, token: &[u8]) -> Option<u32> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let (mut at, tag) = slot_of(token);
        // The table is never full, so an empty slot ends the search.
        loop {
            let slot = *self.slots.get(at)?;
            let rank = (slot & RANK_MASK).checked_sub(1)?;
            if slot & !RANK_MASK == tag && self.token(rank) == Some(token) {
                return Some(rank);
            }
            at = (at + 1) & ((1 << SLOT_BITS) - 1);
        }
    }

    #[inline]
    pub(crate) fn token(&self, rank: u32) -> Option<&[u8]> {
        self.text.get(self.range(rank)?)
    }

    #[inline]
    fn range(&self, rank: u32) -> Option<Range<usize>> {
        let rank = rank as usize;
        Some(*self.starts.get(rank)? as usize..*self.starts.get(rank + 1)? as usize)
    }

    /// `None` if the token is too long or its rank too high for this table.
    fn insert(&mut self, rank: u32) -> Option<()> {
        let token = self.token(rank)?;
        if token.len() > MAX_TOKEN_BYTES || rank >= RANK_MASK {
            return None;
        }
        let (mut at, tag) = slot_of(token);
        while *self.slots.get(at)? != 0 {
            at = (at + 1) & ((1 << SLOT_BITS) - 1);
        }
        *self.slots.get_mut(at)? = tag | (rank + 1);
        Some(())
    }
}

/// The start of every token and the two parts of every token longer than a byte. `None` if a part
/// has a higher rank than its token.
fn parse_planes(planes: &[u8]) -> Option<(Vec<u32>, Vec<[u32; 2]>)> {
    let planes: Vec<&[u8]> = planes.chunks_exact((planes.len() / PLANES).max(1)).collect();
    let [low, middle, high, low2, middle2, high2] = *planes.as_slice() else { return None };
    let rank =
        |((low, middle), high): ((&u8, &u8), &u8)| u32::from_le_bytes([*low, *middle, *high, 0]);
    let firsts = low.iter().zip(middle).zip(high).map(rank);
    let seconds = low2.iter().zip(middle2).zip(high2).map(rank);
    let pairs: Vec<[u32; 2]> = firsts.zip(seconds).map(|(first, second)| [first, second]).collect();

    let mut starts: Vec<u32> = Vec::with_capacity(SINGLE_BYTES + pairs.len() + 1);
    starts.extend(0..=SINGLE_BYTES as u32);
    let mut end = SINGLE_BYTES as u32;
    for pair in &pairs {
        for part in pair {
            let part = *part as usize;
            end = end.checked_add(starts.get(part + 1)?.checked_sub(*starts.get(part)?)?)?;
        }
        starts.push(end);
    }
    Some((starts, pairs))
}

/// Copies a token to a later position. Copying a fixed number of bytes is faster for short tokens;
/// the next token overwrites the excess.
#[inline]
fn copy(text: &mut [u8], token: Range<usize>, to: usize) -> Option<()> {
    if token.len() <= COPY_BYTES {
        let token: [u8; COPY_BYTES] = *text.get(token.start..)?.first_chunk()?;
        *text.get_mut(to..)?.first_chunk_mut()? = token;
    } else {
        let (before, after) = text.split_at_mut_checked(to)?;
        let token = before.get(token)?;
        after.get_mut(..token.len())?.copy_from_slice(token);
    }
    Some(())
}

/// The slot where the search for a token starts, and the bits of the hash in the slot.
#[inline]
fn slot_of(token: &[u8]) -> (usize, u32) {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    let hash = hasher.finish();
    ((hash >> (64 - SLOT_BITS)) as usize, (hash as u32) & !RANK_MASK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Of `o200k_base.tiktoken` as OpenAI publishes it, whose SHA-256 is
    /// 446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d.
    const PUBLISHED_HASH: &str = "77500c1d2b9e0f606d2ab99ff39e9ebaed9221b4531c6d83a503c36def0b8be8";

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
        assert_eq!(blake3::hash(source.as_bytes()).to_string(), PUBLISHED_HASH);
    }

    #[test]
    fn every_token_is_found_and_nothing_else() {
        let vocabulary = Vocabulary::built_in();
        for rank in 0..vocabulary.len() {
            assert_eq!(vocabulary.rank(vocabulary.token(rank).unwrap()), Some(rank));
        }
        for other in [&b""[..], b"hellohello", b"\xff\xfe\xfd", &[b' '; MAX_TOKEN_BYTES + 1]] {
            assert_eq!(vocabulary.rank(other), None);
        }
    }

    #[test]
    fn a_truncated_file_is_refused() {
        assert!(Vocabulary::unpack(&PACKED_VOCABULARY[..PACKED_VOCABULARY.len() - 1]).is_none());
        assert!(Vocabulary::unpack(&[]).is_none());
        assert_eq!(Vocabulary::default().rank(b"a"), None);
    }

    #[test]
    fn the_file_and_the_table_stay_small() {
        assert!(PACKED_VOCABULARY.len() <= 750_000);
        let Vocabulary { text, starts, slots } = Vocabulary::built_in();
        assert!(text.capacity() + 4 * (starts.capacity() + slots.capacity()) <= 5_000_000);
    }
}
