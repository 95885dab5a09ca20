//! Why a memory is believed, drawn as a chain: the statement, the words it rests on, the message
//! that holds them among its neighbours, and who recorded and decided it.

use crate::belief::{actor, operation_name};
use crate::text::{line, marked, one_line, plain};
use crate::{link, when};
use maud::{Markup, html};
use oneiro::{Citation, MessageId, Timestamp, Why, WhyKind};

/// Characters of a message before or after the cited one.
const NEIGHBOUR_CHARS: usize = 160;

/// The chain from a memory to its sources. `citations` tell the sessions of the messages.
pub(crate) fn chain(why: &Why, citations: &[Citation], now: Timestamp) -> Markup {
    let of = |wanted: WhyKind| why.children.iter().filter(move |child| child.kind == wanted);
    let has_quotes = of(WhyKind::Quote).next().is_some();
    html! {
        div.chain {
            div.node.believed {
                p.what { "Memory" }
                p.said { (plain(&why.text)) }
            }
            ul.links {
                @for quote in of(WhyKind::Quote) {
                    li { (quote_node(quote, citations, now)) }
                }
                @if !has_quotes {
                    li {
                        div.node {
                            p.what { "No quote" }
                            p.note { "The only source is who recorded it, below." }
                        }
                    }
                }
                @if of(WhyKind::Operation).next().is_some() {
                    li {
                        div.node {
                            p.what { "Recorded and decided by" }
                            ol.operations {
                                @for operation in of(WhyKind::Operation) { (operation_item(operation, now)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Each quoted source in the message that holds it, with what was said around it.
pub(crate) fn sources(why: &Why, citations: &[Citation], now: Timestamp) -> Markup {
    html! {
        @for quote in why.children.iter().filter(|child| child.kind == WhyKind::Quote) {
            @let citation = citation_of(quote, citations);
            @for message in &quote.children {
                @if message.kind != WhyKind::Message {
                    blockquote.quote { p { (plain(&quote.text)) } }
                }
                div.evidence { (message_node(message, quote, citation, now)) }
            }
            @if let Some(citation) = citation {
                p.note { "Trust of these words: " (citation.trust.as_str()) }
            }
        }
    }
}

fn citation_of<'c>(quote: &Why, citations: &'c [Citation]) -> Option<&'c Citation> {
    let cited = quote.id.parse().ok().map(MessageId);
    citations.iter().find(|one| one.message_id == cited && one.quote == quote.text)
}

fn operation_item(operation: &Why, now: Timestamp) -> Markup {
    // `memory.promote: because` or `memory.promote (undone)`
    let (kind, rest) = match operation.text.find([':', ' ']) {
        Some(at) => operation.text.split_at(at),
        None => (operation.text.as_str(), ""),
    };
    html! {
        li {
            (operation_name(kind))
            @if let Some(who) = &operation.actor {
                " by "
                (actor(who))
            }
            @if !rest.is_empty() {
                span.note { (line(rest, NEIGHBOUR_CHARS)) }
            }
            @if let Some(at) = operation.at {
                ", "
                (when::ago(at, now))
            }
        }
    }
}

fn quote_node(quote: &Why, citations: &[Citation], now: Timestamp) -> Markup {
    let citation = citation_of(quote, citations);
    html! {
        div.node {
            p.what { "Quote" }
            blockquote.quote { p { (plain(&quote.text)) } }
            @if let Some(citation) = citation {
                p.note { "trust " (citation.trust.as_str()) }
            }
        }
        ul.links {
            @for message in &quote.children {
                li { (message_node(message, quote, citation, now)) }
            }
        }
    }
}

fn message_node(message: &Why, quote: &Why, citation: Option<&Citation>, now: Timestamp) -> Markup {
    let id = message.id.parse().ok().map(MessageId);
    let Some(id) = id.filter(|_| message.kind == WhyKind::Message) else {
        return html! {
            div.node {
                p.what { "No message" }
                p.note { (plain(&message.text)) }
            }
        };
    };
    let place = |neighbour: &&Why| neighbour.id.parse().ok().map(MessageId);
    let before = message.children.iter().filter(|one| place(one) < Some(id));
    let after = message.children.iter().filter(|one| place(one) > Some(id));
    let (role, text) = split_role(&message.text);
    let address = match citation.and_then(|citation| citation.session_id.as_ref()) {
        Some(session) => link::at(session, id),
        None => link::message(id),
    };
    html! {
        div.node.source {
            p.what {
                "Message "
                a href=(address) { (id) }
                " by "
                (plain(role))
                @if let Some(at) = message.at {
                    ", "
                    (when::ago(at, now))
                }
            }
            @for one in before { (neighbour(one)) }
            p.said { (marked(text, &quoted(text, &quote.text))) }
            @for one in after { (neighbour(one)) }
            p.note {
                a href=(address) { "Open the conversation" }
            }
        }
    }
}

fn neighbour(neighbour: &Why) -> Markup {
    let (role, text) = split_role(&neighbour.text);
    html! {
        p.neighbour {
            span.who { (plain(role)) }
            " "
            (plain(&one_line(text, NEIGHBOUR_CHARS)))
        }
    }
}

/// The speaker of a message and what was said.
fn split_role(text: &str) -> (&str, &str) {
    text.split_once(": ").unwrap_or(("", text))
}

/// Where a message holds the quoted words, in characters.
fn quoted(text: &str, quote: &str) -> Vec<(usize, usize)> {
    let quote = quote.trim();
    let found = text.split_once(quote).filter(|_| !quote.is_empty());
    let from = found.map(|(before, _)| before.chars().count());
    from.map(|from| (from, from + quote.chars().count())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_are_found_by_characters() {
        assert_eq!(quoted("é: I run at 19:00", "run at"), [(5, 11)]);
        assert_eq!(quoted("nothing", "else"), []);
        assert_eq!(quoted("nothing", " "), []);
    }
}
