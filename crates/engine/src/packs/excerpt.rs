//! Cuts what was said down to the sentences that answer a prompt, so that more messages fit into a pack.

use super::prompt::without_fences;
use super::relevance::RelevanceScorer;
use oneiro_extract::sentence_ranges;

/// Characters that are shown of the best messages, and of the others: the best ones hold most answers, and
/// most sentences are shorter than either.
pub(super) const BEST_CHARS: usize = 140;
pub(super) const OTHER_CHARS: usize = 60;

/// What stands between sentences that do not follow each other.
pub(super) const GAP: &str = " … ";

/// The sentences that have most of the prompt, in the order of the text; of those that have nothing of it,
/// the longest. Quoted and fenced text is left out: it is not the speaker's.
pub(super) fn excerpt(text: &str, chars_max: usize, scorer: &mut RelevanceScorer<'_>) -> String {
    let text = without_fences(text);
    let text = text.as_str();
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let sentences = sentence_ranges(text);
    let mut ranked: Vec<(usize, f32, usize)> = Vec::with_capacity(sentences.len());
    for (number, range) in sentences.iter().enumerate() {
        let sentence = text.get(range.clone()).unwrap_or_default();
        ranked.push((number, scorer.score(sentence, None).share, sentence.chars().count()));
    }
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.2.cmp(&one.2)));
    let mut taken = Vec::new();
    let mut chars = 0;
    let is_any = ranked.first().is_some_and(|(_, share, _)| *share > 0.0);
    for (number, share, count) in ranked {
        let is_useful = share > 0.0 || !is_any;
        if taken.is_empty() || is_useful && chars + count <= chars_max {
            chars += count;
            taken.push(number);
        }
    }
    taken.sort_unstable();
    let mut shown = String::new();
    let mut previous: Option<usize> = None;
    for number in taken {
        let Some(range) = sentences.get(number) else { continue };
        if let Some(previous) = previous {
            shown.push_str(if previous + 1 == number { " " } else { GAP });
        }
        shown.push_str(text.get(range.clone()).unwrap_or_default());
        previous = Some(number);
    }
    if shown.is_empty() { text.to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packs::prompt::Prompt;

    #[test]
    fn the_sentences_that_answer_are_shown_in_their_order() {
        let prompt = Prompt::read("When did Ann visit the lighthouse museum?").unwrap();
        let mut scorer = RelevanceScorer::new(&prompt, None);
        let mut shown = |text: &str| excerpt(text, 90, &mut scorer);
        let short = "We visited the museum, then had cake.";
        assert_eq!(shown(short), short);
        assert_eq!(
            shown(
                "Hey, good to see you! I had such a long week at work with all of these meetings. \
                 Yesterday I went to the lighthouse museum. It was great. The museum is open all year."
            ),
            "Yesterday I went to the lighthouse museum. … The museum is open all year."
        );
        assert_eq!(shown("Look:\n> I visited the museum.\nIs that true?"), "Look:\nIs that true?");
        // Nothing of the prompt: the longest sentence says most.
        assert_eq!(
            shown(
                "Oh yes! That was in the second week of June, right after the storm took the roof away \
                 from us. Ha, who knew?"
            ),
            "That was in the second week of June, right after the storm took the roof away from us."
        );
    }
}
