//! Splits texts into chunks for the index.

use std::ops::Range;

use crate::script::{ZERO_WIDTH_JOINER, is_cjk, is_emoji, is_gram};

/// Sizes are counted in half words, since a word of Chinese or Thai is about two characters.
const HALF_WORDS_PER_WORD: usize = 2;

/// A text of at most this size is one chunk.
const MAX_CHUNK_SIZE: usize = 78 * HALF_WORDS_PER_WORD;

/// The size of a chunk in a longer text.
const TARGET_CHUNK_SIZE: usize = 60 * HALF_WORDS_PER_WORD;

/// Every so many letters without a space count as a word.
const LONG_WORD_CHARS: usize = 24;

/// A position where the text may be split, and the size of the text before it.
#[derive(Debug, Clone, Copy)]
struct Cut {
    at: usize,
    size: usize,
    quality: Quality,
}

/// In ascending order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Quality {
    Letter,
    Word,
    Line,
    Sentence,
}

/// Splits a text into ranges that cover it without gaps: one range up to about 78 words, else
/// chunks of about 60, preferably at the ends of sentences, then lines, then words.
pub fn chunks(text: &str) -> Vec<Range<usize>> {
    // A half word takes at least one byte.
    if !text.is_empty() && text.len() <= MAX_CHUNK_SIZE {
        return std::iter::once(0..text.len()).collect();
    }
    let mut chunks = Vec::new();
    // The positions since the last split. Splitting as soon as there are two chunks of text keeps
    // this short.
    let mut open: Vec<Cut> = Vec::new();
    let mut start = 0;
    let mut base = 0;
    let mut counter = Counter::default();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        counter.count(letter);
        let next = letters.peek().map(|(_, next)| *next);
        let end = at + letter.len_utf8();
        let Some(quality) = next.and_then(|next| counter.quality(letter, next)) else {
            counter.undivided += 1;
            continue;
        };
        counter.undivided = 0;
        match open.last_mut() {
            // Only spaces in between.
            Some(last) if last.size == counter.size && letter.is_whitespace() => {
                *last = Cut { at: end, quality: quality.max(last.quality), ..*last };
            }
            _ => open.push(Cut { at: end, size: counter.size, quality }),
        }
        if counter.size - base > 2 * MAX_CHUNK_SIZE {
            let cut = choose(&mut open, base, TARGET_CHUNK_SIZE);
            chunks.push(start..cut.at);
            (start, base) = (cut.at, cut.size);
        }
    }
    while counter.size - base > MAX_CHUNK_SIZE && !open.is_empty() {
        let left = counter.size - base;
        // Two halves rather than a chunk and a short remainder.
        let cut = choose(
            &mut open,
            base,
            if left < 2 * TARGET_CHUNK_SIZE { left / 2 } else { TARGET_CHUNK_SIZE },
        );
        chunks.push(start..cut.at);
        (start, base) = (cut.at, cut.size);
    }
    if start < text.len() {
        chunks.push(start..text.len());
    }
    chunks
}

/// The best position near the target. Removes the positions up to it.
fn choose(open: &mut Vec<Cut>, base: usize, target: usize) -> Cut {
    let near = target - target / 3..=(target + target / 3).min(MAX_CHUNK_SIZE);
    let distance = |cut: &Cut| (cut.size - base).abs_diff(target);
    let mut best: Option<(usize, &Cut)> = None;
    for (index, cut) in open.iter().enumerate() {
        let better = best.is_none_or(|(_, best)| {
            let (inside, best_inside) =
                (near.contains(&(cut.size - base)), near.contains(&(best.size - base)));
            match (inside, best_inside) {
                (true, true) => {
                    (cut.quality, best.at) > (best.quality, best.at)
                        || (cut.quality == best.quality && distance(cut) < distance(best))
                }
                (inside, best_inside) if inside != best_inside => inside,
                _ => distance(cut) < distance(best),
            }
        });
        if better {
            best = Some((index, cut));
        }
    }
    let Some((index, cut)) = best.map(|(index, cut)| (index, *cut)) else {
        return Cut { at: 0, size: base, quality: Quality::Letter };
    };
    open.drain(..=index);
    cut
}

