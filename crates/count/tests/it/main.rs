//! Counting from outside: against tiktoken's own counts, and laws by random and by hostile texts.

mod golden;
mod properties;
