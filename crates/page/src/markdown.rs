//! What agents and people write, lightly set: paragraphs, lists, code, quotations, tables, links to
//! the web. Text decides nothing but its own looks: no HTML passes, no image loads, no other scheme
//! links. It must not know messages.

use crate::text::push;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeStream};

/// Elements inside each other; what is deeper stands flat, so that no text can build a tree that
/// browsers choke on.
const MAX_DEPTH: usize = 12;

/// The longest web address that is made a link.
const ADDRESS_BYTES: usize = 2_048;

const HEAD_CELL: &str = "<th scope=\"col\">";

/// Sets a text.
pub fn set(text: &str) -> Markup {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = Setting::default();
    for event in TextMergeStream::new(Parser::new_ext(text, options)) {
        out.event(event);
    }
    while let Some(end) = out.open.pop() {
        out.html.push_str(end);
    }
    PreEscaped(out.html)
}

#[derive(Default)]
struct Setting {
    html: String,
    /// What closes each open element; empty where it stands flat.
    open: Vec<&'static str>,
    /// Links and code are not looked through for addresses.
    verbatim: usize,
    in_head: bool,
}

impl Setting {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) if self.verbatim > 0 => push(&mut self.html, &text),
            Event::Text(text) => push_linked(&mut self.html, &text),
            Event::Html(text) | Event::InlineHtml(text) => push(&mut self.html, &text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.html.push_str("<code>");
                push(&mut self.html, &code);
                self.html.push_str("</code>");
            }
            Event::FootnoteReference(name) => push(&mut self.html, &format!("[^{name}]")),
            Event::SoftBreak | Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(done) => self.html.push_str(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.enter("<p>", "</p>"),
            // The headings of a page are the page's; those in a message are only set like some.
            Tag::Heading { .. } => self.enter("<p class=\"heading\">", "</p>"),
            Tag::BlockQuote(_) => self.enter("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => self.enter_code(&kind),
            Tag::HtmlBlock => self.enter("<p class=\"raw\">", "</p>"),
            Tag::List(None) => self.enter("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                let start = format!("<ol start=\"{first}\">");
                self.enter(if first == 1 { "<ol>" } else { &start }, "</ol>");
            }
            Tag::Item => self.enter("<li>", "</li>"),
            Tag::Table(_) => {
                self.enter("<div class=\"wide\" tabindex=\"0\"><table>", "</table></div>");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.enter("<thead><tr>", "</tr></thead>");
            }
            Tag::TableRow => self.enter("<tr>", "</tr>"),
            Tag::TableCell if self.in_head => self.enter(HEAD_CELL, "</th>"),
            Tag::TableCell => self.enter("<td>", "</td>"),
            Tag::Emphasis => self.enter("<em>", "</em>"),
            Tag::Strong => self.enter("<strong>", "</strong>"),
            Tag::Strikethrough => self.enter("<del>", "</del>"),
            Tag::Link { dest_url, .. } => {
                self.verbatim += 1;
                if is_web(&dest_url) {
                    self.enter(&anchor(&dest_url), "</a>")
                } else {
                    self.enter("", "")
                }
            }
            Tag::Image { dest_url, .. } => {
                self.verbatim += 1;
                let named = format!("<span class=\"media\">image {}: ", escaped(&dest_url));
                self.enter(&named, "</span>");
            }
            _ => self.enter("", ""),
        }
    }

    fn enter_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.verbatim += 1;
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        match language {
            "" => self.enter("<pre tabindex=\"0\"><code>", "</code></pre>"),
            _ => {
                let name: String = language.chars().take(24).collect();
                let start =
                    format!("<pre tabindex=\"0\" data-language=\"{}\"><code>", escaped(&name));
                self.enter(&start, "</code></pre>");
            }
        }
    }

    fn enter(&mut self, start: &str, end: &'static str) {
        if self.open.len() < MAX_DEPTH {
            self.html.push_str(start);
            self.open.push(end);
        } else {
            self.open.push("")
        }
    }

    fn end(&mut self, end: TagEnd) {
        if matches!(end, TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock) {
            self.verbatim = self.verbatim.saturating_sub(1);
        }
        if matches!(end, TagEnd::TableHead) {
            self.in_head = false;
        }
        // A head over nothing is no head.
        if matches!(end, TagEnd::TableCell) && self.html.ends_with(HEAD_CELL) {
            self.html.truncate(self.html.len() - HEAD_CELL.len());
            self.html.push_str("<td>");
            self.open.pop();
            self.open.push("</td>");
        }
        self.html.push_str(self.open.pop().unwrap_or_default());
    }
}

fn is_web(address: &str) -> bool {
    let begins = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("https://") || begins("http://")
}

