//! `oneiro pause` and `oneiro resume`: stop capturing for a while.

use crate::context::Context;
use crate::request::request;
use clap::Args;
use oneiro::{CapturePause, CaptureStatus, Error, Oneiro, PauseRequest, Span, Timestamp};
use serde_json::json;

/// Pause capture in this space, in every process and for hooks
///
/// What is written to transcripts meanwhile is not captured after the pause either; `oneiro import
/// AGENT --from-start` imports it. hermes is the exception: its database is imported as a whole.
/// `oneiro import` and `oneiro append` still work.
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// How long, such as 30m, 2h or 1d [default: until `oneiro resume`]
    #[arg(value_name = "DURATION")]
    duration: Option<String>,
}

/// Resume capture after `oneiro pause`
#[derive(Debug, Args)]
pub struct ResumeArgs {}

impl PauseArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let (_, status) = context.open_to_add(|oneiro| {
            let until = self.duration.as_ref().map(|text| after(text, oneiro.now())).transpose()?;
            let request: PauseRequest =
                request(oneiro, json!({"until": until.map(|until| until.to_string())}))?;
            Ok(oneiro.capture().pause(request)?)
        })?;
        show(context, &status)
    }
}

impl ResumeArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<()> {
        let oneiro: Oneiro = context.open()?;
        show(context, &oneiro.capture().resume()?)
    }
}

fn show(context: &Context, status: &CaptureStatus) -> anyhow::Result<()> {
    context.output.show(status, |status| match &status.pause {
        Some(pause) => describe_pause(pause),
        None => "Capture resumed.".to_owned(),
    })
}

/// A pause, for people.
pub fn describe_pause(pause: &CapturePause) -> String {
    match pause.ended_at {
        Some(until) => format!("Capture is paused until {until}."),
        None => "Capture is paused until you run `oneiro resume`.".to_owned(),
    }
}

/// The longest pause that ends by itself.
const MAX_PAUSE_SECONDS: i64 = 366 * 86_400;

/// The moment after a duration.
fn after(text: &str, now: Timestamp) -> oneiro::Result<Timestamp> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_seconds = match unit {
        "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        "w" => Some(604_800),
        _ => None,
    };
    let seconds = unit_seconds.and_then(|unit| number.parse::<i64>().ok()?.checked_mul(unit));
    let seconds = seconds.filter(|seconds| (1..=MAX_PAUSE_SECONDS).contains(seconds));
    seconds.map(|seconds| now.plus(Span::seconds(seconds))).ok_or_else(|| {
        Error::field("duration", format!("{text:?} is not a duration of up to a year"))
            .remedy("write 30m, 2h or 1d")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_and_a_bound() {
        let now = Timestamp::from_micros(0);
        for (text, seconds) in [
            ("30s", 30),
            ("30m", 1_800),
            ("5min", 300),
            ("2h", 7_200),
            ("1d", 86_400),
            ("1w", 604_800),
        ] {
            assert_eq!(after(text, now).unwrap(), now.plus(Span::seconds(seconds)), "{text}");
        }
        for text in ["", "5", "h", "0m", "-5m", "9999999999999999999d", "400d", "1 h", "tomorrow"] {
            assert!(after(text, now).is_err(), "{text:?}");
        }
    }
}
