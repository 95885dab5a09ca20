//! Prompts that a person wrote, read from a folder of Markdown files. It must not know what a prompt
//! is for.

use oneiro::{Error, Result};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The most bytes of one prompt.
const MOST: u64 = 64 << 10;

/// Each file `NAME.md` of the folder as text, by name. Whatever is not a Markdown file is passed
/// over; a name that is not `known` is an error, since it would never be used.
pub fn read(folder: &Path, known: &[&str]) -> Result<BTreeMap<String, String>> {
    let unreadable = |error: std::io::Error| {
        Error::field("prompts", format!("{} cannot be read: {error}", folder.display()))
            .remedy(format!("name a folder with any of {}", files(known)))
    };
    let mut prompts = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|extension| extension != "md") || !path.is_file() {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !known.contains(&name.as_str()) {
            let problem = format!("{} is not the name of a prompt", path.display());
            return Err(Error::field("prompts", problem)
                .remedy(format!("move it away, or name it one of {}", files(known))));
        }
        prompts.insert(name, text(&path)?);
    }
    Ok(prompts)
}

fn text(path: &Path) -> Result<String> {
    let wrong = |problem: String, remedy: &'static str| {
        Error::field("prompts", format!("{} {problem}", path.display())).remedy(remedy)
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    read.map_err(|error| wrong(format!("cannot be read: {error}"), "check who may read it"))?;
    if bytes.len() as u64 > MOST {
        return Err(wrong(format!("is larger than {} KiB", MOST >> 10), "make it shorter"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| wrong("is not UTF-8".to_owned(), "save it as UTF-8"))?;
    if text.trim().is_empty() {
        return Err(wrong("is empty".to_owned(), "write a prompt, or move it away"));
    }
    Ok(text)
}

/// The names of files that are known, as people read them.
fn files(known: &[&str]) -> String {
    known.iter().map(|name| format!("{name}.md")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["condensed", "leaf"];

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn prompts_are_read_by_name_and_other_files_passed_over() {
        let full = vec![b'x'; 64 << 10];
        let folder = folder(&[
            ("leaf.md", "Kürze.\n".as_bytes()),
            ("condensed.md", &full),
            ("README", b"mine"),
            ("leaf.md~", b"old"),
            (".md", b"hidden"),
        ]);
        std::fs::create_dir(folder.path().join("more.md")).unwrap();
        let prompts = read(folder.path(), &KNOWN).unwrap();
        assert_eq!(prompts.keys().collect::<Vec<_>>(), ["condensed", "leaf"]);
        assert_eq!(prompts["leaf"], "Kürze.\n");
        assert_eq!(prompts["condensed"].len(), 64 << 10);
    }

    #[test]
    fn a_file_that_cannot_be_a_prompt_is_named() {
        let long = vec![b'x'; (64 << 10) + 1];
        for (name, text, problem) in [
            ("leaf.md", &b"caf\xe9"[..], "is not UTF-8"),
            ("leaf.md", &long, "is larger than 64 KiB"),
            ("leaf.md", b" \n", "is empty"),
            ("laef.md", b"Be brief.", "is not the name of a prompt"),
        ] {
            let error = read(folder(&[(name, text)]).path(), &KNOWN).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(problem), "{text}");
            assert_eq!(error.field_name(), Some("prompts"));
        }
    }

    #[test]
    fn the_known_names_are_told() {
        let misnamed = folder(&[("laef.md", b"Be brief.")]);
        for path in [misnamed.path(), Path::new("/nonexistent/prompts")] {
            let error = read(path, &KNOWN).unwrap_err();
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
            assert!(error.remedy_text().unwrap().contains("condensed.md, leaf.md"), "{error:?}");
        }
    }
}
