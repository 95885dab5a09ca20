//! Questions to the person at the terminal. It must not know what is asked about.

use std::io::{BufRead, Result, Write};

/// How often a question is asked before the default is taken.
const ATTEMPTS: usize = 2;

/// The answers to a question that is asked for each of several things.
const EACH_ANSWERS: &str = "y (yes), n (no), a (yes to all) or s (no to all)";

/// The answer to a question that is asked for each of several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EachAnswer {
    Yes,
    No,
    /// For this and all that follow.
    YesToAll,
    /// For this and all that follow.
    NoToAll,
}

/// The input and output of a terminal.
pub struct Terminal<'a> {
    pub input: &'a mut dyn BufRead,
    pub output: &'a mut dyn Write,
}

impl Terminal<'_> {
    /// Asks a question whose answer is no unless somebody types yes.
    pub fn confirm(&mut self, question: &str) -> Result<bool> {
        let parse = |answer: &str| match answer {
            "y" | "yes" => Some(true),
            "" | "n" | "no" => Some(false),
            _ => None,
        };
        let answer = self.prompt(&format!("{question} [y/N] "), "Please answer y or n.", &parse)?;
        Ok(answer.unwrap_or(false))
    }

    /// Asks a question for one of several things; the answer is yes unless somebody types something
    /// else. `None` if the input ends or is not understood.
    pub fn confirm_each(&mut self, question: &str) -> Result<Option<EachAnswer>> {
        let parse = |answer: &str| match answer {
            "" | "y" | "yes" => Some(EachAnswer::Yes),
            "n" | "no" => Some(EachAnswer::No),
            "a" | "all" => Some(EachAnswer::YesToAll),
            "s" | "skip" => Some(EachAnswer::NoToAll),
            _ => None,
        };
        let help = format!("Please answer {EACH_ANSWERS}.");
        self.prompt(&format!("{question} [Y/n/a/s] "), &help, &parse)
    }

    /// Explains the answers to [`Terminal::confirm_each`].
    pub fn explain_each(&mut self) -> Result<()> {
        writeln!(self.output, "For each project, answer {EACH_ANSWERS}.")
    }

    fn prompt<T>(
        &mut self,
        question: &str,
        help: &str,
        parse: &dyn Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        for _ in 0..ATTEMPTS {
            write!(self.output, "{question}")?;
            self.output.flush()?;
            let mut answer = String::new();
            // The end of input is nobody's yes.
            if self.input.read_line(&mut answer)? == 0 {
                return Ok(None);
            }
            if let Some(answer) = parse(answer.trim().to_lowercase().as_str()) {
                return Ok(Some(answer));
            }
            writeln!(self.output, "{help}")?;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_is_preselected_for_each_and_the_end_of_input_is_a_no() {
        for (typed, answer) in [
            ("\n", Some(EachAnswer::Yes)),
            ("y\n", Some(EachAnswer::Yes)),
            ("n\n", Some(EachAnswer::No)),
            ("a\n", Some(EachAnswer::YesToAll)),
            ("s\n", Some(EachAnswer::NoToAll)),
            ("", None),
            ("?\n?\n", None),
        ] {
            let (mut input, mut output) = (typed.as_bytes(), Vec::new());
            let mut terminal = Terminal { input: &mut input, output: &mut output };
            assert_eq!(terminal.confirm_each("Capture?").unwrap(), answer, "{typed:?}");
        }
    }
}
