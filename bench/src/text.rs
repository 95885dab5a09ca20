//! Generates messages: words of a seeded vocabulary with a Zipf distribution.

use oneiro::Timestamp;

/// A generator of text, deterministic by its seed.
pub(crate) struct Text {
    words: Vec<String>,
    cumulative: Vec<f64>,
    random: fastrand::Rng,
}

/// Messages per session in the load benchmark.
pub(crate) const SESSION_MESSAGES: usize = 120;

/// Words per message.
pub(crate) const MESSAGE_WORDS: usize = 60;

impl Text {
    pub(crate) fn new(seed: u64) -> Text {
        Text::beginning_with(&[], seed)
    }

    /// A generator whose most frequent words are these.
    pub(crate) fn beginning_with(first: &[&str], seed: u64) -> Text {
        let mut random = fastrand::Rng::with_seed(7);
        let made = (0..20_000).map(|_| word(&mut random));
        let words: Vec<String> =
            first.iter().map(|word| (*word).to_owned()).chain(made.skip(first.len())).collect();
        let mut total = 0.0;
        let cumulative = (1..=words.len())
            .map(|rank| {
                total += 1.0 / rank as f64;
                total
            })
            .collect();
        Text { words, cumulative, random: fastrand::Rng::with_seed(seed) }
    }

    /// A message of [`MESSAGE_WORDS`] words.
    pub(crate) fn message(&mut self) -> String {
        let mut text = String::with_capacity(MESSAGE_WORDS * 7);
        for index in 0..MESSAGE_WORDS {
            if index > 0 {
                text.push(' ');
            }
            text.push_str(self.word());
        }
        text
    }

    /// One word.
    pub(crate) fn word(&mut self) -> &str {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let at = self.random.f64() * total;
        let rank = self.cumulative.partition_point(|sum| *sum < at);
        self.words.get(rank).map_or("word", String::as_str)
    }

    /// A random number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit.max(1))
    }
}

fn word(random: &mut fastrand::Rng) -> String {
    let length = random.usize(3..=8);
    (0..length).map(|_| random.lowercase()).collect()
}

/// The lines of an import, and their texts by session. `at` returns the time of a message.
pub(crate) fn import_lines(
    text: &mut Text,
    name: &str,
    sessions: usize,
    at: impl Fn(usize, usize) -> i64,
) -> (String, Vec<(String, Vec<String>)>) {
    let mut lines = String::new();
    let mut rows = Vec::with_capacity(sessions);
    for n in 0..sessions {
        let id = format!("{name}-{n}");
        let texts: Vec<String> = (0..SESSION_MESSAGES).map(|_| text.message()).collect();
        let message = |(m, text): (usize, &String)| {
            serde_json::json!({
                "role": "user", "content": text, "external_id": format!("e{m}"),
                "at": Timestamp::from_micros(at(n, m)).to_string(),
            })
        };
        let messages: Vec<_> = texts.iter().enumerate().map(message).collect();
        let session = serde_json::json!({
            "id": id, "source": "bench", "messages": messages,
            "started_at": Timestamp::from_micros(at(n, 0)).to_string(),
        });
        lines.push_str(&session.to_string());
        lines.push('\n');
        rows.push((id, texts));
    }
    (lines, rows)
}
