//! Vectors as sign bits: the signs of the centred and rotated vector, 32 bytes to a document. The
//! share of equal bits tells the angle between two vectors, near enough to choose whom to ask for
//! the exact one.

use crate::codec::damaged;
use oneiro_model::Result;

/// The signs of one vector.
pub type Bits = [u64; WORDS];

/// Sixty-four signs to a word.
const WORDS: usize = 4;

/// Signs of one vector.
const SIGNS: usize = WORDS * 64;

/// Documents in a block.
const BLOCK: usize = 4_096;

/// The signs of a vector that was normalised; `center` is the mean of ordinary texts.
pub fn signs(vector: &[f32], center: Option<&[f32]>) -> Bits {
    let width = vector.len().next_power_of_two().max(SIGNS);
    let mut turned = vec![0.0f32; width];
    match center.filter(|center| center.len() == vector.len()) {
        Some(center) => {
            let moved = vector.iter().zip(center).map(|(value, mean)| value - mean);
            turned.iter_mut().zip(moved).for_each(|(to, value)| *to = value);
        }
        None => turned.iter_mut().zip(vector).for_each(|(to, value)| *to = *value),
    }
    // Two rounds of random signs and a Hadamard transform spread what any one dimension says over
    // all of them, at the price of a few thousand additions.
    for round in 0..2u64 {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ round);
        for chunk in turned.chunks_mut(64) {
            let mut flips = random.next();
            for value in chunk {
                if flips & 1 == 1 {
                    *value = -*value;
                }
                flips >>= 1;
            }
        }
        hadamard(&mut turned);
    }
    let mut bits = Bits::default();
    for (word, chunk) in bits.iter_mut().zip(turned.chunks(64)) {
        for (at, value) in chunk.iter().enumerate() {
            *word |= u64::from(*value > 0.0) << at;
        }
    }
    bits
}

fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_mut(half * 2) {
            let (left, right) = pair.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// The same numbers on every machine and in every version: stored bits depend on them.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// How many signs differ.
#[inline]
pub fn distance(a: &Bits, b: &Bits) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Vectors that are measured at once.
const MEASURED: usize = 1_024;

/// Hands over the vectors in which fewer than `bound` signs differ from `from`: their places and
/// how many do. What `take` answers is the bound from there on.
pub fn scan(from: &Bits, to: &[Bits], mut bound: u16, mut take: impl FnMut(usize, u16) -> u16) {
    let arch = pulp::Arch::new();
    let mut far = [0u16; MEASURED];
    for (block, vectors) in to.chunks(MEASURED).enumerate() {
        let nearest = arch.dispatch(Measure { from, vectors, far: &mut far });
        if nearest >= bound {
            continue;
        }
        for (at, far) in far.iter().take(vectors.len()).enumerate() {
            if *far < bound {
                bound = take(block * MEASURED + at, *far);
            }
        }
    }
}

/// Measures a block, and answers the shortest distance in it. Only what is inlined into it is
/// compiled for the processor at hand.
struct Measure<'m> {
    from: &'m Bits,
    vectors: &'m [Bits],
    far: &'m mut [u16; MEASURED],
}

impl pulp::NullaryFnOnce for Measure<'_> {
    type Output = u16;

    #[inline(always)]
    fn call(self) -> u16 {
        let [e, f, g, h] = *self.from;
        let mut nearest = u16::MAX;
        for (far, [a, b, c, d]) in self.far.iter_mut().zip(self.vectors) {
            let ones = (a ^ e).count_ones()
                + (b ^ f).count_ones()
                + (c ^ g).count_ones()
                + (d ^ h).count_ones();
            *far = ones as u16;
            nearest = nearest.min(ones as u16);
        }
        nearest
    }
}

/// The cosine that a share of equal signs stands for.
pub fn cosine(distance: u32) -> f32 {
    (std::f32::consts::PI * distance as f32 / SIGNS as f32).cos()
}

/// Vectors as blocks.
pub fn encode_bits(bits: &[Bits]) -> Vec<Vec<u8>> {
    let block = |docs: &[Bits]| docs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    bits.chunks(BLOCK).map(block).collect()
}

/// Adds the vectors of a block.
pub(crate) fn decode_bits(block: &[u8], bits: &mut Vec<Bits>) -> Result<()> {
    let (vectors, rest) = block.as_chunks::<{ WORDS * 8 }>();
    if !rest.is_empty() {
        return Err(damaged("a block of vectors is cut"));
    }
    bits.reserve(vectors.len());
    for vector in vectors {
        let mut read = Bits::default();
        let (words, _) = vector.as_chunks::<8>();
        read.iter_mut().zip(words).for_each(|(to, word)| *to = u64::from_le_bytes(*word));
        bits.push(read);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_vector(random: &mut Random, like: Option<(&[f32], f32)>) -> Vec<f32> {
        let noise = (0..256).map(|_| (random.next() % 2_000) as f32 / 1_000.0 - 1.0);
        match like {
            None => noise.collect(),
            Some((base, share)) => {
                noise.zip(base).map(|(noise, base)| base * share + noise * (1.0 - share)).collect()
            }
        }
    }

    fn exact(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn equal_bits_tell_the_angle() {
        let mut random = Random(1);
        for step in 0..50 {
            let a = random_vector(&mut random, None);
            let b = random_vector(&mut random, Some((&a, step as f32 / 50.0)));
            let told = cosine(distance(&signs(&a, None), &signs(&b, None)));
            assert!((told - exact(&a, &b)).abs() < 0.3, "{told} for {}", exact(&a, &b));
        }
    }

    #[test]
    fn blocks_bring_back_the_vectors() {
        let bits: Vec<Bits> = (0..5_000u64).map(|n| [n, n << 9, !n, n * n]).collect();
        let mut again = Vec::new();
        encode_bits(&bits).iter().for_each(|block| decode_bits(block, &mut again).unwrap());
        assert_eq!(again, bits);
        assert!(decode_bits(&[1, 2, 3], &mut again).is_err());
    }

    #[test]
    fn the_rotation_never_changes() {
        let vector: Vec<f32> = (0..128).map(|n| (n as f32).sin()).collect();
        assert_eq!(signs(&vector, None), GOLDEN);
    }

    const GOLDEN: Bits = [
        2_664_338_159_203_184_287,
        9_199_628_583_710_416_770,
        13_675_364_394_742_499_519,
        2_320_724_811_253_839_681,
    ];
}
