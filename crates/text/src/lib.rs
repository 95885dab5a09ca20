//! The analyzer: text to tokens, the same for rows and for questions. It owns what a word is; it
//! must not know where text comes from or where tokens go.
#![allow(missing_docs)]
pub const VERSION: u32 = 1;
pub struct Token<'a> { pub term: &'a str, pub norm: &'a str, pub start: u32, pub end: u32, pub position: u32, pub stop: bool }
#[derive(Default)] pub struct Analyzer;
impl Analyzer { pub fn tokens(&mut self, _text: &str, _each: impl FnMut(Token<'_>)) {} }
pub fn chunks(text: &str) -> Vec<std::ops::Range<usize>> { vec![0..text.len()] }
pub fn normalise(text: &str) -> String { text.to_lowercase() }
