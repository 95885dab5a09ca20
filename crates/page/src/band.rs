//! Draws a whole conversation as one band: messages in full, under leaf summaries, under condensed
//! ones, and left out.

use crate::link;
use crate::numbers::{counted, number};
use maud::{Markup, html};
use oneiro::{ItemPlace, SessionId, SummaryId, WindowItem};

/// More pieces than these are joined with those beside them.
const PIECES: usize = 60;

/// How a window shows a part of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Condensed,
    Leaf,
    LeftOut,
    InFull,
}

impl Form {
    const ALL: [Form; 4] = [Form::Condensed, Form::Leaf, Form::LeftOut, Form::InFull];

    fn of(item: &WindowItem) -> Form {
        match item.place {
            ItemPlace::In => Form::InFull,
            ItemPlace::Out => Form::LeftOut,
            ItemPlace::Summarised if item.depth.unwrap_or(0) == 0 => Form::Leaf,
            ItemPlace::Summarised => Form::Condensed,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Form::Condensed => "s-condensed",
            Form::Leaf => "s-summarised",
            Form::LeftOut => "s-out",
            Form::InFull => "s-in",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Form::Condensed => "condensed",
            Form::Leaf => "leaf summaries",
            Form::LeftOut => "left out",
            Form::InFull => "in full",
        }
    }
}

/// A piece of the conversation that is treated alike.
struct Piece<'a> {
    form: Form,
    first: i64,
    tokens: usize,
    /// The summary that it is under.
    under: Option<&'a str>,
}

/// Draws the messages of a window's items in their order, each as wide as it costs.
pub fn band(session: &SessionId, items: &[WindowItem]) -> Markup {
    let pieces = pieces(items);
    let all: usize = pieces.iter().map(|piece| piece.tokens).sum();
    let scale = 1_000.0 / all.max(1) as f64;
    let mut at = 0;
    let mut drawn = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let (x, width) = (at as f64 * scale, piece.tokens as f64 * scale);
        at += piece.tokens;
        drawn.push(rect(session, piece, (x, width)));
    }
    let sum = |form: Form| -> usize {
        pieces.iter().filter(|piece| piece.form == form).map(|piece| piece.tokens).sum()
    };
    let totals: Vec<String> = Form::ALL
        .iter()
        .map(|form| format!("{} tokens {}", number(sum(*form) as i64), form.name()))
        .collect();
    html! {
        figure.plot.band {
            figcaption {
                span.title { "Whole conversation, " (counted(all as i64, "token")) }
                ul.key {
                    @for form in Form::ALL {
                        li.(form.class()) { (form.name()) ", " (number(sum(form) as i64)) }
                    }
                }
            }
            svg role="group"
                aria-label={
                    "From the first to the newest message: " (totals.join(", "))
                }
                height="44"
                viewBox="0 0 1000 44"
                preserveAspectRatio="none"
            {
                @for piece in drawn { (piece) }
            }
            div.ends aria-hidden="true" {
                span { "first message" }
                span { "newest" }
            }
        }
    }
}

fn rect(session: &SessionId, piece: &Piece<'_>, (x, width): (f64, f64)) -> Markup {
    let round = |value: f64| (value * 10.0).round() / 10.0;
    let gap = if width > 4.0 { 1.5 } else { 0.0 };
    let drawn = html! {
        title { (piece.form.name()) ", " (counted(piece.tokens as i64, "token")) }
        rect.(piece.form.class()) x=(round(x)) width=(round((width - gap).max(0.5))) height="44" {}
    };
    let summary = piece.under.and_then(|id| SummaryId::parse(id).ok());
    html! {
        @match summary {
            Some(id) => a href=(link::summary(session, &id)) { (drawn) },
            None => g { (drawn) },
        }
    }
}

/// The messages in their order, neighbours that are treated alike together. What is pinned is
/// shown besides where it stands, and not again here.
fn pieces(items: &[WindowItem]) -> Vec<Piece<'_>> {
    let mut summary = None;
    let mut all = Vec::new();
    for item in items {
        let first = item.id.as_ref().and_then(serde_json::Value::as_i64);
        match (item.kind, first) {
            ("summary", _) => summary = item.id.as_ref().and_then(serde_json::Value::as_str),
            ("message" | "messages", Some(first)) if item.tokens > 0 => {
                let under = summary.filter(|_| item.place == ItemPlace::Summarised);
                all.push(Piece { form: Form::of(item), first, tokens: item.tokens, under });
            }
            _ => {}
        }
    }
    all.sort_by_key(|piece| piece.first);
    let few = joined(all, |one, other| one.under.is_none() && other.under.is_none());
    if few.len() > PIECES { joined(few, |_, _| true) } else { few }
}

/// Neighbours of one form, joined where that is wanted.
fn joined<'a>(
    pieces: Vec<Piece<'a>>,
    wanted: impl Fn(&Piece<'a>, &Piece<'a>) -> bool,
) -> Vec<Piece<'a>> {
    let mut out: Vec<Piece<'a>> = Vec::new();
    for piece in pieces {
        match out.last_mut() {
            Some(last) if last.form == piece.form && wanted(last, &piece) => {
                last.tokens += piece.tokens;
                last.under = None;
            }
            _ => out.push(piece),
        }
    }
    out
}

/// The status of an item, in words.
pub fn name(place: ItemPlace) -> &'static str {
    match place {
        ItemPlace::In => "included",
        ItemPlace::Summarised => "summarised",
        ItemPlace::Out => "left out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(
        kind: &'static str,
        id: serde_json::Value,
        place: ItemPlace,
        tokens: usize,
    ) -> WindowItem {
        WindowItem {
            kind,
            id: Some(id),
            last: None,
            depth: None,
            place,
            tokens,
            why: String::new(),
        }
    }

    #[test]
    fn a_conversation_is_one_band_in_its_order() {
        let sum = SummaryId::from_random([1; 10]);
        let mut items = vec![
            item("system", json!(null), ItemPlace::In, 900),
            item("summary", json!(sum.as_str()), ItemPlace::In, 10),
            item("messages", json!(1), ItemPlace::Summarised, 500),
            item("message", json!(3), ItemPlace::In, 0),
            item("messages", json!(50), ItemPlace::Out, 300),
        ];
        items.extend((60..80).map(|id| item("message", json!(id), ItemPlace::In, 10)));
        let forms: Vec<(Form, usize)> =
            pieces(&items).iter().map(|piece| (piece.form, piece.tokens)).collect();
        assert_eq!(forms, [(Form::Leaf, 500), (Form::LeftOut, 300), (Form::InFull, 200)]);
        let drawn = band(&SessionId::new("s").unwrap(), &items).0;
        assert!(drawn.contains("x=\"800\" width=\"198.5\""), "{drawn}");
        assert!(drawn.contains(&format!("/sessions/s/summaries/{sum}")), "{drawn}");
    }

    #[test]
    fn many_summaries_stay_within_bounds() {
        let id = SummaryId::from_random([1; 10]);
        let both = |at: i64| {
            [
                item("summary", json!(id.as_str()), ItemPlace::In, 9),
                item("messages", json!(at), ItemPlace::Summarised, 5),
            ]
        };
        let items: Vec<WindowItem> = (1..5_000).flat_map(both).collect();
        assert_eq!(pieces(&items).len(), 1);
    }
}
