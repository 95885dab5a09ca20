//! Parses the tokens of a query into a tree: NOT binds closest, then AND, then OR. Tokens that do
//! not fit are ignored.

use super::lex::Token;
use super::{Expr, Filters, MAX_TERMS, Query};
use crate::{Result, Timestamp};
use std::iter::Peekable;

/// Deeper parentheses are ignored, because each takes a stack frame.
const MAX_DEPTH: usize = 64;

/// Parses tokens. Ages are relative to `now`.
pub(super) fn parse(tokens: Vec<Token>, now: Timestamp) -> Result<Query> {
    let mut parser = Parser {
        tokens: balance(tokens).into_iter().peekable(),
        now,
        filters: Filters::default(),
        terms: 0,
        conditions: 0,
        explicit: false,
        truncated: false,
    };
    let expr = parser.any(false)?;
    let text = expr.as_ref().map(text).unwrap_or_default();
    let Parser { filters, explicit, truncated, .. } = parser;
    Ok(Query { expr, filters, text, explicit, truncated })
}

/// Removes unpaired and too deep parentheses.
fn balance(tokens: Vec<Token>) -> Vec<Token> {
    let mut keep = vec![true; tokens.len()];
    let mut drop = |at: usize| keep.get_mut(at).map(|keep| *keep = false);
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Open { .. } => open.push(at),
            Token::Close => match open.pop() {
                Some(start) if open.len() >= MAX_DEPTH => {
                    drop(start);
                    drop(at);
                }
                Some(_) => {}
                None => {
                    drop(at);
                }
            },
            _ => {}
        }
    }
    open.into_iter().for_each(|at| {
        drop(at);
    });
    tokens.into_iter().zip(keep).filter_map(|(token, keep)| keep.then_some(token)).collect()
}

struct Parser {
    tokens: Peekable<std::vec::IntoIter<Token>>,
    now: Timestamp,
    filters: Filters,
    terms: usize,
    conditions: usize,
    explicit: bool,
    truncated: bool,
}

impl Parser {
    /// Alternatives up to the closing parenthesis. `excluded` is whether a surrounding NOT negates
    /// the filters inside.
    fn any(&mut self, excluded: bool) -> Result<Option<Expr>> {
        let mut found = Vec::new();
        loop {
            match self.all(excluded)? {
                Some(Expr::Or(exprs)) => found.extend(exprs),
                expr => found.extend(expr),
            }
            if self.tokens.next_if_eq(&Token::Or).is_none() {
                break;
            }
        }
        self.explicit |= found.len() > 1;
        Ok(joined(found, Expr::Or))
    }

    fn all(&mut self, excluded: bool) -> Result<Option<Expr>> {
        let mut found = Vec::new();
        let mut operator = false;
        loop {
            match self.tokens.peek() {
                None | Some(Token::Or | Token::Close) => break,
                Some(Token::And) => {
                    self.tokens.next();
                    operator = !found.is_empty();
                    continue;
                }
                Some(_) => {}
            }
            let before = found.len();
            match self.one(excluded)? {
                Some(Expr::And(exprs)) => found.extend(exprs),
                expr => found.extend(expr),
            }
            self.explicit |= operator && found.len() > before;
        }
        Ok(joined(found, Expr::And))
    }

    fn one(&mut self, excluded: bool) -> Result<Option<Expr>> {
        let mut not = false;
        while self.tokens.next_if_eq(&Token::Not).is_some() {
            not = true;
        }
        let operand = self
            .tokens
            .next_if(|token| !matches!(token, Token::And | Token::Or | Token::Not | Token::Close));
        let expr = match operand {
            Some(Token::Term(expr)) => self.term(expr),
            Some(Token::Filter(condition)) => {
                if self.conditions < MAX_TERMS {
                    self.conditions += 1;
                    self.filters.add(condition, excluded != not, self.now)?;
                } else {
                    self.truncated = true;
                }
                None
            }
            Some(Token::Open { groups }) => {
                let inner = self.any(excluded != not)?;
                self.tokens.next_if_eq(&Token::Close);
                self.explicit |= groups && inner.is_some();
                inner
            }
            _ => None,
        };
        self.explicit |= not && expr.is_some();
        Ok(expr.map(|expr| if not { negated(expr) } else { expr }))
    }

    fn term(&mut self, expr: Expr) -> Option<Expr> {
        if self.terms == MAX_TERMS {
            self.truncated = true;
            return None;
        }
        self.terms += 1;
        self.explicit |= !matches!(expr, Expr::Word(_));
        Some(expr)
    }
}

fn joined(mut found: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Option<Expr> {
    if found.len() > 1 { Some(join(found)) } else { found.pop() }
}

fn negated(expr: Expr) -> Expr {
    match expr {
        Expr::Not(inner) => *inner,
        expr => Expr::Not(Box::new(expr)),
    }
}

/// The words of the query; a pattern has none.
fn text(expr: &Expr) -> String {
    let mut words = Vec::new();
    expr.walk(&mut |term| match term {
        Expr::Word(text) | Expr::Phrase(text) | Expr::Prefix(text) | Expr::Infix(text) => {
            words.push(text.as_str());
        }
        _ => {}
    });
    words.join(" ")
}
