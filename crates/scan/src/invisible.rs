//! Finds characters that are not displayed or that reorder a text, on the raw text: folding removes
//! them. Joiners inside emoji and where a script needs them are ordinary.

use crate::finding::{Category, Finding};

const ZERO_WIDTH: &str = "invisible.zero_width";
const BIDIRECTIONAL: &str = "invisible.bidirectional";
const TAG: &str = "invisible.tag";
const VARIATION: &str = "invisible.variation";
const CONCEALED: &str = "invisible.concealed";

/// The tags of a flag of a region, with the one that ends it: gbsct and the end.
const MAX_FLAG_TAGS: usize = 7;

/// Characters without a glyph, which folding leaves out.
const IGNORABLE: [(char, char); 16] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Scripts in which joiners change the form of letters: Arabic and its kin, those of India, Mongolian.
const JOINING_SCRIPTS: [(char, char); 4] = [
    ('\u{600}', '\u{8ff}'),
    ('\u{900}', '\u{dff}'),
    ('\u{1800}', '\u{18af}'),
    ('\u{fb50}', '\u{fdff}'),
];

/// Scripts without spaces, where a space of no width says where a line may break.
const UNSPACED_SCRIPTS: [(char, char); 4] = [
    ('\u{e00}', '\u{fff}'),
    ('\u{1000}', '\u{109f}'),
    ('\u{1780}', '\u{17ff}'),
    ('\u{3000}', '\u{9fff}'),
];

const RIGHT_TO_LEFT: [(char, char); 3] =
    [('\u{590}', '\u{8ff}'), ('\u{fb1d}', '\u{fdff}'), ('\u{fe70}', '\u{fefc}')];

const IDEOGRAPHS: [(char, char); 2] = [('\u{3400}', '\u{9fff}'), ('\u{20000}', '\u{3ffff}')];

const EMOJI: [(char, char); 7] = [
    ('\u{a9}', '\u{ae}'),
    ('\u{203c}', '\u{203c}'),
    ('\u{2049}', '\u{2049}'),
    ('\u{2100}', '\u{2bff}'),
    ('\u{3030}', '\u{3299}'),
    ('\u{fe0f}', '\u{fe0f}'),
    ('\u{1f000}', '\u{1faff}'),
];

fn is_in(c: char, ranges: &[(char, char)]) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Whether folding leaves the character out.
pub(crate) fn is_ignorable(c: char) -> bool {
    is_in(c, &IGNORABLE)
}

/// What stands around a character.
struct Around<'t> {
    before: Option<char>,
    after: &'t str,
    has_right_to_left: bool,
    /// Tags since a black flag, which may be a flag of a region.
    flag_tags: Option<usize>,
}

impl Around<'_> {
    fn after(&self) -> Option<char> {
        self.after.chars().next()
    }

    fn is_between_ascii_letters(&self) -> bool {
        let is_letter = |it: Option<char>| it.is_some_and(|c| c.is_ascii_alphabetic());
        is_letter(self.before) && is_letter(self.after())
    }

    fn is_beside(&self, ranges: &[(char, char)]) -> bool {
        [self.before, self.after()].into_iter().flatten().any(|c| is_in(c, ranges))
    }

    fn is_between_emoji(&self) -> bool {
        let is_emoji = |it: Option<char>| it.is_some_and(|c| is_in(c, &EMOJI));
        is_emoji(self.before) && is_emoji(self.after())
    }
}

