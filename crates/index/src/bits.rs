//! Vectors as sign bits: the signs of the centred and randomly rotated vector, 32 bytes per document. The
//! Hamming distance approximates the angle between two vectors, well enough to select candidates.

use crate::codec::damaged;
use oneiro_model::Result;

/// The signs of one vector.
pub type Bits = [u64; SIGN_WORDS];

/// 64-bit words of sign bits per vector.
const SIGN_WORDS: usize = 4;

/// Sign bits per vector.
const SIGNS: usize = SIGN_WORDS * 64;

/// Vectors per block.
const VECTORS_PER_BLOCK: usize = 4_096;

/// The sign bits of a normalised vector; `center` is the mean vector of ordinary texts.
pub fn signs(vector: &[f32], center: Option<&[f32]>) -> Bits {
    let width = vector.len().next_power_of_two().max(SIGNS);
    let mut rotated = vec![0.0f32; width];
    match center.filter(|center| center.len() == vector.len()) {
        Some(center) => {
            let centred = vector.iter().zip(center).map(|(value, mean)| value - mean);
            rotated.iter_mut().zip(centred).for_each(|(to, value)| *to = value);
        }
        None => rotated.iter_mut().zip(vector).for_each(|(to, value)| *to = *value),
    }
    // Two rounds of random sign flips and a Hadamard transform approximate a random rotation with a few
    // thousand additions.
    for round in 0..2u64 {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ round);
        for chunk in rotated.chunks_mut(64) {
            let mut flips = random.next();
            for value in chunk {
                if flips & 1 == 1 {
                    *value = -*value;
                }
                flips >>= 1;
            }
        }
        hadamard(&mut rotated);
    }
    let mut bits = Bits::default();
    for (word, chunk) in bits.iter_mut().zip(rotated.chunks(64)) {
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

/// SplitMix64. Stored bits depend on its numbers, so it must never change.
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

/// The Hamming distance.
#[inline]
pub fn distance(a: &Bits, b: &Bits) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Vectors whose distances are computed at a time.
const SCAN_BATCH: usize = 1_024;

/// Calls `visit` with the index and the distance of each vector that is nearer to `from` than `bound`.
/// The result of `visit` is the new bound.
pub fn scan(from: &Bits, to: &[Bits], mut bound: u16, mut visit: impl FnMut(usize, u16) -> u16) {
    let arch = pulp::Arch::new();
    let mut distances = [0u16; SCAN_BATCH];
    for (block, vectors) in to.chunks(SCAN_BATCH).enumerate() {
        let nearest = arch.dispatch(BatchDistances { from, vectors, distances: &mut distances });
        if nearest >= bound {
            continue;
        }
        for (at, distance) in distances.iter().take(vectors.len()).enumerate() {
            if *distance < bound {
                bound = visit(block * SCAN_BATCH + at, *distance);
            }
        }
    }
}

/// Computes the distances of a batch and returns the smallest. Only what is inlined into it is compiled
/// for the instruction set of the processor.
struct BatchDistances<'m> {
    from: &'m Bits,
    vectors: &'m [Bits],
    distances: &'m mut [u16; SCAN_BATCH],
}

impl pulp::NullaryFnOnce for BatchDistances<'_> {
    type Output = u16;

    #[inline(always)]
    fn call(self) -> u16 {
        let [e, f, g, h] = *self.from;
        let mut nearest = u16::MAX;
        for (distance, [a, b, c, d]) in self.distances.iter_mut().zip(self.vectors) {
            let ones = (a ^ e).count_ones()
                + (b ^ f).count_ones()
                + (c ^ g).count_ones()
                + (d ^ h).count_ones();
            *distance = ones as u16;
            nearest = nearest.min(ones as u16);
        }
        nearest
    }
}

/// The cosine that a Hamming distance approximates.
pub fn cosine(distance: u32) -> f32 {
    (std::f32::consts::PI * distance as f32 / SIGNS as f32).cos()
}

/// Encodes vectors as blocks.
pub fn encode_bits(bits: &[Bits]) -> Vec<Vec<u8>> {
    let block = |docs: &[Bits]| docs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    bits.chunks(VECTORS_PER_BLOCK).map(block).collect()
}

/// Decodes a block and appends its vectors.
pub(crate) fn decode_bits(block: &[u8], bits: &mut Vec<Bits>) -> Result<()> {
    let (vectors, rest) = block.as_chunks::<{ SIGN_WORDS * 8 }>();
    if !rest.is_empty() {
        return Err(damaged("a block of vectors is truncated"));
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
    fn the_distance_approximates_the_angle() {
        let mut random = Random(1);
        for step in 0..50 {
            let a = random_vector(&mut random, None);
            let b = random_vector(&mut random, Some((&a, step as f32 / 50.0)));
            let approximate = cosine(distance(&signs(&a, None), &signs(&b, None)));
            assert!(
                (approximate - exact(&a, &b)).abs() < 0.3,
                "{approximate} for {}",
                exact(&a, &b)
            );
        }
    }

    #[test]
    fn vectors_are_decoded_as_encoded() {
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