#[derive(Debug, Default)]
struct Counter {
    size: usize,
    /// Characters since the last space or counted word.
    run: usize,
    /// Characters since the last position.
    undivided: usize,
    ended_sentence: bool,
}

impl Counter {
    fn count(&mut self, letter: char) {
        if letter.is_ascii_alphanumeric() && self.run > 0 && self.run < LONG_WORD_CHARS {
            self.run += 1;
        } else if letter.is_whitespace() {
            self.run = 0;
        } else if is_cjk(letter) || is_gram(letter) {
            self.size += 1;
            self.run = 0;
        } else {
            if self.run.is_multiple_of(LONG_WORD_CHARS) {
                self.size += HALF_WORDS_PER_WORD;
            }
            self.run += 1;
        }
    }

    /// How good a split after a letter is.
    fn quality(&mut self, letter: char, next: char) -> Option<Quality> {
        if letter.is_ascii_alphanumeric() && self.undivided < LONG_WORD_CHARS {
            self.ended_sentence = false;
            return None;
        }
        let ends_sentence =
            matches!(letter, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟');
        let closes =
            matches!(letter, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）');
        let wide = matches!(letter, '。' | '！' | '？');
        self.ended_sentence =
            ends_sentence || (self.ended_sentence && (closes || letter.is_whitespace()));
        if letter.is_whitespace() {
            // Split after the last of several spaces.
            if next.is_whitespace() && !(letter == '\n' && next != '\n') {
                self.ended_sentence |= letter == '\n' && next == '\n';
                return None;
            }
            return Some(match letter {
                _ if self.ended_sentence => Quality::Sentence,
                '\n' => Quality::Line,
                _ => Quality::Word,
            });
        }
        let next_closes = matches!(next, '」' | '』' | '）' | '”' | '。' | '！' | '？');
        if wide && !next_closes && !next.is_whitespace() {
            return Some(Quality::Sentence);
        }
        if matches!(letter, '、' | '，' | '；' | '：') {
            return Some(Quality::Word);
        }
        let divides = !next.is_whitespace()
            && letter != ZERO_WIDTH_JOINER
            && next != ZERO_WIDTH_JOINER
            && !unicode_normalization::char::is_combining_mark(next);
        let dense = is_cjk(letter) || is_gram(letter) || is_emoji(letter);
        // Split inside words only if they are very long, then even between combining marks.
        let long = self.undivided >= 4 * LONG_WORD_CHARS;
        ((dense && divides) || long).then_some(Quality::Letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize, ending: &str) -> String {
        let mut text = vec!["word"; count].join(" ");
        text.push_str(ending);
        text
    }

    fn sizes(text: &str) -> Vec<usize> {
        chunks(text).iter().map(|chunk| text[chunk.clone()].split_whitespace().count()).collect()
    }

    #[test]
    fn a_short_text_is_one_chunk() {
        assert_eq!(chunks(""), []);
        assert_eq!(sizes(&words(78, ".")), [78]);
        assert_eq!(sizes(&words(79, ".")).len(), 2);
    }

    #[test]
    fn cuts_are_at_sentences_then_lines_then_words() {
        let sentences = words(20, ". ").repeat(12);
        assert_eq!(sizes(&sentences), [60, 60, 60, 60]);
        let quoted = words(50, ".” ").repeat(3);
        assert_eq!(sizes(&quoted), [50, 50, 50]);
        let lines = words(25, "\n").repeat(8);
        assert!(sizes(&lines).iter().all(|size| size % 25 == 0), "{:?}", sizes(&lines));
        let plain = words(300, "");
        assert!(sizes(&plain).iter().all(|size| (50..=78).contains(size)), "{:?}", sizes(&plain));
        let paragraphs = format!("{}\n\n{}", words(55, ""), words(55, ""));
        assert_eq!(sizes(&paragraphs), [55, 55]);
    }

    #[test]
    fn characters_count_half() {
        let chinese = "一二三四五六七八九。".repeat(40);
        for chunk in chunks(&chinese) {
            let text = &chinese[chunk];
            assert!(text.ends_with('。'), "{text}");
            assert!((80..=160).contains(&text.chars().count()), "{}", text.chars().count());
        }
        let thai = "ก".repeat(1000);
        assert!(chunks(&thai).len() > 5);
    }
}