/// Why a character is not ordinary where it stands.
fn rule_of(c: char, around: &Around<'_>) -> Option<&'static str> {
    let rule = |is_broken: bool, id| is_broken.then_some(id);
    match c {
        '\u{202d}' | '\u{202e}' => Some(BIDIRECTIONAL),
        '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' => {
            rule(!around.has_right_to_left, BIDIRECTIONAL)
        }
        '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            rule(around.is_between_ascii_letters(), BIDIRECTIONAL)
        }
        '\u{200b}' => rule(!around.is_beside(&UNSPACED_SCRIPTS), ZERO_WIDTH),
        '\u{200c}' => rule(!around.is_beside(&JOINING_SCRIPTS), ZERO_WIDTH),
        '\u{200d}' => {
            let is_ordinary = around.is_beside(&JOINING_SCRIPTS) || around.is_between_emoji();
            rule(!is_ordinary, ZERO_WIDTH)
        }
        // A byte order mark begins a file.
        '\u{feff}' => rule(around.before.is_some(), ZERO_WIDTH),
        '\u{34f}' => rule(around.is_between_ascii_letters(), ZERO_WIDTH),
        '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' => Some(ZERO_WIDTH),
        '\u{3164}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => Some(ZERO_WIDTH),
        '\u{fe00}'..='\u{fe0f}' => {
            let is_base = around.before.is_some_and(|it| {
                !it.is_ascii_alphabetic() && !it.is_whitespace() && !is_ignorable(it)
            });
            rule(!is_base, VARIATION)
        }
        '\u{e0100}'..='\u{e01ef}' => {
            rule(!around.before.is_some_and(|it| is_in(it, &IDEOGRAPHS)), VARIATION)
        }
        '\u{e0000}'..='\u{e0fff}' => {
            rule(around.flag_tags.is_none_or(|count| count >= MAX_FLAG_TAGS), TAG)
        }
        '\u{1b}' => rule(around.after.starts_with("[8m"), CONCEALED),
        _ => None,
    }
}

/// The first places with such characters, each with its neighbours of the same rule.
pub(crate) fn find_invisible(text: &str, max: usize) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    if text.is_ascii() && !text.contains('\u{1b}') {
        return findings;
    }
    let has_right_to_left = text.chars().any(|c| is_in(c, &RIGHT_TO_LEFT));
    let (mut before, mut flag_tags) = (None, None);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let after = text.get(end..).unwrap_or_default();
        let around = Around { before, after, has_right_to_left, flag_tags };
        if let Some(rule) = rule_of(c, &around) {
            let is_full = findings.len() == max;
            match findings.last_mut() {
                Some(last) if last.rule == rule && last.span.end == at => last.span.end = end,
                _ if is_full => break,
                _ => findings.push(Finding { rule, category: Category::Invisible, span: at..end }),
            }
        }
        flag_tags = match c {
            '\u{1f3f4}' => Some(0),
            '\u{e0020}'..='\u{e007e}' => flag_tags.map(|count| count + 1),
            _ => None,
        };
        before = Some(c);
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        find_invisible(text, 9).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn each_rule_finds_its_example() {
        for (text, rule) in [
            ("pass\u{200b}word", ZERO_WIDTH),
            ("dog\u{200d}cat", ZERO_WIDTH),
            ("a\u{3164}b", ZERO_WIDTH),
            ("x\u{feff}y", ZERO_WIDTH),
            ("total \u{202e}001", BIDIRECTIONAL),
            ("if \u{2066}admin", BIDIRECTIONAL),
            ("ig\u{200e}nore", BIDIRECTIONAL),
            ("hi\u{e0068}\u{e0069}", TAG),
            ("🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e0061}\u{e0061}\u{e0061}", TAG),
            ("a\u{fe01}\u{fe02}", VARIATION),
            ("😀\u{e0121}\u{e0122}", VARIATION),
            ("\u{1b}[8mhidden\u{1b}[0m", CONCEALED),
        ] {
            assert_eq!(rules(text), [rule], "{text:?}");
        }
    }

    #[test]
    fn what_scripts_and_emoji_need_passes() {
        for text in [
            "👨\u{200d}👩\u{200d}👧",
            "👩🏽\u{200d}💻 ❤\u{fe0f}\u{200d}🔥",
            "3\u{fe0f}\u{20e3}",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "วัน\u{200b}จันทร์",
            "שלום \u{2067}USD\u{2069}",
            "\u{feff}text",
            "葛\u{e0100}城",
            "Schiff\u{ad}fahrt",
            "\u{1b}[31mred\u{1b}[0m",
        ] {
            assert!(rules(text).is_empty(), "{text:?} {:?}", rules(text));
        }
    }
}
