//! Undoes disguises of words: letters set apart ("i g n o r e", "i.g.n.o.r.e"), signs inside words
//! ("ig-no*re") and digits in place of letters ("1gn0re").

use crate::fold::Piece;

/// Single letters in a row from which they are read as words; initials are fewer.
const MIN_SPACED_LETTERS: usize = 5;

/// Characters between two letters of a word that is set apart.
const MAX_GAP_CHARS: usize = 3;

/// The piece without disguises, or nothing if it has none.
pub(crate) fn unmask(piece: &Piece) -> Option<Piece> {
    let chars: Vec<(usize, char)> = piece.text.char_indices().collect();
    let mut out = Piece::default();
    let mut is_changed = false;
    let mut at = 0;
    while let Some((byte, c)) = chars.get(at).copied() {
        if is_inside_word(&chars, at) {
            is_changed = true;
            at += 1;
            continue;
        }
        if !c.is_alphanumeric() && !is_sign(c) {
            out.push(c, piece.origin(byte));
            at += 1;
            continue;
        }
        let letters = spaced_letters(&chars, at);
        if let Some(last) = letters.last()
            && letters.len() >= MIN_SPACED_LETTERS
        {
            push_joined(&mut out, piece, &letters);
            is_changed = true;
            at = last.index + 1;
            continue;
        }
        let end = word_end(&chars, at);
        let word = chars.get(at..end).unwrap_or_default();
        let is_disguised = is_disguised(word);
        for (byte, c) in word {
            let c = if is_disguised { letter_of(*c) } else { *c };
            out.push(c, piece.origin(*byte));
        }
        is_changed |= is_disguised;
        at = end;
    }
    is_changed.then_some(out)
}

/// A hyphen or an asterisk between two letters.
fn is_inside_word(chars: &[(usize, char)], at: usize) -> bool {
    let is = |at: Option<usize>, test: fn(&char) -> bool| {
        at.and_then(|at| chars.get(at)).is_some_and(|(_, c)| test(c))
    };
    is(Some(at), |c| matches!(c, '-' | '*'))
        && is(at.checked_sub(1), char::is_ascii_lowercase)
        && is(Some(at + 1), char::is_ascii_lowercase)
}

/// A letter that stands alone.
struct Spaced {
    index: usize,
    byte: usize,
    letter: char,
    /// Spaces before it.
    spaces: usize,
    gap: usize,
}

/// The letters that stand alone from here on, each near the one before.
fn spaced_letters(chars: &[(usize, char)], start: usize) -> Vec<Spaced> {
    let mut letters: Vec<Spaced> = Vec::new();
    let (mut at, mut gap, mut spaces) = (start, 0, 0);
    while let Some((byte, c)) = chars.get(at).copied() {
        if c.is_alphanumeric() {
            let is_alone = word_end(chars, at) == at + 1;
            if !is_alone || !letters.is_empty() && gap == 0 {
                break;
            }
            letters.push(Spaced { index: at, byte, letter: letter_of(c), spaces, gap });
            (gap, spaces) = (0, 0);
        } else {
            gap += 1;
            spaces += usize::from(c.is_whitespace());
            if gap > MAX_GAP_CHARS {
                break;
            }
        }
        at += 1;
    }
    letters
}

/// Writes letters as words. A gap that is larger than usual separates two words.
fn push_joined(out: &mut Piece, piece: &Piece, letters: &[Spaced]) {
    let usual = letters.iter().skip(1).map(|it| (it.gap, it.spaces)).min().unwrap_or_default();
    for (nth, it) in letters.iter().enumerate() {
        if nth > 0 && (it.gap, it.spaces) > usual {
            out.push(' ', piece.origin(it.byte));
        }
        out.push(it.letter, piece.origin(it.byte));
    }
}

fn word_end(chars: &[(usize, char)], start: usize) -> usize {
    let word = chars.get(start..).unwrap_or_default();
    start + word.iter().take_while(|(_, c)| c.is_alphanumeric() || is_sign(*c)).count().max(1)
}

/// A word of letters with digits among them, not a number with a unit or a name with a version.
fn is_disguised(word: &[(usize, char)]) -> bool {
    let letters = word.iter().filter(|(_, c)| c.is_ascii_lowercase()).count();
    let substitutes = word.iter().filter(|(_, c)| letter_of(*c) != *c).count();
    substitutes > 0 && letters >= 3 && letters + substitutes == word.len()
}

fn is_sign(c: char) -> bool {
    matches!(c, '@' | '$')
}

fn letter_of(c: char) -> char {
    match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::Windows;

    fn unmasked(text: &str) -> Option<String> {
        let mut windows = Windows::new(text);
        windows.advance().and_then(unmask).map(|piece| piece.text.trim().to_owned())
    }

    #[test]
    fn letters_set_apart_become_words() {
        assert_eq!(unmasked("i g n o r e all").as_deref(), Some("ignore all"));
        assert_eq!(unmasked("i.g.n.o.r.e t.h.i.s").as_deref(), Some("ignore this"));
        assert_eq!(unmasked("i-g-n-o-r-e").as_deref(), Some("ignore"));
        assert_eq!(unmasked("i g n o r e t h i s").as_deref(), Some("ignorethis"));
    }

    #[test]
    fn signs_inside_words_vanish() {
        assert_eq!(unmasked("ig-nore pre*vious - x").as_deref(), Some("ignore previous - x"));
    }

    #[test]
    fn digits_become_letters_in_words() {
        assert_eq!(unmasked("1gn0re 2024 x").as_deref(), Some("ignore 2024 x"));
    }

    #[test]
    fn ordinary_words_initials_and_numbers_stay() {
        for text in ["J. R. R. Tolkien wrote it", "at 10 a.m. on 12 May", "plan b, c or d"] {
            assert_eq!(unmasked(text), None, "{text}");
        }
    }
}
