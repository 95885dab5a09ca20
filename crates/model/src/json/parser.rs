//! A JSON parser. That of serde_json rewrites exponents, gives two keys a special meaning and fails
//! at a lone surrogate.

use crate::{Error, Result};
use serde_json::{Map, Number, Value};

/// The maximum nesting that is parsed.
const MAX_PARSE_DEPTH: usize = 127;

/// A text being read.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) surrogates: usize,
}

impl Parser<'_> {
    /// One value and nothing after it.
    pub(super) fn document(&mut self) -> Result<Value> {
        let value = self.value(MAX_PARSE_DEPTH)?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.bad("something stands after the value")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => Err(self.bad("expected a value")),
            None => Err(self.bad("the text ends too early")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value> {
        let depth = self.deeper(depth)?;
        let mut fields = Map::new();
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.bad("expected a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_space();
            if !self.take(b':') {
                return Err(self.bad("expected a colon after the key"));
            }
            let value = self.value(depth)?;
            fields.insert(key, value);
            self.skip_space();
            match self.next() {
                Some(b',') => {}
                Some(b'}') => return Ok(Value::Object(fields)),
                _ => return Err(self.bad("expected a comma or the end of the object")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value> {
        let depth = self.deeper(depth)?;
        let mut items = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            match self.next() {
                Some(b',') => {}
                Some(b']') => return Ok(Value::Array(items)),
                _ => return Err(self.bad("expected a comma or the end of the list")),
            }
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize> {
        depth.checked_sub(1).ok_or_else(|| {
            Error::invalid(format!(
                "JSON nested deeper than {MAX_PARSE_DEPTH} levels at column {}",
                self.at + 1
            ))
            .remedy("flatten it, or send the inner part as a string")
        })
    }

    fn string(&mut self) -> Result<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
            let plain = plain.unwrap_or(rest.len());
            out.push_str(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            match self.next() {
                Some(b'"') => return Ok(out),
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return Err(self.bad("a control character in a string is not escaped")),
                None => return Err(self.bad("a string is not closed")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<()> {
        let letter = match self.next() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => self.unicode()?,
            _ => return Err(self.bad("an escape that JSON does not have")),
        };
        out.push(letter);
        Ok(())
    }

    /// The character of `\uXXXX` or of a surrogate pair; a lone surrogate becomes U+FFFD and is
    /// counted.
    fn unicode(&mut self) -> Result<char> {
        let first = self.unit()?;
        if let Some(letter) = char::from_u32(u32::from(first)) {
            return Ok(letter);
        }
        let after = self.at;
        if matches!(first, 0xD800..=0xDBFF) && self.take(b'\\') && self.take(b'u') {
            let second = self.unit()?;
            if let Some(Ok(letter)) = char::decode_utf16([first, second]).next() {
                return Ok(letter);
            }
        }
        self.at = after;
        self.surrogates += 1;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn unit(&mut self) -> Result<u16> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.bad("expected four hexadecimal digits"));
        }
        self.at += 4;
        u16::from_str_radix(digits, 16).map_err(|_| self.bad("expected four hexadecimal digits"))
    }

    /// A number, with its original text.
    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(Value::Number(Number::from_string_unchecked(text.to_owned())))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.bad("expected a digit")) }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value> {
        if self.text.get(self.at..).unwrap_or_default().starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.bad("expected a value"))
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.at += usize::from(byte.is_some());
        byte
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn bad(&self, what: &str) -> Error {
        Error::invalid(format!("not JSON: {what} at column {}", self.at + 1))
            .remedy("send one complete JSON value")
    }
}
