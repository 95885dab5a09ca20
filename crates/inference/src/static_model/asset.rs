//! The file of the static model as it lies in the binary: sections found by arithmetic, used in
//! place, never copied. It owns the layout that `scripts/distil/asset.py` writes and the look-up
//! of an entry; it must not know how text becomes entries.

/// `include_bytes!` promises no alignment, and the sections hold floats.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

static BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!("../../assets/static.bin"));

const MAGIC: &[u8; 8] = b"ONEIROSM";
const VERSION: u32 = 1;
const ALIGN: usize = 64;
const HEADER: usize = 40;
/// The seeds of the hash, by [`Kind`].
const SEEDS: [u32; 2] = [0x811c_9dc5, 0x9747_b28c];

/// Dimensions of the built-in model. Fixed here so that loops over a row have a known length.
pub(super) const DIMS: usize = 256;
/// No entry is longer, in bytes.
pub(super) const LONGEST: usize = 18;
const GROUPS: usize = LONGEST + 1;

/// A row is cut in blocks that fit the registers of any machine.
pub(super) const BLOCK: usize = 32;
const HEAD: usize = 96 / BLOCK;
const TAIL: usize = DIMS / BLOCK - HEAD;

/// The first numbers of a row, which hold most of it: the table is rotated so that they do. They
/// lie together because the search for neighbours reads these alone, and memory is fastest in
/// one stream.
pub(super) type Head = [[i8; BLOCK]; HEAD];
/// The other numbers of a row.
pub(super) type Tail = [[i8; BLOCK]; TAIL];

/// Where in a word an entry may stand.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// At its start.
    Word = 0,
    /// After another entry.
    Continuation = 1,
}

/// Where the entries of one kind and length start: row and byte.
type Group = [u32; 2];

/// The sections of the file.
#[derive(Default)]
pub(super) struct Asset {
    /// Mean of the normalised vectors of typical texts.
    pub mean: &'static [f32],
    /// What one unit of a row's numbers is worth.
    pub scales: &'static [f32],
    /// The rows, whole words first: their heads.
    pub heads: &'static [Head],
    /// Their tails.
    pub tails: &'static [Tail],
    norms: &'static [u16],
    groups: &'static [Group],
    slots: &'static [u16],
    rarity: &'static [u8],
    rarity_step: f32,
    text: &'static [u8],
}

/// The running hash of an entry's bytes (FNV-1a): the scanner feeds it while it lower-cases.
#[derive(Clone, Copy)]
pub(super) struct Hash(u32);

impl Hash {
    #[inline]
    pub(super) const fn new(kind: Kind) -> Self {
        match kind {
            Kind::Word => Hash(SEEDS[0]),
            Kind::Continuation => Hash(SEEDS[1]),
        }
    }

    #[inline]
    pub(super) const fn push(self, byte: u8) -> Self {
        Hash((self.0 ^ byte as u32).wrapping_mul(0x0100_0193))
    }
}

/// Cuts sections off the front of the file.
struct Sections {
    rest: &'static [u8],
    at: usize,
}

impl Sections {
    fn skip(&mut self, bytes: usize) -> Option<&'static [u8]> {
        let (part, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        self.at += bytes;
        Some(part)
    }

    fn next<T: bytemuck::AnyBitPattern>(&mut self, count: usize) -> Option<&'static [T]> {
        self.skip(self.at.next_multiple_of(ALIGN) - self.at)?;
        bytemuck::try_cast_slice(self.skip(count.checked_mul(size_of::<T>())?)?).ok()
    }
}

impl Asset {
    /// The file compiled in; `None` when it is not what this code was built for, which a test
    /// rules out.
    pub(super) fn built_in() -> Option<Self> {
        // The numbers of the file are little-endian and used in place.
        if cfg!(target_endian = "big") {
            return None;
        }
        Self::parse(&BYTES.0)
    }

    fn parse(bytes: &'static [u8]) -> Option<Self> {
        let mut sections = Sections { rest: bytes, at: 0 };
        let header = sections.next::<u8>(HEADER)?;
        let (magic, numbers) = header.split_at_checked(MAGIC.len())?;
        let numbers: &[u32; 8] = bytemuck::try_cast_slice(numbers).ok()?.try_into().ok()?;
        let [version, dims, rows, words, longest, slots, text, step] = *numbers;
        let known = magic == MAGIC
            && version == VERSION
            && dims as usize == DIMS
            && longest as usize == LONGEST
            && slots.is_power_of_two();
        if !known {
            return None;
        }
        let rows = rows as usize;
        Some(Asset {
            mean: sections.next(DIMS)?,
            groups: sections.next(2 * GROUPS + 1)?,
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
    pub(super) fn find(&self, kind: Kind, entry: &[u8], hash: Hash) -> Option<u16> {
        if entry.len() > LONGEST {
            return None;
        }
        let group = kind as usize * GROUPS + entry.len();
        let [first, start] = *self.groups.get(group)?;
        let [next, _] = *self.groups.get(group + 1)?;
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = (hash.0 ^ (hash.0 >> 16)) as usize;
        // The table is never full, so an empty slot ends the search; the bound is for the reader.
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
        let length = group % GROUPS;
        let [first, start] = *self.groups.get(group)?;
        let start = start as usize + (row - first as usize) * length;
        std::str::from_utf8(self.text.get(start..start + length)?).ok()
    }

    /// The heads of whole words, each with its length in units.
    #[inline(always)]
    pub(super) fn words(&self) -> impl Iterator<Item = (&'static Head, f32)> {
        let norms = self.norms.iter().map(|sixteenths| f32::from(*sixteenths) / 16.0);
        self.heads.iter().zip(norms)
    }

    /// All of a row.
    pub(super) fn row(&self, row: usize) -> Option<(&'static Head, &'static Tail)> {
        Some((self.heads.get(row)?, self.tails.get(row)?))
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
            let kind = if row < asset.norms.len() { Kind::Word } else { Kind::Continuation };
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
