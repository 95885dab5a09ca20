//! Sums and products of rows, in the widest instructions the machine has. It owns loops; it must
//! not know words.
//!
//! The loops are plain and the compiler makes vector code of them. The binary is built for any
//! machine of its kind, so the two loops that cost are compiled a second time for wider
//! registers and chosen at run time; that is what `pulp` is for. No result depends on the choice:
//! nothing is fused or reordered.

use super::asset::{Asset, BLOCK, DIMS, Head, Tail};
use pulp::{Arch, NullaryFnOnce};

/// Adds rows to a sum.
pub(super) fn add(asset: &Asset, rows: &[u16], sum: &mut [f32; DIMS]) {
    Arch::new().dispatch(Add { asset, rows, sum });
}

struct Add<'a> {
    asset: &'a Asset,
    rows: &'a [u16],
    sum: &'a mut [f32; DIMS],
}

impl NullaryFnOnce for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (heads, tails) = self.sum.split_at_mut(size_of::<Head>());
        add_blocks(self.rows, self.asset.heads, self.asset.scales, heads);
        add_blocks(self.rows, self.asset.tails, self.asset.scales, tails);
    }
}

/// Block by block, so that the sums stay in registers while the rows go by.
#[inline(always)]
fn add_blocks<const N: usize>(
    rows: &[u16],
    table: &[[[i8; BLOCK]; N]],
    scales: &[f32],
    sum: &mut [f32],
) {
    for (block, sum) in sum.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let mut local = *sum;
        for row in rows {
            let row = usize::from(*row);
            let numbers = table.get(row).and_then(|r| r.get(block));
            let (Some(numbers), Some(scale)) = (numbers, scales.get(row)) else { continue };
            for (l, number) in local.iter_mut().zip(numbers) {
                *l += f32::from(*number) * scale;
            }
        }
        *sum = local;
    }
}

/// The `room` words whose first dimensions promise most, best first.
pub(super) fn scan(asset: &Asset, query: &Head, room: usize) -> impl Iterator<Item = usize> {
    let best = Arch::new().dispatch(Scan { asset, query, room });
    best.kept.into_iter().map(|(_, row)| row)
}

struct Scan<'a> {
    asset: &'a Asset,
    query: &'a Head,
    room: usize,
}

impl NullaryFnOnce for Scan<'_> {
    type Output = Best;

    #[inline(always)]
    fn call(self) -> Best {
        let mut best = Best::new(self.room);
        for (row, (numbers, length)) in self.asset.words().enumerate() {
            best.offer(dot(self.query, numbers) as f32 / length, row);
        }
        best
    }
}

/// The product of two heads, or of two tails.
#[inline(always)]
pub(super) fn dot<const N: usize>(a: &[[i8; BLOCK]; N], b: &[[i8; BLOCK]; N]) -> i32 {
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// The best rows offered, best first.
pub(super) struct Best {
    pub kept: Vec<(f32, usize)>,
    room: usize,
    worst: f32,
}

impl Best {
    pub(super) fn new(room: usize) -> Self {
        Best { kept: Vec::new(), room, worst: f32::NEG_INFINITY }
    }

    #[inline(always)]
    pub(super) fn offer(&mut self, score: f32, row: usize) {
        if score > self.worst {
            self.insert(score, row);
        }
    }

    #[inline(never)]
    fn insert(&mut self, score: f32, row: usize) {
        let place = self.kept.partition_point(|(s, _)| *s >= score);
        self.kept.insert(place, (score, row));
        self.kept.truncate(self.room);
        if self.kept.len() == self.room {
            self.worst = self.kept.last().map_or(self.worst, |(s, _)| *s);
        }
    }
}

/// Makes the length one; false, and all zero, when there is no direction.
pub(super) fn normalise(vector: &mut [f32; DIMS]) -> bool {
    // Eight sums side by side, for floats may not be reordered by the compiler.
    let mut squares = [0.0_f32; 8];
    for chunk in vector.as_chunks::<8>().0 {
        for (square, x) in squares.iter_mut().zip(chunk) {
            *square += x * x;
        }
    }
    let scale = 1.0 / squares.iter().sum::<f32>().sqrt();
    if !scale.is_finite() {
        *vector = [0.0; DIMS];
        return false;
    }
    for x in vector {
        *x *= scale;
    }
    true
}

/// The cosine of two rows.
pub(super) fn cosine(a: (&Head, &Tail), b: (&Head, &Tail)) -> f32 {
    let dot = |a: (&Head, &Tail), b: (&Head, &Tail)| (dot(a.0, b.0) + dot(a.1, b.1)) as f32;
    let squares = dot(a, a) * dot(b, b);
    if squares > 0.0 { dot(a, b) / squares.sqrt() } else { 0.0 }
}

/// A vector in the form of a row.
pub(super) fn quantise(vector: &[f32; DIMS]) -> (Head, Tail) {
    let most = vector.iter().fold(f32::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let (mut head, mut tail) = (Head::default(), Tail::default());
    let places = head.as_flattened_mut().iter_mut().chain(tail.as_flattened_mut());
    for (place, x) in places.zip(vector) {
        *place = (x / most * 127.0).round() as i8;
    }
    (head, tail)
}
