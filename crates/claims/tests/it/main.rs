//! Claims from outside: labelled lines with measured precision, single properties, and laws by random
//! texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod labelled;
mod laws;
mod properties;

use oneiro_claims::{Claim, Speaker, Utterance, claims};
use oneiro_model::Timestamp;

/// Monday, 8 May 2023, at noon UTC.
fn written_at() -> Timestamp {
    Timestamp::parse("2023-05-08T12:00:00Z").unwrap()
}

fn utterance(text: &str) -> Utterance<'_> {
    Utterance {
        text,
        speaker: Speaker::Person,
        at: written_at(),
        utc_offset_seconds: 0,
        previous: None,
    }
}

fn claims_of(text: &str) -> Vec<Claim> {
    claims(&utterance(text))
}
