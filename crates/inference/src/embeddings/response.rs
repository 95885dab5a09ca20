//! Parses responses with embeddings and checks them against the request.

use serde::Deserialize;

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Exactly `count` normalised vectors, in the order of the request.
pub(super) fn parse(
    bytes: &[u8],
    count: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vec<f32>>, String> {
    let response: Response =
        serde_json::from_slice(bytes).map_err(|e| format!("not the expected JSON ({e})"))?;
    if response.data.len() != count {
        return Err(format!("{} vectors for {count} texts", response.data.len()));
    }
    let mut vectors = vec![Vec::new(); count];
    let mut dimensions = dimensions;
    for (position, item) in response.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(position);
        let Some(vector) = vectors.get_mut(index).filter(|vector| vector.is_empty()) else {
            return Err(format!("index {index} is given twice or was not asked for"));
        };
        let found = item.embedding.len();
        let expected = *dimensions.get_or_insert(found);
        if found != expected || found == 0 {
            return Err(format!("a vector of {found} numbers where {expected} were expected"));
        }
        *vector = normalise(item.embedding)?;
    }
    Ok(vectors)
}

fn normalise(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    if !vector.iter().all(|x| x.is_finite()) {
        return Err("a vector has a number that is not finite".to_owned());
    }
    // In double precision, because squares of large numbers overflow f32.
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if norm == 0.0 {
        return Err("a vector is all zero".to_owned());
    }
    for x in &mut vector {
        *x = (f64::from(*x) / norm) as f32;
    }
    Ok(vector)
}
