//! The names that a mistyped one may have meant.

/// Longer names are not compared: the distance to a name of megabytes takes gigabytes.
const LONGEST_NAME: usize = 64;

/// Letters that a name must share from its beginning to be near for that alone.
const PREFIX_CHARS_MIN: usize = 2;

/// How many known names are listed when none is near.
const LISTED_MAX: usize = 8;

/// The known names that `name` may have meant, the most similar first: those that begin like it, and
/// those of which at most a third of the letters differ.
pub fn nearest_names<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Vec<&'k str> {
    if name.len() > LONGEST_NAME {
        return Vec::new();
    }
    let letters = name.chars().count();
    let distance = |known: &'k str| {
        let distance = strsim::damerau_levenshtein(known, name);
        let is_prefix = letters >= PREFIX_CHARS_MIN && known.starts_with(name);
        let differing_max = letters.max(known.chars().count()) / 3;
        (is_prefix || distance <= differing_max.max(1)).then_some((distance, known))
    };
    let mut near: Vec<(usize, &str)> = known.filter_map(distance).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, known)| known).collect()
}

/// What to say of an unknown name: the nearest known ones, or all of them if they are few.
pub fn suggest_names<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    /// Near names that are suggested.
    const SUGGESTED_MAX: usize = 3;
    let known: Vec<&str> = known.collect();
    let mut near = nearest_names(name, known.iter().copied());
    if !near.is_empty() {
        near.truncate(SUGGESTED_MAX);
        return Some(format!("did you mean {}?", near.join(" or ")));
    }
    let are_few = (1..=LISTED_MAX).contains(&known.len());
    are_few.then(|| format!("known: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{nearest_names, suggest_names};

    #[test]
    fn near_names_come_by_their_distance_and_others_not_at_all() {
        let near = |name: &str| {
            nearest_names(name, ["default", "demo", "notes", "note"].into_iter()).join(" ")
        };
        assert_eq!(near("nots"), "notes note");
        assert_eq!(near("de"), "demo default");
        assert_eq!(near("defualt"), "default");
        assert_eq!(near("zebra"), "");
        assert_eq!(near(&"x".repeat(65)), "");
    }

    #[test]
    fn without_a_near_name_a_short_list_is_shown() {
        let suggest =
            |name: &str, known: &[&'static str]| suggest_names(name, known.iter().copied());
        assert_eq!(suggest("limt", &["limit", "query"]).unwrap(), "did you mean limit?");
        assert_eq!(suggest("zebra", &["limit", "query"]).unwrap(), "known: limit, query");
        assert_eq!(suggest("zebra", &["a"; 9]), None);
        assert_eq!(suggest("zebra", &[]), None);
    }
}
