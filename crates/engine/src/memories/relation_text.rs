//! Texts as the comparison of statements reads them: split into words, joined, and searched for
//! phrases.

use oneiro_text::normalise;

/// A word without the ending of a plural or of the third person.
pub(super) fn without_ending(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'i', 'u']) => stem.to_owned(),
        _ => word,
    }
}

/// The words of a text: runs of letters and digits, and each character of Chinese or Japanese.
pub(super) fn split(text: &str) -> Vec<String> {
    let folded = normalise(text).replace('’', "'");
    let folded = folded.replace("can't", "can not").replace("cannot", "can not");
    let folded = folded.replace("won't", "will not").replace("n't", " not");
    let letters: Vec<char> = folded.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let next = letters.get(at + 1);
        let joins = matches!(letter, '.' | ':' | ',' | '/')
            && word.ends_with(|last: char| last.is_ascii_digit())
            && next.is_some_and(char::is_ascii_digit);
        if letter.is_alphanumeric() && !is_wide(*letter) || joins {
            word.push(*letter);
            continue;
        }
        words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        if is_wide(*letter) {
            words.push(letter.to_string());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Characters that are words of their own.
pub(super) fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// The words with spaces around them; none between wide characters.
pub(super) fn join(words: &[String]) -> String {
    let mut text = String::from(" ");
    for word in words {
        if word.starts_with(is_wide) && text.ends_with(' ') {
            text.pop();
        }
        text.push_str(word);
        if !word.starts_with(is_wide) {
            text.push(' ');
        }
    }
    text.push(' ');
    text
}

/// Where a phrase stands in a joined text, in bytes: as whole words, or anywhere if it is written in
/// wide characters.
pub(super) fn find(text: &str, phrase: &str) -> Option<(usize, usize)> {
    if phrase.is_empty() {
        return Some((0, 0));
    }
    let is_whole = |start: usize| {
        let end = start + phrase.len();
        phrase.starts_with(is_wide)
            || (text.get(..start).is_some_and(|before| before.ends_with(' '))
                && text.get(end..).is_some_and(|after| after.starts_with(' ')))
    };
    let mut places = text.match_indices(phrase).map(|(start, _)| start);
    places.find(|start| is_whole(*start)).map(|start| (start, start + phrase.len()))
}

pub(super) fn remove(text: String, phrase: &str) -> String {
    match find(&text, phrase) {
        Some((start, end)) => {
            let (before, after) = (text.get(..start), text.get(end..));
            format!("{} {}", before.unwrap_or_default(), after.unwrap_or_default())
        }
        None => text,
    }
}
