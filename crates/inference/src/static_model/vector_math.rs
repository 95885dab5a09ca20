//! Sums, products and scans of the table's rows.
//!
//! The loops are left to the compiler to vectorise. The binary is built for the oldest machine of its
//! kind, so `pulp` compiles the two hot loops for wider registers as well and chooses at run time. The
//! results do not depend on the choice: nothing is fused or reordered.

use super::asset::{Asset, BLOCK, DIMS, Head, Row, Tail};
use pulp::{Arch, NullaryFnOnce};

/// Adds rows to a sum.
pub(super) fn add_rows(asset: &Asset, rows: &[u16], sum: &mut [f32; DIMS]) {
    Arch::new().dispatch(AddRows { asset, rows, sum });
}

struct AddRows<'a> {
    asset: &'a Asset,
    rows: &'a [u16],
    sum: &'a mut [f32; DIMS],
}

impl NullaryFnOnce for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (heads, tails) = self.sum.split_at_mut(size_of::<Head>());
        add_blocks(self.rows, self.asset.heads, self.asset.scales, heads);
        add_blocks(self.rows, self.asset.tails, self.asset.scales, tails);
    }
}

/// Adds block by block, so that the sums of a block stay in registers for all rows.
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
            let values = table.get(row).and_then(|blocks| blocks.get(block));
            let (Some(values), Some(scale)) = (values, scales.get(row)) else { continue };
            for (sum, value) in local.iter_mut().zip(values) {
                *sum += f32::from(*value) * scale;
            }
        }
        *sum = local;
    }
}

/// The `count` words with the highest cosine in the head dimensions, highest first.
pub(super) fn scan_heads(asset: &Asset, query: &Head, count: usize) -> impl Iterator<Item = usize> {
    let top = Arch::new().dispatch(ScanHeads { asset, query, count });
    top.rows.into_iter().map(|(_, row)| row)
}

struct ScanHeads<'a> {
    asset: &'a Asset,
    query: &'a Head,
    count: usize,
}

impl NullaryFnOnce for ScanHeads<'_> {
    type Output = TopRows;

    #[inline(always)]
    fn call(self) -> TopRows {
        let mut top = TopRows::new(self.count);
        for (row, (head, norm)) in self.asset.words().enumerate() {
            top.offer(dot(self.query, head) as f32 / norm, row);
        }
        top
    }
}

#[inline(always)]
fn dot<const N: usize>(a: &[[i8; BLOCK]; N], b: &[[i8; BLOCK]; N]) -> i32 {
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// The rows with the highest scores, highest first.
pub(super) struct TopRows {
    pub rows: Vec<(f32, usize)>,
    capacity: usize,
    /// The lowest score in a full list.
    threshold: f32,
}

impl TopRows {
    pub(super) fn new(capacity: usize) -> Self {
        TopRows { rows: Vec::new(), capacity, threshold: f32::NEG_INFINITY }
    }

    #[inline(always)]
    pub(super) fn offer(&mut self, score: f32, row: usize) {
        if score > self.threshold {
            self.insert(score, row);
        }
    }

    #[inline(never)]
    fn insert(&mut self, score: f32, row: usize) {
        let position = self.rows.partition_point(|(other, _)| *other >= score);
        self.rows.insert(position, (score, row));
        self.rows.truncate(self.capacity);
        if self.rows.len() == self.capacity {
            self.threshold = self.rows.last().map_or(self.threshold, |(score, _)| *score);
        }
    }
}

/// Scales a vector to length one. Returns false for a vector without a direction, which becomes zero.
pub(super) fn normalise(vector: &mut [f32; DIMS]) -> bool {
    // Eight independent sums, because the compiler may not reorder additions of floats.
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
pub(super) fn cosine(a: Row<'_>, b: Row<'_>) -> f32 {
    let product = |a: Row<'_>, b: Row<'_>| (dot(a.head, b.head) + dot(a.tail, b.tail)) as f32;
    let squares = product(a, a) * product(b, b);
    if squares > 0.0 { product(a, b) / squares.sqrt() } else { 0.0 }
}

/// A vector in the format of a row of the table.
#[derive(Default)]
pub(super) struct Quantised {
    pub head: Head,
    pub tail: Tail,
}

impl Quantised {
    pub(super) fn as_ref(&self) -> Row<'_> {
        Row { head: &self.head, tail: &self.tail }
    }
}

pub(super) fn quantise(vector: &[f32; DIMS]) -> Quantised {
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    let mut row = Quantised::default();
    let values = row.head.as_flattened_mut().iter_mut().chain(row.tail.as_flattened_mut());
    for (value, x) in values.zip(vector) {
        *value = (x / largest * f32::from(i8::MAX)).round() as i8;
    }
    row
}
