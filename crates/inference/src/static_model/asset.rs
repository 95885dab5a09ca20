//! The file of the static model, in the layout that `scripts/distil/asset.py` writes: a header, then
//! aligned sections, which are used in place and never copied.

/// `include_bytes!` guarantees no alignment, and the sections contain floats.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

static BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!("../../assets/static.bin"));

const MAGIC: &[u8; 8] = b"ONEIROSM";
const VERSION: u32 = 1;
const SECTION_ALIGNMENT: usize = 64;
const HEADER_BYTES: usize = 40;
/// The seeds of the hash, by [`PieceKind`].
const HASH_SEEDS: [u32; 2] = [0x811c_9dc5, 0x9747_b28c];

/// Dimensions of a vector. A constant, so that loops over a row have a known length.
pub(super) const DIMS: usize = 256;
/// The length of the longest entry.
pub(super) const MAX_ENTRY_BYTES: usize = 18;
const LENGTHS_PER_KIND: usize = MAX_ENTRY_BYTES + 1;

/// Numbers per block. A block fits the registers of any machine.
pub(super) const BLOCK: usize = 32;
const HEAD_BLOCKS: usize = 96 / BLOCK;
const TAIL_BLOCKS: usize = DIMS / BLOCK - HEAD_BLOCKS;

/// The first dimensions of a row. The table is rotated so that they explain most of the variance. The
/// heads of all rows are contiguous, because the search for neighbours scans only them.
pub(super) type Head = [[i8; BLOCK]; HEAD_BLOCKS];
/// The other dimensions of a row.
pub(super) type Tail = [[i8; BLOCK]; TAIL_BLOCKS];

/// A complete row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub head: &'a Head,
    pub tail: &'a Tail,
}

/// The position of an entry in a word.
#[derive(Clone, Copy)]
pub(super) enum PieceKind {
    /// At the start.
    Word = 0,
    /// After another entry; `##` in BERT's vocabulary.
    Continuation = 1,
}

/// The first row and the first byte of the entries of one kind and length.
type Group = [u32; 2];

/// The sections of the file.
#[derive(Default)]
pub(super) struct Asset {
    /// The mean of the normalised vectors of typical texts.
    pub mean: &'static [f32],
    /// The factor from the integers of a row to its vector, by row.
    pub scales: &'static [f32],
    /// By row; whole words come first.
    pub heads: &'static [Head],
    pub tails: &'static [Tail],
    /// The norms of the heads of whole words, in sixteenths.
    norms: &'static [u16],
    groups: &'static [Group],
    /// A hash table with linear probing: row + 1, or 0 for an empty slot.
    slots: &'static [u16],
    /// By row, in steps.
    rarity: &'static [u8],
    rarity_step: f32,
    text: &'static [u8],
}

/// The hash of an entry (FNV-1a), computed byte by byte while a word is scanned.
#[derive(Clone, Copy)]
pub(super) struct Hash(u32);

impl Hash {
    #[inline]
    pub(super) const fn new(kind: PieceKind) -> Self {
        match kind {
            PieceKind::Word => Hash(HASH_SEEDS[0]),
            PieceKind::Continuation => Hash(HASH_SEEDS[1]),
        }
    }

    #[inline]
    pub(super) const fn push(self, byte: u8) -> Self {
        Hash((self.0 ^ byte as u32).wrapping_mul(0x0100_0193))
    }
}

/// Reads the sections in order.
struct Sections {
    rest: &'static [u8],
    offset: usize,
}

impl Sections {
    fn skip(&mut self, bytes: usize) -> Option<&'static [u8]> {
        let (part, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        self.offset += bytes;
        Some(part)
    }

    fn next<T: bytemuck::AnyBitPattern>(&mut self, count: usize) -> Option<&'static [T]> {
        self.skip(self.offset.next_multiple_of(SECTION_ALIGNMENT) - self.offset)?;
        bytemuck::try_cast_slice(self.skip(count.checked_mul(size_of::<T>())?)?).ok()
    }
}

impl Asset {
    /// The file compiled into the binary; `None` if its format is not the one of this code, which a
    /// test excludes.
    pub(super) fn built_in() -> Option<Self> {
        // The numbers of the file are little-endian and used in place.
        if cfg!(target_endian = "big") {
            return None;
        }
        Self::parse(&BYTES.0)
    }

