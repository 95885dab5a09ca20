//! Questions to the person at the terminal. It must not know what is asked about.

use std::io::{BufRead, Result, Write};

/// Asks until there is an answer, but not more than twice; anything but a yes is a no.
pub fn ask(question: &str, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<bool> {
    for _ in 0..2 {
        write!(output, "{question} [y/N] ")?;
        output.flush()?;
        let mut answer = String::new();
        input.read_line(&mut answer)?;
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "" | "n" | "no" => return Ok(false),
            _ => writeln!(output, "y or n, please.")?,
        }
    }
    Ok(false)
}
