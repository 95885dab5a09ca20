//! Generates bulk text: test logs, listings, statements.

use fastrand::Rng;
use serde_json::json;

/// Replaces lines such as `{{tests 200}}` by generated text.
pub(crate) fn expand_bulk(text: &str, rng: &mut Rng) -> String {
    if !text.contains("{{") {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| bulk(line, rng).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

fn bulk(line: &str, rng: &mut Rng) -> Option<String> {
    let inside = line.strip_prefix("{{")?.strip_suffix("}}")?;
    let (kind, count) = inside.split_once(' ')?;
    let count: usize = count.parse().ok()?;
    let one = match kind {
        "tests" => test,
        "files" => file,
        "payments" => payment,
        "splits" => split,
        "requests" => request,
        _ => return None,
    };
    Some((1..=count).map(|number| one(number, rng)).collect::<Vec<_>>().join("\n"))
}

fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    rng.choice(words).copied().unwrap_or_default()
}

fn test(number: usize, rng: &mut Rng) -> String {
    let module =
        pick(rng, &["bucket", "clock", "window", "queue", "jitter", "retry", "wheel", "waker"]);
    let what = pick(
        rng,
        &[
            "refills_at_the_edge",
            "never_lends_twice",
            "wakes_in_order",
            "keeps_the_burst",
            "survives_a_clock_step",
            "drops_cleanly",
            "is_fair_to_late_comers",
            "saturates_without_overflow",
        ],
    );
    format!("test {module}::case_{number:03}_{what} ... ok")
}

fn file(number: usize, rng: &mut Rng) -> String {
    let (month, day) = (rng.u8(1..=9), rng.u8(1..=28));
    let place = pick(rng, &["bathroom", "kitchen", "hall", "balcony", "invoices", "permits"]);
    let kind = pick(rng, &["jpg", "jpg", "jpg", "heic", "pdf"]);
    let size = rng.u32(180..9_400);
    format!("{size:>6}K  0{month}-{day:02}  Pictures/flat/{place}/IMG_{:04}.{kind}", 2_100 + number)
}

fn payment(number: usize, rng: &mut Rng) -> String {
    let shop = pick(
        rng,
        &[
            "PINGO DOCE ARROIOS",
            "LEROY MERLIN ALFRAGIDE",
            "CARRIS METROPOLITANA",
            "FARMACIA ESTEFANIA",
            "EDP COMERCIAL",
            "CAFE DA GRACA",
            "DECATHLON COLOMBO",
            "AKI BRICOLAGE",
        ],
    );
    let cents = rng.u32(180..14_900);
    let amount = format!("-{}.{:02}", cents / 100, cents % 100);
    json!({"n": number, "description": shop, "amount": amount, "currency": "EUR"}).to_string()
}

fn split(number: usize, rng: &mut Rng) -> String {
    let seconds = rng.u32(318..352);
    let (pulse, climb) = (rng.u8(141..168), rng.i8(-9..12));
    format!("km {number:>2}  {}:{:02} /km  {pulse} bpm  {climb:+} m", seconds / 60, seconds % 60)
}

fn request(number: usize, rng: &mut Rng) -> String {
    let path =
        pick(rng, &["/v3/jobs", "/v3/jobs/claim", "/v3/turbines", "/v3/health", "/v3/alerts"]);
    let status = pick(rng, &["200", "200", "200", "200", "204", "429", "503"]);
    let time = rng.u32(3..1_900);
    format!("{number:>5} GET {path} {status} {time}ms tenant=nl-{:02}", rng.u8(1..20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_is_the_same_for_the_same_seed() {
        let expand_bulk =
            |seed| expand_bulk("a\n{{tests 3}}\n{{nothing 3}}\nb", &mut Rng::with_seed(seed));
        assert_eq!(expand_bulk(1), expand_bulk(1));
        assert_ne!(expand_bulk(1), expand_bulk(2));
        assert_eq!(expand_bulk(1).lines().count(), 6);
        assert!(expand_bulk(1).contains("{{nothing 3}}"));
    }
}
