//! Splits a query into tokens in one pass: words, phrases, signs, operators and filters.

use super::Expr;
use super::clean::{has_word, is_wordy};
use super::filter::{Condition, FIELDS};
use super::quote::{Quotes, is_quote, opens_inside};
use crate::{Error, Result};
use std::collections::HashMap;

/// The maximum length of a regular expression.
const REGEX_BYTES: usize = 1_000;

/// A token of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Term(Expr),
    Filter(Condition),
    /// Punctuation: matches nothing, but is the operand of a preceding `NOT`.
    Nothing,
    And,
    Or,
    Not,
    /// Whether it groups, or follows a word as in a function call.
    Open {
        groups: bool,
    },
    Close,
}

/// The tokens of a cleaned text.
pub(super) fn lex(text: &str) -> Result<Vec<Token>> {
    let mut lexer =
        Lexer { text, at: 0, quotes: Quotes::new(text), calls: calls(text), tokens: Vec::new() };
    while let Some(letter) = lexer.letter(lexer.at) {
        match letter {
            '(' => lexer.sign(Token::Open { groups: !lexer.follows_word() }),
            ')' => lexer.sign(Token::Close),
            _ if letter.is_whitespace() => lexer.at += letter.len_utf8(),
            _ if is_quote(letter) => lexer.phrase(letter),
            _ => lexer.term()?,
        }
    }
    Ok(lexer.tokens)
}

/// The closing parentheses of pairs inside one run of characters, as in `main()` or a link, which
/// belong to the word. Computed once for the whole text, so that no run is read twice.
fn calls(text: &str) -> HashMap<usize, usize> {
    let mut calls = HashMap::new();
    let mut open = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open.push(at),
            ')' => calls.extend(open.pop().map(|start| (start, at))),
            _ if letter.is_whitespace() || is_quote(letter) => open.clear(),
            _ => {}
        }
    }
    calls
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    quotes: Quotes<'t>,
    calls: HashMap<usize, usize>,
    tokens: Vec<Token>,
}

/// The value of a field.
struct Value<'t> {
    text: &'t str,
    quoted: bool,
    end: usize,
}

impl<'t> Lexer<'t> {
    fn letter(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn follows_word(&self) -> bool {
        self.slice(0, self.at).chars().next_back().is_some_and(is_wordy)
    }

    /// A token of one ASCII character.
    fn sign(&mut self, token: Token) {
        self.tokens.push(token);
        self.at += 1;
    }

    /// A quotation; an unpaired quotation mark is a space.
    fn phrase(&mut self, mark: char) {
        let may_open = opens_inside(mark) || !self.follows_word();
        match self.quotes.read(self.at).filter(|_| may_open) {
            Some((quoted, end)) => {
                self.tokens.push(phrase(quoted));
                self.at = end;
            }
            None => self.at += mark.len_utf8(),
        }
    }

    fn term(&mut self) -> Result<()> {
        let run = self.slice(self.at, self.run_end(self.at));
        let operator = match run {
            "AND" => Some(Token::And),
            "OR" | "|" => Some(Token::Or),
            "NOT" => Some(Token::Not),
            _ => None,
        };
        if let Some(operator) = operator {
            self.tokens.push(operator);
            self.at += run.len();
            return Ok(());
        }
        let excludes = run.starts_with('-');
        let signed = (excludes || run.starts_with('+')) && self.is_sign(run);
        let operand = if signed {
            self.at += 1;
            self.signed()?
        } else {
            Some(self.operand()?)
        };
        match operand {
            // The operand of a sign must be a term: `-__` before a word must not negate the word.
            Some(Token::Nothing) => self.tokens.push(Token::Nothing),
            operand => {
                self.tokens.extend((signed && excludes).then_some(Token::Not));
                self.tokens.extend(operand);
            }
        }
        Ok(())
    }

    /// Whether the `-` or `+` at the start of `run` is a sign: a term follows immediately and it is
    /// not a number such as `-5`. `--flag`, `->` and `-/usr` are words.
    fn is_sign(&self, run: &str) -> bool {
        let after = self.at + 1;
        match self.letter(after) {
            Some('(' | '*' | '_') => true,
            Some('/') => regex(self.text, after).is_some(),
            Some(letter) if is_wordy(letter) => !is_number(run.get(1..).unwrap_or_default()),
            Some(letter) => is_quote(letter),
            None => false,
        }
    }

    /// The term after a sign; none if it is a parenthesis, which is a token of its own.
    fn signed(&mut self) -> Result<Option<Token>> {
        match self.letter(self.at) {
            Some('(') => Ok(None),
            Some(mark) if is_quote(mark) => {
                if let Some((quoted, end)) = self.quotes.read(self.at) {
                    self.at = end;
                    return Ok(Some(phrase(quoted)));
                }
                self.at += mark.len_utf8();
                match self.letter(self.at) {
                    Some(letter) if is_wordy(letter) => self.operand().map(Some),
                    _ => Ok(Some(Token::Nothing)),
                }
            }
            _ => self.operand().map(Some),
        }
    }

    /// A regular expression, a filter or a word.
    fn operand(&mut self) -> Result<Token> {
        if let Some((pattern, end)) = regex(self.text, self.at) {
            self.at = end;
            return regex_term(pattern);
        }
        if let Some(Value { text, end, .. }) = self.value("regex") {
            self.at = end;
            return regex_term(text.to_owned());
        }
        for (name, field) in FIELDS {
            let Some(Value { text, quoted, end }) = self.value(name) else { continue };
            // A comma after a value belongs to the sentence.
            let text = if quoted { text.trim() } else { text.trim_end_matches([',', ';']) };
            if text.is_empty() {
                break;
            }
            self.at = end;
            return Ok(Token::Filter(Condition { field, value: text.to_owned(), quoted }));
        }
        let run = self.slice(self.at, self.run_end(self.at));
        self.at += run.len();
        Ok(word(run))
    }

    /// The value of the field `name`, if one starts here. `name:` before a space is a word, and so
    /// are `name::path` and `name:=1`, which are code.
    fn value(&self, name: &str) -> Option<Value<'t>> {
        let rest = self.text.get(self.at..)?.strip_prefix(name)?.strip_prefix(':')?;
        if rest.starts_with([':', '=']) {
            return None;
        }
        let mut start = self.text.len() - rest.len();
        if let Some(mark) = rest.chars().next().filter(|letter| is_quote(*letter)) {
            if let Some((text, end)) = self.quotes.read(start) {
                return (!text.is_empty()).then_some(Value { text, quoted: true, end });
            }
            start += mark.len_utf8();
        }
        let end = self.run_end(start);
        (start < end).then(|| Value { text: self.slice(start, end), quoted: false, end })
    }

