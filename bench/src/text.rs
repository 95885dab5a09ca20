//! Made-up messages: words of a seeded vocabulary, as frequent as words are (Zipf).

/// A source of text, the same for the same seed.
pub(crate) struct Text {
    words: Vec<String>,
    cumulative: Vec<f64>,
    random: fastrand::Rng,
}

/// Words in a message.
pub(crate) const WORDS: usize = 60;

impl Text {
    pub(crate) fn new(seed: u64) -> Text {
        let mut random = fastrand::Rng::with_seed(7);
        let words: Vec<String> = (0..20_000).map(|_| word(&mut random)).collect();
        let mut total = 0.0;
        let cumulative = (1..=words.len())
            .map(|rank| {
                total += 1.0 / rank as f64;
                total
            })
            .collect();
        Text { words, cumulative, random: fastrand::Rng::with_seed(seed) }
    }

    /// A message of [`WORDS`] words.
    pub(crate) fn message(&mut self) -> String {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let mut text = String::with_capacity(WORDS * 7);
        for index in 0..WORDS {
            let at = self.random.f64() * total;
            let rank = self.cumulative.partition_point(|sum| *sum < at);
            if index > 0 {
                text.push(' ');
            }
            text.push_str(self.words.get(rank).map_or("word", String::as_str));
        }
        text
    }
}

fn word(random: &mut fastrand::Rng) -> String {
    let length = random.usize(3..=8);
    (0..length).map(|_| random.lowercase()).collect()
}