fn anchor(address: &str) -> String {
    format!("<a rel=\"noopener noreferrer nofollow\" href=\"{}\">", escaped(address))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    push(&mut out, text);
    // Inside an attribute there is no element to show what is unseen in.
    out.replace("<span class=\"unseen\">", "").replace("</span>", "")
}

/// Appends text, with the web addresses in it as links.
fn push_linked(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        let (before, from) = rest.split_at(at);
        push(out, before);
        let end =
            from.find(|c: char| c.is_whitespace() || c.is_control() || "<>\"'`|\\^{}".contains(c));
        let (address, after) = from.split_at(end.unwrap_or(from.len()));
        let kept = if address.len() > ADDRESS_BYTES { "" } else { without_stops(address) };
        let is_word_before = before.ends_with(char::is_alphanumeric);
        if is_web(kept) && !kept.ends_with("//") && !is_word_before {
            out.push_str(&anchor(kept));
            push(out, kept);
            out.push_str("</a>");
            push(out, address.get(kept.len()..).unwrap_or_default());
        } else {
            push(out, address)
        }
        rest = after;
    }
    push(out, rest);
}

/// An address without the punctuation of the sentence it stands in.
fn without_stops(address: &str) -> &str {
    let mut kept = address;
    loop {
        let next = kept.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', ']', '…']);
        let closes = next.ends_with(')') && next.matches(')').count() > next.matches('(').count();
        let next = if closes { next.strip_suffix(')').unwrap_or(next) } else { next };
        if next.len() == kept.len() {
            return kept;
        }
        kept = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_set_lightly() {
        for (text, want) in [
            ("a\nb", "<p>a<br>b</p>"),
            ("# Title", "<p class=\"heading\">Title</p>"),
            (
                "**a** *b* ~~c~~ `d<e`",
                "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d&lt;e</code></p>",
            ),
            ("3. x", "<ol start=\"3\"><li>x</li></ol>"),
            (
                "```rust no_run\n<a>\n```",
                "<pre tabindex=\"0\" data-language=\"rust\"><code>&lt;a&gt;\n</code></pre>",
            ),
            (
                "| | b |\n|-|-|\n| 1 | 2 |",
                "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><td></td><th scope=\"col\">b</th></tr></thead><tr><td>1</td><td>2</td></tr></table></div>",
            ),
        ] {
            assert_eq!(set(text).0, want, "{text}");
        }
    }

    #[test]
    fn only_the_web_is_linked_to() {
        let link = |address: &str, words: &str| {
            format!("<a rel=\"noopener noreferrer nofollow\" href=\"{address}\">{words}</a>")
        };
        for (text, want) in [
            ("[a](https://b.c/?d=1&e)", link("https://b.c/?d=1&amp;e", "a")),
            ("[a](javascript:alert(1))", "a".to_owned()),
            ("[a](JaVaScRiPt:x) [b](data:x) [c](//d) [e](/f)", "a b c e".to_owned()),
            ("<javascript:x>", "javascript:x".to_owned()),
            (
                "see (https://a.b/c_(d)), ok",
                format!("see ({}), ok", link("https://a.b/c_(d)", "https://a.b/c_(d)")),
            ),
            ("https://a.b.", format!("{}.", link("https://a.b", "https://a.b"))),
            ("`https://a.b`", "<code>https://a.b</code>".to_owned()),
            ("http:// httpd xhttp://a", "http:// httpd xhttp://a".to_owned()),
            (
                "![a](https://b.c/p.png)",
                "<span class=\"media\">image https://b.c/p.png: a</span>".to_owned(),
            ),
        ] {
            assert_eq!(set(text).0, format!("<p>{want}</p>"), "{text}");
        }
    }

    #[test]
    fn hostile_text_is_text() {
        for (text, want) in [
            (
                "<script>alert(1)</script>",
                "<p class=\"raw\">&lt;script&gt;alert(1)&lt;/script&gt;</p>",
            ),
            ("a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>"),
        ] {
            assert_eq!(set(text).0, want, "{text}");
        }
    }

    #[test]
    fn no_text_builds_a_deep_tree_or_takes_quadratic_time() {
        let deep = set(&format!("{}x", "> ".repeat(20_000))).0;
        assert!(deep.matches("<blockquote>").count() <= MAX_DEPTH);
        assert!(deep.contains('x'));
        for pattern in ["[", "*a_ ", "http://)", "`", "| a ", "<a ", "![](", "http", "\n> - "] {
            let text = |length: usize| pattern.repeat(length / pattern.len());
            let (small, large) = (text(16 << 10), text(256 << 10));
            assert!(set(&large).0.len() <= large.len() * 32, "{pattern}");
            // Sixteen times the text; quadratic work would take 256 times as long.
            let is_linear = oneiro_testkit::takes_at_most(100, || set(&small), || set(&large));
            assert!(is_linear, "{pattern}");
        }
    }
}
