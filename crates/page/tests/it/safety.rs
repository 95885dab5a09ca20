//! No text becomes markup, and no page breaks the content policy: no style or script in the page,
//! no address but our own and links to the web.

use crate::states::{all, hostile::EVIL};
use std::collections::BTreeSet;

/// One tag of a page, with its attributes.
#[derive(Debug)]
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

const VOID: [&str; 6] = ["br", "hr", "input", "link", "meta", "!doctype"];

/// Takes a page apart as a browser would, and refuses what does not fit together.
fn tags(page: &str, html: &str) -> (Vec<Tag>, String) {
    let mut text = String::new();
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        // A field holds no elements, and what it holds must be sent back as it is.
        if open.last().is_none_or(|name| name != "textarea") {
            text.push_str(&rest[..at]);
        }
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '>').unwrap();
        let name = rest[..end].to_lowercase();
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest.find(['=', '>', ' ']).unwrap();
            let key = rest[..end].to_lowercase();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(after) = rest.strip_prefix("=\"") {
                let end = after.find('"').unwrap();
                value = after[..end].to_owned();
                rest = &after[end + 1..];
            }
            attributes.push((key, value));
        }
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "{page}: tags cross"),
            None => {
                if !VOID.contains(&name.as_str()) {
                    open.push(name.clone());
                }
                found.push(Tag { name, attributes });
            }
        }
    }
    assert_eq!(open, [""; 0], "{page}: left open");
    (found, text)
}

const ELEMENTS: &str = "!doctype html head meta title link script body a header main footer nav ul \
    ol li div span p strong em ins del meter code pre kbd br hr h1 h2 svg path circle rect g button form \
    label input textarea select option datalist details summary section article blockquote q bdi time dl dt dd \
    figure figcaption table caption thead tbody tr th td mark small";

#[test]
fn pages_keep_the_content_policy_whatever_the_text() {
    let known: BTreeSet<&str> = ELEMENTS.split_whitespace().collect();
    for (page, html) in all() {
        let (tags, text) = tags(page, &html);
        for tag in tags {
            assert!(known.contains(tag.name.as_str()), "{page}: <{}>", tag.name);
            let mut keys = BTreeSet::new();
            for (key, value) in &tag.attributes {
                assert!(keys.insert(key), "{page}: {key} twice in {tag:?}");
                assert!(key != "style" && !key.starts_with("on"), "{page}: {tag:?}");
                assert!(!key.contains(['<', '"', '\'']), "{page}: {tag:?}");
                if ["href", "src", "action"].contains(&key.as_str()) {
                    let own = value.starts_with('#')
                        || (value.starts_with('/') && !value.starts_with("//"));
                    let web = value.to_lowercase().starts_with("http");
                    assert!(own || (web && tag.name == "a"), "{page}: {tag:?}");
                    let rel = tag.get("rel");
                    assert!(own || rel == Some("noopener noreferrer nofollow"), "{page}: {tag:?}");
                }
            }
            assert!(tag.name != "script" || tag.get("src").is_some(), "{page}: {tag:?}");
        }
        assert!(!text.contains('\u{202E}'), "{page}: text can turn its direction");
        assert!(!text.contains('\0') && !text.contains('\u{1b}'), "{page}: control characters");
    }
}

#[test]
fn scripts_have_no_content() {
    for (page, html) in all() {
        for (at, _) in html.match_indices("<script") {
            let rest = &html[at..];
            let inside = &rest[rest.find('>').unwrap() + 1..];
            assert!(inside.starts_with("</script>"), "{page}");
        }
    }
}

#[test]
fn ids_are_unique_and_fields_are_labelled() {
    for (page, html) in all() {
        let (tags, _) = tags(page, &html);
        let mut ids = BTreeSet::new();
        for id in tags.iter().filter_map(|tag| tag.get("id")) {
            assert!(ids.insert(id), "{page}: two have the id {id}");
        }
        let levels: Vec<&str> = tags
            .iter()
            .map(|tag| tag.name.as_str())
            .filter(|name| ["h1", "h2"].contains(name))
            .collect();
        assert_eq!(levels.first(), Some(&"h1"), "{page}: begins with its name");
        assert_eq!(levels.iter().filter(|level| **level == "h1").count(), 1, "{page}");
    }
}

#[test]
fn hostile_text_is_shown_as_it_stands() {
    let beginning: String = EVIL.chars().take(40).collect();
    let shown = beginning.replace('<', "&lt;").replace('>', "&gt;");
    let is_hostile = |page: &str| page.starts_with("hostile") && page != "hostile-message";
    for (page, html) in all().iter().filter(|(page, _)| is_hostile(page)) {
        let text = html.replace("&quot;", "\"").replace("&#39;", "'");
        assert!(text.contains(&shown), "{page} hides what was said");
    }
}
