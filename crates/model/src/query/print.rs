//! Prints a query in its canonical form, which parses to the same tree and filters.

use super::quote::quoted;
use super::{Expr, Filters, Query, clean::has_word};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let expr = self.expr.as_ref().map(Expr::to_string);
        f.write_str(
            &expr.into_iter().chain(conditions(&self.filters)).collect::<Vec<_>>().join(" "),
        )
    }
}

fn conditions(filters: &Filters) -> Vec<String> {
    let Filters { roles, exclude_roles, since, until, .. } = filters;
    let mut out = Vec::new();
    // A host's own role must be quoted.
    let role = |role: &crate::Role| match role {
        crate::Role::Other(name) => quoted(name),
        role => role.as_str().to_owned(),
    };
    out.extend(roles.iter().map(|it| format!("role:{}", role(it))));
    out.extend(exclude_roles.iter().map(|it| format!("-role:{}", role(it))));
    for (name, wanted, unwanted) in [
        ("source", &filters.sources, &filters.exclude_sources),
        ("session", &filters.sessions, &filters.exclude_sessions),
        ("name", &filters.names, &filters.exclude_names),
        ("project", &filters.projects, &filters.exclude_projects),
    ] {
        out.extend(wanted.iter().map(|it| format!("{name}:{}", value(it))));
        out.extend(unwanted.iter().map(|it| format!("-{name}:{}", value(it))));
    }
    out.extend(since.map(|since| format!("since:{since}")));
    out.extend(until.map(|until| format!("until:{until}")));
    out
}

fn value(text: &str) -> String {
    let begins = text.starts_with(|letter: char| letter.is_alphanumeric());
    let plain =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '/');
    if begins && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

/// How tightly the surrounding operator binds; looser expressions need parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Inside {
    Nothing,
    Or,
    And,
    Not,
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(self, f, Inside::Nothing)
    }
}

fn write(expr: &Expr, f: &mut Formatter<'_>, around: Inside) -> fmt::Result {
    match expr {
        // The sign makes a word of an operator.
        Expr::Word(word) if matches!(word.as_str(), "AND" | "OR" | "NOT") => write!(f, "+{word}"),
        Expr::Word(word) => f.write_str(word),
        Expr::Phrase(text) => f.write_str(&quoted(text)),
        Expr::Prefix(stem) => write!(f, "{stem}*"),
        Expr::Infix(text) => write!(f, "*{text}*"),
        Expr::Regex(pattern) => match between_slashes(pattern) {
            Some(text) => f.write_str(&text),
            None => write!(f, "regex:{}", quoted(pattern)),
        },
        Expr::And(exprs) => {
            list(exprs, f, Operator { separator: " ", inside: Inside::And }, around)
        }
        Expr::Or(exprs) => {
            list(exprs, f, Operator { separator: " OR ", inside: Inside::Or }, around)
        }
        Expr::Not(inner) => {
            // Two consecutive NOTs would parse as one.
            let parentheses = around == Inside::Not;
            f.write_str(if parentheses { "(NOT " } else { "NOT " })?;
            write(inner, f, Inside::Not)?;
            f.write_str(if parentheses { ")" } else { "" })
        }
    }
}

/// A binary operator as it is printed.
struct Operator {
    separator: &'static str,
    /// How tightly it binds.
    inside: Inside,
}

fn list(exprs: &[Expr], f: &mut Formatter<'_>, operator: Operator, around: Inside) -> fmt::Result {
    let Operator { separator, inside } = operator;
    let parentheses = around >= inside;
    if parentheses {
        f.write_char('(')?;
    }
    for (at, expr) in exprs.iter().enumerate() {
        if at > 0 {
            f.write_str(separator)?;
        }
        write(expr, f, inside)?;
    }
    if parentheses {
        f.write_char(')')?;
    }
    Ok(())
}

/// The short form of a pattern, if it can be parsed again.
fn between_slashes(pattern: &str) -> Option<String> {
    if !has_word(pattern) || pattern.starts_with(['*', '+', '?']) {
        return None;
    }
    let mut out = String::from("/");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '/' => out.push_str("\\/"),
            '\\' => match letters.next()? {
                // The short form cannot express a backslash before a slash.
                '/' => return None,
                next if next.is_whitespace() => return None,
                next => out.extend(['\\', next]),
            },
            letter if letter.is_whitespace() => return None,
            letter => out.push(letter),
        }
    }
    out.push('/');
    Some(out)
}
