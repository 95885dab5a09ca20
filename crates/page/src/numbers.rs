//! Formats numbers for people.

use maud::{Markup, html};

/// A whole number with a comma between thousands.
pub fn number(count: i64) -> String {
    let sign = if count < 0 { "-" } else { "" };
    format!("{sign}{}", oneiro::thousands(count.unsigned_abs()))
}

/// A count with its noun: `1 message`, `2 messages`, `2 summaries`.
pub fn counted(count: i64, noun: &str) -> String {
    let count_text = number(count);
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("{count_text} {noun}"),
        // A vowel before the y keeps it: day, days.
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count_text} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{count_text} {noun}es"),
        _ => format!("{count_text} {noun}s"),
    }
}

/// A large number in few letters: 950, 1.2k, 3.4M.
pub fn short(count: i64) -> String {
    let scaled = |unit: f64, name: &str| {
        let value = count as f64 / unit;
        if value.abs() < 10.0 { format!("{value:.1}{name}") } else { format!("{value:.0}{name}") }
    };
    match count.unsigned_abs() {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => scaled(1e3, "k"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// Bytes: 512 B, 1.5 MB.
pub fn bytes(count: i64) -> String {
    match count {
        ..1_000 => format!("{count} B"),
        _ => {
            let text = short(count).to_uppercase();
            let (digits, unit) = text.split_at(text.len().saturating_sub(1));
            format!("{digits} {unit}B")
        }
    }
}

/// A cost in US dollars.
pub fn dollars(amount: f64) -> String {
    if amount >= 0.01 { format!("${amount:.2}") } else { format!("${amount:.4}") }
}

/// Milliseconds.
pub fn millis(amount: f64) -> String {
    match amount {
        amount if amount < 10.0 => format!("{amount:.1} ms"),
        amount if amount < 1_000.0 => format!("{amount:.0} ms"),
        amount => format!("{:.1} s", amount / 1_000.0),
    }
}

/// A large number with its name above and a detail below.
pub fn metric(value: &str, name: &str, detail: &str) -> Markup {
    html! {
        div.metric {
            dt { (name) }
            dd {
                (value)
                small { (detail) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_units_and_plurals() {
        assert_eq!([0, 999, 1_000, -1_234_567].map(number), ["0", "999", "1,000", "-1,234,567"]);
        assert_eq!([999, 1_200, 45_000, 3_400_000].map(short), ["999", "1.2k", "45k", "3.4M"]);
        assert_eq!([10, 1_500_000, 2_000].map(bytes), ["10 B", "1.5 MB", "2.0 KB"]);
        for (count, noun, text) in [
            (0, "turn", "0 turns"),
            (1, "turn", "1 turn"),
            (2_000, "turn", "2,000 turns"),
            (1, "summary", "1 summary"),
            (2, "summary", "2 summaries"),
            (2, "day", "2 days"),
            (2, "search", "2 searches"),
        ] {
            assert_eq!(counted(count, noun), text);
        }
        assert_eq!([0.0012, 0.4173, 2.0].map(dollars), ["$0.0012", "$0.42", "$2.00"]);
        assert_eq!([0.42, 42.4, 4_200.0].map(millis), ["0.4 ms", "42 ms", "4.2 s"]);
    }
}