    fn parse(bytes: &'static [u8]) -> Option<Self> {
        let mut sections = Sections { rest: bytes, offset: 0 };
        let header = sections.next::<u8>(HEADER_BYTES)?;
        let (magic, numbers) = header.split_at_checked(MAGIC.len())?;
        let numbers: &[u32; 8] = bytemuck::try_cast_slice(numbers).ok()?.try_into().ok()?;
        let [version, dims, rows, words, longest, slots, text, step] = *numbers;
        let is_supported = magic == MAGIC
            && version == VERSION
            && dims as usize == DIMS
            && longest as usize == MAX_ENTRY_BYTES
            && slots.is_power_of_two();
        if !is_supported {
            return None;
        }
        let rows = rows as usize;
        Some(Asset {
            mean: sections.next(DIMS)?,
            groups: sections.next(2 * LENGTHS_PER_KIND + 1)?,
            slots: sections.next(slots as usize)?,
            scales: sections.next(rows)?,
            norms: sections.next(words as usize)?,
            rarity: sections.next(rows)?,
            text: sections.next(text as usize)?,
            heads: sections.next(rows)?,
            tails: sections.next(rows)?,
            rarity_step: f32::from_bits(step),
        })
    }

    /// The row of an entry whose bytes hash to `hash`.
    #[inline]
    pub(super) fn find(&self, kind: PieceKind, entry: &[u8], hash: Hash) -> Option<u16> {
        if entry.len() > MAX_ENTRY_BYTES {
            return None;
        }
        let group = kind as usize * LENGTHS_PER_KIND + entry.len();
        let [first, start] = *self.groups.get(group)?;
        let [next, _] = *self.groups.get(group + 1)?;
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = (hash.0 ^ (hash.0 >> 16)) as usize;
        // The table is never full, so an empty slot ends the search before the bound does.
        for _ in 0..self.slots.len() {
            slot &= mask;
            let row = u32::from(*self.slots.get(slot)?).checked_sub(1)?;
            if row >= first && row < next {
                let start = start as usize + (row - first) as usize * entry.len();
                if self.text.get(start..start + entry.len())? == entry {
                    return Some(row as u16);
                }
            }
            slot += 1;
        }
        None
    }

    /// The text of a row, without the mark of a continuation.
    pub(super) fn entry(&self, row: usize) -> Option<&'static str> {
        let group =
            self.groups.partition_point(|[first, _]| *first as usize <= row).checked_sub(1)?;
        let length = group % LENGTHS_PER_KIND;
        let [first, start] = *self.groups.get(group)?;
        let start = start as usize + (row - first as usize) * length;
        std::str::from_utf8(self.text.get(start..start + length)?).ok()
    }

    /// The heads of whole words, each with its norm.
    #[inline(always)]
    pub(super) fn words(&self) -> impl Iterator<Item = (&'static Head, f32)> {
        let norms = self.norms.iter().map(|sixteenths| f32::from(*sixteenths) / 16.0);
        self.heads.iter().zip(norms)
    }

    pub(super) fn row(&self, row: usize) -> Option<Row<'static>> {
        Some(Row { head: self.heads.get(row)?, tail: self.tails.get(row)? })
    }

    /// `-ln p` of a row in background text.
    pub(super) fn rarity(&self, row: u16) -> Option<f32> {
        self.rarity.get(usize::from(row)).map(|steps| f32::from(*steps) * self.rarity_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset() -> Asset {
        Asset::built_in().expect("the file matches the code")
    }

    #[test]
    fn every_entry_is_found_at_its_own_row() {
        let asset = asset();
        for row in 0..asset.heads.len() {
            let entry = asset.entry(row).unwrap();
            let kind =
                if row < asset.norms.len() { PieceKind::Word } else { PieceKind::Continuation };
            let hash = entry.bytes().fold(Hash::new(kind), Hash::push);
            assert_eq!(asset.find(kind, entry.as_bytes(), hash), Some(row as u16), "{entry}");
        }
    }

    #[test]
    fn a_file_cut_short_or_of_another_version_is_refused() {
        assert!(Asset::parse(&BYTES.0[..BYTES.0.len() - 1]).is_none());
        assert!(Asset::parse(&BYTES.0[..20]).is_none());
        assert!(Asset::parse(&[]).is_none());
        assert!(Asset::parse(&BYTES.0[64..]).is_none());
    }

    #[test]
    fn the_file_stays_small() {
        assert!(BYTES.0.len() <= 8_000_000);
    }
}
