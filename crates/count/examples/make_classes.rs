//! Makes `assets/classes.bin`: `cargo run --release -p oneiro-count --example make_classes --
//! crates/count/assets/classes.bin`.
//!
//! The classes are asked of the package `regex`, which tiktoken cuts text with, in its version for
//! Unicode 16.0. A later one would count texts in newer scripts in another way than tiktoken did
//! when models were trained; there is no reason to make the file again.

#![allow(clippy::print_stdout)]

use std::error::Error;

use regex::Regex;

/// The bit of each class as `src/class.rs` names them, and the class.
const CLASSES: [(u8, &str); 6] = [
    (1, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    (2, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    (4, r"\p{L}"),
    (8, r"\p{N}"),
    (16, r"\s"),
    (32, r"[\r\n]"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args().nth(1).ok_or("say where to write the table")?;
    let mut table = vec![0_u8; char::MAX as usize + 1];
    // Surrogates are code points, but no characters.
    let all: String = ('\0'..=char::MAX).collect();
    for (bit, class) in CLASSES {
        for found in Regex::new(class)?.find_iter(&all) {
            for c in found.as_str().chars() {
                if let Some(classes) = table.get_mut(c as usize) {
                    *classes |= bit;
                }
            }
        }
    }
    let mut file = Vec::new();
    for run in table.chunk_by(|left, right| left == right) {
        file.extend(run.first());
        let mut length = run.len();
        while length >= 0x80 {
            file.push(length as u8 | 0x80);
            length >>= 7;
        }
        file.push(length as u8);
    }
    std::fs::write(&to, &file)?;
    println!("{} bytes", file.len());
    Ok(())
}
