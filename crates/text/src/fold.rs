//! Unicode normalisation for comparison.
//!
//! Drops marks that writers omit (Latin and Greek accents, Hebrew points, Arabic vowels) and keeps
//! marks that are letters (Indic scripts, Thai, kana, Cyrillic й).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

use crate::script::{is_cjk, is_gram};

/// A text for literal comparison: NFKC, lower case, without marks that writers omit and without
/// invisible characters.
pub fn normalise(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = lowered(text);
    // Without a mark, characters may compose that did not before. One more pass is enough for real
    // text.
    for _ in 0..3 {
        let again = lowered(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

/// The words of a text for literal comparison, with a space on each side of each, so that whole words are
/// found.
pub fn padded_words(text: &str) -> String {
    let words: String = normalise(text)
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { ' ' })
        .collect();
    format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn lowered(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    segments(text, |segment, _, _| {
        for letter in segment.chars() {
            fold(letter, |folded| lower(folded, |low| out.push(low)));
        }
    });
    out
}

/// Calls `each` with the parts of a text in NFKC, as small as can be normalised alone, and the
/// ranges they came from.
pub(crate) fn segments(text: &str, mut each: impl FnMut(&str, usize, usize)) {
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        let mut end = start + letter.len_utf8();
        let mut plain = is_stable(letter);
        let mut previous = letter;
        while let Some(&(_, next)) = letters.peek() {
            if starts_segment(next) || changes_script(previous, next) {
                break;
            }
            previous = next;
            plain = false;
            end += next.len_utf8();
            letters.next();
        }
        let source = text.get(start..end).unwrap_or_default();
        if plain {
            each(source, start, end);
            continue;
        }
        let whole: String = source.nfkc().collect();
        let alone = |letter: char| std::iter::once(letter).nfkc();
        if source.chars().flat_map(alone).eq(whole.chars()) {
            // Nothing composed, so every character keeps its own range.
            for (at, letter) in source.char_indices() {
                let segment: String = alone(letter).collect();
                each(&segment, start + at, start + at + letter.len_utf8());
            }
        } else {
            each(&whole, start, end);
        }
    }
}

/// Common characters that NFKC does not change and that never compose with the preceding one.
fn is_stable(letter: char) -> bool {
    letter.is_ascii()
        || matches!(letter, 'А'..='я')
        || matches!(letter,
            '\u{c0}'..='\u{131}' | '\u{134}'..='\u{13e}' | '\u{141}'..='\u{148}'
            | '\u{14a}'..='\u{17e}' | '\u{388}'..='\u{3ce}' | '\u{400}'..='\u{45f}'
            | '\u{2013}'..='\u{2014}' | '\u{2018}'..='\u{201e}' | '\u{3001}'..='\u{3002}'
            | '\u{300c}'..='\u{3011}' | '\u{3041}'..='\u{3094}' | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' | '\u{1f300}'..='\u{1faff}' | '\u{2120}' | '\u{2122}' | '\u{e01}'..='\u{e2f}')
}

/// Whether normalisation can restart at this character.
fn starts_segment(letter: char) -> bool {
    if is_stable(letter) {
        return true;
    }
    let first = decomposed(letter);
    canonical_combining_class(first) == 0
        && is_nfkc_quick(std::iter::once(first)) != IsNormalized::Maybe
}

fn decomposed(letter: char) -> char {
    std::iter::once(letter).nfkd().next().unwrap_or(letter)
}

/// Whether a character is in another token than the preceding one in any case, so that both can be
/// normalised separately and keep their own ranges.
fn changes_script(before: char, letter: char) -> bool {
    let script = |letter: char| {
        let letter = decomposed(letter);
        (is_cjk(letter), is_gram(letter))
    };
    let script_after = script(letter);
    script_after != (false, false) && script_after != script(before)
}

/// Removes the marks of a character of NFKC text and keeps its case. Invisible characters are
/// dropped.
pub(crate) fn fold(letter: char, mut out: impl FnMut(char)) {
    if letter.is_ascii() {
        return out(letter);
    }
    match letter {
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => fold_latin(letter, out),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => fold_base(letter, out),
        'А'..='я' | '\u{4e00}'..='\u{9fff}' => out(letter),
        'ё' => out('е'),
        'Ё' => out('Е'),
        '\u{622}'..='\u{626}' => fold_base(letter, out),
        'ى' => out('ي'),
        'ة' => out('ه'),
        '\u{660}'..='\u{669}' => out(digit(letter, '\u{660}')),
        '\u{6f0}'..='\u{6f9}' => out(digit(letter, '\u{6f0}')),
        '\u{966}'..='\u{96f}' => out(digit(letter, '\u{966}')),
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2bb}' => out('\''),
        '\u{201c}'..='\u{201f}' => out('"'),
        '\u{2010}'..='\u{2012}' | '\u{2212}' => out('-'),
        _ if is_dropped(letter) => {}
        _ => out(letter),
    }
}

fn digit(letter: char, zero: char) -> char {
    char::from_digit(u32::from(letter).wrapping_sub(u32::from(zero)), 10).unwrap_or(letter)
}

fn fold_latin(letter: char, mut out: impl FnMut(char)) {
    let spelled = match letter {
        'ß' => "ss",
        'ẞ' => "SS",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'ø' | 'ǿ' => "o",
        'Ø' | 'Ǿ' => "O",
        'đ' | 'ð' | 'ɖ' => "d",
        'Đ' | 'Ð' | 'Ɖ' => "D",
        'þ' => "th",
        'Þ' => "TH",
        'ł' => "l",
        'Ł' => "L",
        'ħ' => "h",
        'Ħ' => "H",
        'ŧ' => "t",
        'Ŧ' => "T",
        'ı' => "i",
        _ => return fold_base(letter, out),
    };
    spelled.chars().for_each(&mut out);
}

fn fold_base(letter: char, mut out: impl FnMut(char)) {
    decompose_canonical(letter, |part| {
        if !is_dropped(part) {
            out(part);
        }
    });
}

/// Marks that writers omit, and characters without a width or meaning.
fn is_dropped(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{483}'..='\u{489}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}'
        | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}'
        | '\u{6ea}'..='\u{6ed}' | '\u{3099}' | '\u{309a}'
        | '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' | '\u{2122}' | '\u{2120}')
}

/// Lower-cases a folded character so that upper and lower case of a text are equal.
pub(crate) fn lower(letter: char, mut out: impl FnMut(char)) {
    if letter.is_ascii() {
        return out(letter.to_ascii_lowercase());
    }
    match letter {
        'а'..='я' => return out(letter),
        'А'..='Я' => return out(char::from_u32(u32::from(letter) + 0x20).unwrap_or(letter)),
        '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            return out(letter);
        }
        _ if !letter.is_alphabetic() => return out(letter),
        _ => {}
    }
    // Via upper case, since some letters share one: σ and ς.
    for upper in letter.to_uppercase() {
        for low in upper.to_lowercase() {
            match low {
                'ς' => out('σ'),
                _ if low.is_ascii() => out(low),
                _ => fold(low, &mut out),
            }
        }
    }
}
