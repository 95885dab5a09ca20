//! Makes `assets/o200k.bin` of OpenAI's `o200k_base.tiktoken`: `cargo run --release -p oneiro-count
//! --example make_table -- o200k_base.tiktoken crates/count/assets/o200k.bin`.
//!
//! The source is a line to a token, its bytes in base64 and its rank; the package `tiktoken-rs`
//! carries it, as does any installation of tiktoken that has counted once. A token longer than a
//! byte is two tokens of lower rank side by side, for that is how it was learned, so the file names
//! those two. `src/vocabulary.rs` says how they lie in it, and checks that all of it comes back.

#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::error::Error;

const SINGLE_BYTES: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("say where to read the .tiktoken file and where to write the table".into());
    };
    let tokens = read(&std::fs::read_to_string(&from)?)?;
    let file = zstd::bulk::compress(&planes(&tokens)?, 22)?;
    std::fs::write(&to, &file)?;
    println!("{} tokens, {} bytes", tokens.len(), file.len());
    Ok(())
}

/// The tokens by rank.
fn read(source: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut tokens = Vec::new();
    for line in source.lines() {
        let (token, rank) = line.split_once(' ').ok_or_else(|| format!("no rank in {line:?}"))?;
        if rank.parse::<usize>()? != tokens.len() {
            return Err(format!("the rank of {line:?} is not {}", tokens.len()).into());
        }
        tokens.push(decode(token).ok_or_else(|| format!("no base64 in {line:?}"))?);
    }
    Ok(tokens)
}

fn decode(base64: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for digit in base64.bytes().take_while(|digit| *digit != b'=') {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

fn planes(tokens: &[Vec<u8>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut ranks: HashMap<&[u8], u32> = HashMap::new();
    let mut planes = vec![Vec::new(); 6];
    let mut single = Vec::new();
    for (rank, token) in (0_u32..).zip(tokens) {
        if rank < SINGLE_BYTES as u32 {
            let [byte] = **token else { return Err(format!("rank {rank} is no byte").into()) };
            single.push(byte);
        } else {
            // Low ranks are in many tokens, so they compress best.
            let halves = (1..token.len()).filter_map(|at| {
                let (first, second) = token.split_at_checked(at)?;
                Some([*ranks.get(first)?, *ranks.get(second)?])
            });
            let halves = halves.min_by_key(|[first, second]| first + second);
            let halves = halves.ok_or_else(|| format!("rank {rank} is not made of two tokens"))?;
            let bytes = halves.iter().flat_map(|rank| rank.to_le_bytes().into_iter().take(3));
            for (plane, byte) in planes.iter_mut().zip(bytes) {
                plane.push(byte);
            }
        }
        ranks.insert(token, rank);
    }
    single.extend(planes.concat());
    Ok(single)
}
