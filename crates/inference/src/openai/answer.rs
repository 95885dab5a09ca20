//! What a server answered, and whether it is what was asked for. It owns the shape of the answer
//! and must not know how it came.

use serde::Deserialize;

/// A well-formed answer, not yet checked against the request.
#[derive(Deserialize)]
pub(super) struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Answer {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|e| format!("not the expected JSON ({e})"))
    }

    /// `count` vectors in the order asked for, of length one.
    pub(super) fn vectors(
        self,
        count: usize,
        dimensions: Option<usize>,
    ) -> Result<Vec<Vec<f32>>, String> {
        if self.data.len() != count {
            return Err(format!("{} vectors for {count} texts", self.data.len()));
        }
        let mut vectors = vec![Vec::new(); count];
        let mut expected = dimensions;
        for (position, item) in self.data.into_iter().enumerate() {
            let index = item.index.unwrap_or(position);
            let place = vectors.get_mut(index).filter(|place| place.is_empty());
            let Some(place) = place else {
                return Err(format!("index {index} is given twice or was not asked for"));
            };
            let found = item.embedding.len();
            let wanted = *expected.get_or_insert(found);
            if found != wanted || found == 0 {
                return Err(format!("a vector of {found} numbers where {wanted} were expected"));
            }
            *place = normalised(item.embedding)?;
        }
        Ok(vectors)
    }
}

fn normalised(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    if !vector.iter().all(|x| x.is_finite()) {
        return Err("a vector has a number that is not finite".to_owned());
    }
    // In double precision, where squares of large numbers still fit.
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if norm == 0.0 {
        return Err("a vector is all zero".to_owned());
    }
    for x in &mut vector {
        *x = (f64::from(*x) / norm) as f32;
    }
    Ok(vector)
}
