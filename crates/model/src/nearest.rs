//! The names that a mistyped one may have meant.

/// Longer names are not compared: the distance to a name of megabytes takes gigabytes.
const LONGEST_NAME: usize = 64;

/// The known names, the most similar to `name` first; none for a name too long to compare.
pub fn nearest_names<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Vec<&'k str> {
    if name.len() > LONGEST_NAME {
        return Vec::new();
    }
    let mut names: Vec<&str> = known.collect();
    names.sort_by_key(|known| strsim::damerau_levenshtein(known, name));
    names
}

#[cfg(test)]
mod tests {
    use super::nearest_names;

    #[test]
    fn the_most_similar_name_comes_first() {
        let names = nearest_names("nots", ["default", "demo", "notes"].into_iter());
        assert_eq!(names, ["notes", "demo", "default"]);
        assert!(nearest_names(&"x".repeat(65), ["a"].into_iter()).is_empty());
    }
}