    /// The end of the run of characters at `from`: a space, a quotation mark, or a parenthesis that
    /// is not part of the word.
    fn run_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(letter) = self.letter(at) {
            at = match letter {
                '(' => match self.calls.get(&at) {
                    Some(close) => close + 1,
                    None => break,
                },
                ')' => break,
                _ if letter.is_whitespace() || is_quote(letter) => break,
                _ => at + letter.len_utf8(),
            };
        }
        at
    }
}

fn word(run: &str) -> Token {
    let stem = run.trim_matches('*');
    if !has_word(stem) {
        return Token::Nothing;
    }
    Token::Term(match (run.starts_with('*'), run.ends_with('*')) {
        (true, _) => Expr::Infix(stem.to_owned()),
        (false, true) => Expr::Prefix(stem.to_owned()),
        (false, false) => Expr::Word(run.to_owned()),
    })
}

fn phrase(quoted: &str) -> Token {
    if !has_word(quoted) {
        return Token::Nothing;
    }
    Token::Term(Expr::Phrase(quoted.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Whether a text is a number: `5`, `3.14`, `1,000`, `20%`.
fn is_number(text: &str) -> bool {
    text.chars().any(char::is_numeric)
        && text.chars().all(|letter| letter.is_numeric() || matches!(letter, '.' | ',' | '%'))
}

/// The regular expression between slashes at `at`, and its end. It contains no space and no slash
/// but `\/`, is not followed by a letter, starts like an expression and has a letter or digit:
/// `/usr/local/bin`, `/**/` and `/` are not expressions. `/usr/` is.
fn regex(text: &str, at: usize) -> Option<(String, usize)> {
    let body = text.get(at..)?.strip_prefix('/')?;
    let mut pattern = String::new();
    let mut letters = body.char_indices();
    let end = loop {
        match letters.next()? {
            (end, '/') => break end,
            (_, '\\') => match letters.next()?.1 {
                '/' => pattern.push('/'),
                letter if letter.is_whitespace() => return None,
                letter => pattern.extend(['\\', letter]),
            },
            (_, letter) if letter.is_whitespace() => return None,
            (_, letter) => pattern.push(letter),
        }
    };
    let after = letters.as_str();
    let rest = after.strip_prefix('i').unwrap_or(after);
    let ends = rest
        .chars()
        .next()
        .is_none_or(|next| next.is_whitespace() || is_quote(next) || matches!(next, '(' | ')'));
    if !ends || !has_word(&pattern) || pattern.starts_with(['*', '+', '?']) {
        return None;
    }
    if rest.len() < after.len() {
        pattern.insert_str(0, "(?i)");
    }
    Some((pattern, at + end + 2 + after.len() - rest.len()))
}

fn regex_term(pattern: String) -> Result<Token> {
    if pattern.len() > REGEX_BYTES {
        let message = format!(
            "a regular expression of {} bytes is longer than {REGEX_BYTES} bytes",
            pattern.len()
        );
        return Err(Error::too_large(message).remedy("search for a shorter part of it"));
    }
    Ok(Token::Term(Expr::Regex(pattern)))
}
