//! Reads word lists: one entry per line, `#` before a comment, `[name]` before the entries of a
//! section.

/// The entries of a list with the names of their sections; `""` before the first section.
pub fn sections(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    list.lines().map(str::trim).filter_map(move |line| {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => {
                section = name;
                None
            }
            None => Some((section, line)),
        }
    })
}

/// The entries of all sections of a list.
pub fn entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    sections(list).map(|(_, entry)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_know_their_section() {
        let list = "# of words\none two\n\n[more]\n  three\n# end\n";
        assert_eq!(sections(list).collect::<Vec<_>>(), [("", "one two"), ("more", "three")]);
        assert_eq!(entries(list).collect::<Vec<_>>(), ["one two", "three"]);
    }
}
