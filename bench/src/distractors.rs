//! Messages that are in the way: made of the words of the data, as frequent as they are there, so
//! that every list of postings grows with them.

use crate::locomo::Conversation;
use oneiro::{ImportLimits, Oneiro, Result, Timestamp};

/// Messages in a session.
const SESSION: usize = 24;

/// Messages imported at once.
const BATCH: usize = 48_000;

/// Puts `count` made-up messages into a space.
pub(crate) fn add(oneiro: &Oneiro, data: &[Conversation], count: usize) -> Result<()> {
    let turns = || data.iter().flat_map(|talk| &talk.sessions).flat_map(|talk| &talk.turns);
    let words: Vec<&str> = turns().flat_map(|turn| turn.text.split_whitespace()).collect();
    let speakers: Vec<&str> = turns().map(|turn| turn.speaker.as_str()).collect();
    let mut random = fastrand::Rng::with_seed(11);
    let mut made = 0;
    while made < count {
        let mut lines = String::new();
        for _ in 0..(count - made).min(BATCH).div_ceil(SESSION) {
            let pair = [random.choice(&speakers), random.choice(&speakers)];
            let day = 19_000 + random.i64(0..700);
            let messages: Vec<serde_json::Value> = (0..SESSION)
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
            made += SESSION;
        }
        oneiro.transfer().import(&mut lines.as_bytes(), ImportLimits::default(), &mut |_| {})?;
        oneiro.index().catch_up(&mut |_, _| {})?;
    }
    Ok(())
}
