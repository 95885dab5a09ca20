//! Distractors: generated messages with the words and word frequencies of the data, so that all
//! posting lists grow.

use crate::locomo::Conversation;
use oneiro::{ImportLimits, Oneiro, Result, Timestamp};

/// Messages per session.
const SESSION_MESSAGES: usize = 24;

/// Messages per import.
const BATCH_MESSAGES: usize = 48_000;

/// Adds `count` generated messages to a space.
pub(crate) fn add(oneiro: &Oneiro, data: &[Conversation], count: usize) -> Result<()> {
    let turns = || data.iter().flat_map(|talk| &talk.sessions).flat_map(|talk| &talk.turns);
    let words: Vec<&str> = turns().flat_map(|turn| turn.text.split_whitespace()).collect();
    let speakers: Vec<&str> = turns().map(|turn| turn.speaker.as_str()).collect();
    let mut random = fastrand::Rng::with_seed(11);
    let mut made = 0;
    while made < count {
        let mut lines = String::new();
        for _ in 0..(count - made).min(BATCH_MESSAGES).div_ceil(SESSION_MESSAGES) {
            let pair = [random.choice(&speakers), random.choice(&speakers)];
            let day = 19_000 + random.i64(0..700);
            let messages: Vec<serde_json::Value> = (0..SESSION_MESSAGES)
                .map(|n| {
                    let length = random.usize(6..40);
                    let text: Vec<&str> =
                        (0..length).filter_map(|_| random.choice(&words)).copied().collect();
                    let at = Timestamp::from_micros((day * 86_400 + n as i64 * 60) * 1_000_000);
                    serde_json::json!({
                        "role": "user", "content": text.join(" "), "at": at.to_string(),
                        "name": pair.get(n % 2).copied().flatten(),
                    })
                })
                .collect();
            let id = format!("distractor-{made}");
            lines.push_str(&serde_json::json!({"id": id, "messages": messages}).to_string());
            lines.push('\n');
            made += SESSION_MESSAGES;
        }
        oneiro.transfer().import(&mut lines.as_bytes(), ImportLimits::default(), &mut |_| {})?;
        oneiro.index().catch_up(&mut |_, _| {})?;
    }
    Ok(())
}
