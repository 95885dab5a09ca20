//! Classes of characters: which ones form words, and how.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter of a script with spaces between words.
    Letter,
    /// Continues the letter before it.
    Mark,
    /// A digit or another numeral.
    Digit,
    /// Indexed alone and in pairs.
    Cjk,
    /// A character of a script without spaces between words, indexed in clusters.
    Gram,
    Emoji,
    /// May join the parts of an identifier; separates words otherwise.
    Joiner,
    /// Part of a word if between letters.
    Apostrophe,
    /// Anything else: spaces, punctuation, symbols.
    Break,
}

/// The class of an ASCII character.
pub(crate) fn ascii_class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'_' | b'-' | b'.' | b'/' | b'\\' | b':' | b'@' => Class::Joiner,
        b'\'' => Class::Apostrophe,
        _ => Class::Break,
    }
}

/// The class of a character, after folding.
pub(crate) fn class(letter: char) -> Class {
    if let Ok(byte) = u8::try_from(letter)
        && byte.is_ascii()
    {
        return ascii_class(byte);
    }
    // A fast path for the most common letters outside ASCII.
    if matches!(letter, '\u{410}'..='\u{44f}' | '\u{3b1}'..='\u{3c9}') {
        Class::Letter
    } else if is_cjk(letter) {
        Class::Cjk
    } else if is_gram(letter) {
        Class::Gram
    } else if is_emoji(letter) {
        Class::Emoji
    } else if unicode_normalization::char::is_combining_mark(letter) {
        Class::Mark
    } else if letter.is_numeric() {
        Class::Digit
    } else if letter.is_alphabetic() {
        Class::Letter
    } else {
        Class::Break
    }
}

/// Han, kana, Hangul and Bopomofo.
pub(crate) fn is_cjk(letter: char) -> bool {
    matches!(letter,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' | '々' | '〆' | '〇'
        | '\u{3041}'..='\u{3096}' | 'ゝ' | 'ゞ'
        | '\u{30a1}'..='\u{30fa}' | 'ー' | 'ヽ' | 'ヾ' | '\u{31f0}'..='\u{31ff}'
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}'
        | '\u{a960}'..='\u{a97c}' | '\u{d7b0}'..='\u{d7fb}')
}

/// The scripts of [`is_cjk`]: a change of script is often a word boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CjkScript {
    /// Chinese characters, wherever they are used.
    Han,
    /// Japanese endings and particles.
    Hiragana,
    /// Japanese loan words.
    Katakana,
    /// Korean and the rest.
    Hangul,
}

/// `None` for signs that occur with several scripts.
pub(crate) fn cjk_script(letter: char) -> Option<CjkScript> {
    match letter {
        'ー' | '々' => None,
        '\u{3041}'..='\u{309f}' => Some(CjkScript::Hiragana),
        '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => Some(CjkScript::Katakana),
        '\u{ac00}'..='\u{d7ff}' | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' => {
            Some(CjkScript::Hangul)
        }
        _ => Some(CjkScript::Han),
    }
}

/// Thai, Lao, Myanmar and Khmer letters, marks and digits.
pub(crate) fn is_gram(letter: char) -> bool {
    matches!(letter,
        '\u{e01}'..='\u{e2e}' | '\u{e30}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}'
        | '\u{e81}'..='\u{ece}' | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109d}'
        | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}' | '\u{17dd}')
}

/// Whether a vowel is written before its consonant.
pub(crate) fn leads_cluster(letter: char) -> bool {
    matches!(letter, '\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}')
}

/// Whether a character of [`is_gram`] continues the cluster before it.
pub(crate) fn extends_cluster(letter: char) -> bool {
    matches!(
        letter,
        '\u{e30}' | '\u{e32}' | '\u{e33}' | '\u{e45}' | '\u{eb0}' | '\u{eb2}' | '\u{eb3}'
    ) || unicode_normalization::char::is_combining_mark(letter)
}

/// Whether the next consonant is written below, in the same cluster.
pub(crate) fn stacks_next(letter: char) -> bool {
    matches!(letter, '\u{17d2}' | '\u{1039}')
}

/// Whether an emoji may start with a character.
pub(crate) fn is_emoji(letter: char) -> bool {
    matches!(letter,
        '\u{1f300}'..='\u{1faff}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{2600}'..='\u{27bf}'
        | '\u{1f004}' | '\u{1f0cf}' | '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23fa}'
        | '\u{25b6}' | '\u{25c0}' | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}' | '\u{2b1c}'
        | '\u{2b50}' | '\u{2b55}')
}

pub(crate) fn is_regional(letter: char) -> bool {
    matches!(letter, '\u{1f1e6}'..='\u{1f1ff}')
}

pub(crate) fn is_skin_tone(letter: char) -> bool {
    matches!(letter, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Tag letters, which spell the flag of a region after a black flag.
pub(crate) fn is_tag(letter: char) -> bool {
    matches!(letter, '\u{e0020}'..='\u{e007f}')
}

/// Joins several emoji into one.
pub(crate) const ZERO_WIDTH_JOINER: char = '\u{200d}';
